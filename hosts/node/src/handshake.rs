//! The handshake of a node with a gateway, over a connection that the node made.
//!
//! ```text
//! node     ──► hello      its key, a nonce, a key for this connection, the server name to which it connected
//! gateway  ──► challenge  its key, a nonce, a key for this connection, its signature
//! node     ──► proof      its signature
//! gateway  ──► welcome | pairing | refused
//! ```
//!
//! Both sign the same facts, each with a context of its own: both nonces, both keys, both keys for this connection, and the server name. So neither
//! signature counts on another connection, for another gateway, or from the other end. All frames after the proof are [sealed](crate::seal), so that
//! whoever passes a handshake on gets no use of the connection.

use serde::{Deserialize, Serialize};

use crate::key::{ExchangeKey, Identity, Nonce, PublicKey};

/// The most bytes of the name of a node.
pub const MAX_NAME_BYTES: usize = 32;
/// The most bytes of the platform of a node.
pub const MAX_PLATFORM_BYTES: usize = 64;
/// The most bytes of a server name.
pub const MAX_SERVER_BYTES: usize = 256;

/// An end of the connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// The gateway.
    Gateway,
    /// The node.
    Node,
}

impl End {
    /// The context of its signatures.
    fn context(self) -> &'static [u8] {
        match self {
            Self::Gateway => b"toolkit node handshake 2: gateway",
            Self::Node => b"toolkit node handshake 2: node",
        }
    }

    /// The context of the key of the frames that it sends.
    pub(crate) fn frames(self) -> &'static [u8] {
        match self {
            Self::Gateway => b"toolkit node frames 2: gateway",
            Self::Node => b"toolkit node frames 2: node",
        }
    }
}

/// The facts that both ends sign.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Handshake {
    /// The nonce of the gateway.
    pub gateway_nonce: Nonce,
    /// The nonce of the node.
    pub node_nonce: Nonce,
    /// The key of the gateway.
    pub gateway_key: PublicKey,
    /// The key of the node.
    pub node_key: PublicKey,
    /// The key of the gateway for this connection.
    pub gateway_exchange: ExchangeKey,
    /// The key of the node for this connection.
    pub node_exchange: ExchangeKey,
    /// The server name: the `Host` of the upgrade.
    pub server: String,
}

impl Handshake {
    /// Signs the facts for one end, by its key. Returns the signature in hexadecimal.
    pub fn sign(&self, end: End, identity: &Identity) -> String {
        identity.sign(&self.message(end))
    }

    /// Returns true if a signature is that of an end for these facts.
    pub fn is_signed(&self, end: End, signature: &str) -> bool {
        let key = match end {
            End::Gateway => &self.gateway_key,
            End::Node => &self.node_key,
        };
        key.has_signed(&self.message(end), signature)
    }

    /// The bytes that are signed: each part after its length in four bytes, so that no two handshakes have the same bytes.
    pub(crate) fn message(&self, end: End) -> Vec<u8> {
        let parts = [
            end.context(),
            self.gateway_nonce.as_bytes(),
            self.node_nonce.as_bytes(),
            self.gateway_key.as_bytes(),
            self.node_key.as_bytes(),
            self.gateway_exchange.as_bytes(),
            self.node_exchange.as_bytes(),
            self.server.as_bytes(),
        ];
        let mut message = Vec::new();
        for part in parts {
            message.extend(u32::try_from(part.len()).unwrap_or(u32::MAX).to_be_bytes());
            message.extend_from_slice(part);
        }
        message
    }
}

/// The member `node` of the first frame.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NodeHello {
    /// The public key of the node.
    pub key: PublicKey,
    /// The nonce of the node.
    pub nonce: Nonce,
    /// Its key for this connection.
    pub exchange: ExchangeKey,
    /// The server name to which it connected.
    pub server: String,
    /// Its name.
    pub name: String,
    /// Its platform, such as `linux-x86_64`.
    pub platform: String,
    /// True if it asks for a code, by which the owner approves it.
    #[serde(default)]
    pub pair: bool,
}

impl NodeHello {
    /// Checks the texts.
    ///
    /// # Errors
    ///
    /// The text of the refusal.
    pub fn check(&self) -> Result<(), String> {
        check_name(&self.name)?;
        let is_plain = |char: char| char.is_ascii_graphic() || char == ' ';
        if self.platform.len() > MAX_PLATFORM_BYTES || !self.platform.chars().all(is_plain) {
            return Err(format!("the `platform` has at most {MAX_PLATFORM_BYTES} ASCII characters"));
        }
        if self.server.len() > MAX_SERVER_BYTES {
            return Err(format!("the `server` has at most {MAX_SERVER_BYTES} bytes"));
        }
        Ok(())
    }
}

/// Checks the name of a node.
///
/// # Errors
///
/// The text of the refusal.
pub fn check_name(name: &str) -> Result<(), String> {
    let is_of_name = |char: char| char.is_ascii_alphanumeric() || matches!(char, '-' | '_');
    if name.is_empty() || name.len() > MAX_NAME_BYTES || !name.chars().all(is_of_name) {
        return Err(format!("the name of a node has 1 to {MAX_NAME_BYTES} letters, digits, `-` or `_`"));
    }
    Ok(())
}

/// A frame of the gateway to a node.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum FromGateway {
    /// The gateway says who it is.
    Challenge {
        /// Its public key.
        key: PublicKey,
        /// Its nonce.
        nonce: Nonce,
        /// Its key for this connection.
        exchange: ExchangeKey,
        /// Its signature.
        signature: String,
    },
    /// The owner has to approve the node by a code.
    Pairing {
        /// The code.
        code: String,
        /// Seconds for which it counts.
        expires_seconds: u64,
    },
    /// The node is approved; if it did not ask for a code, messages of MCP follow.
    Welcome {
        /// The id of the node.
        node: String,
    },
    /// The node is not let in, and the connection is closed.
    Refused {
        /// True if it was let in before.
        is_revoked: bool,
        /// The reason.
        reason: String,
    },
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_counts_for_its_handshake_and_end_alone() {
        let (gateway, node) = (Identity::unstored().unwrap(), Identity::unstored().unwrap());
        let facts = Handshake {
            gateway_nonce: Nonce::random().unwrap(),
            node_nonce: Nonce::random().unwrap(),
            gateway_key: gateway.public_key(),
            node_key: node.public_key(),
            gateway_exchange: ExchangeKey::of_bytes([1; 32]),
            node_exchange: ExchangeKey::of_bytes([2; 32]),
            server: "127.0.0.1:4170".to_owned(),
        };
        let signature = facts.sign(End::Node, &node);
        assert!(facts.is_signed(End::Node, &signature));
        assert!(!facts.is_signed(End::Gateway, &signature));
        assert!(!facts.is_signed(End::Node, &facts.sign(End::Node, &gateway)), "by another key");
        let nonce = Nonce::random().unwrap();
        for other in [
            Handshake { gateway_nonce: nonce, ..facts.clone() },
            Handshake { node_nonce: nonce, ..facts.clone() },
            Handshake { gateway_key: node.public_key(), ..facts.clone() },
            Handshake { gateway_exchange: facts.node_exchange, ..facts.clone() },
            Handshake { node_exchange: facts.gateway_exchange, ..facts.clone() },
            Handshake { server: "127.0.0.1:4171".to_owned(), ..facts.clone() },
        ] {
            assert!(!other.is_signed(End::Node, &signature), "{other:?}");
        }
        // With equal keys and nonces at both ends, the context alone tells them apart.
        let own =
            Handshake { gateway_nonce: nonce, node_nonce: nonce, gateway_key: node.public_key(), ..facts };
        assert!(!own.is_signed(End::Gateway, &own.sign(End::Node, &node)));
    }
}

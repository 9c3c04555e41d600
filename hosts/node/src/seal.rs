//! The frames after the handshake, sealed for the two ends that made it: whoever passes them on reads and changes nothing.
//!
//! Each end makes an X25519 key for the connection, which the signatures of the handshake cover. The keys of the two directions come from the
//! agreed secret and the facts by HKDF-SHA-256; a frame is sealed by ChaCha20-Poly1305 under its number in its direction.

use std::fmt;

use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::agreement::{EphemeralPrivateKey, UnparsedPublicKey, X25519, agree_ephemeral};
use ring::hkdf::{HKDF_SHA256, Prk, Salt};
use ring::rand::SystemRandom;

use crate::handshake::{End, Handshake};
use crate::key::{ExchangeKey, KeyError};

/// The key pair of one end for one connection.
pub struct Exchange {
    private: EphemeralPrivateKey,
    public: ExchangeKey,
}

impl Exchange {
    /// Makes one.
    ///
    /// # Errors
    ///
    /// The system has no random numbers.
    pub fn random() -> Result<Self, KeyError> {
        let private = EphemeralPrivateKey::generate(&X25519, &SystemRandom::new());
        let private = private.map_err(|_| KeyError::Random)?;
        let public = private.compute_public_key().ok().and_then(|key| key.as_ref().try_into().ok());
        Ok(Self { private, public: ExchangeKey::of_bytes(public.ok_or(KeyError::Random)?) })
    }

    /// The public part.
    pub fn public_key(&self) -> ExchangeKey {
        self.public
    }

    /// Returns the two directions of a connection, for the end that has this key: what it sends, and what it receives. `None` if the key of the other
    /// end is none.
    pub fn agree(self, end: End, facts: &Handshake) -> Option<(Sealer, Opener)> {
        let (other, own, others) = match end {
            End::Gateway => (&facts.node_exchange, End::Gateway, End::Node),
            End::Node => (&facts.gateway_exchange, End::Node, End::Gateway),
        };
        let other = UnparsedPublicKey::new(&X25519, other.as_bytes());
        let agreed = agree_ephemeral(self.private, &other, |secret| {
            let secret = Salt::new(HKDF_SHA256, &facts.message(End::Gateway)).extract(secret);
            Some((Sealer(Direction::new(&secret, own)?), Opener(Direction::new(&secret, others)?)))
        });
        agreed.ok().flatten()
    }
}

impl fmt::Debug for Exchange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Exchange").field("public", &self.public).finish_non_exhaustive()
    }
}

/// The frames of one direction.
struct Direction {
    key: LessSafeKey,
    /// The number of the next frame.
    number: u64,
}

impl Direction {
    fn new(secret: &Prk, sender: End) -> Option<Self> {
        let info = [sender.frames()];
        let key = secret.expand(&info, &CHACHA20_POLY1305).ok()?;
        Some(Self { key: LessSafeKey::new(UnboundKey::from(key)), number: 0 })
    }

    /// The nonce of the next frame: each is used once.
    fn nonce(&mut self) -> Option<Nonce> {
        let mut bytes = [0; NONCE_LEN];
        bytes[NONCE_LEN - 8..].copy_from_slice(&self.number.to_be_bytes());
        self.number = self.number.checked_add(1)?;
        Some(Nonce::assume_unique_for_key(bytes))
    }
}

/// Seals the frames that one end sends, in their order.
pub struct Sealer(Direction);

impl Sealer {
    /// Seals a frame. `None` only after more frames than there can be.
    pub fn seal(&mut self, frame: &str) -> Option<Vec<u8>> {
        let nonce = self.0.nonce()?;
        let mut bytes = frame.as_bytes().to_vec();
        self.0.key.seal_in_place_append_tag(nonce, Aad::empty(), &mut bytes).ok()?;
        Some(bytes)
    }
}

impl fmt::Debug for Sealer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sealer").field("number", &self.0.number).finish_non_exhaustive()
    }
}

/// Opens the frames of the other end, in their order.
pub struct Opener(Direction);

impl Opener {
    /// Opens a frame. `None` if it is not the next one that the other end has sealed.
    pub fn open(&mut self, mut bytes: Vec<u8>) -> Option<String> {
        let nonce = self.0.nonce()?;
        let length = self.0.key.open_in_place(nonce, Aad::empty(), &mut bytes).ok()?.len();
        bytes.truncate(length);
        String::from_utf8(bytes).ok()
    }
}

impl fmt::Debug for Opener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Opener").field("number", &self.0.number).finish_non_exhaustive()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::key::{Identity, Nonce as HandshakeNonce};

    fn facts(gateway: &Exchange, node: &Exchange) -> Handshake {
        Handshake {
            gateway_nonce: HandshakeNonce::random().unwrap(),
            node_nonce: HandshakeNonce::random().unwrap(),
            gateway_key: Identity::unstored().unwrap().public_key(),
            node_key: Identity::unstored().unwrap().public_key(),
            gateway_exchange: gateway.public_key(),
            node_exchange: node.public_key(),
            server: "127.0.0.1:4170".to_owned(),
        }
    }

    #[test]
    fn frames_are_opened_by_the_other_end_alone_each_once_and_in_order() {
        let (gateway, node, other) =
            (Exchange::random().unwrap(), Exchange::random().unwrap(), Exchange::random().unwrap());
        let facts = facts(&gateway, &node);
        let (mut of_gateway, mut to_gateway) = gateway.agree(End::Gateway, &facts).unwrap();
        let (mut of_node, mut to_node) = node.agree(End::Node, &facts).unwrap();
        let [first, second] = ["one", "two"].map(|frame| of_gateway.seal(frame).unwrap());
        assert!(!first.windows(3).any(|part| part == b"one"));
        assert_eq!(to_node.open(first.clone()).as_deref(), Some("one"));
        assert_eq!(to_node.open(first), None, "it comes once");
        assert_eq!(to_node.open(second), None, "one before it was refused");
        let answer = of_node.seal("three").unwrap();
        let mut changed = answer.clone();
        changed[0] ^= 1;
        assert_eq!(to_gateway.open(changed), None);
        // Whoever stands between has another key.
        let (_, mut between) = other.agree(End::Gateway, &facts).unwrap();
        assert_eq!(between.open(answer), None);
    }

    #[test]
    fn a_key_of_no_strength_is_refused() {
        let (gateway, node) = (Exchange::random().unwrap(), Exchange::random().unwrap());
        let facts = Handshake { node_exchange: ExchangeKey::of_bytes([0; 32]), ..facts(&gateway, &node) };
        assert!(gateway.agree(End::Gateway, &facts).is_none());
    }
}

//! Nodes: devices that serve their screens, places, notifications and commands to the gateway, as MCP in reverse.
//!
//! ```text
//! hello ──► challenge ──► proof ──► pairing: a code, which the owner approves
//!                               └─► welcome: the node's tools, behind the tool `nodes` of its person's sessions
//! ```
//!
//! A node belongs to a person. Its connection, and each call that waits for it, ends once it is revoked or its person is blocked.

mod attempts;
mod calls;
mod link;

use attempts::Attempts;
pub(crate) use link::{NodeLink, Present};

use std::collections::HashMap;
use std::fmt;
use std::net::IpAddr;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use serde::Serialize;
use tokio_util::sync::CancellationToken;
use toolkit::Toolkit;
use toolkit_mcp::{ClientOptions, SessionServers};
use toolkit_node::handshake::{End, Handshake, NodeHello};
use toolkit_node::seal::{Exchange, Opener, Sealer};
use toolkit_node::{Identity, KeyError, Nonce, PublicKey};

use crate::codes as code;
use crate::people::Window;
use crate::store::{NewPairing, NodeApproval, NodeRecord, NodeState, Store, StoreError};

/// The file of the gateway's key, in the data directory.
pub const GATEWAY_KEY_FILE: &str = "gateway.key";
/// The most tools of a node that are looked at.
const MAX_TOOLS: usize = 32;
/// Wrong codes of a token within a window, after which none is looked at.
const MAX_WRONG_CODES: u32 = 10;
/// Codes that nodes get within a window, each of which is an event: all nodes, and those of one network.
const MAX_PAIRINGS: u32 = 64;
const MAX_PAIRINGS_OF_SOURCE: u32 = 16;
/// The length of the windows.
const WINDOW: Duration = Duration::from_mins(10);
/// The answer to a node that gets no code; nothing more for whoever it is.
const NO_CODE: &str = "no more nodes can be paired now; try again later";

/// The nodes of a gateway. Cheap to clone.
#[derive(Clone)]
pub struct Nodes(Arc<Inner>);

struct Inner {
    store: Store,
    identity: Identity,
    servers: SessionServers,
    at_work: OnceLock<AtWork>,
    /// The nodes that are connected, by id.
    links: Mutex<HashMap<String, Arc<NodeLink>>>,
    pairings: Mutex<Pairings>,
    /// The wrong codes of each token.
    wrong_codes: Mutex<Attempts<String>>,
}

/// Codes that nodes have got.
struct Pairings {
    all: Window,
    of_sources: Attempts<Option<IpAddr>>,
}

pub(crate) struct AtWork {
    toolkit: Toolkit,
    shutdown: CancellationToken,
}

/// A node, as a list shows it.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NodeStatus {
    /// The node.
    #[serde(flatten)]
    pub record: NodeRecord,
    /// The fingerprint of its key.
    pub fingerprint: String,
    /// True if it is connected.
    pub connected: bool,
    /// The actions that it serves now.
    pub actions: Vec<String>,
}

/// The outcome of a request that names a node by its code.
#[derive(Debug)]
pub(crate) enum ByCode {
    /// The node with this code.
    Node(Box<NodeStatus>),
    /// The node with this code has another key than the one that was shown: its fingerprint.
    OtherKey(String),
    /// No node with this code waits.
    Unknown,
    /// Too many codes were wrong lately; so long to wait.
    TooMany(Duration),
}

/// A handshake that a node has begun: its nonces count for one proof.
pub(crate) struct Begun {
    hello: NodeHello,
    facts: Handshake,
    exchange: Exchange,
}

/// The answer to a node that asks for a code.
pub(crate) enum Pairing {
    /// The code by which the owner approves it.
    Code(String),
    /// It is approved already, under this id.
    Approved(String),
}

/// The standing of a node whose key is proved.
pub(crate) enum Standing {
    /// It may connect.
    Approved(Box<NodeRecord>),
    /// It may not any more.
    Revoked,
    /// The owner has not approved it, or its person is blocked.
    Unknown,
}

impl Nodes {
    /// Reads the key of the gateway, or makes it with its file.
    ///
    /// # Errors
    ///
    /// The file cannot be used, or the system has no random numbers.
    pub async fn open(store: Store, data_dir: &Path) -> Result<Self, KeyError> {
        let file = data_dir.join(GATEWAY_KEY_FILE);
        let opened = tokio::task::spawn_blocking(move || Identity::open(&file)).await;
        let identity = opened.unwrap_or(Err(KeyError::Random))?;
        let options = ClientOptions::new().named("toolkit-gateway", env!("CARGO_PKG_VERSION"));
        let servers = SessionServers::new(options.most_tools(MAX_TOOLS));
        Ok(Self(Arc::new(Inner {
            store,
            identity,
            servers,
            at_work: OnceLock::new(),
            links: Mutex::default(),
            pairings: Mutex::new(Pairings {
                all: Window::new(WINDOW),
                of_sources: Attempts::new(MAX_PAIRINGS_OF_SOURCE, WINDOW),
            }),
            wrong_codes: Mutex::new(Attempts::new(MAX_WRONG_CODES, WINDOW)),
        })))
    }

    /// Lets nodes come. Must be called within a tokio runtime.
    pub fn begin(&self, toolkit: &Toolkit, shutdown: CancellationToken) {
        let _ = self.0.at_work.set(AtWork { toolkit: toolkit.clone(), shutdown });
    }

    /// The public key of the gateway.
    pub fn public_key(&self) -> PublicKey {
        self.0.identity.public_key()
    }

    /// Lists the nodes of a person, or all.
    ///
    /// # Errors
    ///
    /// The store cannot be read.
    pub async fn list(&self, person: Option<String>) -> Result<Vec<NodeStatus>, StoreError> {
        let nodes = self.0.store.nodes(person).await?;
        Ok(nodes.into_iter().map(|record| self.status(record)).collect())
    }

    fn status(&self, record: NodeRecord) -> NodeStatus {
        let link = self.link(&record.id);
        let actions = link.as_ref().map(|link| link.actions()).unwrap_or_default();
        let fingerprint = record.key.parse().map(|key: PublicKey| key.fingerprint()).unwrap_or_default();
        NodeStatus { fingerprint, connected: link.is_some(), actions, record }
    }

    /// Finds the node that shows a code, before it is approved. Wrong codes count for the token by which the request came.
    pub(crate) async fn waiting(&self, code: &str, token: &str) -> Result<ByCode, StoreError> {
        self.by_code(code, token, async |digest| {
            let node = self.0.store.pending_node(digest).await?;
            Ok(node.map_or(ByCode::Unknown, |node| ByCode::Node(Box::new(self.status(node)))))
        })
        .await
    }

    /// Approves the node that shows a code, for a person, if its key has the fingerprint that `by` has seen.
    pub(crate) async fn approve(
        &self,
        (code, fingerprint): (&str, String),
        person: String,
        (by, token): (String, &str),
    ) -> Result<ByCode, StoreError> {
        self.by_code(code, token, async |digest| {
            let approval = self.0.store.approve_node(digest, fingerprint, person, by).await?;
            Ok(match approval {
                NodeApproval::Approved(node) => {
                    tracing::info!(node = node.id, "a node was approved");
                    ByCode::Node(Box::new(self.status(node)))
                }
                NodeApproval::OtherKey(node) => {
                    tracing::warn!(
                        node = node.id,
                        "a node was not approved: its key is not the one that was shown"
                    );
                    ByCode::OtherKey(self.status(node).fingerprint)
                }
                NodeApproval::Unknown => ByCode::Unknown,
            })
        })
        .await
    }

    /// Looks for the digest of a code, unless a token had too many wrong ones.
    async fn by_code(
        &self,
        code: &str,
        token: &str,
        find: impl AsyncFnOnce(String) -> Result<ByCode, StoreError>,
    ) -> Result<ByCode, StoreError> {
        let wrong_codes = || self.0.wrong_codes.lock().unwrap_or_else(PoisonError::into_inner);
        let now = self.0.store.clock().now();
        let token = token.to_owned();
        if let Some(wait) = wrong_codes().wait(&token, now) {
            return Ok(ByCode::TooMany(wait));
        }
        let found = match code::normalized(code) {
            Some(code) => find(code::digest(&code)).await?,
            None => ByCode::Unknown,
        };
        if matches!(found, ByCode::Unknown) {
            wrong_codes().note(token, now);
        }
        Ok(found)
    }

    /// Counts a code for a node of a network. Returns false if there were too many.
    fn may_pair(&self, source: Option<IpAddr>) -> bool {
        let now = self.0.store.clock().now();
        let mut pairings = self.0.pairings.lock().unwrap_or_else(PoisonError::into_inner);
        // First: those of one network take no codes of others.
        if pairings.of_sources.wait(&source, now).is_some() || pairings.all.note(now).0 >= MAX_PAIRINGS {
            return false;
        }
        pairings.of_sources.note(source, now);
        true
    }

    /// Revokes a node, and ends its connection and every call that waits for it. Returns false if there is none.
    pub(crate) async fn revoke(&self, id: &str) -> Result<bool, StoreError> {
        let is_revoked = self.0.store.revoke_node(id.to_owned()).await?;
        if let Some(link) = self.link(id) {
            link.end(link::REVOKED);
        }
        if is_revoked {
            tracing::info!(node = id, "a node was revoked");
        }
        Ok(is_revoked)
    }

    /// Begins the handshake of one connection. Returns it with the signature of the gateway.
    pub(crate) fn challenge(&self, hello: NodeHello) -> Result<(Begun, String), KeyError> {
        let exchange = Exchange::random()?;
        let facts = Handshake {
            gateway_nonce: Nonce::random()?,
            node_nonce: hello.nonce,
            gateway_key: self.public_key(),
            node_key: hello.key,
            gateway_exchange: exchange.public_key(),
            node_exchange: hello.exchange,
            server: hello.server.clone(),
        };
        let signature = facts.sign(End::Gateway, &self.0.identity);
        Ok((Begun { hello, facts, exchange }, signature))
    }

    /// Gives a node whose key is proved a code, by which the owner approves it. `source` is the network from which it asks.
    ///
    /// # Errors
    ///
    /// Too many nodes ask, or the store failed. The text is for the node.
    pub(crate) async fn pair(&self, hello: NodeHello, source: Option<IpAddr>) -> Result<Pairing, String> {
        if !self.may_pair(source) {
            return Err(NO_CODE.to_owned());
        }
        let code = code::random().map_err(|error| error.to_string())?;
        let suffix = code::suffix().map_err(|error| error.to_string())?;
        let new = NewPairing {
            id: format!("{}-{suffix}", hello.name),
            key: hello.key.to_string(),
            name: hello.name,
            platform: hello.platform,
            code: code::digest(&code),
            source,
        };
        let id = new.id.clone();
        let node = self.0.store.begin_pairing(new).await.map_err(|error| {
            tracing::warn!(%error, "a node could not ask for approval");
            NO_CODE.to_owned()
        })?;
        if node.state == NodeState::Approved {
            return Ok(Pairing::Approved(node.id));
        }
        let fingerprint = hello.key.fingerprint();
        tracing::warn!(node = id, fingerprint, "a node asks for approval; `toolkit gateway nodes` lists it");
        Ok(Pairing::Code(code))
    }

    /// Returns the standing of a node whose key is proved.
    pub(crate) async fn standing(&self, key: &PublicKey) -> Result<Standing, StoreError> {
        Ok(match self.0.store.node_of_key(key.to_string()).await? {
            Some((node, _)) if node.state == NodeState::Revoked => Standing::Revoked,
            Some((node, false)) if node.state == NodeState::Approved => Standing::Approved(Box::new(node)),
            _ => Standing::Unknown,
        })
    }

    /// Makes the connection of a node its present one, with a time limit of its calls. Its earlier one ends.
    pub(crate) fn connect(&self, record: &NodeRecord, call_within: Duration) -> Present {
        let link = Arc::new(NodeLink::new(record, call_within));
        let before = self.links().insert(record.id.clone(), Arc::clone(&link));
        if let Some(before) = before {
            before.end(link::REPLACED);
        }
        Present { nodes: self.clone(), link }
    }

    fn link(&self, id: &str) -> Option<Arc<NodeLink>> {
        self.links().get(id).cloned()
    }

    fn links(&self) -> MutexGuard<'_, HashMap<String, Arc<NodeLink>>> {
        self.0.links.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Begun {
    pub(crate) fn facts(&self) -> &Handshake {
        &self.facts
    }

    /// Returns the node, and the two directions of its connection, if the signature is its own for this very connection.
    pub(crate) fn proved(self, signature: &str) -> Option<(NodeHello, Sealer, Opener)> {
        let Self { hello, facts, exchange } = self;
        if !facts.is_signed(End::Node, signature) {
            return None;
        }
        let (sealer, opener) = exchange.agree(End::Gateway, &facts)?;
        Some((hello, sealer, opener))
    }
}

impl fmt::Debug for Nodes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Nodes").field("key", &self.public_key()).finish_non_exhaustive()
    }
}

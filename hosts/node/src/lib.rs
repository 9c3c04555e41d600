//! Nodes: devices that serve their screens, places, notifications and commands to a gateway.
//!
//! ```text
//! pair ──► a code, which the owner approves; the key of the gateway is pinned
//! run  ──► handshake ──► the tools of this device, as MCP in reverse ──► again, whenever the connection drops
//! ```
//!
//! A node has a key of its own in its [`NodeDirectory`], and accepts no gateway but the one whose key it has pinned. The [`handshake`] and the
//! [`seal`] of the frames after it are shared with the gateway; the rest is the device, with the feature `device`.

#[cfg(feature = "device")]
mod address;
#[cfg(feature = "device")]
mod device;
#[cfg(feature = "device")]
mod dial;
#[cfg(feature = "device")]
mod directory;
pub mod handshake;
mod key;
#[cfg(feature = "device")]
mod notify;
#[cfg(feature = "device")]
mod screenshot;
pub mod seal;
#[cfg(feature = "device")]
mod session;
#[cfg(feature = "device")]
mod settings;
#[cfg(feature = "device")]
mod tools;

#[cfg(feature = "device")]
pub use address::{Address, AddressError};
#[cfg(feature = "device")]
pub use device::{NodeError, Paired, Step, pair, run};
#[cfg(feature = "device")]
pub use dial::DialError;
#[cfg(feature = "device")]
pub use directory::{DirectoryError, NodeDirectory, Pin};
pub use key::{ExchangeKey, Identity, KeyError, Nonce, PublicKey};
#[cfg(feature = "device")]
pub use session::SessionError;
#[cfg(feature = "device")]
pub use settings::{NodeLocation, NodeSettings};
#[cfg(feature = "device")]
pub use tools::{Commands, Device};

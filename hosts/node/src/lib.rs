//! Nodes: devices that serve their screen, place, notifications and commands to a gateway.
//!
//! A node has a key of its own, pins the key of its gateway, and is approved by the owner with a code. The [`handshake`] is shared with the
//! gateway; the rest is the device, with the feature `device`.

pub mod handshake;
mod key;

pub use key::{Identity, KeyError, Nonce, PublicKey};

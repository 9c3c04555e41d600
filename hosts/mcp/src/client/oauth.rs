//! Sign-in to servers that require authentication, for requests that are refused without it.
//!
//! ```text
//! request ── with the token that is kept ── refused ── a new token for the old one ── refused ──┐
//!    ↑                                                                                          │
//!    └── kept ── code for a token ── a person signs in ── register ── find who decides ─────────┘
//! ```

mod authority;
mod authorize;
mod challenge;
mod client;
mod loopback;
mod resource;
mod store;

pub(super) use authority::Authority;
pub(super) use client::SignedIn;
pub use loopback::Loopback;
pub use store::forget_sign_ins;

//! Serving clients over HTTP.
//!
//! ```text
//! Listening                       accepts, as many connections as it may have
//!   └─ Cors                       answers browsers that ask for a page of another origin
//!        └─ Bearer                refuses requests without a known token; names the principal and the revocation of its token
//!             └─ HttpService      a tower service: the body whole, in time and within its limit
//!                  └─ rmcp        Host, Origin, the protocol's headers
//!                       ├─ ProtocolSessions   its sessions: their principals, their use, the answers that are kept
//!                       └─ ToolServer         one for each session of the protocol; without one, for each principal or connection
//! ```

mod bearer;
mod cors;
mod layer;
mod listening;
mod path;
mod recorded;
mod revoked;
mod service;
mod sessions;
mod stored_answers;
mod tokens;

pub use bearer::{Bearer, new_token};
pub use cors::Cors;
pub use listening::serve_http;
pub use path::{AtPath, at_path};
pub use service::{HttpBody, HttpOptions, HttpService};
pub use tokens::ClientTokens;

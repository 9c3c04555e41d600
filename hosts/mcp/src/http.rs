//! Serving clients over HTTP.
//!
//! ```text
//! Listening                  accepts, as many connections as it may have
//!   └─ Bearer                refuses who does not have the token
//!        └─ HttpService      a tower service: the body whole, in time and within its limit
//!             └─ rmcp        Host, Origin, the protocol's headers, its sessions
//!                  └─ ToolServer   one for each session, one for each principal without one
//! ```

mod bearer;
mod listening;
mod path;
mod service;

pub use bearer::{Bearer, new_token};
pub use listening::serve_http;
pub use path::{AtPath, at_path};
pub use service::{HttpBody, HttpOptions, HttpService};

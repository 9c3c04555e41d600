//! Serving clients over HTTP, behind the layers of `toolkit-serve`.
//!
//! ```text
//! HttpService                     a tower service: the body whole, in time and within its limit
//!   └─ rmcp                       Host, Origin, the protocol's headers
//!        ├─ ProtocolSessions      its sessions: their principals, their use, the answers that are kept
//!        └─ ToolServer            one for each session of the protocol; without one, for each principal or connection
//! ```

mod ending;
mod recorded;
mod service;
mod sessions;
mod stored_answers;
mod until_end;

pub use service::{HttpBody, HttpOptions, HttpService, cors};

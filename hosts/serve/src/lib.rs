//! Serves HTTP for hosts: everything between a socket and a service that answers, without knowledge of what is served.
//!
//! ```text
//! serve                  accepts connections, as many as it may have; lets them upgrade; ends them with a token or the server
//!   └─ Addressed         refuses requests for other hosts and from pages of other origins
//!        └─ Cors         answers browsers that ask for a page of another origin
//!             └─ Bearer  refuses requests without a known token; names the principal and the revocation of its token
//!                  └─ Bounded   limits bodies and open streams
//!                       └─ a service: routes of axum, MCP, a WebSocket
//! ```
//!
//! Each layer is a tower service around another one, and can be left out. A refusal is a [`Problem`], as RFC 9457 describes it.
//!
//! `axum` itself answers in plain text, or with nothing, where an extractor rejects a request or a route does not take its method. For problems
//! there too, a handler takes `Result<Json<T>, JsonRejection>` and uses `?`, which converts the rejection into a [`Problem`], and the router has
//! a `fallback` and a `method_not_allowed_fallback`. The guide *Hosting* has a whole server. Of `axum`, the features `json` and `matched-path`
//! are on; a program that needs another one, such as `query`, names `axum` in its own `Cargo.toml`, with this feature.
//!
//! Without the feature `http` only [`Principal`], [`Connection`] and [`Revocation`] are there. The feature `routes` is for services of `axum`,
//! `tls` for listeners with a certificate, and `websocket` adds [`websocket`].

#[cfg(feature = "http")]
mod addressed;
#[cfg(feature = "http")]
mod addresses;
#[cfg(feature = "http")]
mod bearer;
#[cfg(feature = "http")]
mod body;
#[cfg(feature = "http")]
mod bounded;
mod connection;
#[cfg(feature = "http")]
mod cors;
#[cfg(feature = "http")]
mod layer;
#[cfg(feature = "http")]
mod listening;
#[cfg(feature = "http")]
mod origin;
#[cfg(feature = "http")]
mod path;
mod principal;
#[cfg(feature = "http")]
mod problem;
#[cfg(feature = "routes")]
mod query;
#[cfg(feature = "routes")]
mod rejection;
#[cfg(feature = "http")]
mod request_body;
#[cfg(feature = "http")]
mod revoked;
#[cfg(feature = "http")]
mod shared_token;
#[cfg(feature = "http")]
mod stalled;
#[cfg(feature = "tls")]
mod tls;
#[cfg(feature = "http")]
mod tokens;
#[cfg(feature = "http")]
mod upgrades;
#[cfg(feature = "websocket")]
pub mod websocket;

#[cfg(feature = "http")]
pub use addressed::Addressed;
#[cfg(feature = "routes")]
pub use axum;
#[cfg(feature = "http")]
pub use bearer::Bearer;
#[cfg(feature = "http")]
pub use body::AnswerBody;
#[cfg(feature = "routes")]
pub use body::in_pieces;
#[cfg(feature = "http")]
pub use bounded::Bounded;
pub use connection::Connection;
#[cfg(feature = "http")]
pub use cors::Cors;
#[cfg(feature = "http")]
#[doc(hidden)]
pub use listening::Listener;
#[cfg(feature = "http")]
pub use listening::{AsListener, ServeOptions, Serving, serve, serve_with};
#[cfg(feature = "http")]
pub use path::{AtPath, at_path};
pub use principal::{Principal, Revocation};
#[cfg(feature = "http")]
pub use problem::Problem;
#[cfg(feature = "routes")]
pub use query::Query;
#[cfg(feature = "http")]
pub use request_body::{BodyLimits, whole};
#[cfg(feature = "tls")]
pub use tls::{Tls, TlsListener};
#[cfg(feature = "http")]
pub use tokens::{ClientTokens, new_token};

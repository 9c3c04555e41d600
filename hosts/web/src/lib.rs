//! Serves the tools of a toolkit over HTTP: their list and schemas, a check of arguments, calls with their events, and an `OpenAPI` description of
//! all that.
//!
//! ```no_run
//! use toolkit::prelude::*;
//! use toolkit_web::Tokens;
//!
//! /// Adds two numbers.
//! #[tool(group = "math", read_only)]
//! async fn add(/** One. */ a: i64, /** Other. */ b: i64) -> String {
//!     (a + b).to_string()
//! }
//!
//! #[tokio::main(flavor = "current_thread")]
//! async fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let toolkit = Toolkit::builder().build()?;
//!     let listener = tokio::net::TcpListener::bind("127.0.0.1:4180").await?;
//!     toolkit_web::serve(toolkit, Tokens::shared("a-long-random-token"), listener, toolkit::CancellationToken::new()).await?;
//!     Ok(())
//! }
//! ```
//!
//! ```text
//! Addressed            refuses other hosts, and pages of other origins
//!   └─ Cors            answers browsers that ask for a page of another origin
//!        └─ Bearer     finds the client of the token
//!             └─ Bounded   limits bodies, and the requests and streams that a client has open
//!                  └─ Access   the client's rights, in the extensions of the request
//!                       └─ the routes of Web
//! ```
//!
//! A host with clients, tokens and routes of its own takes only the [routes](Web::tool_routes), and adds an [`Access`] to the extensions of each request.
//!
//! Each client has one session, and keyed calls, stored files and questions of its own. Every call goes through
//! [`Toolbox::call_with`](toolkit::Toolbox::call_with). Every error is a problem (RFC 9457). The guide *Tools over HTTP*, `docs/http.md`, describes the
//! routes, errors and limits.

mod accept;
mod access;
mod answer;
mod asks;
mod body;
mod calls;
mod clients;
mod console;
mod counts;
mod describe;
mod events;
mod files;
mod keys;
mod last_calls;
mod limits;
mod media;
mod metrics;
mod openapi;
mod options;
mod problems;
mod result;
mod room;
mod routes;
mod running;
mod service;
mod tools;
mod web;

pub use access::{Access, Asking};
pub use console::{Console, ConsolePages};
pub use counts::CallCounts;
pub use openapi::Description;
pub use options::WebOptions;
pub use service::{ServeError, Service, Serving, Tokens, serve};
pub use toolkit_serve::{ClientTokens, new_token};
pub use web::Web;

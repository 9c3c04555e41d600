//! Serves a toolkit to clients of the [Model Context Protocol](https://modelcontextprotocol.io): editors, chat apps, agents. And brings in
//! the tools of its servers: `McpServers`, with the feature `client`.
//!
//! ```no_run
//! use toolkit::prelude::*;
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
//!     toolkit_mcp::serve_stdio(toolkit, Caller::new()).await?;
//!     Ok(())
//! }
//! ```
//!
//! Every call goes through [`Toolbox::call_with`](toolkit::Toolbox::call_with): invalid arguments and failures of tools are results with
//! `isError`, which the model reads; protocol errors are for requests that are not calls at all.
//!
//! Approval requests of tools go to the client, by elicitation. Up to version 2025-11-25 of the protocol that is a separate request; from
//! 2026-07-28 on the call returns with the request and is repeated with the answer. A client without elicitation counts as a host without a
//! user, and is not shown tools of which every call would be denied. [`ServerOptions::client_approves`] relies on the client's own approval
//! of calls instead.
//!
//! A tool that needs more of its client than the user's answers, such as its model, gets the `rmcp::service::Peer<RoleServer>` with
//! [`ToolContext::attached`](toolkit::ToolContext::attached).
//!
//! A handler of your own, with prompts, resources or completions, forwards requests about tools to a [`ToolServer`], whose methods are
//! those of [`ServerHandler`](rmcp::ServerHandler).

#[cfg(feature = "client")]
mod client;
#[cfg(feature = "http")]
mod http;
mod level;
mod other_names;
#[cfg_attr(not(feature = "client"), expect(dead_code, reason = "only a client looks for answers"))]
mod scan;
mod server;
mod settings;
mod sorted;
mod stdio;
mod turns;

#[cfg(feature = "http")]
pub use crate::http::{HttpBody, HttpOptions, HttpService, cors};
#[cfg(feature = "client")]
pub use client::{
    Attached, AttachedCalls, ClientOptions, DeferredCall, DeferredCalls, McpServers, ProjectProgram,
    Sampling, SamplingAnswer, ServerState, ServerStatus, SessionServer, SessionServers, project_programs,
};
#[cfg(feature = "oauth")]
pub use client::{Loopback, SignIn, SigningIn, forget_sign_ins};
pub use server::{Answerers, ServerOptions, ToolServer};
pub use settings::{
    McpCommand, McpGrant, McpOAuth, McpOff, McpSandbox, McpServerSettings, McpTransport, McpUnavailable,
    McpUrl,
};
pub use stdio::{ServeError, serve_lines, serve_stdio, serve_stdio_with};
#[cfg(feature = "http")]
pub use toolkit_serve::{AtPath, Bearer, ClientTokens, Cors, at_path, new_token, serve as serve_http};
pub use toolkit_serve::{Connection, Principal, Revocation};

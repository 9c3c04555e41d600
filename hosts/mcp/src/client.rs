//! The client: tools of servers elsewhere as tools of a toolkit.

mod asked;
mod attached_calls;
mod base64;
mod bounded;
mod call;
mod calls;
mod configured;
mod connect;
mod connection;
mod deferred;
mod events;
mod execution;
mod failure;
mod follow;
mod forgotten;
mod handler;
mod http;
mod known;
mod launch;
mod limited;
mod lines;
mod log;
mod media;
mod names;
#[cfg(feature = "oauth")]
mod oauth;
mod offered;
mod options;
mod other_names;
mod output;
mod post;
mod programs;
mod prompts;
mod resources;
mod sampling;
mod server;
mod servers;
mod session;
#[cfg(feature = "oauth")]
mod sign_in;
mod spawn;
mod sse;
mod structured;
mod surrogates;
mod tools;
mod unreadable;
mod visible;

pub use attached_calls::AttachedCalls;
pub use deferred::{DeferredCall, DeferredCalls};
#[cfg(feature = "oauth")]
pub use oauth::{Loopback, forget_sign_ins};
pub use options::ClientOptions;
pub use programs::{ProjectProgram, project_programs};
pub use sampling::{Sampling, SamplingAnswer};
pub use servers::{McpServers, ServerState, ServerStatus};
pub use session::{Attached, SessionServer, SessionServers};
#[cfg(feature = "oauth")]
pub use sign_in::{SignIn, SigningIn};

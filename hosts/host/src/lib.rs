//! The composition of a host: from a configuration to a toolkit with models, MCP servers, agents and clean-up.
//!
//! ```no_run
//! use std::time::Duration;
//! use toolkit::config::LoadOptions;
//! use toolkit_host::toolkit_agent::{DelegationRequest, Observer};
//! use toolkit_host::{AgentOptions, Host};
//!
//! #[tokio::main(flavor = "current_thread")]
//! async fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     toolkit_host::init();
//!     let host = Host::builder(LoadOptions::of_process(".")).build()?;
//!     let agent = host.agent(host.caller(), AgentOptions::new())?.build();
//!     let result = agent.run(DelegationRequest::new("List the open tasks."), Observer::none()).await;
//!     println!("{}", result.summary);
//!     host.shutdown(Duration::from_secs(5)).await;
//!     Ok(())
//! }
//! ```
//!
//! [`HostBuilder`] lists the parts and their defaults. A part that the program does not need is switched off there, or with its feature. Tools
//! and services of the program come with [`HostBuilder::toolkit`].
//!
//! # Features
//!
//! `browser`, `canvas`, `fs`, `media`, `runtime` and `web`, on by default, link the builtin tools of these groups. `mcp`, on by default, brings in
//! the tools of MCP servers; `agent`, on by default, brings models, for agents and for the tools that ask a model. `memory`, `llm-task`,
//! `telegram` and `whatsapp` link the plugins of these names. `automation` links the tool for jobs, which a host with an `automation::JobService` has.

#[cfg(feature = "agent")]
mod agents;
#[cfg(all(
    feature = "agent",
    any(feature = "llm-task", feature = "mcp", feature = "media", feature = "web")
))]
mod asked_model;
mod builder;
#[cfg(feature = "agent")]
mod endpoint_meter;
mod error;
mod host;
#[cfg(feature = "agent")]
mod models;
#[cfg(all(feature = "agent", feature = "web"))]
mod page_reader;
#[cfg(all(feature = "agent", feature = "media"))]
mod picture_reader;
#[cfg(feature = "agent")]
mod retention;
#[cfg(all(feature = "agent", feature = "mcp"))]
mod sampling;
#[cfg(feature = "mcp")]
mod servers;
#[cfg(all(feature = "agent", feature = "llm-task"))]
mod task_model;

#[cfg(feature = "agent")]
pub use agents::{AgentOptions, transcripts_of};
pub use builder::{HostBuilder, PreparedHost};
pub use error::HostError;
pub use host::Host;
#[cfg(feature = "mcp")]
pub use servers::McpSelection;
#[cfg(all(feature = "agent", feature = "mcp"))]
pub use servers::servers_of_editor;
#[cfg(feature = "mcp")]
pub use toolkit_mcp;
#[cfg(feature = "agent")]
pub use {toolkit_agent, toolkit_models};

toolkit::link!(
    #[cfg(any(feature = "automation", feature = "browser", feature = "canvas", feature = "fs", feature = "media", feature = "runtime", feature = "web"))]
    core: builtin_tools,
    #[cfg(feature = "llm-task")]
    toolkit_llm_task,
    #[cfg(feature = "memory")]
    toolkit_memory,
    #[cfg(feature = "telegram")]
    toolkit_telegram,
    #[cfg(feature = "whatsapp")]
    toolkit_whatsapp,
);

/// Begins `main` of a host that runs commands. If this process was started to supervise commands, it does that, and this function does not
/// return. Otherwise the limit of open files is raised to the hard one, at most to 65,536; commands keep the limit of before. Where the
/// addresses of the process are limited (`ulimit -v`), its threads share the arenas of the allocator.
pub fn init() {
    #[cfg(any(
        feature = "browser",
        feature = "mcp",
        feature = "media",
        feature = "runtime",
        feature = "web"
    ))]
    {
        toolkit_sandbox::init();
        toolkit_sandbox::raise_descriptor_limit();
        toolkit_sandbox::share_arenas();
    }
}

/// Gives the tools that this crate links precedence over those that the program links. [`HostBuilder`] does this; a program that builds a
/// toolkit without it calls this function.
pub fn links_first(toolkit: toolkit::Builder) -> toolkit::Builder {
    toolkit.links_first("toolkit_host")
}

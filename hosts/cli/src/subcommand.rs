//! The traits of a subcommand.

use crate::console::Console;
use crate::exit::{Exit, Stop};
use crate::format::Format;
#[cfg(feature = "mcp")]
use crate::server_status;
use std::cell::OnceCell;
use std::fmt;
use tokio::runtime::Runtime;
use toolkit::{BuildError, Builder, Caller, Toolbox, config::LoadOptions, registry::Diagnostic};
#[cfg(feature = "mcp")]
use toolkit_host::McpSelection;
use toolkit_host::{Host, HostBuilder};

/// A parsed subcommand.
#[derive(Debug)]
pub(crate) enum Request {
    /// One that needs no toolkit with the configuration, or makes its own.
    AtOnce(Box<dyn RunAtOnce>),
    /// One that works with the toolkit.
    Run(Box<dyn Run>),
}

/// Returns the request of a subcommand that needs no toolkit.
pub(crate) fn at_once(subcommand: impl RunAtOnce + 'static) -> Request {
    Request::AtOnce(Box::new(subcommand))
}

/// Returns the request of a subcommand that works with the toolkit.
pub(crate) fn run(subcommand: impl Run + 'static) -> Request {
    Request::Run(Box::new(subcommand))
}

impl Request {
    /// Returns the profile of tools that the subcommand names.
    pub(crate) fn profile(&self) -> Option<&str> {
        match self {
            Self::AtOnce(subcommand) => subcommand.profile(),
            Self::Run(subcommand) => subcommand.profile(),
        }
    }
}

/// The values that a subcommand starts with.
pub(crate) struct Start<'a> {
    /// The toolkit without a configuration.
    pub(crate) toolkit: Builder,
    pub(crate) load: LoadOptions,
    pub(crate) caller: Caller,
    pub(crate) format: Format,
    /// Converts the error of a toolkit that cannot be built.
    pub(crate) cannot_build: &'a dyn Fn(BuildError) -> Stop,
}

/// A parsed subcommand that needs no toolkit with the configuration, or makes its own.
pub(crate) trait RunAtOnce: fmt::Debug {
    /// Runs the subcommand.
    fn run(&self, start: Start<'_>, console: &mut Console<'_>) -> Result<Exit, Stop>;

    /// Returns the value that overrides `tools.profile`.
    fn profile(&self) -> Option<&str> {
        None
    }
}

/// The values that a subcommand runs with.
pub(crate) struct Context<'a> {
    pub(crate) host: &'a Host,
    /// The name of the command.
    pub(crate) program: &'a str,
    pub(crate) runtime: &'a Runtime,
    pub(crate) format: Format,
    /// True if the request is about one tool, so that it waits for a server that is slow to start.
    #[cfg(feature = "mcp")]
    pub(crate) waits_for_servers: bool,
    pub(crate) toolbox: OnceCell<Toolbox>,
}

impl Context<'_> {
    /// Returns the tools of the caller. The first call starts MCP servers and prints those that are unavailable.
    pub(crate) fn toolbox(&self, console: &mut Console<'_>) -> &Toolbox {
        let is_first = self.toolbox.get().is_none();
        let toolbox = self.toolbox.get_or_init(|| {
            let resolve = || self.runtime.block_on(self.host.toolbox(self.host.caller()));
            let toolbox = resolve();
            #[cfg(feature = "mcp")]
            if self.waits_for_servers && server_status::note_slow(self.host.mcp_servers(), console) {
                self.runtime.block_on(self.host.mcp_servers().start(self.host.toolkit()));
                return resolve();
            }
            toolbox
        });
        if is_first {
            self.note_servers(console);
        }
        toolbox
    }

    #[cfg(feature = "mcp")]
    fn note_servers(&self, console: &mut Console<'_>) {
        server_status::note(self.host.mcp_servers(), console);
    }

    #[cfg(not(feature = "mcp"))]
    #[expect(clippy::unused_self, reason = "the form with MCP servers")]
    fn note_servers(&self, _console: &mut Console<'_>) {}

    /// Returns the diagnostics of the MCP servers that are started.
    #[cfg(feature = "mcp")]
    pub(crate) fn noticed(&self) -> Vec<Diagnostic> {
        server_status::noticed(self.host.mcp_servers())
    }

    /// Returns no diagnostics: there are no MCP servers.
    #[cfg(not(feature = "mcp"))]
    #[expect(clippy::unused_self, reason = "the form with MCP servers")]
    pub(crate) fn noticed(&self) -> Vec<Diagnostic> {
        Vec::new()
    }
}

/// A parsed subcommand that works with the toolkit.
pub(crate) trait Run: fmt::Debug {
    /// Runs the subcommand.
    fn run(&self, context: &Context<'_>, console: &mut Console<'_>) -> Result<Exit, Stop>;

    /// Switches on the parts of the host that the subcommand needs.
    fn prepare(&self, host: HostBuilder) -> HostBuilder {
        host
    }

    /// Returns the value that overrides `tools.profile`.
    fn profile(&self) -> Option<&str> {
        None
    }

    /// Returns the MCP servers whose tools the subcommand needs; only these are started.
    #[cfg(feature = "mcp")]
    fn servers(&self) -> McpSelection {
        McpSelection::None
    }

    /// Returns true if the subcommand prints all diagnostics, so that they are not printed before it.
    fn shows_diagnostics(&self) -> bool {
        false
    }
}

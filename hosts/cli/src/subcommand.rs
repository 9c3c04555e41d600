//! The traits of a subcommand.

use crate::console::Console;
use crate::exit::{Exit, Stop};
use crate::format::Format;
#[cfg(feature = "mcp")]
use crate::server_status;
use std::cell::OnceCell;
use std::fmt;
#[cfg(any(feature = "agent", feature = "mcp"))]
use std::path::Path;
use tokio::runtime::Runtime;
use toolkit::{BuildError, Builder, Caller, Toolbox, Toolkit, config::LoadOptions, registry::Diagnostic};
#[cfg(feature = "mcp")]
use toolkit_mcp::McpServers;

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
    pub(crate) toolkit: &'a Toolkit,
    pub(crate) caller: &'a Caller,
    #[cfg(any(feature = "agent", feature = "mcp"))]
    pub(crate) load: &'a LoadOptions,
    /// The name of the command.
    pub(crate) program: &'a str,
    pub(crate) runtime: &'a Runtime,
    pub(crate) format: Format,
    /// The MCP servers that [`Run::servers`] names.
    #[cfg(feature = "mcp")]
    pub(crate) servers: &'a McpServers,
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
            let resolve = || self.runtime.block_on(self.toolkit.toolbox(self.caller));
            let toolbox = resolve();
            #[cfg(feature = "mcp")]
            if self.waits_for_servers && server_status::note_slow(self.servers, console) {
                self.runtime.block_on(self.servers.start(self.toolkit));
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
        server_status::note(self.servers, console);
    }

    #[cfg(not(feature = "mcp"))]
    #[expect(clippy::unused_self, reason = "the form with MCP servers")]
    fn note_servers(&self, _console: &mut Console<'_>) {}

    /// Returns the diagnostics of the MCP servers that are started.
    #[cfg(feature = "mcp")]
    pub(crate) fn noticed(&self) -> Vec<Diagnostic> {
        server_status::noticed(self.servers)
    }

    /// Returns no diagnostics: there are no MCP servers.
    #[cfg(not(feature = "mcp"))]
    #[expect(clippy::unused_self, reason = "the form with MCP servers")]
    pub(crate) fn noticed(&self) -> Vec<Diagnostic> {
        Vec::new()
    }

    /// Returns the data directory, if there is one.
    #[cfg(any(feature = "agent", feature = "mcp"))]
    pub(crate) fn data_dir(&self) -> Option<&Path> {
        self.load.data_dir_path()
    }
}

/// The MCP servers that a subcommand needs.
#[cfg(feature = "mcp")]
#[derive(Debug, Clone, Copy)]
pub(crate) enum Only<'a> {
    All,
    /// That of the tool, if it is known.
    Tool(&'a str),
    Server(&'a str),
    None,
}

/// A parsed subcommand that works with the toolkit.
pub(crate) trait Run: fmt::Debug {
    /// Runs the subcommand.
    fn run(&self, context: &Context<'_>, console: &mut Console<'_>) -> Result<Exit, Stop>;

    /// Adds what the subcommand needs to the toolkit.
    fn prepare(&self, toolkit: Builder, _load: &LoadOptions) -> Builder {
        toolkit
    }

    /// Returns the value that overrides `tools.profile`.
    fn profile(&self) -> Option<&str> {
        None
    }

    /// Returns true if the subcommand runs until its user ends it.
    fn may_last(&self) -> bool {
        false
    }

    /// Returns the MCP servers whose tools the subcommand needs; only these are started.
    #[cfg(feature = "mcp")]
    fn servers(&self) -> Only<'_> {
        Only::None
    }

    /// Returns true if the subcommand prints all diagnostics, so that they are not printed before it.
    fn shows_diagnostics(&self) -> bool {
        false
    }
}

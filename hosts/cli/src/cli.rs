//! The command line program, from its arguments to the exit code.

use crate::config;
use crate::console::Console;
use crate::exit::{Exit, Stop};
use crate::options::{self, Options};
use crate::runtime;
use crate::signals;
use crate::subcommand::{Context, Request, Start};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use std::cell::OnceCell;
use std::env;
use std::ffi::OsString;
use std::io;
use std::process::ExitCode;
use std::time::Duration;
use toolkit::{
    BuildError, Builder, Toolkit,
    approval::TerminalApprover,
    registry::{Diagnostic, Level},
};
#[cfg(feature = "mcp")]
use toolkit_host::McpSelection;
use toolkit_host::{Host, HostError};

/// The time for everything that is open to be closed at the end.
const SHUTDOWN: Duration = Duration::from_secs(2);

/// Runs the command with the tools that are linked into this process and the arguments that it was started with.
///
/// Meant as the whole `main` of a program: it handles Ctrl-C while a tool runs, and does not wait for a blocking tool when
/// the process ends. If this process was started to supervise commands, it does only that.
pub fn main() -> ExitCode {
    toolkit_host::init();
    Cli::new().run(std::env::args_os())
}

/// Runs the command with the tools and services of `toolkit`. The first of `args` is the program's name.
///
/// ```no_run
/// use toolkit::Toolkit;
///
/// struct Database;
///
/// fn main() -> std::process::ExitCode {
///     toolkit_cli::run(Toolkit::builder().service(Database), std::env::args_os())
/// }
/// ```
pub fn run(toolkit: Builder, args: impl IntoIterator<Item = OsString>) -> ExitCode {
    Cli::new().toolkit(toolkit).run(args)
}

/// The command, with the additions of a host.
///
/// ```no_run
/// use toolkit_cli::Cli;
///
/// fn main() -> std::process::ExitCode {
///     Cli::new().version(env!("CARGO_PKG_VERSION")).about("The tools of our team").run(std::env::args_os())
/// }
/// ```
#[derive(Debug)]
pub struct Cli {
    toolkit: Builder,
    /// True if the host supplied its own toolkit.
    is_own: bool,
    version: String,
    about: String,
}

impl Default for Cli {
    fn default() -> Self {
        Self::new()
    }
}

impl Cli {
    /// The command with the tools that are linked into this process.
    pub fn new() -> Self {
        Self {
            toolkit: Toolkit::builder(),
            is_own: false,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            about: "Lists, describes and calls the tools that AI agents use".to_owned(),
        }
    }

    /// Replaces the toolkit, for hosts that provide services or name their tools.
    #[must_use]
    pub fn toolkit(self, toolkit: Builder) -> Self {
        Self { toolkit, is_own: true, ..self }
    }

    /// Sets the version that `--version` shows; by default that of this crate.
    #[must_use]
    pub fn version(self, version: impl Into<String>) -> Self {
        Self { version: version.into(), ..self }
    }

    /// Sets the text that `--help` shows first.
    #[must_use]
    pub fn about(self, about: impl Into<String>) -> Self {
        Self { about: about.into(), ..self }
    }

    /// Runs the command. The first of `args` is the program's name.
    pub fn run(self, args: impl IntoIterator<Item = OsString>) -> ExitCode {
        signals::survive_file_size_limit();
        // Not locked: tools may print too.
        let (mut out, mut err) = (io::stdout(), io::stderr());
        let mut console = Console::new(&mut out, &mut err).with_terminals();
        let outcome = self.try_run(args.into_iter().collect(), &mut console);
        let outcome = match outcome {
            Err(Stop::Parse(error)) => console.parse_error(&error).map(|()| match error.exit_code() {
                0 => Exit::Success,
                _ => Exit::Usage,
            }),
            other => other,
        };
        match outcome {
            Ok(exit) => exit.into(),
            Err(Stop::Error { exit, message }) => {
                console.error(&message);
                exit.into()
            }
            Err(Stop::Parse(_)) => Exit::Usage.into(),
        }
    }

    fn try_run(self, args: Vec<OsString>, console: &mut Console<'_>) -> Result<Exit, Stop> {
        let is_own = self.is_own;
        let cannot_build = move |error: BuildError| cannot_build(&error, is_own);
        let program = options::program_name(&args);
        let command = options::command(&program).version(self.version).about(self.about);
        let options = Options::parse(command, args);
        if matches!(&options, Err(Stop::Parse(error)) if error.exit_code() == 0) {
            // Help is available even if the toolkit cannot start.
            return options.map(|_| Exit::Success);
        }
        let toolkit = with_defaults(self.toolkit);
        let Options { format, caller, load, request } = match options {
            Ok(options) => options,
            Err(stop) => return Err(suggest_call(stop, toolkit.build().ok().as_ref(), &program)),
        };
        let request = match request {
            Request::AtOnce(subcommand) => {
                let start = Start { toolkit, load, caller, format, cannot_build: &cannot_build };
                return subcommand.run(start, console);
            }
            Request::Run(subcommand) => subcommand,
        };
        let host = Host::builder(load)
            .toolkit(toolkit)
            .caller(caller)
            .on_reload(config::report_reload)
            .on_history_problem(config::warn);
        // A command has the parts that it asks for.
        let host = host.history(false).background_tasks(false);
        #[cfg(feature = "agent")]
        let host = host.agents(false);
        #[cfg(feature = "mcp")]
        let host = host.mcp_servers(request.servers());
        let host = request.prepare(host).prepare()?;
        // The diagnostics contain them already.
        if !request.shows_diagnostics() {
            config::note(host.configuration(), console);
        }
        let runtime = runtime::new()?;
        let host = {
            let _entered = runtime.enter();
            host.build()
        };
        let host = host.map_err(|error| match error {
            HostError::Build(error) => cannot_build(error),
            other => other.into(),
        })?;
        if !request.shows_diagnostics() {
            note_lost(host.toolkit(), &program, console);
        }
        let context = Context {
            host: &host,
            program: &program,
            runtime: &runtime,
            format,
            #[cfg(feature = "mcp")]
            waits_for_servers: matches!(request.servers(), McpSelection::OfTool(_)),
            toolbox: OnceCell::new(),
        };
        let exit = request.run(&context, console);
        runtime.block_on(host.shutdown(SHUTDOWN));
        // A blocking tool that was cancelled may still run: the process does not wait for it.
        runtime.shutdown_background();
        exit
    }
}

/// Returns the error for a toolkit that cannot be built. A program that only calls [`main`] cannot provide services, so the
/// message names the alternatives.
fn cannot_build(error: &BuildError, is_own: bool) -> Stop {
    let mut message = error.to_string();
    if error.lacks_services() && !is_own {
        message.push_str(
            "\nhelp: `toolkit_cli::main()` provides no services: call `toolkit_cli::run(Toolkit::builder().service(value), \
             std::env::args_os())` in its place, or write a `#[toolkit::service]` function that returns the service",
        );
    }
    Stop::cannot_start(message)
}

/// The toolkit with what holds for every subcommand.
fn with_defaults(toolkit: Builder) -> Builder {
    let toolkit = toolkit_host::links_first(toolkit).default_approver(TerminalApprover::new());
    match env::var_os("TOOLKIT_DATA_DIR").filter(|directory| !directory.is_empty()) {
        Some(directory) => toolkit.default_data_dir(directory),
        None => toolkit,
    }
}

/// Maximum number of warnings that are printed unasked.
const MAX_TOLD: usize = 20;

/// Prints the diagnostics about deny rules that may not be in effect: the user would not notice them otherwise.
fn note_lost(toolkit: &Toolkit, program: &str, console: &mut Console<'_>) {
    let is_lost = |said: &&Diagnostic| said.concerns_deny() && said.level > Level::Info;
    let lost: Vec<&Diagnostic> = toolkit.diagnostics().iter().filter(is_lost).collect();
    for diagnostic in lost.iter().take(MAX_TOLD) {
        console.note(&diagnostic.to_string());
    }
    if let Some(more) = lost.len().checked_sub(MAX_TOLD).filter(|more| *more > 0) {
        console.note(&format!("warning: {more} more like these; `{program} list --diagnostics` tells them"));
    }
}

/// Adds how to call a tool if the unknown subcommand is the name of one.
fn suggest_call(stop: Stop, toolkit: Option<&Toolkit>, program: &str) -> Stop {
    let Stop::Parse(error) = &stop else { return stop };
    match (error.kind(), error.get(ContextKind::InvalidSubcommand)) {
        (ErrorKind::InvalidSubcommand, Some(ContextValue::String(name)))
            if toolkit.is_some_and(|toolkit| toolkit.tool(name).is_some()) =>
        {
            Stop::usage(format!("`{name}` is a tool, not a subcommand; call it with `{program} call {name}`"))
        }
        _ => stop,
    }
}

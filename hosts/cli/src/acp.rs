//! `acp`: the agent for editors, over the Agent Client Protocol on standard input and output.

mod hosts;

use crate::agent;
use crate::console::Console;
use crate::exit::{Exit, Stop};
use crate::matched::text;
use crate::runtime;
use crate::signals::Watch;
use crate::subcommand::{RunAtOnce, Start};
use crate::warnings;
use clap::{Arg, ArgMatches, Command, value_parser};
use hosts::Hosts;
use tokio::io::{BufReader, stdin, stdout};
use toolkit::CancellationToken;
use toolkit_agent::Transcripts;
use toolkit_agent::acp::{AcpAgent, AcpHost, AcpOpening, AcpSetup, serve};

/// The arguments after `acp`.
#[derive(Debug, Clone, Default)]
pub(crate) struct AcpRequest {
    profile: Option<String>,
    max_turns: Option<u32>,
}

/// The subcommand.
pub(crate) fn command() -> Command {
    Command::new("acp")
        .about("Serves the agent to an editor, over the Agent Client Protocol")
        .long_about(
            "Serves the agent to an editor, over the Agent Client Protocol on standard input and output.\n\nThe editor starts this \
             command. Each session has the configuration of its workspace, and asks for approval in the editor. Sessions are kept as \
             transcripts, so that they can be loaded again, also with `agent --resume`.",
        )
        .arg(
            Arg::new("profile")
                .long("profile")
                .value_name("PROFILE")
                .help("The profile of tools, as --set tools.profile=PROFILE"),
        )
        .arg(
            Arg::new("max-turns")
                .long("max-turns")
                .value_name("NUMBER")
                .value_parser(value_parser!(u32).range(1..))
                .help("The maximum number of model answers to one prompt [default: 100]"),
        )
}

/// Reads the arguments.
pub(crate) fn request(matches: &mut ArgMatches) -> AcpRequest {
    AcpRequest { profile: text(matches, "profile"), max_turns: matches.remove_one("max-turns") }
}

impl RunAtOnce for AcpRequest {
    /// Serves until the editor closes its end, or until an interrupt.
    fn run(&self, start: Start<'_>, _console: &mut Console<'_>) -> Result<Exit, Stop> {
        let Start { toolkit, load, caller, .. } = start;
        let transcripts = agent::transcripts(load.data_dir_path())?;
        let hosts = Hosts::new(toolkit, load, caller);
        let host = Sessions { hosts, transcripts, max_turns: self.max_turns };
        let stop = CancellationToken::new();
        let watch = Watch::start(stop.clone())?;
        let _printing = warnings::print();
        let runtime = runtime::new()?;
        let outcome = runtime.block_on(serve(BufReader::new(stdin()), stdout(), host, stop));
        // A thread may still wait for standard input.
        runtime.shutdown_background();
        let signal = watch.call_ended();
        outcome.map_err(|error| Stop::failed(format!("cannot serve the editor: {error}")))?;
        Ok(signal.unwrap_or(Exit::Success))
    }

    fn profile(&self) -> Option<&str> {
        self.profile.as_deref()
    }
}

/// The sessions of an editor.
struct Sessions {
    hosts: Hosts,
    transcripts: Transcripts,
    max_turns: Option<u32>,
}

impl Sessions {
    fn agent(&self, setup: &AcpSetup) -> Result<AcpAgent, Stop> {
        let session = self.hosts.of_session(setup)?;
        let host = session.host();
        let agent = AcpAgent::new(agent::builder(host, host.caller(), self.max_turns)?);
        Ok(agent.at_end(move || session.leave()))
    }
}

impl AcpHost for Sessions {
    fn open(&self, setup: AcpSetup) -> AcpOpening<'_> {
        Box::pin(async move {
            self.agent(&setup).map_err(|stop| match stop {
                Stop::Error { message, .. } => message,
                Stop::Parse(error) => error.to_string(),
            })
        })
    }

    fn transcripts(&self) -> &Transcripts {
        &self.transcripts
    }

    fn program(&self) -> (String, String) {
        ("toolkit".to_owned(), env!("CARGO_PKG_VERSION").to_owned())
    }
}

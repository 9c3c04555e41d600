//! The `toolkit` command: lists, describes and calls tools from the command line.
//!
//! ```text
//! toolkit list
//! toolkit describe read
//! toolkit explain tool read --agent kid
//! toolkit explain command 'cat notes.txt | sort > sorted.txt'
//! toolkit call read --file-path README.md --limit 20
//! toolkit call --args '{ "file_path": "README.md" }' read
//! toolkit schema --dialect anthropic
//! toolkit history --tool exec --since 12h
//! toolkit lint --deny
//! toolkit docs
//! toolkit permission list
//! toolkit doctor
//! toolkit agent "Fix the failing test"
//! toolkit chat
//! toolkit acp
//! toolkit cron next "0 9 * * mon-fri" --zone Europe/Berlin
//! toolkit mcp serve
//! toolkit http 127.0.0.1:4180
//! toolkit mcp add docs -- docs-server --stdio
//! toolkit call docs__search --query sandbox
//! toolkit new plugin my-plugin
//! toolkit completions bash
//! ```
//!
//! It is also a library, so that a command with your own tools is three lines:
//!
//! ```no_run
//! # extern crate toolkit_cli as my_tools;
//! toolkit::link!(my_tools);
//!
//! fn main() -> std::process::ExitCode {
//!     toolkit_cli::main()
//! }
//! ```
//!
//! A host with its own services or version uses [`Cli`].
//!
//! # Arguments of a tool
//!
//! The arguments after the tool's name belong to the tool: one flag per parameter, generated from its JSON Schema. `file_path` is given as
//! `--file-path` or `--file_path`. A list is given by repeating its flag, or once as JSON; an object as JSON; a boolean as `--flag` or
//! `--flag=false`. A text that is not a value of the parameter's type is passed on as a string: the toolbox validates the arguments, and
//! reports all validation errors at once.
//!
//! # Configuration
//!
//! The configuration comes from `toolkit.json5` in the user's configuration directory (`~/.config/toolkit` on Linux, or the directory in
//! `TOOLKIT_CONFIG_DIR`), from each `toolkit.json5` above the workspace, from variables such as `TOOLKIT_TOOLS__DENY='["exec"]'`, from
//! files named with `--config`, and from values given with `--set`; later ones take precedence. A file in a workspace can only restrict
//! until `toolkit trust`; ignored settings are reported on standard error. `toolkit config` checks, shows and explains the configuration.
//!
//! # Exit codes
//!
//! | code | meaning |
//! |---|---|
//! | 0 | the command succeeded |
//! | 1 | the tool failed, something was found that is denied, or something could not be read or written |
//! | 2 | the command line is wrong |
//! | 3 | there is no such tool |
//! | 4 | the arguments do not fit the tool |
//! | 5 | the tool or the call is denied |
//! | 6 | the toolkit cannot start |
//! | 78 | the gateway, or this device as a node, cannot start before its configuration or pairing is changed |
//! | 124 | the call took too long |
//! | 129 | the call was cancelled by SIGHUP |
//! | 130 | the call was cancelled, by Ctrl-C for instance |
//! | 131 | the call was cancelled by SIGQUIT |
//! | 143 | the call was cancelled by SIGTERM |
//!
//! A closed reader of standard output, as in `toolkit list | head -1`, is not an error.
//!
//! # Questions and long outputs
//!
//! Permission prompts appear on the terminal, `/dev/tty`, whatever standard input and output are; without a terminal, approval is denied.
//! All calls in one workspace belong to one session, unless `--session` names another. The answer `s` approves exactly this request in that
//! session and workspace, also for later commands, for 8 hours. The answer `a` approves it in that workspace permanently. `toolkit
//! permission list` shows both, and `toolkit permission revoke` revokes them.
//!
//! While a tool runs, its progress and its output appear on standard error if that is a terminal; with `-o json` they do not. An output
//! that is too long is truncated, and saved in full to a file that the output names; such files are removed after 7 days. A command that
//! `exec` runs ends with the call, together with the processes it leaves running. The files are in the user's data directory,
//! `~/.local/share/toolkit` on Linux, or the directory in `TOOLKIT_DATA_DIR`.
//!
//! Every call is recorded there too, without secrets, in `history/calls.jsonl`; `toolkit history` lists and shows recorded calls.
//!
//! # Features
//!
//! `fs`, on by default, brings the tools for files of the crate `builtin_tools`, `runtime` those for commands; `mcp` serves clients of the Model
//! Context Protocol, and brings in the tools of its servers; `http` serves the tools over HTTP; `agent` gives tasks to a model, talks with it, and serves it to editors; `gateway` shows when
//! scheduled jobs are due; `node` lets a gateway use this device. `memory`, `llm-task`, `telegram` and `whatsapp` bring the plugins of these names.

#[cfg(feature = "agent")]
mod acp;
#[cfg(feature = "agent")]
mod agent;
mod arguments;
mod call;
#[cfg(feature = "agent")]
mod chat;
mod cli;
mod completions;
mod config;
mod confirm;
mod console;
#[cfg(feature = "gateway")]
mod cron;
mod definitions;
mod describe;
mod docs;
#[cfg(any(feature = "browser", feature = "runtime", feature = "web"))]
mod doctor;
mod exit;
mod explain;
mod flags;
mod format;
#[cfg(feature = "gateway")]
mod gateway;
mod history;
#[cfg(feature = "http")]
mod http;
mod kinds;
mod lint;
mod list;
mod live;
mod matched;
#[cfg(feature = "mcp")]
mod mcp;
mod new;
#[cfg(feature = "node")]
mod node;
mod options;
mod parameter_type;
mod permission;
mod render;
mod runtime;
mod save;
mod schema;
#[cfg(feature = "mcp")]
mod server_status;
#[cfg(feature = "gateway")]
mod sessions;
mod shape;
mod signals;
mod subcommand;
#[cfg(any(feature = "gateway", feature = "node"))]
mod systemd;
#[cfg(any(feature = "http", feature = "mcp"))]
mod tokens;
mod trust;
mod utc;
mod value;
#[cfg(any(feature = "agent", feature = "http", feature = "mcp"))]
mod warnings;
#[cfg(feature = "http")]
mod web_console;
mod words;
mod wrap;

pub use cli::{Cli, main, run};

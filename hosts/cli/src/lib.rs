//! The `toolkit` command: lists, describes and calls tools from the command line.
//!
//! ```text
//! toolkit list
//! toolkit describe read
//! toolkit explain tool read --agent kid
//! toolkit explain command 'cat notes.txt | sort > sorted.txt'
//! toolkit call read --file-path README.md --limit 20
//! toolkit call --args '{ "file_path": "README.md" }' read
//! toolkit schema
//! toolkit lint --deny
//! toolkit docs
//! toolkit permission list
//! toolkit doctor
//! toolkit mcp serve
//! toolkit mcp add docs -- docs-server --stdio
//! toolkit call docs__search --query sandbox
//! toolkit new plugin my-plugin
//! toolkit completions bash
//! ```
//!
//! It is a library too, so that a command with tools of your own is three lines:
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
//! A host that brings services along, or a version of its own, uses [`Cli`].
//!
//! # Arguments of a tool
//!
//! What stands after the tool's name is the tool's: one flag a parameter, made from its JSON Schema. `file_path` is
//! given as `--file-path` or `--file_path`. A list is given by repeating its flag, or once as JSON; an object as
//! JSON; a boolean as `--flag` or `--flag=false`. A text that is no value of the parameter's type is handed on as a
//! string: the toolbox checks the arguments, and reports everything that is wrong with them at once.
//!
//! # Configuration
//!
//! What is configured comes from `toolkit.json5` in the user's directory for configuration (`~/.config/toolkit` on
//! Linux, or where `TOOLKIT_CONFIG_DIR` says), from each `toolkit.json5` above the workspace, from variables such as
//! `TOOLKIT_TOOLS__DENY='["exec"]'`, from files named with `--config` and values given with `--set`, the later ones first.
//! A file in a workspace can only take away until `toolkit trust`; what is ignored is said on standard error.
//! `toolkit config` checks, shows and explains it.
//!
//! # Exit codes
//!
//! | code | meaning |
//! |---|---|
//! | 0 | the command did what it was asked to |
//! | 1 | the tool failed, something was found that is denied, or something could not be read or written |
//! | 2 | the command line is wrong |
//! | 3 | there is no such tool |
//! | 4 | the arguments do not fit the tool |
//! | 5 | the tool or the call is denied |
//! | 6 | the toolkit cannot start |
//! | 124 | the call took too long |
//! | 130 | the call was cancelled, by Ctrl-C for instance |
//! | 143 | the call was cancelled by SIGTERM |
//!
//! A reader of standard output that goes away, as in `toolkit list | head -1`, is no error.
//!
//! # Questions and long outputs
//!
//! A tool that asks a person asks on the terminal, `/dev/tty`, whatever standard input and output are; without a
//! terminal the answer is no. All calls in one workspace are one session, unless `--session` names another. Answered with `s`,
//! exactly this is not asked again in that session and workspace, also by later commands, for 8 hours after the answer. Answered
//! with `a`, it is not asked again in that workspace. `toolkit permission list` shows both, and `toolkit permission revoke` takes
//! them back.
//!
//! While a tool runs, its progress and its output appear on standard error where that is a terminal; with `-o json` they do not.
//! An output that is too long is cut, and kept whole in a file that the output names; such
//! files go after 7 days. A command that `exec` runs ends with the call, and so does what it leaves running. They are in the user's data directory, `~/.local/share/toolkit` on Linux, or where
//! `TOOLKIT_DATA_DIR` says.
//!
//! # Features
//!
//! `fs`, on by default, brings the tools for files of the crate `builtin_tools`, `runtime` those for commands; `mcp` serves clients of the Model
//! Context Protocol, and brings in the tools of its servers. `memory`, `llm-task`, `telegram` and `whatsapp` bring the plugins of these names.

mod arguments;
mod call;
mod cli;
mod completions;
mod config;
mod console;
mod definitions;
mod describe;
mod docs;
#[cfg(any(feature = "runtime", feature = "web"))]
mod doctor;
mod exit;
mod explain;
mod flags;
mod kinds;
mod lint;
mod list;
mod live;
#[cfg(feature = "mcp")]
mod mcp;
mod new;
mod options;
mod parameter_type;
mod permission;
mod render;
mod save;
mod shape;
mod signals;
mod trust;
mod value;
mod words;
mod wrap;

toolkit::link!(
    #[cfg(any(feature = "canvas", feature = "fs", feature = "media", feature = "runtime", feature = "web"))]
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

pub use cli::{Cli, main, run};

//! `call`: one call through the toolbox, and its result.

use crate::arguments;
use crate::console::Console;
use crate::definitions::print_json;
use crate::exit::{Exit, Stop, for_people};
use crate::flags::{Flags, Given};
use crate::format::Format;
use crate::live::{Live, Shown};
use crate::matched::{required, text};
use crate::render::{self, Saved};
use crate::save;
use crate::signals::Watch;
use crate::subcommand::{Context, Run};
use clap::builder::ValueHint;
use clap::{Arg, ArgMatches, Command, value_parser};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::runtime::Runtime;
use toolkit::{CancellationToken, Content, ToolCall, ToolOutput, ToolResult, Toolbox};
use toolkit_host::HostBuilder;
#[cfg(feature = "mcp")]
use toolkit_host::McpSelection;

/// Lifetime of an approval for a session. A command does not know when its session ends.
const SESSION_APPROVAL: Duration = Duration::from_hours(8);

/// Arguments of `call`.
#[derive(Debug)]
pub(crate) struct CallRequest {
    /// JSON text, `@file`, or `-` for standard input.
    args: Option<String>,
    save: Option<PathBuf>,
    name: String,
    /// All arguments after the tool's name.
    flags: Vec<OsString>,
}

/// The subcommand, without the tool's name and flags.
pub(crate) fn command(program: &str) -> Command {
    Command::new("call")
        .about("Calls a tool")
        .long_about(
            "Calls a tool.\n\nOptions of this command precede the tool's name; everything after it belongs to the tool, and \
             `NAME --help` lists the tool's flags. `--args` and `--save` can also follow the name, unless the tool has a flag \
             of that name.",
        )
        .override_usage(format!("{program} call [OPTIONS] <NAME> [--FLAG <VALUE>]..."))
        .after_help(Exit::help())
        .args(options())
}

fn options() -> [Arg; 2] {
    [
        Arg::new("args")
            .long("args")
            .value_name("JSON")
            .help("Arguments as a JSON object; `@FILE` reads them from a file, `-` from standard input"),
        Arg::new("save")
            .long("save")
            .value_name("FILE")
            .value_parser(value_parser!(PathBuf))
            .value_hint(ValueHint::FilePath)
            .help("Writes the image or other bytes of the result, or else its text, to a file"),
    ]
}

/// The tool's name and, untouched, everything after it.
pub(crate) fn tool_and_flags() -> Arg {
    Arg::new("tool")
        .value_name("NAME")
        .required(true)
        .num_args(1..)
        .trailing_var_arg(true)
        .value_parser(value_parser!(OsString))
        .help("The tool's name or alias, then its flags")
}

/// Returns the arguments of `call` in the matches.
pub(crate) fn request(matches: &mut ArgMatches) -> Result<CallRequest, Stop> {
    let mut words = matches.remove_many::<OsString>("tool").into_iter().flatten();
    let name = required(words.next())?.to_string_lossy().into_owned();
    Ok(CallRequest {
        name,
        flags: words.collect(),
        args: text(matches, "args"),
        save: matches.remove_one("save"),
    })
}

impl Run for CallRequest {
    fn run(&self, context: &Context<'_>, console: &mut Console<'_>) -> Result<Exit, Stop> {
        let &Context { program, runtime, format, .. } = context;
        let toolbox = context.toolbox(console);
        let sweeping = runtime.spawn_blocking({
            let toolkit = context.host.toolkit().clone();
            move || toolkit.sweep_outputs()
        });
        let exit = run(self, format, toolbox, runtime, program, console);
        // Files that cannot be removed now are removed the next time.
        let _ = runtime.block_on(sweeping);
        exit
    }

    fn prepare(&self, host: HostBuilder) -> HostBuilder {
        // The next command is the same session, and another process.
        host.history(true)
            .with_toolkit(|toolkit| toolkit.for_one_call().keep_session_approvals(SESSION_APPROVAL))
    }

    #[cfg(feature = "mcp")]
    fn servers(&self) -> McpSelection {
        McpSelection::OfTool(self.name.clone())
    }
}

/// Runs the call and prints its result.
fn run(
    request: &CallRequest,
    format: Format,
    toolbox: &Toolbox,
    runtime: &Runtime,
    program: &str,
    console: &mut Console<'_>,
) -> Result<Exit, Stop> {
    let CallRequest { name, flags, args, save } = request;
    // An unknown tool has no flags, and the toolbox reports that it is unknown.
    let late = match toolbox.tool(name) {
        Some(tool) => Flags::of(tool).parse(program, flags.clone())?,
        None => Given::default(),
    };
    let flags = late.values;
    let args = once("args", args.clone(), late.args)?;
    let save = once("save", save.clone(), late.save)?;
    let given = args.as_deref().map(arguments::read).transpose()?;
    let call = ToolCall::new("1", name.clone(), arguments::merge(given, &flags)?);

    let cancel = CancellationToken::new();
    let watch = Watch::start(cancel.clone())?;
    let mut live = Live::start(toolbox, format, console);
    let calling = toolbox.call_with(call, cancel);
    let result = runtime.block_on(async {
        match &mut live {
            Some(live) => live.follow(calling, console).await,
            None => calling.await,
        }
    });
    let shown = live.map(|live| live.finish(console)).unwrap_or_default();
    let signal = watch.call_ended();

    let exit = match (result.error(), signal) {
        (Some(_), Some(signal)) => signal,
        (Some(error), None) => error.kind().into(),
        (None, _) => Exit::Success,
    };
    let saving = print(&result, format, save.as_deref(), &shown, console);
    if let Some(error) = result.error() {
        console.error(shown.rest(&for_people(error, toolbox, name)));
    }
    saving.map(|()| exit)
}

/// An option that may stand before or after the tool's name, but not twice.
fn once<T>(name: &str, before: Option<T>, after: Option<T>) -> Result<Option<T>, Stop> {
    match (before, after) {
        (Some(_), Some(_)) => Err(Stop::usage(format!(
            "`--{name}` is given both before and after the tool's name; give it once"
        ))),
        (before, after) => Ok(before.or(after)),
    }
}

fn print(
    result: &ToolResult,
    format: Format,
    save: Option<&Path>,
    shown: &Shown,
    console: &mut Console<'_>,
) -> Result<(), Stop> {
    let saving = match (result.output(), save) {
        (Some(output), Some(path)) => save_to(path, output, console).map(Some),
        _ => Ok(None),
    };
    // Printed even if it could not be saved, so that it is not lost.
    match format {
        Format::Json => print_json(&serde_json::to_value(result)?, console)?,
        Format::Text => {
            if let Some(output) = result.output() {
                let text = render::text(output, saving.as_ref().ok().copied().flatten());
                // On a terminal nothing is printed twice; output to other destinations is complete.
                let rest = if console.out_is_terminal { shown.rest(&text) } else { &text };
                console.print_said(rest)?;
            }
        }
    }
    saving.map(|_| ())
}

/// Saves the first block with bytes, or the one file of an output whose bytes are too many for a block, or else the text.
fn save_to(path: &Path, output: &ToolOutput, console: &mut Console<'_>) -> Result<Saved, Stop> {
    let block = output.content.iter().enumerate().find_map(|(index, block)| Some((index, block.as_bytes()?)));
    let (file, text);
    let mut held = None;
    let (saved, bytes) = match (block, &output.attachments[..]) {
        (Some((index, bytes)), _) => {
            if let Content::Image { mime_type, .. } | Content::Audio { mime_type, .. } =
                &output.content[index]
            {
                held = TYPES.iter().find(|known| known.media_type == mime_type);
            }
            (Saved::Block(index), bytes)
        }
        (None, [path]) => {
            held = FileType::named(path);
            file = std::fs::read(path)
                .map_err(|error| Stop::failed(format!("{} cannot be read: {error}", path.display())))?;
            (Saved::File, &file[..])
        }
        (None, _) => {
            text = output.to_text();
            (Saved::Text, text.as_bytes())
        }
    };
    save::write(path, bytes)
        .map_err(|error| Stop::failed(format!("{} cannot be written: {error}", path.display())))?;
    console.note(&format!("saved {} bytes to {}", bytes.len(), path.display()));
    let named = FileType::named(path);
    if let Some(held) = held.filter(|held| named.is_some_and(|named| named != *held)) {
        let extension = held.extensions[0];
        console.note(&format!(
            "{} holds {}, which does not match its name; rename it to end with `.{extension}`, or let the tool write the other format",
            path.display(),
            held.media_type
        ));
    }
    Ok(saved)
}

/// A type of files.
#[derive(Debug, PartialEq)]
struct FileType {
    media_type: &'static str,
    /// The endings of its names, the usual one first.
    extensions: &'static [&'static str],
}

/// The types of files that tools return.
static TYPES: [FileType; 7] = [
    FileType { media_type: "audio/wav", extensions: &["wav", "wave"] },
    FileType { media_type: "audio/mpeg", extensions: &["mp3", "mpga"] },
    FileType { media_type: "audio/ogg", extensions: &["ogg", "opus", "oga"] },
    FileType { media_type: "image/png", extensions: &["png"] },
    FileType { media_type: "image/jpeg", extensions: &["jpg", "jpeg"] },
    FileType { media_type: "image/gif", extensions: &["gif"] },
    FileType { media_type: "image/webp", extensions: &["webp"] },
];

impl FileType {
    /// The type that the name of a file says.
    fn named(path: &Path) -> Option<&'static Self> {
        let extension = path.extension()?.to_str()?.to_ascii_lowercase();
        TYPES.iter().find(|known| known.extensions.contains(&extension.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_name_that_says_another_type_is_noticed() {
        let directory = tempfile::tempdir().unwrap();
        for (name, content, expected) in [
            ("out.opus", Content::audio(*b"RIFF", "audio/wav"), Some("holds audio/wav")),
            ("out.WAV", Content::audio(*b"OggS", "audio/ogg"), Some("rename it to end with `.ogg`")),
            ("out.jpg", Content::image(*b"png", "image/png"), Some("holds image/png")),
            ("out.opus", Content::audio(*b"OggS", "audio/ogg"), None),
            ("out.WAV", Content::audio(*b"RIFF", "audio/wav"), None),
            ("out", Content::audio(*b"RIFF", "audio/wav"), None),
            ("out.bin", Content::audio(*b"RIFF", "audio/wav"), None),
            ("out.wav", Content::audio(*b"????", "audio/unknown"), None),
        ] {
            let (mut out, mut told) = (Vec::new(), Vec::new());
            let mut console = Console::new(&mut out, &mut told);
            let output = ToolOutput::default().with_content(content);
            save_to(&directory.path().join(name), &output, &mut console).unwrap();
            let told = String::from_utf8(told).unwrap();
            assert_eq!(told.contains("holds"), expected.is_some(), "{name}: {told}");
            assert!(told.contains(expected.unwrap_or("saved")), "{told}");
        }
    }

    #[test]
    fn the_file_of_an_output_without_bytes_is_saved() {
        let directory = tempfile::tempdir().unwrap();
        let speech = directory.path().join("speech.wav");
        fs::write(&speech, b"RIFF").unwrap();
        let saved = directory.path().join("out");
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let mut console = Console::new(&mut out, &mut err);
        let output = ToolOutput::text("spoke the text").with_attachment(&speech);
        assert_eq!(save_to(&saved, &output, &mut console).unwrap(), Saved::File);
        assert_eq!(fs::read(&saved).unwrap(), b"RIFF");
        let two = output.clone().with_attachment(directory.path().join("other"));
        assert_eq!(save_to(&saved, &two, &mut console).unwrap(), Saved::Text);
        assert_eq!(fs::read(&saved).unwrap(), b"spoke the text");
        fs::remove_file(&speech).unwrap();
        assert!(save_to(&saved, &output, &mut console).is_err());
        assert_eq!(fs::read(&saved).unwrap(), b"spoke the text");
    }
}

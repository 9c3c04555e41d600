//! `config`: what is configured, and whether it is right.

use crate::console::Console;
use crate::definitions::print_json;
use crate::exit::{Exit, Stop};
use crate::options::Format;
use clap::{Arg, ArgAction, ArgMatches, Command};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::fs::{DirBuilder, OpenOptions};
use std::io::{ErrorKind, Write as _};
use std::path::Path;
use toolkit::{Builder, Configuration, LoadOptions, PermissionSettings, escape_block, escape_line};

/// What `init` writes.
const TEMPLATE: &str = include_str!("config/toolkit.json5");

/// What stands after `config`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ConfigRequest {
    Check,
    Show { origins: bool },
    Schema,
    Init { force: bool },
}

/// The subcommand.
pub(crate) fn command() -> Command {
    let flag = |name: &'static str, help: &'static str| {
        Arg::new(name).long(name).action(ArgAction::SetTrue).help(help)
    };
    Command::new("config")
        .about("Checks, shows or begins the configuration")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand(
            Command::new("check")
                .about("Says what is wrong with the configuration, and what of it is ignored"),
        )
        .subcommand(
            Command::new("show")
                .about("Prints what is in effect; secrets are left out")
                .arg(flag("origins", "One value a line, with where it was written")),
        )
        .subcommand(Command::new("schema").about("Prints the JSON Schema of the configuration, for editors"))
        .subcommand(
            Command::new("init")
                .about("Writes a first configuration file for this user, in which everything is explained")
                .arg(flag("force", "Moves a file that is there to `toolkit.json5.old` first")),
        )
}

/// What was asked for.
pub(crate) fn request(matches: &ArgMatches) -> Result<ConfigRequest, Stop> {
    match matches.subcommand() {
        Some(("check", _)) => Ok(ConfigRequest::Check),
        Some(("show", matches)) => Ok(ConfigRequest::Show { origins: matches.get_flag("origins") }),
        Some(("schema", _)) => Ok(ConfigRequest::Schema),
        Some(("init", matches)) => Ok(ConfigRequest::Init { force: matches.get_flag("force") }),
        _ => Err(Stop::usage("a subcommand is missing; `config --help` lists them")),
    }
}

/// Loads the configuration, or says why it cannot be used.
pub(crate) fn load(options: LoadOptions) -> Result<Configuration, Stop> {
    Configuration::load(options).map_err(|error| Stop::cannot_start(error.to_string()))
}

/// Says, each once, what does not count.
pub(crate) fn note(configuration: &Configuration, console: &mut Console<'_>) {
    for note in configuration.notes() {
        console.note(&format!("warning: {note}"));
    }
}

/// Does it.
pub(crate) fn run(
    request: ConfigRequest,
    toolkit: Builder,
    options: LoadOptions,
    format: Format,
    console: &mut Console<'_>,
) -> Result<Exit, Stop> {
    match request {
        ConfigRequest::Check => check(toolkit, options, format, console),
        ConfigRequest::Show { origins } => show(&load(options)?, origins, format, console),
        ConfigRequest::Schema => {
            let schema = Configuration::schema().map_err(|error| Stop::cannot_start(error.to_string()))?;
            print_json(&schema, console).map(|()| Exit::Success)
        }
        ConfigRequest::Init { force } => init(options.user_file_path(), force, console),
    }
}

fn check(
    toolkit: Builder,
    options: LoadOptions,
    format: Format,
    console: &mut Console<'_>,
) -> Result<Exit, Stop> {
    let configuration = load(options)?;
    let toolkit = toolkit.configuration(configuration.clone()).build();
    let toolkit = toolkit.map_err(|error| Stop::cannot_start(error.to_string()))?;
    let files = configuration.workspace_files();
    if format == Format::Json {
        let files = files.iter().map(|file| json!({"path": file.file.path, "trusted": file.is_trusted}));
        let answer = json!({"files": files.collect::<Vec<_>>(), "diagnostics": toolkit.diagnostics()});
        return print_json(&answer, console).map(|()| Exit::Success);
    }
    for diagnostic in toolkit.diagnostics() {
        console.note(&diagnostic.to_string());
    }
    let mut text = String::new();
    for file in files {
        let word = if file.is_trusted { "trusted" } else { "not trusted: it only takes away" };
        let _ = writeln!(text, "{}: {word}", escape_line(&file.file.path.display().to_string()));
    }
    text.push_str("the configuration can be used\n");
    console.print(&text).map(|()| Exit::Success)
}

fn show(
    configuration: &Configuration,
    origins: bool,
    format: Format,
    console: &mut Console<'_>,
) -> Result<Exit, Stop> {
    let (own, restrictions) = configuration.permissions();
    if format == Format::Json {
        let all = |lines: Vec<Line>| {
            lines.into_iter().map(|line| json!({"key": line.key, "value": line.value, "origin": line.origin}))
        };
        let mut answer = json!({
            "configuration": configuration.document(),
            "permissions": own.iter().map(permission_json).collect::<Vec<_>>(),
        });
        if origins {
            answer["origins"] = all(lines(configuration)).collect();
        }
        return print_json(&answer, console).map(|()| Exit::Success);
    }
    note(configuration, console);
    let mut text = String::new();
    if origins {
        for Line { key, value, origin } in lines(configuration) {
            let _ = writeln!(
                text,
                "{} = {}  ({})",
                escape_line(&key),
                escape_line(&value.to_string()),
                escape_line(&origin)
            );
        }
    } else {
        let _ = writeln!(text, "{}", escape_block(&format!("{:#}", configuration.document())));
        for settings in &own {
            let _ = writeln!(
                text,
                "// of one source\n{}",
                escape_block(&format!("{:#}", permission_json(settings)))
            );
        }
        for (file, settings) in &restrictions {
            let _ = writeln!(
                text,
                "// only what is stricter, of {}\n{}",
                escape_line(file),
                escape_block(&format!("{:#}", permission_json(settings)))
            );
        }
    }
    console.print(&text).map(|()| Exit::Success)
}

fn permission_json(settings: &PermissionSettings) -> Value {
    let mut value = json!({});
    if !settings.everybody.is_empty() {
        value["permission"] = json!(settings.everybody);
    }
    for (key, all) in [("agents", &settings.agents), ("channels", &settings.channels)] {
        for (name, rules) in all {
            value[key][name]["permission"] = json!(rules);
        }
    }
    value
}

/// One value that is in effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) key: String,
    pub(crate) value: Value,
    pub(crate) origin: String,
}

/// Every value that is in effect, permissions included, by its JSON pointer.
pub(crate) fn lines(configuration: &Configuration) -> Vec<Line> {
    let mut lines = Vec::new();
    let origins = configuration.origins();
    let mut add = |value: &Value, origins: &toolkit::ConfigOrigins| {
        leaves(value, String::new(), &mut |key, value| {
            let origin = origins.find(&key).map(ToString::to_string).unwrap_or_default();
            lines.push(Line { key, value: value.clone(), origin });
        });
    };
    add(&configuration.document(), origins);
    for settings in configuration.permissions().0 {
        add(&permission_json(&settings), &settings.origins);
    }
    lines
}

fn leaves(value: &Value, pointer: String, found: &mut dyn FnMut(String, &Value)) {
    match value {
        Value::Object(members) if !members.is_empty() => {
            for (name, member) in members {
                leaves(member, format!("{pointer}/{}", name.replace('~', "~0").replace('/', "~1")), found);
            }
        }
        Value::Array(items) if !items.is_empty() => {
            for (number, item) in items.iter().enumerate() {
                leaves(item, format!("{pointer}/{number}"), found);
            }
        }
        _ if pointer.is_empty() => {}
        leaf => found(pointer, leaf),
    }
}

fn init(file: Option<&Path>, force: bool, console: &mut Console<'_>) -> Result<Exit, Stop> {
    let file = file.ok_or_else(|| Stop::failed("there is no directory for a user's configuration"))?;
    let cannot =
        |error: std::io::Error| Stop::failed(format!("{} cannot be written: {error}", file.display()));
    if let Some(directory) = file.parent() {
        let mut builder = DirBuilder::new();
        builder.recursive(true).create(directory).map_err(cannot)?;
    }
    if force && file.symlink_metadata().is_ok() {
        let old = file.with_extension("json5.old");
        if old.symlink_metadata().is_ok() {
            return Err(Stop::failed(format!("{} is there already; move it away first", old.display())));
        }
        std::fs::rename(file, &old).map_err(cannot)?;
        console.note(&format!("Moved the old file to {}", old.display()));
    }
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    // Secrets may come into it.
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let written = options.open(file).and_then(|mut opened| opened.write_all(TEMPLATE.as_bytes()));
    match written {
        Ok(()) => console.print(&format!("Wrote {}\n", file.display())).map(|()| Exit::Success),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Err(Stop::failed(format!(
            "{} is there already; `--force` moves it to `toolkit.json5.old`",
            file.display()
        ))),
        Err(error) => Err(cannot(error)),
    }
}

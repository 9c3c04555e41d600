//! `config`: shows and checks the configuration.

use crate::console::Console;
use crate::definitions::print_json;
use crate::exit::{Exit, Stop};
use crate::format::Format;
use crate::subcommand::{RunAtOnce, Start};
use clap::{Arg, ArgAction, ArgMatches, Command};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::fs::{DirBuilder, OpenOptions};
use std::io::{self, ErrorKind, Write as _};
use std::path::Path;
use toolkit::{
    BuildError, Builder,
    bootstrap::BootstrapError,
    config::{ConfigError, ConfigOrigins, ConfigRestriction, Configuration, LoadOptions},
    permission::{PermissionSettings, Permissions},
    registry::{Diagnostic, Reloaded},
    text::escape_line,
};

/// The file that `init` writes.
const TEMPLATE: &str = include_str!("config/toolkit.json5");

/// A parsed `config` subcommand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ConfigRequest {
    Check,
    Show,
    Schema,
    Init { force: bool },
}

/// The subcommand.
pub(crate) fn command() -> Command {
    let flag = |name: &'static str, help: &'static str| {
        Arg::new(name).long(name).action(ArgAction::SetTrue).help(help)
    };
    Command::new("config")
        .about("Checks, shows or creates the configuration")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand(Command::new("check").about("Checks the configuration: reports errors and ignored keys"))
        .subcommand(
            Command::new("show")
                .about("Prints the effective values, one per line with its origin; secrets are omitted")
                // Accepted, but without an effect: this is the default.
                .arg(flag("origins", "Shows the origin of each value").hide(true)),
        )
        .subcommand(Command::new("schema").about("Prints the JSON Schema of the configuration, for editors"))
        .subcommand(
            Command::new("init")
                .about("Creates a commented configuration file for this user")
                .arg(flag("force", "Moves an existing file to `toolkit.json5.old` first")),
        )
}

/// Returns the subcommand of `config` in the matches.
pub(crate) fn request(matches: &ArgMatches) -> Result<ConfigRequest, Stop> {
    match matches.subcommand() {
        Some(("check", _)) => Ok(ConfigRequest::Check),
        Some(("show", _)) => Ok(ConfigRequest::Show),
        Some(("schema", _)) => Ok(ConfigRequest::Schema),
        Some(("init", matches)) => Ok(ConfigRequest::Init { force: matches.get_flag("force") }),
        _ => Err(Stop::usage("a subcommand is missing; `config --help` lists them")),
    }
}

/// Loads the configuration, or returns the reason for which it cannot be used.
pub(crate) fn load(options: LoadOptions) -> Result<Configuration, Stop> {
    Configuration::load(options).map_err(cannot_load)
}

#[expect(clippy::needless_pass_by_value, reason = "the form of `map_err`")]
pub(crate) fn cannot_load(error: ConfigError) -> Stop {
    Stop::cannot_start(error.to_string())
}

/// Reports on standard error that a running program has a changed configuration, or cannot use it.
pub(crate) fn report_reload(reloaded: Result<Reloaded, BootstrapError>) {
    let text = match reloaded {
        Ok(reloaded) => {
            let notes = reloaded.diagnostics.iter().map(|diagnostic| format!("\n- {diagnostic}"));
            let notes: String = notes.collect();
            format!("the configuration was reloaded; changed: {}{notes}", reloaded.changed.join(", "))
        }
        Err(error) => {
            format!("the changed configuration is not used, the previous one stays in effect: {error}")
        }
    };
    // Nobody can be told if standard error is closed.
    let _ = writeln!(io::stderr(), "note: {text}");
}

/// Prints a warning of a program that serves.
pub(crate) fn warn(text: &str) {
    let _ = writeln!(io::stderr(), "warning: {text}");
}

/// Prints a warning for each part of the configuration that is ignored.
pub(crate) fn note(configuration: &Configuration, console: &mut Console<'_>) {
    for note in configuration.notes() {
        console.note(&format!("warning: {note}"));
    }
}

impl RunAtOnce for ConfigRequest {
    fn run(&self, start: Start<'_>, console: &mut Console<'_>) -> Result<Exit, Stop> {
        let Start { toolkit, load, format, cannot_build, .. } = start;
        run(*self, toolkit, load, format, cannot_build, console)
    }
}

fn run(
    request: ConfigRequest,
    toolkit: Builder,
    options: LoadOptions,
    format: Format,
    cannot_build: &dyn Fn(BuildError) -> Stop,
    console: &mut Console<'_>,
) -> Result<Exit, Stop> {
    match request {
        ConfigRequest::Check => check(toolkit, options, format, cannot_build, console),
        ConfigRequest::Show => {
            let configuration = load(options)?;
            // An error that stops every other command stops this one too.
            let built = toolkit.configuration(configuration.clone()).build();
            built.map_err(cannot_build)?;
            show(&configuration, format, console)
        }
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
    cannot_build: &dyn Fn(BuildError) -> Stop,
    console: &mut Console<'_>,
) -> Result<Exit, Stop> {
    let configuration = load(options)?;
    let toolkit = toolkit.configuration(configuration.clone()).build();
    let toolkit = toolkit.map_err(cannot_build)?;
    let files = configuration.workspace_files();
    if format == Format::Json {
        let files = files.iter().map(|file| json!({"path": file.file.path, "trusted": file.is_trusted}));
        let answer = json!({
            "files": files.collect::<Vec<_>>(),
            "commandRules": command_rules(&configuration),
            "diagnostics": toolkit.diagnostics(),
        });
        return print_json(&answer, console).map(|()| Exit::Success);
    }
    for diagnostic in toolkit.diagnostics() {
        console.note(&diagnostic.to_string());
    }
    // The first ones are among the diagnostics.
    for ignored in configuration.ignored().iter().skip(Configuration::MAX_NOTED) {
        console.note(&format!("warning: {ignored}"));
    }
    let mut text = String::new();
    for file in files {
        let word = if file.is_trusted { "trusted" } else { "not trusted: it can only restrict" };
        let _ = writeln!(text, "{}: {word}", escape_line(&file.file.path.display().to_string()));
    }
    for rule in command_rules(&configuration) {
        let place = rule.location.map_or_else(String::new, |place| format!(" ({place})"));
        let _ = writeln!(text, "{}{place}", rule.message);
    }
    text.push_str("the configuration is valid\n");
    console.print(&text).map(|()| Exit::Success)
}

/// Returns what each rule about commands covers.
fn command_rules(configuration: &Configuration) -> Vec<Diagnostic> {
    let (sources, restrictions) = configuration.permissions();
    let restrictions = restrictions.into_iter().map(|(_, settings)| settings);
    restrictions.fold(Permissions::new(sources), Permissions::narrowed_by).command_coverage()
}

fn show(configuration: &Configuration, format: Format, console: &mut Console<'_>) -> Result<Exit, Stop> {
    let (lines, narrowing) = (lines(configuration), narrowing(configuration));
    if format == Format::Json {
        let origins = |lines: &[Line]| -> Value {
            lines
                .iter()
                .map(|line| json!({"key": line.key, "value": line.value, "origin": line.origin}))
                .collect()
        };
        let restrictions = narrowing.iter().map(|(restriction, lines)| {
            let ConfigRestriction { file, document, .. } = restriction;
            json!({"file": file, "configuration": document, "origins": origins(lines)})
        });
        let answer = json!({
            "configuration": configuration.document(),
            "permissions": configuration.permissions().0.iter().map(permission_json).collect::<Vec<_>>(),
            "origins": origins(&lines),
            "restrictions": restrictions.collect::<Vec<_>>(),
        });
        return print_json(&answer, console).map(|()| Exit::Success);
    }
    note(configuration, console);
    let mut text = String::new();
    let mut add = |lines: &[Line], what: &str| {
        for Line { key, value, origin } in lines {
            let (key, value, origin) = (escape_line(key), value.to_string(), escape_line(origin));
            let _ = writeln!(text, "{key} = {}  ({origin}{what})", escape_line(&value));
        }
    };
    add(&lines, "");
    for (_, lines) in &narrowing {
        add(lines, ", restriction only");
    }
    if text.is_empty() {
        console.note("Nothing is configured.");
    }
    console.print(&text).map(|()| Exit::Success)
}

/// Returns the restrictions of every untrusted file with the values that each takes away.
fn narrowing(configuration: &Configuration) -> Vec<(ConfigRestriction, Vec<Line>)> {
    let each = configuration.restrictions().into_iter().map(|restriction| {
        let mut lines = Vec::new();
        add_lines(&restriction.document, &restriction.origins, &mut lines);
        // Objects of which every value is ignored.
        lines.retain(|line| !line.value.is_object());
        (restriction, lines)
    });
    each.collect()
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
    for (key, all) in [("groups", &settings.groups), ("senders", &settings.senders)] {
        for (channel, all) in all {
            for (name, rules) in all {
                value["channels"][channel][key][name]["permission"] = json!(rules);
            }
        }
    }
    value
}

/// A value in effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) key: String,
    pub(crate) value: Value,
    pub(crate) origin: String,
}

/// Returns every value in effect, including permissions, by its JSON pointer; restrictions of untrusted files are not
/// included.
pub(crate) fn lines(configuration: &Configuration) -> Vec<Line> {
    let mut lines = Vec::new();
    add_lines(&configuration.document(), configuration.origins(), &mut lines);
    for settings in configuration.permissions().0 {
        add_lines(&permission_json(&settings), &settings.origins, &mut lines);
    }
    lines
}

fn add_lines(value: &Value, origins: &ConfigOrigins, lines: &mut Vec<Line>) {
    leaves(value, String::new(), &mut |key, value| {
        let origin = origins.find(&key).map(ToString::to_string).unwrap_or_default();
        lines.push(Line { key, value: value.clone(), origin });
    });
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
            return Err(Stop::failed(format!("{} already exists; move it away first", old.display())));
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
            "{} already exists; `--force` moves it to `toolkit.json5.old`",
            file.display()
        ))),
        Err(error) => Err(cannot(error)),
    }
}

//! The flags of a tool on the command line: a clap command built from its schema, and JSON arguments built from the
//! matches.

use crate::exit::Stop;
use crate::kinds::Kinds;
use crate::parameter_type::{Parameter, parameters};
use crate::shape;
use crate::value;
use crate::words::{first_sentence, is_boolean, plain, rules, value_name};
use crate::wrap::{MAX_COLUMNS, paragraphs};
use clap::builder::PossibleValuesParser;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use std::collections::HashSet;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::{iter, mem};
use toolkit::{
    Tool,
    text::{escape_terminal, nearest},
};

/// The options of `call` that a person may put after the tool's name by mistake.
const BEFORE_THE_NAME: [&str; 7] = ["output", "o", "workspace", "agent", "channel", "model", "session"];

/// The options of `call` that also count after the tool's name, where no flag of the tool is called so.
const ARGS: &str = "args";
const SAVE: &str = "save";

/// ID of the flag that shows the help, which no parameter has.
const HELP: &str = "--help";

/// Heading of a tool's flags in its help.
const HEADING: &str = "Flags";

/// The flags of one tool.
pub(crate) struct Flags<'a> {
    tool: &'a Tool,
    list: Vec<Flag<'a>>,
    /// Parameters whose names cannot be flags.
    unflagged: Vec<&'a str>,
    /// True if no parameter is called `help`.
    help_is_free: bool,
}

/// The values that follow the tool's name.
#[derive(Debug, Default)]
pub(crate) struct Given<'a> {
    /// The JSON text of each parameter that has a value.
    pub(crate) values: Vec<(&'a str, String)>,
    /// `--args`, given after the name.
    pub(crate) args: Option<String>,
    /// `--save`, given after the name.
    pub(crate) save: Option<PathBuf>,
}

struct Flag<'a> {
    parameter: Parameter<'a>,
    /// Name of the flag in help, without the dashes.
    long: String,
    /// Other accepted spellings.
    others: Vec<String>,
}

/// Purpose of a generated clap command.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Parsing, where clap must leave all checks to the toolbox.
    Parsing,
    /// Completion scripts, which offer the values of an enumeration.
    Completion,
}

impl<'a> Flags<'a> {
    pub(crate) fn of(tool: &'a Tool) -> Self {
        let (flagged, unflagged): (Vec<_>, Vec<_>) =
            parameters(tool).into_iter().partition(|parameter| is_flag(parameter.name));
        // A name always belongs to its own parameter; alternative spellings come after all names, in the order of the
        // parameters.
        let mut taken: HashSet<String> = flagged.iter().map(|parameter| parameter.name.to_owned()).collect();
        let help_is_free = taken.insert("help".to_owned());
        let mut free = |name: &String| is_flag(name) && taken.insert(name.clone());
        let mut flags: Vec<Flag<'_>> = flagged
            .into_iter()
            .map(|parameter| {
                let name = parameter.name.to_owned();
                let mut others: Vec<String> = spellings(&name).into_iter().filter(&mut free).collect();
                let long = if others.first() == Some(&dashed(&name)) {
                    mem::replace(&mut others[0], name)
                } else {
                    name
                };
                Flag { parameter, long, others }
            })
            .collect();
        for flag in &mut flags {
            for alias in &flag.parameter.aliases {
                let names = iter::once((*alias).to_owned()).chain(spellings(alias));
                flag.others.extend(names.filter(&mut free));
            }
        }
        Self {
            tool,
            list: flags,
            help_is_free,
            unflagged: unflagged.into_iter().map(|parameter| parameter.name).collect(),
        }
    }

    /// The tool as a clap command of the program `program`.
    pub(crate) fn command(&self, program: &str, purpose: Purpose) -> Command {
        let name = self.tool.name().to_owned();
        let mut command = Command::new(name.clone())
            .bin_name(format!("{program} call {name}"))
            .override_usage(self.usage(program))
            .about(match purpose {
                Purpose::Parsing => paragraphs(&escape_terminal(self.tool.description())),
                Purpose::Completion => first_sentence(self.tool.description()),
            })
            .after_help(self.after_help(program))
            .max_term_width(MAX_COLUMNS)
            .disable_help_flag(true)
            .disable_help_subcommand(true)
            .args(self.flags_for(purpose).map(|flag| flag.arg(purpose)));
        let help =
            Arg::new(HELP).short('h').action(ArgAction::HelpShort).help("Print help").help_heading(HEADING);
        command = command.arg(if self.help_is_free { help.long("help") } else { help });
        if purpose == Purpose::Parsing {
            let late = |name: &'static str| Arg::new(late_id(name)).long(name).num_args(1).hide(true);
            let names = [ARGS, SAVE].into_iter().filter(|name| self.is_free(name));
            command = names.fold(command, |command, name| {
                let late = late(name).allow_hyphen_values(name == ARGS);
                command.arg(if name == SAVE { late.value_parser(value_parser!(PathBuf)) } else { late })
            });
        }
        if purpose == Purpose::Parsing { command.no_binary_name(true) } else { command }
    }

    fn flags_for(&self, purpose: Purpose) -> impl Iterator<Item = &Flag<'a>> {
        self.list.iter().filter(move |flag| purpose == Purpose::Parsing || is_shell_word(&flag.long))
    }

    /// Returns true if no flag of the tool has this name.
    fn is_free(&self, name: &str) -> bool {
        !self.list.iter().any(|flag| flag.long == name || flag.others.iter().any(|other| other == name))
    }

    /// Parses the words after the tool's name.
    pub(crate) fn parse(&self, program: &str, words: Vec<OsString>) -> Result<Given<'a>, Stop> {
        let mut matches = self.command(program, Purpose::Parsing).try_get_matches_from(words).map_err(
            |error| match error.kind() {
                ErrorKind::UnknownArgument => self.unknown(&error, program),
                _ => Stop::Parse(error),
            },
        )?;
        let mut given = Given::default();
        if self.is_free(ARGS) {
            given.args = matches.remove_one(late_id(ARGS));
        }
        if self.is_free(SAVE) {
            given.save = matches.remove_one(late_id(SAVE));
        }
        let value = |flag: &Flag<'a>| Some((flag.parameter.name, flag.value(&mut matches)?));
        given.values = self.list.iter().filter_map(value).collect();
        Ok(given)
    }

    fn unknown(&self, error: &clap::Error, program: &str) -> Stop {
        let tool = self.tool.name();
        let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidArg) else {
            return Stop::usage(error.to_string());
        };
        if !word.starts_with('-') || word == "-" {
            return Stop::usage(format!(
                "`{word}` is not a flag of the tool `{tool}`; pass its arguments as flags\n{}",
                self.listed()
            ));
        }
        let name = word.trim_start_matches('-').split('=').next().unwrap_or_default();
        let known = self.list.iter().map(|flag| flag.long.as_str());
        let near: Vec<String> = nearest(name, known).into_iter().map(|near| format!("`--{near}`")).collect();
        let mut advice = String::new();
        if !near.is_empty() {
            let _ = write!(advice, "; did you mean {}?", near.join(" or "));
        }
        if BEFORE_THE_NAME.contains(&name) {
            let _ = write!(
                advice,
                "\nOptions of the command stand before the tool's name: `{program} call {word} … {tool}`"
            );
        }
        Stop::usage(format!("the tool `{tool}` has no flag `{word}`{advice}\n{}", self.listed()))
    }

    fn listed(&self) -> String {
        let longs: Vec<String> = self.list.iter().map(|flag| format!("--{}", flag.long)).collect();
        if longs.is_empty() { "It has no flags.".to_owned() } else { format!("It has: {}", longs.join(", ")) }
    }

    fn usage(&self, program: &str) -> String {
        let mut usage = format!("{program} call [OPTIONS] {}", self.tool.name());
        for flag in self.list.iter().filter(|flag| flag.parameter.required) {
            let _ = write!(usage, " --{} <{}>", flag.long, value_name(&flag.parameter.ty));
        }
        if self.list.iter().any(|flag| !flag.parameter.required) {
            usage.push_str(" [FLAGS]");
        }
        usage
    }

    fn after_help(&self, program: &str) -> String {
        let mut text = String::new();
        if let Some(deprecated) = self.tool.deprecated() {
            let _ = writeln!(text, "Deprecated: {deprecated}");
        }
        if !self.unflagged.is_empty() {
            let _ = writeln!(text, "Only in `--args`: {}", self.unflagged.join(", "));
        }
        let _ = write!(
            text,
            "Options stand before the tool's name, `--args` and `--save` also after it; `{program} call --help` shows them."
        );
        text
    }
}

impl Flag<'_> {
    fn arg(&self, purpose: Purpose) -> Arg {
        let Parameter { name, ty, .. } = &self.parameter;
        let kinds = ty.kinds();
        let takes_many = kinds.has(Kinds::ARRAY);
        let arg = Arg::new((*name).to_owned())
            .long(self.long.clone())
            .aliases(self.others.clone())
            .help_heading(HEADING)
            .action(if takes_many { ArgAction::Append } else { ArgAction::Set });
        let arg = if kinds.has(Kinds::BOOLEAN) && kinds != Kinds::ANY {
            // There are no positional arguments that a value could be taken for.
            arg.num_args(0..=1).default_missing_value("true").allow_negative_numbers(true)
        } else {
            arg.num_args(1).allow_hyphen_values(true)
        };
        if purpose == Purpose::Parsing {
            let help = self.help();
            let arg = arg.value_name(value_name(ty));
            return if help.is_empty() { arg } else { arg.help(help) };
        }
        let arg = arg.value_name("VALUE").help(first_sentence(self.parameter.description));
        let item = if takes_many { ty.item(0) } else { ty.clone() };
        let choices = match item.choices() {
            Some(choices) => choices.into_iter().map(plain).filter(|choice| is_shell_word(choice)).collect(),
            None if is_boolean(&item) => vec!["true".to_owned(), "false".to_owned()],
            None => Vec::new(),
        };
        if choices.is_empty() { arg } else { arg.value_parser(PossibleValuesParser::new(choices)) }
    }

    fn help(&self) -> String {
        let mut notes = Vec::new();
        if self.parameter.required {
            notes.push("required".to_owned());
        }
        if self.parameter.ty.kinds().without(Kinds::NULL) == Kinds::ARRAY {
            notes.push("may be repeated".to_owned());
        }
        notes.extend(rules(&self.parameter.ty));
        let notes = if notes.is_empty() { String::new() } else { format!("[{}]", notes.join(", ")) };
        let parts = [self.parameter.description, &notes];
        let mut help = parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ");
        // Wrapped with the rest of the help.
        let within = shape::lines(&self.parameter.ty, "  ", None);
        if !within.is_empty() {
            let _ = write!(help, "\n{}", within.trim_end());
        }
        escape_terminal(&help).into_owned()
    }

    fn value(&self, matches: &mut ArgMatches) -> Option<String> {
        let words: Vec<String> = matches.remove_many(self.parameter.name)?.collect();
        Some(value::to_json(&words, &self.parameter.ty))
    }
}

/// Returns the ID of an option that stands after the tool's name, which no parameter has.
fn late_id(name: &str) -> &'static str {
    if name == ARGS { "--args" } else { "--save" }
}

/// Returns true if a parameter of this name can be given as `--name`.
fn is_flag(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with('-')
        && !name.chars().any(|c| c == '=' || c.is_whitespace() || c.is_control())
}

/// Returns true if a shell reads the text as one plain word. Other words are left out of completion scripts.
fn is_shell_word(word: &str) -> bool {
    !word.is_empty() && word.chars().all(|c| c.is_alphanumeric() || "_-.,:/@%+".contains(c))
}

/// Returns the alternative spellings of a name, such as `file-path` and `file_path`.
fn spellings(name: &str) -> [String; 2] {
    let dashed = dashed(name);
    let underscored = dashed.replace('-', "_");
    [dashed, underscored]
}

/// `file_path` and `filePath` as `file-path`.
fn dashed(name: &str) -> String {
    let mut dashed = String::new();
    let mut follows_lower = false;
    for c in name.chars() {
        if c.is_uppercase() && follows_lower {
            dashed.push('-');
        }
        follows_lower = c.is_lowercase() || c.is_ascii_digit();
        match c {
            '_' => dashed.push('-'),
            c if c.is_uppercase() => dashed.extend(c.to_lowercase()),
            c => dashed.push(c),
        }
    }
    dashed
}

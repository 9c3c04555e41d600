//! Parses single values at a path, from the environment and the command line.

use crate::config::entries::{self, check};
use crate::config::error::ConfigProblem;
use crate::config::merge::Document;
use crate::config::parse::{Parsed, parse};
use crate::config::schema::Schemas;
use crate::section::ConfigSection;
use crate::section::pointer::{dotted, escape, steps};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use toolkit_core::config_origin::{ConfigOrigin, ConfigSource};
use toolkit_core::name::nearest;
use toolkit_core::schema::resolve;

/// The prefix of the variables.
const PREFIX: &str = "TOOLKIT_";
/// Variables with the prefix that are no keys of the configuration.
const RESERVED: [&str; 4] = ["TOOLKIT_DATA_DIR", "TOOLKIT_CONFIG_DIR", "TOOLKIT_NODE_DIR", "TOOLKIT_LOG"];
/// The prefix of variables of tests.
const OF_TESTS: &str = "TOOLKIT_TEST_";

/// Returns true if a variable sets a configuration key.
pub(crate) fn is_key(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    name.starts_with(PREFIX) && !RESERVED.contains(&&*name) && !name.starts_with(OF_TESTS)
}

/// Parses the variables `TOOLKIT_…` of an environment, by name: `TOOLKIT_TOOLS__DENY` is `tools.deny`.
pub(crate) fn of_environment(
    environment: &BTreeMap<OsString, OsString>,
    schemas: &Schemas,
    known: &Value,
    problems: &mut Vec<ConfigProblem>,
    notes: &mut Vec<String>,
) -> Vec<Document> {
    let mut documents = Vec::new();
    let mut said: BTreeMap<String, String> = BTreeMap::new();
    for (name, value) in environment {
        if !is_key(name) {
            continue;
        }
        let name = name.to_string_lossy().into_owned();
        let path = name.strip_prefix(PREFIX).unwrap_or(&name);
        let origin = ConfigOrigin::new(ConfigSource::Environment(name.clone()));
        let names: Vec<&str> = path.split("__").collect();
        match one(&names, Spelling::Environment, value, &origin, schemas, known) {
            Ok(Said { pointer, document, guessed }) => {
                notes.extend(guessed.map(|guessed| {
                    let meant = guessed.replace('_', "-");
                    format!(
                        "${name} is taken to mean `{guessed}`, since no file has such a name: `{meant}` is another; write it \
                         in a file, or with `--set`, if that is meant"
                    )
                }));
                match said.insert(pointer.clone(), name) {
                    None => documents.push(document),
                    Some(other) => {
                        let message = format!("the variable `{other}` sets it too; unset one of them");
                        problems.push(ConfigProblem::new(Some(origin), pointer, message));
                    }
                }
            }
            Err(found) => problems.extend(found),
        }
    }
    documents
}

/// Parses `--set KEY=VALUE`; the key is a path with dots, or a JSON pointer.
pub(crate) fn of_flag(flag: &str, schemas: &Schemas, known: &Value) -> Result<Document, Vec<ConfigProblem>> {
    let Some((key, value)) = flag.split_once('=') else {
        let origin = ConfigOrigin::new(ConfigSource::Flag("--set".to_owned()));
        let message = "it takes a key and a value: `--set tools.profile=coding`";
        return Err(vec![ConfigProblem::new(Some(origin), "", message)]);
    };
    // The origin omits the value, which may be a secret.
    let origin = ConfigOrigin::new(ConfigSource::Flag(format!("--set {key}")));
    let names: Vec<String> =
        if key.starts_with('/') { steps(key).collect() } else { key.split('.').map(str::to_owned).collect() };
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    one(&names, Spelling::Exact, OsStr::new(value), &origin, schemas, known).map(|said| said.document)
}

/// The spelling of the names in a path.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Spelling {
    /// As the keys are spelled.
    Exact,
    /// In capitals, with `_` at any place.
    Environment,
}

/// The value of one variable or option.
struct Said {
    pointer: String,
    document: Document,
    /// A name in the path that may be spelled otherwise: a variable's name has neither `-` nor lower
    /// case.
    guessed: Option<String>,
}

fn one(
    names: &[&str],
    spelling: Spelling,
    value: &OsStr,
    origin: &ConfigOrigin,
    schemas: &Schemas,
    known: &Value,
) -> Result<Said, Vec<ConfigProblem>> {
    let fault =
        |pointer: &str, message: String| vec![ConfigProblem::new(Some(origin.clone()), pointer, message)];
    let (keys, guessed) =
        keys(names, spelling, &schemas.partial.schema, known).map_err(|message| fault("", message))?;
    let pointer = keys.iter().fold(String::new(), |pointer, key| pointer + "/" + &escape(key));
    let Some(text) = value.to_str() else { return Err(fault(&pointer, "its value is not UTF-8".to_owned())) };
    // A string may look like a number or like other JSON: the first reading that matches the schema is
    // used.
    let read = parse(text).ok().map(|Parsed { value, .. }| value);
    let mut found = Vec::new();
    let is_plain = read.as_ref().is_none_or(|value| !value.is_array() && !value.is_object());
    for candidate in read.into_iter().chain(is_plain.then(|| Value::from(text))) {
        let mut document = keys
            .iter()
            .rev()
            .fold(candidate, |value, key| Value::Object(Map::from_iter([(key.clone(), value)])));
        let problems = check(&schemas.partial, &mut document, &schemas.sections);
        if problems.is_empty() {
            let mut origins = BTreeMap::new();
            add_origins(&document, String::new(), origin, &mut origins);
            let document = Document { value: document, origins, only: Some(pointer.clone()) };
            return Ok(Said { pointer, document, guessed });
        }
        if found.is_empty() {
            found = problems.iter().map(|problem| ConfigProblem::of(problem, Some(origin.clone()))).collect();
        }
    }
    Err(found)
}

fn add_origins(
    value: &Value,
    pointer: String,
    origin: &ConfigOrigin,
    origins: &mut BTreeMap<String, ConfigOrigin>,
) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                add_origins(member, format!("{pointer}/{}", escape(name)), origin, origins);
            }
        }
        Value::Array(items) => {
            for (number, item) in items.iter().enumerate() {
                add_origins(item, format!("{pointer}/{number}"), origin, origins);
            }
        }
        _ => {}
    }
    origins.insert(pointer, origin.clone());
}

/// Returns the document of the program's own values.
pub(crate) fn of_program(value: &Value, sections: &[ConfigSection]) -> Document {
    let mut value = value.clone();
    entries::lift(&mut value, sections);
    let mut origins = BTreeMap::new();
    add_origins(&value, String::new(), &ConfigOrigin::new(ConfigSource::Program), &mut origins);
    Document { value, origins, only: None }
}

/// Returns the keys that the names of a path stand for, and the index of the first key that may be
/// spelled otherwise.
fn keys(
    names: &[&str],
    spelling: Spelling,
    root: &Value,
    known: &Value,
) -> Result<(Vec<String>, Option<String>), String> {
    let fold = |name: &str| name.replace(['_', '-'], "").to_lowercase();
    let (mut schema, mut known) = (root, Some(known));
    let mut keys: Vec<String> = Vec::new();
    let mut guessed = None;
    for name in names {
        schema = resolve(schema, root);
        let variants = schema.get("anyOf").and_then(Value::as_array).into_iter().flatten();
        let here: Vec<&Value> = [schema].into_iter().chain(variants).collect();
        let mut properties = here.iter().filter_map(|schema| schema.get("properties")?.as_object()).flatten();
        let is_meant = |key: &str| match spelling {
            Spelling::Exact => key == *name,
            Spelling::Environment => fold(key) == fold(name),
        };
        let rest = here.iter().find_map(|schema| rest_of(schema));
        let (key, next) = match (properties.find(|(key, _)| is_meant(key)), rest) {
            _ if name.is_empty() => return Err("a name in its path is empty".to_owned()),
            (Some((key, next)), _) => (key.clone(), next),
            (None, Some(next)) => {
                let written = known.and_then(Value::as_object).into_iter().flat_map(Map::keys);
                let written = written.into_iter().find(|key| is_meant(key)).cloned();
                let new = || match spelling {
                    Spelling::Exact => (*name).to_owned(),
                    Spelling::Environment => name.to_lowercase(),
                };
                // Names of tools and of kinds of permission have no `-`.
                let has_dash = keys.last().is_none_or(|of| of != "settings" && of != "permission");
                let is_guessed = written.is_none() && spelling == Spelling::Environment && name.contains('_');
                if is_guessed && has_dash && guessed.is_none() {
                    guessed = Some(new());
                }
                (written.unwrap_or_else(new), next)
            }
            (None, None) => {
                let all: Vec<&str> = here
                    .iter()
                    .filter_map(|schema| schema.get("properties")?.as_object())
                    .flat_map(Map::keys)
                    .map(String::as_str)
                    .collect();
                let place = if keys.is_empty() {
                    "the configuration".to_owned()
                } else {
                    format!("`{}`", dotted(&format!("/{}", keys.join("/"))))
                };
                let near = nearest(name, all.iter().copied());
                return Err(match (near.first(), all.is_empty()) {
                    (None, false) if keys.len() == 1 && keys[0] == "tools" => format!(
                        "{place} has no key `{name}`; the settings of a tool are in `tools.settings.{name}`; there are {}",
                        all.join(", ")
                    ),
                    (Some(near), _) => format!("{place} has no key `{name}`; did you mean `{near}`?"),
                    (None, true) => format!("{place} has no keys"),
                    (None, false) => format!("{place} has no key `{name}`; there are {}", all.join(", ")),
                });
            }
        };
        known = known.and_then(|known| known.get(&key));
        keys.push(key);
        schema = next;
    }
    Ok((keys, guessed))
}

/// Returns the schema of keys that a schema does not name; `None` if it accepts no such keys.
fn rest_of(schema: &Value) -> Option<&Value> {
    static ANYTHING: Value = Value::Bool(true);
    match schema.get("additionalProperties") {
        Some(Value::Bool(false)) => None,
        Some(rest) => Some(rest),
        // An unknown section accepts everything.
        None => match schema.get("type") {
            Some(kind) if kind != "object" => None,
            None if schema.get("anyOf").is_some() || schema.get("enum").is_some() => None,
            _ => Some(&ANYTHING),
        },
    }
}

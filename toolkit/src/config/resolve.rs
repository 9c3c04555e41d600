//! The secrets of a document: found by the schema, hidden where the document is shown, and inserted where it refers to them.

use crate::config::error::ConfigProblem;
use crate::config::file::read_text;
use crate::section::pointer::{escape, steps};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use toolkit_core::config_origin::{ConfigOrigins, ConfigSource};
use toolkit_core::redact::REDACTED;
use toolkit_core::schema::Compiled;
use toolkit_core::schema::secret::{add_variants, is_marked};

/// The most bytes of a file that contains a secret.
const LONGEST_FILE: u64 = 64 << 10;

/// Returns true if the value at `pointer` is itself a secret.
pub(crate) fn is_secret(compiled: &Compiled, pointer: &str) -> bool {
    let root = &compiled.annotated;
    let mut here = Vec::new();
    add_variants(&mut here, root, root, 0);
    for step in steps(pointer) {
        if here.iter().any(|schema| is_marked(schema)) {
            return false;
        }
        let mut next = Vec::new();
        for schema in &here {
            let property = schema.get("properties").and_then(|properties| properties.get(&step));
            let rest = || schema.get("items").or_else(|| schema.get("additionalProperties"));
            if let Some(found) = property.or_else(rest) {
                add_variants(&mut next, found, root, 0);
            }
        }
        here = next;
    }
    here.into_iter().any(is_marked)
}

/// Returns true if a text is only a reference to a secret and contains no part of one.
fn is_reference(text: &str) -> bool {
    text.strip_prefix("${env:")
        .and_then(|rest| rest.strip_suffix('}'))
        .is_some_and(|name| !name.contains(['$', '{', '}']))
}

/// Removes the secrets from a document that is to be shown; references stay.
pub(crate) fn hide(value: &mut Value, pointer: &str, compiled: &Compiled) {
    match value {
        Value::Object(_) if is_secret(compiled, pointer) => {}
        Value::String(text) if is_secret(compiled, pointer) && !is_reference(text) => {
            *value = REDACTED.into();
        }
        Value::Object(members) => {
            for (name, member) in members.iter_mut() {
                let pointer = format!("{pointer}/{}", escape(name));
                // For an unknown section, only the names of keys show which values are secret.
                let is_hidden = |member: &Value| matches!(member, Value::String(text) if !is_reference(text));
                if is_hidden(member) && !is_secret(compiled, &pointer) {
                    let mut alone: Value = Map::from_iter([(name.clone(), member.take())]).into();
                    toolkit_core::redact::Redactor::new().redact_value(&mut alone);
                    *member = alone.get_mut(name).map_or_else(|| REDACTED.into(), Value::take);
                } else {
                    hide(member, &pointer, compiled);
                }
            }
        }
        Value::Array(items) => {
            for (number, item) in items.iter_mut().enumerate() {
                hide(item, &format!("{pointer}/{number}"), compiled);
            }
        }
        Value::String(text) if !is_reference(text) => {
            toolkit_core::redact::Redactor::new().redact_string(text, usize::MAX);
        }
        _ => {}
    }
}

/// Replaces references with the secrets that they refer to.
pub(crate) struct Resolver<'a> {
    pub(crate) compiled: &'a Compiled,
    pub(crate) environment: &'a BTreeMap<OsString, OsString>,
    pub(crate) origins: &'a ConfigOrigins,
    /// All secrets, for the redactor.
    pub(crate) secrets: Vec<String>,
    /// The files that secrets are read from, whether or not they exist.
    pub(crate) files: Vec<PathBuf>,
    /// References that cannot be parsed.
    pub(crate) problems: Vec<ConfigProblem>,
    /// References to missing variables or files: only the parts that need them become unavailable.
    pub(crate) unresolved: Vec<ConfigProblem>,
}

/// The reason why a reference was not replaced.
enum Fault {
    /// The reference is malformed.
    Written(String),
    /// The variable or file does not exist.
    Absent(String),
}

impl Resolver<'_> {
    /// Replaces references to files by a text that is no secret, in a part that is not used.
    pub(crate) fn leave_out(&self, value: &mut Value, pointer: &str) {
        let Value::Object(members) = value else { return };
        if members.contains_key("file") && is_secret(self.compiled, pointer) {
            *value = REDACTED.into();
            return;
        }
        for (name, member) in members {
            self.leave_out(member, &format!("{pointer}/{}", escape(name)));
        }
    }

    pub(crate) fn resolve(&mut self, value: &mut Value, pointer: &str) {
        match value {
            Value::String(text) => {
                let is_secret = is_secret(self.compiled, pointer);
                if text.contains("${") {
                    match self.replaced(text) {
                        Ok(replaced) => *text = replaced,
                        Err(fault) => return self.fault(pointer, fault),
                    }
                }
                if is_secret {
                    self.secrets.push(text.clone());
                }
            }
            Value::Object(members) => {
                if let Some(Value::String(file)) = members.get("file").filter(|_| members.len() == 1)
                    && is_secret(self.compiled, pointer)
                {
                    match self.read(file, pointer) {
                        Ok(secret) => {
                            self.secrets.push(secret.clone());
                            *value = secret.into();
                        }
                        Err(fault) => self.fault(pointer, fault),
                    }
                    return;
                }
                for (name, member) in members.iter_mut() {
                    self.resolve(member, &format!("{pointer}/{}", escape(name)));
                }
            }
            Value::Array(items) => {
                for (number, item) in items.iter_mut().enumerate() {
                    self.resolve(item, &format!("{pointer}/{number}"));
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn fault(&mut self, pointer: &str, fault: Fault) {
        let origin = self.origins.find(pointer).cloned();
        let (problems, message) = match fault {
            Fault::Written(message) => (&mut self.problems, message),
            Fault::Absent(message) => (&mut self.unresolved, message),
        };
        problems.push(ConfigProblem::new(origin, pointer, message));
    }

    /// Returns the text with the values of variables inserted.
    fn replaced(&mut self, text: &str) -> Result<String, Fault> {
        let absent =
            |name: &str, why: &str| Fault::Absent(format!("the variable `{name}` of the environment {why}"));
        let mut replaced = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find("${env:") {
            let (before, from) = rest.split_at(at);
            replaced.push_str(before);
            let Some((name, after)) = from["${env:".len()..].split_once('}') else {
                return Err(Fault::Written("`${env:` without its `}`".to_owned()));
            };
            if name.is_empty() || name.contains(['=', '\0', '$', '{']) {
                let message = "`${env:…}` takes the name of a variable of the environment";
                return Err(Fault::Written(message.to_owned()));
            }
            let Some(value) = self.environment.get(std::ffi::OsStr::new(name)) else {
                return Err(absent(name, "is not set"));
            };
            let Some(value) = value.to_str() else {
                return Err(absent(name, "is not UTF-8"));
            };
            if value.is_empty() {
                return Err(absent(name, "is empty"));
            }
            self.secrets.push(value.to_owned());
            replaced.push_str(value);
            rest = after;
        }
        replaced.push_str(rest);
        Ok(replaced)
    }

    fn read(&mut self, file: &str, pointer: &str) -> Result<String, Fault> {
        let directory = match self.origins.find(&format!("{pointer}/file")).map(|origin| &origin.source) {
            Some(ConfigSource::File(path)) => path.parent(),
            _ => None,
        };
        let path = match directory {
            Some(directory) => directory.join(file),
            None if Path::new(file).is_absolute() => file.into(),
            None => {
                return Err(Fault::Written(format!(
                    "`{file}` is relative, which works only in a configuration file; write an absolute path"
                )));
            }
        };
        self.files.push(path.clone());
        let text = match read_text(&path, LONGEST_FILE) {
            Ok(Some(text)) => text,
            Ok(None) => return Err(Fault::Absent(format!("the file {} does not exist", path.display()))),
            Err(reason) => return Err(Fault::Absent(format!("{}: {reason}", path.display()))),
        };
        let secret =
            text.strip_suffix('\n').map_or(text.as_str(), |text| text.strip_suffix('\r').unwrap_or(text));
        if secret.is_empty() {
            return Err(Fault::Absent(format!("the file {} is empty", path.display())));
        }
        Ok(secret.to_owned())
    }
}

//! Edits of files that people write: everything else in the file stays as written, including comments.

mod line;
mod toml;
mod yaml;

use crate::exit::Stop;
use crate::save;
use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstInputValue, CstObject, CstRootNode};
use serde_json::{Map, Value};
use similar::TextDiff;
use std::fs::{self, DirBuilder};
use std::io::{ErrorKind, Read as _};
use std::path::Path;

/// The largest file that is changed, in bytes.
const LARGEST: u64 = 16 << 20;

/// The language of a client's configuration file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    /// JSON, in which existing comments are kept.
    Json,
    Toml,
    Yaml,
}

/// A text with a further entry.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Changed {
    pub(super) text: String,
    /// Number of keys on the path to the entry that were added with it.
    pub(super) made: usize,
}

impl Format {
    /// Returns the member `name` of the object at this path of keys in a text; `None` if there is none.
    ///
    /// # Errors
    ///
    /// Why the text is not understood: with the line, where that is known.
    pub(super) fn entry(self, text: &str, keys: &[&str], name: &str) -> Result<Option<Value>, String> {
        match self {
            Self::Json => entry(text, Dialect::WithComments, keys, name),
            Self::Toml => toml::entry(text, keys, name),
            Self::Yaml => yaml::entry(text, keys, name),
        }
    }

    /// The text with this member; members of the member that `value` does not have stay.
    ///
    /// # Errors
    ///
    /// Like [`entry`](Self::entry), but also if the path is occupied by another value.
    pub(super) fn with(
        self,
        text: &str,
        keys: &[&str],
        name: &str,
        value: &Map<String, Value>,
    ) -> Result<Changed, String> {
        match self {
            Self::Json => with(text, Dialect::WithComments, keys, name, value),
            Self::Toml => toml::with(text, keys, name, value),
            Self::Yaml => yaml::with(text, keys, name, value),
        }
    }

    /// Returns the text without this member, and without the last `made` keys of the path that are then empty.
    ///
    /// # Errors
    ///
    /// As [`with`](Self::with).
    pub(super) fn without(
        self,
        text: &str,
        keys: &[&str],
        name: &str,
        made: usize,
    ) -> Result<String, String> {
        match self {
            Self::Json => without(text, Dialect::WithComments, keys, name, made),
            Self::Toml => toml::without(text, keys, name),
            Self::Yaml => yaml::without(text, keys, name, made),
        }
    }

    /// Returns true if a text has no content, not even a comment.
    pub(super) fn is_blank(self, text: &str) -> bool {
        let text = text.trim();
        text.is_empty() || self == Self::Json && text.strip_prefix('{').is_some_and(|rest| rest.trim() == "}")
    }
}

/// Returns the line ending of the last line, which added lines get too.
fn line_end(text: &str) -> &'static str {
    let last = text.rfind('\n').map_or("", |end| &text[..end]);
    if last.ends_with('\r') { "\r\n" } else { "\n" }
}

/// The JSON dialect of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    /// JSON with comments.
    WithComments,
    /// Our own: JSON5.
    Json5,
}

impl Dialect {
    fn options(self) -> ParseOptions {
        let is_json5 = self == Self::Json5;
        ParseOptions {
            allow_comments: true,
            allow_trailing_commas: true,
            allow_missing_commas: false,
            allow_loose_object_property_names: is_json5,
            allow_single_quoted_strings: is_json5,
            allow_hexadecimal_numbers: is_json5,
            allow_unary_plus_numbers: is_json5,
            allow_bare_decimal_point_numbers: is_json5,
            allow_non_finite_numbers: is_json5,
            allow_extended_string_escapes: is_json5,
        }
    }
}

/// Returns the text of a file; `None` if it does not exist.
pub(super) fn read(path: &Path) -> Result<Option<String>, Stop> {
    let unreadable = |error: &dyn std::fmt::Display| {
        Stop::failed(format!("{} was not changed: it cannot be read: {error}", path.display()))
    };
    let file = match fs::File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(unreadable(&error)),
    };
    let mut text = String::new();
    file.take(LARGEST + 1).read_to_string(&mut text).map_err(|error| unreadable(&error))?;
    if text.len() as u64 > LARGEST {
        return Err(unreadable(&format!("it has more than {LARGEST} bytes")));
    }
    Ok(Some(text))
}

/// The text with `value` as the member `name` of the object that these keys lead to from its root, or without that member.
///
/// # Errors
///
/// The reason for which the text cannot be changed: it is not understood, or the path is occupied.
pub(super) fn changed(
    text: &str,
    dialect: Dialect,
    keys: &[&str],
    name: &str,
    value: Option<&Value>,
) -> Result<String, String> {
    let begun = if text.trim().is_empty() { "{\n}\n" } else { text };
    let root = CstRootNode::parse(begun, &dialect.options()).map_err(|error| error.to_string())?;
    let mut object = root.object_value().ok_or("it is not an object")?;
    for key in keys {
        if is_twice(&object, key) {
            return Err(format!("it has `{key}` twice"));
        }
        let is_there = object.get(key).is_some();
        if !is_there && value.is_none() {
            return Ok(text.to_owned());
        }
        let next = if is_there { object.object_value(key) } else { object.object_value_or_create(key) };
        object = next.ok_or_else(|| format!("its `{key}` is not an object"))?;
    }
    if is_twice(&object, name) {
        return Err(format!("its `{}` has `{name}` twice", keys.join(".")));
    }
    let path: Vec<&str> = keys.iter().copied().chain([name]).collect();
    let in_line = match (object.get(name), value) {
        (None, Some(value)) => line::with(text, dialect, &path, value),
        (Some(_), None) => line::without(text, dialect, &path),
        _ => None,
    };
    if let Some(changed) = in_line {
        return Ok(changed);
    }
    match (object.get(name), value) {
        (Some(member), Some(value)) => member.set_value(input(value)),
        (Some(member), None) => member.remove(),
        (None, Some(value)) => {
            object.append(name, input(value));
        }
        (None, None) => {}
    }
    Ok(root.to_string())
}

/// The member `name` of the object that these keys lead to.
fn entry(text: &str, dialect: Dialect, keys: &[&str], name: &str) -> Result<Option<Value>, String> {
    if text.trim().is_empty() {
        return Ok(None);
    }
    let root = CstRootNode::parse(text, &dialect.options()).map_err(|error| error.to_string())?;
    let mut object = root.object_value().ok_or("it is not an object")?;
    for key in keys {
        if object.get(key).is_none() {
            return Ok(None);
        }
        object = object.object_value(key).ok_or_else(|| format!("its `{key}` is not an object"))?;
    }
    Ok(object.get(name).and_then(|member| member.value()).and_then(|value| value.to_serde_value()))
}

/// The text with these members in the member `name` of the object that the keys lead to.
fn with(
    text: &str,
    dialect: Dialect,
    keys: &[&str],
    name: &str,
    value: &Map<String, Value>,
) -> Result<Changed, String> {
    let there = |depth: usize| entry(text, dialect, &keys[..depth], keys[depth]).map(|found| found.is_some());
    let mut made = 0;
    for depth in (0..keys.len()).rev() {
        made += usize::from(!there(depth)?);
    }
    let path: Vec<&str> = keys.iter().copied().chain([name]).collect();
    let text = match entry(text, dialect, keys, name)? {
        Some(Value::Object(members)) => {
            let differ = value.iter().filter(|(key, value)| members.get(*key) != Some(value));
            differ.into_iter().try_fold(text.to_owned(), |text, (key, value)| {
                changed(&text, dialect, &path, key, Some(value))
            })?
        }
        _ => changed(text, dialect, keys, name, Some(&Value::Object(value.clone())))?,
    };
    Ok(Changed { text, made })
}

/// Returns the text without the member `name`, and without the last `made` keys of the path that are then empty.
fn without(text: &str, dialect: Dialect, keys: &[&str], name: &str, made: usize) -> Result<String, String> {
    let mut text = changed(text, dialect, keys, name, None)?;
    for depth in (0..keys.len()).rev().take(made) {
        let (above, key) = (&keys[..depth], keys[depth]);
        let is_empty = entry(&text, dialect, above, key)?
            .is_some_and(|left| left.as_object().is_some_and(Map::is_empty));
        if !is_empty {
            break;
        }
        text = changed(&text, dialect, above, key, None)?;
    }
    Ok(text)
}

fn is_twice(object: &CstObject, name: &str) -> bool {
    let names = object.properties().into_iter().filter_map(|property| property.decoded_name());
    names.filter(|other| other == name).count() > 1
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(value) => CstInputValue::Bool(*value),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(items) => CstInputValue::Array(items.iter().map(input).collect()),
        Value::Object(members) => {
            CstInputValue::Object(members.iter().map(|(name, value)| (name.clone(), input(value))).collect())
        }
    }
}

/// Returns the change as a unified diff.
pub(super) fn diff(path: &Path, before: &str, after: &str) -> String {
    let name = path.display().to_string();
    TextDiff::from_lines(before, after).unified_diff().context_radius(3).header(&name, &name).to_string()
}

/// Writes it whole or not at all; a new one can be read by its owner alone, since secrets may come into it.
pub(super) fn write(path: &Path, text: &str) -> Result<(), Stop> {
    let write = || {
        if let Some(directory) = path.parent() {
            DirBuilder::new().recursive(true).create(directory)?;
        }
        if path.symlink_metadata().is_err() {
            let mut options = fs::OpenOptions::new();
            options.write(true).create_new(true);
            #[cfg(unix)]
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
            options.open(path)?;
        }
        save::write(path, text.as_bytes())
    };
    write().map_err(|error| Stop::failed(format!("{} cannot be written: {error}", path.display())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_not_changed_stays_as_it_was_written() {
        let text = "// Mine.\n{\n  tools: { deny: ['exec'], }, // not that\n  mcp: {\n    // The first.\n    a: { command: 'a' },\n  },\n}\n";
        let value = json!({"command": "b", "args": ["-x", "y z"]});
        let added = changed(text, Dialect::Json5, &["mcp"], "b", Some(&value)).unwrap();
        for kept in [
            "// Mine.\n{\n  tools: { deny: ['exec'], }, // not that\n",
            "// The first.\n    a: { command: 'a' },",
        ] {
            assert!(added.contains(kept), "{added}");
        }
        assert!(added.contains("\"y z\""), "{added}");
        assert_eq!(changed(&added, Dialect::Json5, &["mcp"], "b", None).unwrap(), text);
        let replaced = changed(text, Dialect::Json5, &["mcp"], "a", Some(&value)).unwrap();
        assert!(replaced.contains("// The first.") && !replaced.contains("'a'"), "{replaced}");
        let without = changed(text, Dialect::Json5, &["mcp"], "a", None).unwrap();
        assert!(!without.contains("command") && without.contains("mcp: {"), "{without}");
    }

    #[test]
    fn what_stands_in_one_line_stays_in_it() {
        let value = json!({"command": "b"});
        for (text, expected) in [
            (r#"{"servers":{"a":{"x":1}}}"#, r#"{"servers":{"a":{"x":1},"b":{"command":"b"}}}"#),
            (r#"{ "servers": { "a": 1 } }"#, r#"{ "servers": { "a": 1, "b": {"command":"b"} } }"#),
            (r#"{"theme":"dark"}"#, r#"{"theme":"dark","servers":{"b":{"command":"b"}}}"#),
            (
                "{\n  \"servers\": {\"a\": 1, /* that */},\n}",
                "{\n  \"servers\": {\"a\": 1, \"b\": {\"command\":\"b\"}, /* that */},\n}",
            ),
        ] {
            let added =
                with(text, Dialect::WithComments, &["servers"], "b", value.as_object().unwrap()).unwrap();
            assert_eq!(added.text, expected);
            assert_eq!(
                without(expected, Dialect::WithComments, &["servers"], "b", added.made).unwrap(),
                text
            );
        }
        let first = r#"{"servers":{"b":1,"a":2}}"#;
        assert_eq!(
            without(first, Dialect::WithComments, &["servers"], "b", 0).unwrap(),
            r#"{"servers":{"a":2}}"#
        );
    }

    #[test]
    fn an_empty_file_is_begun() {
        for text in ["", "\n", "{}", "{ }\n"] {
            let added =
                changed(text, Dialect::WithComments, &["servers"], "a", Some(&json!({"command": "x"})))
                    .unwrap();
            let value: Value = serde_json::from_str(&added).unwrap();
            assert_eq!(value, json!({"servers": {"a": {"command": "x"}}}), "{added}");
        }
    }

    #[test]
    fn what_is_not_understood_is_left() {
        for (text, expected) in [
            ("[]", "it is not an object"),
            ("{\"mcpServers\": []}", "its `mcpServers` is not an object"),
            ("{\"mcpServers\": {}, \"mcpServers\": {}}", "it has `mcpServers` twice"),
            ("{\"mcpServers\": {\"a\": 1, \"a\": 2}}", "its `mcpServers` has `a` twice"),
            ("{\"mcpServers\": {}", ""),
            ("{mcpServers: {}}", ""),
            ("{'mcpServers': {}}", ""),
        ] {
            let error =
                changed(text, Dialect::WithComments, &["mcpServers"], "a", Some(&json!({}))).unwrap_err();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_new_file_is_its_owners_alone() {
        use std::os::unix::fs::PermissionsExt as _;
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a/b.json");
        write(&path, "{}").unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(read(&path).unwrap().as_deref(), Some("{}"));
        assert!(read(&directory.path().join("c")).unwrap().is_none());
        assert!(read(directory.path()).is_err());
    }
}

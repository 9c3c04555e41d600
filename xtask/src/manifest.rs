//! The part of TOML that a Cargo.toml uses, parsed with the line of each setting.

use std::fs;
use std::path::Path;

use crate::workspace::Result;

/// Returns the name of the package in a folder of the repository, or `None` if there is no package.
pub(crate) fn package_at(repository: &Path, folder: &str) -> Result<Option<String>> {
    let path = repository.join(folder).join("Cargo.toml");
    if !path.is_file() {
        return Ok(None);
    }
    let manifest = Manifest::parse(&fs::read_to_string(path)?);
    Ok(manifest.get(&["package", "name"]).and_then(|name| name.strings().next()).map(str::to_owned))
}

/// The settings of a manifest, in the order in which they are written.
pub(crate) struct Manifest {
    pub(crate) settings: Vec<Setting>,
}

/// A `key = value` line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Setting {
    /// Counted from 1.
    pub(crate) line: usize,
    /// The names of the table and of the key: `["dependencies", "serde", "workspace"]`.
    pub(crate) path: Vec<String>,
    /// The value as written, without comments.
    pub(crate) value: String,
}

impl Manifest {
    pub(crate) fn parse(text: &str) -> Self {
        let mut settings = Vec::new();
        let mut table = Vec::new();
        for Statement { line, text } in statements(text) {
            if let Some(header) = text.strip_prefix('[') {
                table = key_segments(header.trim_matches(['[', ']']));
            } else if let Some((key, value)) = split_outside_quotes(&text, '=') {
                let path = table.iter().cloned().chain(key_segments(key)).collect();
                settings.push(Setting { line, path, value: value.trim().to_owned() });
            }
        }
        Self { settings }
    }

    /// Returns the value at a path, if it is set there.
    pub(crate) fn get(&self, path: &[&str]) -> Option<&Setting> {
        self.settings.iter().find(|setting| setting.path == path)
    }
}

impl Setting {
    /// Returns true if the value is an inline table that sets the key to `true`.
    pub(crate) fn inline_table_sets(&self, key: &str) -> bool {
        let Some(body) = self.value.strip_prefix('{').and_then(|value| value.strip_suffix('}')) else {
            return false;
        };
        body.split([',', '[', ']', '\n'])
            .filter_map(|entry| entry.split_once('='))
            .any(|(name, value)| name.trim() == key && value.trim() == "true")
    }

    /// The elements of an array of strings.
    pub(crate) fn strings(&self) -> impl Iterator<Item = &str> {
        self.value.split(['"', '\'']).skip(1).step_by(2)
    }
}

/// A header or a setting, with the line it starts on.
struct Statement {
    line: usize,
    text: String,
}

/// Splits a manifest at the line ends that are outside brackets and multi-line strings, and drops comments.
fn statements(text: &str) -> Vec<Statement> {
    let mut statements = Vec::new();
    let mut current = String::new();
    let mut start = 1;
    let mut line = 1;
    let mut depth = 0_usize;
    let mut rest = text;
    while let Some(next) = rest.chars().next() {
        let mut length = next.len_utf8();
        match next {
            '"' | '\'' => {
                length = string_length(rest);
                current.push_str(&rest[..length]);
            }
            '#' => length = rest.find('\n').unwrap_or(rest.len()),
            '\n' if depth == 0 => {
                push_statement(&mut statements, start, &mut current);
                start = line + 1;
            }
            _ => {
                match next {
                    '[' | '{' => depth += 1,
                    ']' | '}' => depth = depth.saturating_sub(1),
                    _ => {}
                }
                current.push(next);
            }
        }
        line += rest[..length].matches('\n').count();
        rest = &rest[length..];
    }
    push_statement(&mut statements, start, &mut current);
    statements
}

fn push_statement(statements: &mut Vec<Statement>, line: usize, current: &mut String) {
    let text = current.trim();
    if !text.is_empty() {
        statements.push(Statement { line, text: text.to_owned() });
    }
    current.clear();
}

/// The length in bytes of the string at the start of a text, its quotes included.
fn string_length(text: &str) -> usize {
    let quote = &text[..1];
    let triple = quote.repeat(3);
    let delimiter = if text.starts_with(&triple) { triple.as_str() } else { quote };
    let mut at = delimiter.len();
    while at < text.len() && !text[at..].starts_with(delimiter) {
        let escaped = quote == "\"" && text[at..].starts_with('\\');
        let mut characters = text[at..].chars();
        at += characters.next().map_or(0, char::len_utf8);
        if escaped {
            at += characters.next().map_or(0, char::len_utf8);
        }
    }
    (at + delimiter.len()).min(text.len())
}

/// The names in a dotted key, without their quotes.
fn key_segments(key: &str) -> Vec<String> {
    let mut segments = Vec::new();
    let mut rest = key;
    while let Some((segment, after)) = split_outside_quotes(rest, '.') {
        segments.push(segment);
        rest = after;
    }
    segments.push(rest);
    segments.into_iter().map(|segment| segment.trim().trim_matches(['"', '\'']).to_owned()).collect()
}

fn split_outside_quotes(text: &str, separator: char) -> Option<(&str, &str)> {
    let mut at = 0;
    while let Some(next) = text[at..].chars().next() {
        if next == separator {
            return Some((&text[..at], &text[at + next.len_utf8()..]));
        }
        at += if matches!(next, '"' | '\'') { string_length(&text[at..]) } else { next.len_utf8() };
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(text: &str) -> Vec<(usize, String, String)> {
        let settings = Manifest::parse(text).settings.into_iter();
        settings.map(|setting| (setting.line, setting.path.join("|"), setting.value)).collect()
    }

    #[test]
    fn tables_keys_and_values() {
        for (text, line, path, value) in [
            ("a = 1", 1, "a", "1"),
            ("[package]\nname = \"x\" # why", 2, "package|name", "\"x\""),
            ("[dependencies.serde]\n\nworkspace = true", 3, "dependencies|serde|workspace", "true"),
            ("[dependencies]\nserde.workspace = true", 2, "dependencies|serde|workspace", "true"),
            (
                "[target.'cfg(a = \"b.c\")'.dependencies]\nx = '1'",
                2,
                "target|cfg(a = \"b.c\")|dependencies|x",
                "'1'",
            ),
            ("[[bench]] # two\nname = \"a # b\"", 2, "bench|name", "\"a # b\""),
            ("x = \"a\\\"# = b\"", 1, "x", "\"a\\\"# = b\""),
        ] {
            assert_eq!(settings(text), [(line, path.to_owned(), value.to_owned())], "{text}");
        }
    }

    #[test]
    fn values_that_span_lines() {
        let text = "[a]\nx = { y = [ # one\n  \"]\",\n] }\nm = \"\"\"\n[not]\na = table\n\"\"\"\nz = 1\n";
        let lines: Vec<_> = settings(text).into_iter().map(|(line, path, _)| (line, path)).collect();
        assert_eq!(lines, [(2, "a|x".to_owned()), (5, "a|m".to_owned()), (9, "a|z".to_owned())]);
    }

    #[test]
    fn inline_tables_and_arrays() {
        let manifest = Manifest::parse(
            "[d]\na = { features = [\n\"x\"], workspace = true }\nb = { workspace = false }\nm = [\"p\", 'q/r']",
        );
        assert!(manifest.get(&["d", "a"]).unwrap().inline_table_sets("workspace"));
        assert!(!manifest.get(&["d", "b"]).unwrap().inline_table_sets("workspace"));
        assert_eq!(manifest.get(&["d", "m"]).unwrap().strings().collect::<Vec<_>>(), ["p", "q/r"]);
        assert!(manifest.get(&["d"]).is_none());
    }
}

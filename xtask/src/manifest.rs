//! The settings of a Cargo.toml, with the line of each.

use std::fs;
use std::path::Path;

use toml_edit::{Document, Item, Table, Value};

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
#[derive(Default)]
pub(crate) struct Manifest {
    pub(crate) settings: Vec<Setting>,
}

/// A `key = value` line.
#[derive(Debug)]
pub(crate) struct Setting {
    /// Counted from 1.
    pub(crate) line: usize,
    /// The names of the table and of the key: `["dependencies", "serde", "workspace"]`.
    pub(crate) path: Vec<String>,
    /// The value as written.
    pub(crate) value: String,
    parsed: Value,
}

impl Manifest {
    /// Parses a manifest, which cargo has read before.
    ///
    /// # Panics
    ///
    /// If the text is not TOML.
    pub(crate) fn parse(text: &str) -> Self {
        let document = match Document::parse(text) {
            Ok(document) => document,
            Err(error) => panic!("a manifest is not TOML: {error}"),
        };
        let mut manifest = Self::default();
        manifest.add_table(text, &mut Vec::new(), document.as_table());
        manifest.settings.sort_by_key(|setting| setting.line);
        manifest
    }

    /// Returns the value at a path, if it is set there.
    pub(crate) fn get(&self, path: &[&str]) -> Option<&Setting> {
        self.settings.iter().find(|setting| setting.path == path)
    }

    fn add_table(&mut self, text: &str, path: &mut Vec<String>, table: &Table) {
        for (key, item) in table {
            path.push(key.to_owned());
            match item {
                Item::None => {}
                Item::Value(value) => {
                    let span = value.span().unwrap_or_default();
                    let line = text[..span.start].matches('\n').count() + 1;
                    let written = text[span].to_owned();
                    let setting = Setting { line, path: path.clone(), value: written, parsed: value.clone() };
                    self.settings.push(setting);
                }
                Item::Table(table) => self.add_table(text, path, table),
                Item::ArrayOfTables(tables) => {
                    for table in tables {
                        self.add_table(text, path, table);
                    }
                }
            }
            path.pop();
        }
    }
}

impl Setting {
    /// Returns true if the value is an inline table that sets the key to `true`.
    pub(crate) fn inline_table_sets(&self, key: &str) -> bool {
        let value = self.parsed.as_inline_table().and_then(|table| table.get(key));
        value.and_then(Value::as_bool) == Some(true)
    }

    /// Returns the string, or the elements of an array of strings.
    pub(crate) fn strings(&self) -> impl Iterator<Item = &str> {
        let items = self.parsed.as_array().into_iter().flatten().filter_map(Value::as_str);
        self.parsed.as_str().into_iter().chain(items)
    }
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

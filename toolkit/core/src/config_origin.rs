//! Origins: the places where the values of a configuration were written.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The origin of each value of a configuration, by its JSON pointer (RFC 6901): `/tools/deny/0`. Cheap to clone.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ConfigOrigins(Arc<BTreeMap<String, ConfigOrigin>>);

/// The place where a value was written.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct ConfigOrigin {
    /// The source that contains the value.
    pub source: ConfigSource,
    /// The line in a file, from 1.
    pub line: Option<u32>,
    /// The column in that line, in characters, from 1.
    pub column: Option<u32>,
}

/// A source of values.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ConfigSource {
    /// A file.
    File(Arc<Path>),
    /// A variable of the environment, by its name.
    Environment(String),
    /// A command line option, as typed.
    Flag(String),
    /// The program itself.
    Program,
}

impl ConfigOrigins {
    /// Creates origins from pairs of a JSON pointer and an origin.
    pub fn new(origins: impl IntoIterator<Item = (String, ConfigOrigin)>) -> Self {
        Self(Arc::new(origins.into_iter().collect()))
    }

    /// Returns the origin of the value at `pointer`, or of the nearest value that contains it.
    pub fn find(&self, pointer: &str) -> Option<&ConfigOrigin> {
        let mut pointer = pointer;
        loop {
            if let Some(origin) = self.0.get(pointer) {
                return Some(origin);
            }
            pointer = &pointer[..pointer.rfind('/')?];
        }
    }

    /// Returns all origins, by pointer.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &ConfigOrigin)> {
        self.0.iter().map(|(pointer, origin)| (pointer.as_str(), origin))
    }
}

impl ConfigOrigin {
    /// Creates the origin of a source without lines.
    pub fn new(source: ConfigSource) -> Self {
        Self { source, line: None, column: None }
    }

    /// Creates the origin of a place in a file.
    pub fn in_file(file: impl Into<PathBuf>, line: u32, column: u32) -> Self {
        Self::within(&Arc::from(file.into()), line, column)
    }

    /// Creates the origin of a place in a file, with a shared path: a file has many places, and its path may be
    /// long.
    #[doc(hidden)]
    pub fn within(file: &Arc<Path>, line: u32, column: u32) -> Self {
        Self { source: ConfigSource::File(Arc::clone(file)), line: Some(line), column: Some(column) }
    }
}

impl fmt::Display for ConfigOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.source {
            ConfigSource::File(path) => write!(f, "{}", path.display())?,
            ConfigSource::Environment(name) => write!(f, "${name}")?,
            ConfigSource::Flag(flag) => write!(f, "{flag}")?,
            ConfigSource::Program => write!(f, "the program")?,
        }
        for number in [self.line, self.column].into_iter().flatten() {
            write!(f, ":{number}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_that_is_known() {
        let origins = ConfigOrigins::new([
            ("/tools".to_owned(), ConfigOrigin::in_file("a.json5", 1, 2)),
            ("/tools/deny/0".to_owned(), ConfigOrigin::new(ConfigSource::Flag("--deny".to_owned()))),
        ]);
        for (pointer, expected) in [
            ("/tools/deny/0", Some("--deny")),
            ("/tools/deny/1", Some("a.json5:1:2")),
            ("/tools", Some("a.json5:1:2")),
            ("/toolbox", None),
            ("", None),
        ] {
            assert_eq!(origins.find(pointer).map(ToString::to_string).as_deref(), expected, "{pointer}");
        }
    }
}

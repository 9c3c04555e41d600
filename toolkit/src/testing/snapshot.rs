//! Snapshots of a tool's definition, kept in files beside the tests.

use super::compatibility::compatibility;
use super::diff::diff;
use crate::tool::Tool;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};
use toolkit_core::definition::{Annotations, Definition};
use toolkit_core::error::ToolError;
use toolkit_core::schema::ALIASES;

/// A snapshot of all that a model knows of a tool, and the aliases that it never sees but may use.
///
/// The file is indented JSON with a fixed order: that of the fields here, and of the function's parameters.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Snapshot {
    /// The name of the tool.
    pub name: String,
    /// Its aliases.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub aliases: Vec<String>,
    /// The display name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Its description.
    pub description: String,
    /// Its effects on the environment.
    pub annotations: Annotations,
    /// Aliases of parameters and of nested properties, by JSON pointer into the input schema.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub parameter_aliases: BTreeMap<String, Vec<String>>,
    /// The JSON Schema of its arguments.
    pub input_schema: Value,
    /// The JSON Schema of its structured output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Value>,
}

/// An error in reading, writing or comparing a snapshot.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SnapshotError {
    /// The file could not be read or written.
    #[error("{}: {error}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The system's error.
        #[source]
        error: io::Error,
    },
    /// The text is not a snapshot.
    #[error("{}not a snapshot of a tool: {error}", path.as_ref().map_or_else(String::new, |path| format!("{}: ", path.display())))]
    Format {
        /// The file, if it came from one.
        path: Option<PathBuf>,
        /// The problem with the text.
        #[source]
        error: serde_json::Error,
    },
    /// There is no file yet, and writing was not requested.
    #[error("{}: there is no snapshot yet; write it with {UPDATE}=1 and keep it with the code", path.display())]
    Absent {
        /// The file.
        path: PathBuf,
    },
    /// The definition differs from the one in the file.
    #[error("{report}")]
    Different {
        /// The differing lines, their effect on a model that knows the old ones, and a solution.
        report: String,
    },
}

/// The name of the environment variable that enables writing snapshots.
const UPDATE: &str = "UPDATE_SNAPSHOTS";

impl Snapshot {
    /// Creates a snapshot of the current definition of `tool`.
    ///
    /// # Errors
    ///
    /// Returns an error if the types of its parameters produce an invalid schema.
    pub fn of(tool: &Tool) -> Result<Self, ToolError> {
        let mut parameter_aliases = BTreeMap::new();
        collect_aliases(&tool.compiled()?.annotated, "", &mut parameter_aliases);
        let aliases = tool.aliases().map(str::to_owned).collect();
        Ok(Self { aliases, parameter_aliases, ..Self::from(tool.definition()?) })
    }

    /// Reads a snapshot from a file.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be read, or is not a snapshot.
    pub fn read(path: impl AsRef<Path>) -> Result<Self, SnapshotError> {
        let path = path.as_ref();
        let text =
            fs::read_to_string(path).map_err(|error| SnapshotError::File { path: path.to_owned(), error })?;
        serde_json::from_str(&text)
            .map_err(|error| SnapshotError::Format { path: Some(path.to_owned()), error })
    }

    /// Writes the snapshot to a file, and creates the directories above it.
    ///
    /// # Errors
    ///
    /// Returns an error if that fails.
    pub fn write(&self, path: impl AsRef<Path>) -> Result<(), SnapshotError> {
        let path = path.as_ref();
        let directory = path.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(directory)
            .and_then(|()| fs::write(path, self.to_json()))
            .map_err(|error| SnapshotError::File { path: path.to_owned(), error })
    }

    /// Parses the text of a file.
    ///
    /// # Errors
    ///
    /// Returns an error if the text is not a snapshot.
    pub fn from_json(text: &str) -> Result<Self, SnapshotError> {
        serde_json::from_str(text).map_err(|error| SnapshotError::Format { path: None, error })
    }

    /// Returns the text of a file: indented JSON with a final newline, the same for the same definition.
    ///
    /// # Panics
    ///
    /// Never panics.
    pub fn to_json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).expect("all keys are strings");
        text.push('\n');
        text
    }

    /// Asserts that the definition is the one in the file.
    ///
    /// A relative path starts at the package of the test. With `UPDATE_SNAPSHOTS=1` in the environment the file is
    /// written instead, unless `CI` is set too.
    ///
    /// # Panics
    ///
    /// Panics if the definition differs, with the differing lines and their effect on a model that knows the old ones,
    /// and if there is no file.
    #[track_caller]
    pub fn assert_matches(&self, path: impl AsRef<Path>) {
        let is_set = |name| {
            env::var_os(name).is_some_and(|value| !value.is_empty() && value != "0" && value != "false")
        };
        let update = if is_set(UPDATE) && !is_set("CI") { Update::Write } else { Update::Never };
        if let Err(error) = self.compare(path.as_ref(), update) {
            panic!("{error}");
        }
    }

    /// Compares like [`Snapshot::assert_matches`], but returns an error instead of panicking.
    ///
    /// # Errors
    ///
    /// Returns an error in the cases in which that method panics.
    pub fn compare(&self, path: &Path, update: Update) -> Result<(), SnapshotError> {
        let text = match fs::read_to_string(path) {
            Ok(text) => Some(text.replace("\r\n", "\n")),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(SnapshotError::File { path: path.to_owned(), error }),
        };
        let now = self.to_json();
        match (text, update) {
            (Some(text), _) if text == now => Ok(()),
            (_, Update::Write) => self.write(path),
            (None, Update::Never) => Err(SnapshotError::Absent { path: path.to_owned() }),
            (Some(text), Update::Never) => {
                Err(SnapshotError::Different { report: self.report(path, &text, &now) })
            }
        }
    }

    fn report(&self, path: &Path, text: &str, now: &str) -> String {
        let mut report = format!(
            "the definition of `{}` is not the one in {}\n\n{}",
            self.name,
            path.display(),
            diff(text, now)
        );
        match Self::from_json(text) {
            Ok(old) => {
                let changes = compatibility(&old, self);
                if !changes.is_empty() {
                    report.push_str("\nfor a model that knows the old one:\n");
                }
                for change in changes {
                    let _ = writeln!(report, "- {change}");
                }
            }
            Err(error) => {
                let _ = writeln!(report, "\nthe file is {error}");
            }
        }
        let _ = write!(report, "\nif the change is intended, rewrite the file with {UPDATE}=1");
        report
    }

    /// Returns the input schema with aliases added to their properties.
    pub(super) fn annotated_input(&self) -> Value {
        let mut schema = self.input_schema.clone();
        for (pointer, aliases) in &self.parameter_aliases {
            if let Some(Value::Object(property)) = schema.pointer_mut(pointer) {
                property.insert(ALIASES.to_owned(), aliases.as_slice().into());
            }
        }
        schema
    }
}

/// The handling of a snapshot that does not match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Update {
    /// A mismatch is an error.
    Never,
    /// The file is written.
    Write,
}

impl From<Definition> for Snapshot {
    /// Without aliases, which a definition does not contain.
    fn from(definition: Definition) -> Self {
        let Definition { name, title, description, input_schema, output_schema, annotations, .. } =
            definition;
        Self {
            name,
            aliases: Vec::new(),
            title,
            description,
            annotations,
            parameter_aliases: BTreeMap::new(),
            input_schema,
            output_schema,
        }
    }
}

fn collect_aliases(schema: &Value, at: &str, found: &mut BTreeMap<String, Vec<String>>) {
    match schema {
        Value::Object(members) => {
            if let Some(aliases) = members.get(ALIASES).and_then(Value::as_array) {
                let aliases = aliases.iter().filter_map(Value::as_str).map(str::to_owned).collect();
                found.insert(at.to_owned(), aliases);
            }
            for (key, member) in members {
                collect_aliases(member, &format!("{at}/{}", toolkit_core::pointer::escape(key)), found);
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                collect_aliases(item, &format!("{at}/{index}"), found);
            }
        }
        _ => {}
    }
}

//! Snapshots of a tool's definition, kept in files beside the tests.

use crate::tool::Tool;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{fs, io};
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
pub(super) const UPDATE: &str = "UPDATE_SNAPSHOTS";

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

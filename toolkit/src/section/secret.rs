//! The type of secrets in the configuration.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use std::borrow::Cow;
use std::fmt;
use toolkit_core::redact::REDACTED;
use toolkit_core::schema::SECRET;

/// A secret in the configuration: a text, in which `${env:NAME}` is replaced by an environment variable, or `{ file: "path" }` for
/// the content of a file without its last line ending. A relative path is relative to the directory of the configuration file; the
/// maximum size of the file is 64 KiB.
///
/// It is never printed: neither by `{:?}` nor as JSON.
///
/// ```
/// let secret = toolkit::config::Secret::new("correct horse");
/// assert_eq!(format!("{secret:?}"), "Secret([redacted])");
/// assert_eq!(secret.expose(), "correct horse");
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Creates a secret from its text.
    pub fn new(secret: impl Into<String>) -> Self {
        Self(secret.into())
    }

    /// Returns the text of the secret.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Secret({REDACTED})")
    }
}

impl Serialize for Secret {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(REDACTED)
    }
}

impl<'de> Deserialize<'de> for Secret {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Value::deserialize(deserializer) {
            Ok(Value::String(text)) => Ok(Self(text)),
            Ok(Value::Object(_)) => Err(serde::de::Error::custom("a secret whose file was not read")),
            // The original error may contain the text.
            _ => Err(serde::de::Error::custom("a secret is a text, or `{ file: \"path\" }`")),
        }
    }
}

impl JsonSchema for Secret {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Secret".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let mut schema = json_schema!({
            "anyOf": [
                { "type": "string", "minLength": 1 },
                {
                    "type": "object",
                    "properties": {
                        "file": { "type": "string", "minLength": 1, "description": "The file that holds it." },
                    },
                    "required": ["file"],
                    "additionalProperties": false,
                },
            ],
        });
        schema.insert(SECRET.to_owned(), true.into());
        schema
    }
}

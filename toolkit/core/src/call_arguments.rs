//! The arguments of a call before they are checked.

use crate::unique_json;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

/// The arguments of a call, parsed or not.
///
/// A JSON string is treated as the text of the arguments, as providers send it. A duplicate key is refused, also if a
/// call is deserialised with its arguments as an object.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum CallArguments {
    /// JSON text, as many providers send it. A duplicate key in it is refused.
    Text(String),
    /// A JSON value.
    Json(Value),
}

impl CallArguments {
    /// Returns the text, or the value.
    #[doc(hidden)]
    pub fn as_text(&self) -> Result<&str, &Value> {
        match self {
            Self::Text(text) => Ok(text),
            Self::Json(value) => Err(value),
        }
    }

    /// Returns the text, or the value.
    #[doc(hidden)]
    pub fn into_text(self) -> Result<String, Value> {
        match self {
            Self::Text(text) => Ok(text),
            Self::Json(value) => Err(value),
        }
    }
}

impl Default for CallArguments {
    fn default() -> Self {
        Self::Json(Value::Object(Map::new()))
    }
}

impl<'de> Deserialize<'de> for CallArguments {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        unique_json::deserialize(deserializer).map(Self::from)
    }
}

impl From<Value> for CallArguments {
    fn from(value: Value) -> Self {
        match value {
            Value::String(text) => Self::Text(text),
            other => Self::Json(other),
        }
    }
}

impl From<Map<String, Value>> for CallArguments {
    fn from(members: Map<String, Value>) -> Self {
        Self::Json(members.into())
    }
}

impl From<String> for CallArguments {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<&str> for CallArguments {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

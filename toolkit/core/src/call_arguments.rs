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

/// A value that a call takes as its arguments: everything that converts into [`CallArguments`].
///
/// | value | meaning |
/// |---|---|
/// | a [`Value`] or a reference to one, a `Map<String, Value>` | the arguments |
/// | `&str`, `String`, `&String` | the JSON text of the arguments |
/// | `()` | no arguments |
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the arguments of a call",
    label = "not JSON, and no text of JSON",
    note = "write the arguments as `json!({{ \"path\": path }})`, or as the text of JSON; `()` is no arguments",
    note = "a value with `Serialize`, such as a struct with `#[toolkit::args]`, goes in as `serde_json::to_value(value)?`"
)]
pub trait IntoCallArguments {
    /// Converts the value.
    fn into_call_arguments(self) -> CallArguments;
}

#[diagnostic::do_not_recommend]
impl<T: Into<CallArguments>> IntoCallArguments for T {
    fn into_call_arguments(self) -> CallArguments {
        self.into()
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

impl From<&Value> for CallArguments {
    fn from(value: &Value) -> Self {
        value.clone().into()
    }
}

impl From<()> for CallArguments {
    fn from((): ()) -> Self {
        Self::default()
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

impl From<&String> for CallArguments {
    fn from(text: &String) -> Self {
        Self::Text(text.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_reference_is_what_it_refers_to_and_nothing_is_no_arguments() {
        let (text, value) = ("{}".to_owned(), json!({"a": 1}));
        assert_eq!(CallArguments::from(&text), CallArguments::from(text.clone()));
        assert_eq!(CallArguments::from(&value), CallArguments::from(value.clone()));
        assert_eq!(CallArguments::from(()), CallArguments::from(json!({})));
    }
}

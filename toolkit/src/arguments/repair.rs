//! Repairs of arguments that do not fit as they came, where only one thing can be meant.

mod convert;
mod mend;
mod names;
mod spelling;
mod unwrap;

pub(super) use convert::is_null;
pub(super) use mend::mend;
pub(super) use spelling::only_match;
pub(super) use unwrap::without_wrapping;

use super::shown::{KEPT_SECRET, is_secret, short};
use crate::schema::Compiled;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fmt;

/// Whether arguments that do not fit are repaired. Aliases, and `null` for what is optional, are taken in any case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Repairing {
    On,
    #[allow(dead_code, reason = "for hosts that switch it off")]
    Off,
}

/// A change that was made to the arguments of a call so that they fit their tool's schema.
///
/// Arguments that fit as they came are never changed, and no change is made where two things could be meant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Repair {
    /// Where: a JSON pointer into the arguments as the tool gets them, empty for all of them.
    pub pointer: String,
    /// What was done.
    pub kind: RepairKind,
    /// The same in words, on one line. The value of a secret argument is not in it.
    pub note: String,
}

/// What was done to a value so that it fits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RepairKind {
    /// A number that came as a string: `"5"`.
    StringToNumber,
    /// A boolean that came as a string: `"true"`, also as Python writes it.
    StringToBoolean,
    /// `null` that came as a string.
    StringToNull,
    /// An object that came as a string of JSON.
    StringToObject,
    /// A list that came as a string of JSON.
    StringToList,
    /// One value where a list of such is wanted.
    ValueToList,
    /// `null` for something optional: it is absent now.
    NullToAbsent,
    /// One of the allowed values, in another case style: `"InProgress"` for `"in_progress"`.
    ValueSpelling,
    /// The name of an argument or a field, in another case style: `filePath` for `file_path`.
    NameSpelling,
    /// Nothing at all, where no argument is required.
    NothingToObject,
    /// Text around the JSON: a Markdown code fence, or a byte order mark.
    TextUnwrapped,
    /// All arguments under one key that the tool does not know: `{"arguments": {…}}`.
    ArgumentsUnwrapped,
}

impl Repair {
    pub(super) fn new(pointer: impl Into<String>, kind: RepairKind, note: impl Into<String>) -> Self {
        Self { pointer: pointer.into(), kind, note: note.into() }
    }

    /// A repair of the value `given`, which is only shown if it is no secret.
    pub(super) fn of_value(compiled: &Compiled, pointer: String, kind: RepairKind, given: &Value) -> Self {
        let given = if is_secret(compiled, &pointer) { KEPT_SECRET.to_owned() } else { short(given) };
        let what = match kind {
            RepairKind::StringToNumber => "read as a number",
            RepairKind::StringToBoolean => "read as a boolean",
            RepairKind::StringToNull => "read as null",
            RepairKind::StringToObject => "read as an object",
            RepairKind::StringToList => "read as a list",
            RepairKind::ValueToList => "taken for a list with this one item",
            RepairKind::NullToAbsent => "taken for an absent value",
            _ => "taken for what is allowed",
        };
        Self::new(pointer, kind, format!("{given} was {what}"))
    }
}

impl fmt::Display for Repair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pointer = if self.pointer.is_empty() { "the arguments" } else { &self.pointer };
        write!(f, "{pointer}: {}", self.note)
    }
}

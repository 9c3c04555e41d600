//! The types of JSON Schema.

use serde_json::{Map, Value};

/// A type of JSON Schema, in the order in which they are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    String,
    Integer,
    Number,
    Boolean,
    Array,
    Object,
    Null,
}

impl Kind {
    pub(super) const ALL: [Self; 7] =
        [Self::String, Self::Integer, Self::Number, Self::Boolean, Self::Array, Self::Object, Self::Null];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::String => "string",
            Self::Integer => "integer",
            Self::Number => "number",
            Self::Boolean => "boolean",
            Self::Array => "array",
            Self::Object => "object",
            Self::Null => "null",
        }
    }

    /// Returns the narrowest type of a value.
    pub(super) fn of(value: &Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(_) => Self::Boolean,
            Value::Number(number) => {
                let is_whole = number.as_f64().is_none_or(|float| float.fract() == 0.0);
                if is_whole { Self::Integer } else { Self::Number }
            }
            Value::String(_) => Self::String,
            Value::Array(_) => Self::Array,
            Value::Object(_) => Self::Object,
        }
    }

    /// Returns true if each value of this type is also one of the other.
    pub(super) fn is_within(self, other: Self) -> bool {
        self == other || (self, other) == (Self::Integer, Self::Number)
    }
}

/// Returns the types that a schema states, each once and none within another; `None` if it accepts any, or states an unknown one.
pub(super) fn stated(schema: &Map<String, Value>) -> Option<Vec<Kind>> {
    let named = match schema.get("type")? {
        Value::Array(kinds) => kinds.as_slice(),
        kind => std::slice::from_ref(kind),
    };
    let mut kinds = Vec::new();
    for name in named {
        kinds.push(Kind::ALL.into_iter().find(|kind| name == kind.name())?);
    }
    Some(Kind::ALL.into_iter().filter(|kind| kinds.contains(kind) && !is_covered(*kind, &kinds)).collect())
}

fn is_covered(kind: Kind, kinds: &[Kind]) -> bool {
    kinds.iter().any(|other| *other != kind && kind.is_within(*other))
}

/// Returns the types that both lists allow.
pub(super) fn common(first: &[Kind], second: &[Kind]) -> Vec<Kind> {
    Kind::ALL
        .into_iter()
        .filter(|kind| {
            let is_in = |list: &[Kind]| list.iter().any(|other| kind.is_within(*other));
            is_in(first) && is_in(second) && (first.contains(kind) || second.contains(kind))
        })
        .collect()
}

/// Returns the values that a schema names, if it names any, restricted to the types that it states.
pub(super) fn values(schema: &Map<String, Value>) -> Option<Vec<Value>> {
    let named = match (schema.get("const"), schema.get("enum")) {
        // An `enum` beside it could only exclude the value, and that cannot be decided by comparing: `1` equals `1.0`.
        (Some(value), _) => vec![value.clone()],
        (None, Some(Value::Array(values))) => values.clone(),
        (None, _) => return None,
    };
    let kinds = stated(schema);
    let mut fitting: Vec<Value> = Vec::with_capacity(named.len());
    let mut seen = std::collections::HashSet::new();
    for value in named {
        let fits =
            kinds.as_ref().is_none_or(|kinds| kinds.iter().any(|kind| Kind::of(&value).is_within(*kind)));
        if fits && seen.insert(value.to_string()) {
            fitting.push(value);
        }
    }
    Some(fitting)
}

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

    /// The narrowest one that a value has.
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

    /// Whether each value of this type is one of the other.
    pub(super) fn is_within(self, other: Self) -> bool {
        self == other || (self, other) == (Self::Integer, Self::Number)
    }
}

/// The types that a schema states, each once and none within another; `None` where it takes any, or states one that there is not.
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

/// The types that both lists allow.
pub(super) fn common(first: &[Kind], second: &[Kind]) -> Vec<Kind> {
    Kind::ALL
        .into_iter()
        .filter(|kind| {
            let is_in = |list: &[Kind]| list.iter().any(|other| kind.is_within(*other));
            is_in(first) && is_in(second) && (first.contains(kind) || second.contains(kind))
        })
        .collect()
}

/// The values that a schema names, where it does, of the types that it states.
pub(super) fn values(schema: &Map<String, Value>) -> Option<Vec<Value>> {
    let named = match (schema.get("const"), schema.get("enum")) {
        // What is beside it could only take it away, and that is not told by comparing: `1` is `1.0`.
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

//! Repairs of invalid arguments that can have only one meaning.

mod convert;
mod fence;
mod lists;
mod mend;
mod names;
mod spelling;
mod unwrap;
mod variants;

pub(super) use convert::is_null;
pub(super) use fence::without_wrapping;
pub(super) use mend::mend;
pub(super) use spelling::only_match;

use super::shown::{KEPT_SECRET, is_secret, short};
use crate::schema::Compiled;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fmt;

/// The choice whether invalid arguments are repaired. Aliases, and `null` for optional properties, are accepted in
/// any case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[doc(hidden)]
pub enum Repairing {
    On,
    Off,
}

/// A change that was made to the arguments of a call so that they match their tool's schema.
///
/// Valid arguments are never changed, and no change is made if there are two possible meanings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Repair {
    /// The place: a JSON pointer into the arguments as the tool gets them, empty for all of them.
    pub pointer: String,
    /// The kind of the repair.
    pub kind: RepairKind,
    /// The repair in words, on one line. It does not contain the value of a secret argument.
    pub note: String,
}

/// A kind of repair.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RepairKind {
    /// A number given as a string: `"5"`.
    StringToNumber,
    /// A boolean given as a string: `"true"`, also as Python writes it.
    StringToBoolean,
    /// `null` given as a string.
    StringToNull,
    /// An object given as a string of JSON.
    StringToObject,
    /// A list given as a string of JSON.
    StringToList,
    /// A single value where a list of such values is expected.
    ValueToList,
    /// `null` for an optional property, which is now absent.
    NullToAbsent,
    /// One of the allowed values, in another case style: `"InProgress"` for `"in_progress"`.
    ValueSpelling,
    /// The name of an argument or a field, in another case style: `filePath` for `file_path`.
    NameSpelling,
    /// No arguments at all, if none is required.
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

    /// Creates the repair of the value `given`, which is shown only if it is no secret.
    pub(super) fn of_value(compiled: &Compiled, pointer: String, kind: RepairKind, given: &Value) -> Self {
        let given = if is_secret(compiled, &pointer) { KEPT_SECRET.to_owned() } else { short(given) };
        let what = match kind {
            RepairKind::StringToNumber => "read as a number",
            RepairKind::StringToBoolean => "read as a boolean",
            RepairKind::StringToNull => "read as null",
            RepairKind::StringToObject => "read as an object",
            RepairKind::StringToList => "read as a list",
            RepairKind::ValueToList => "read as a list with this one item",
            RepairKind::NullToAbsent => "read as an absent value",
            _ => "read as an allowed value",
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

#[cfg(test)]
mod tests {
    use super::super::prepare;
    use super::*;
    use crate::call_arguments::CallArguments;
    use serde_json::json;

    type Prepared = Result<(Value, Vec<Repair>), String>;

    fn run(schema: &Value, arguments: impl Into<CallArguments>, repairing: Repairing) -> Prepared {
        let compiled = Compiled::new("test", schema.clone()).unwrap();
        match prepare(&compiled, arguments.into(), repairing) {
            Ok((mut arguments, repairs)) => Ok((arguments.take_all(), repairs)),
            Err(problems) => Err(problems.to_string()),
        }
    }

    /// Returns `value` after the repair for `schema`, whether it matches in the end or not.
    pub(super) fn mended(schema: &Value, value: &Value) -> Value {
        let root = json!({"type": "object", "properties": {"x": schema}, "required": ["x"]});
        let mut arguments = json!({ "x": value });
        mend(&Compiled::new("test", root).unwrap(), &mut arguments, &mut Vec::new());
        arguments["x"].take()
    }

    #[test]
    fn switched_off_only_aliases_and_nulls_are_taken() {
        let schema = json!({"type": "object", "additionalProperties": false, "properties": {
            "n": {"type": "integer", "x-toolkit-aliases": ["number"]},
            "m": {"type": "integer"},
        }});
        let (arguments, repairs) = run(&schema, json!({"number": 5.0, "m": null}), Repairing::Off).unwrap();
        assert_eq!(arguments, json!({"n": 5}));
        assert_eq!(repairs.iter().map(|repair| repair.kind).collect::<Vec<_>>(), [RepairKind::NullToAbsent]);
        for arguments in
            ["", "\"{}\"", "```json\n{}\n```", r#"{"n":"5"}"#, r#"{"N":5}"#, r#"{"arguments":{}}"#]
        {
            assert!(run(&schema, arguments, Repairing::Off).is_err(), "{arguments}");
            assert!(run(&schema, arguments, Repairing::On).is_ok(), "{arguments}");
        }
        let text = run(&schema, "", Repairing::Off).unwrap_err();
        assert!(
            text.contains("the arguments: expected a JSON object, {} for none, got an empty text"),
            "{text}"
        );
    }

    #[test]
    fn what_fits_has_no_repairs() {
        let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}}});
        let (_, repairs) = run(&schema, json!({"n": 5.0}), Repairing::On).unwrap();
        assert_eq!(repairs.capacity(), 0);
    }

    #[test]
    fn many_repairs_of_one_kind_are_told_as_one() {
        let schema = json!({"type": "object", "properties": {
            "list": {"items": {"type": "object", "properties": {"n": {"type": "integer"}, "b": {"type": "boolean"}}}},
            "map": {"type": "object", "additionalProperties": {"type": "integer"}},
        }});
        let few: Vec<Value> = (0..8).map(|n| json!({"n": n.to_string()})).collect();
        let (_, repairs) = run(&schema, json!({"list": few}), Repairing::On).unwrap();
        assert_eq!(repairs.len(), 8);
        let mut many: Vec<Value> = (0..9).map(|n| json!({"n": n.to_string()})).collect();
        many.push(json!({"b": "true"}));
        let map: serde_json::Map<String, Value> = (0..99).map(|n| (format!("k{n}"), json!("1"))).collect();
        let (_, repairs) = run(&schema, json!({"list": many, "map": map}), Repairing::On).unwrap();
        let told: Vec<String> = repairs.iter().map(Repair::to_string).collect();
        assert_eq!(
            told,
            [
                r#"/list: 9 times within, first at /0/n: the string "0" was read as a number"#,
                r#"/list/9/b: the string "true" was read as a boolean"#,
                r#"/map: 99 times within, first at /k0: the string "1" was read as a number"#,
            ]
        );
    }

    #[test]
    fn few_repairs_beside_many_are_told_one_by_one() {
        let properties = json!({"n": {"type": "integer"}, "b": {"type": "boolean"}});
        let item = json!({"type": "object", "properties": properties});
        let schema = json!({"type": "object", "properties": {"list": {"type": "array", "items": item}}});
        for (booleans, told) in [(8, 9), (9, 2)] {
            let numbers = (0..9).map(|n| json!({"n": n.to_string()}));
            let list: Vec<Value> = numbers.chain((0..booleans).map(|_| json!({"b": "true"}))).collect();
            let (_, repairs) = run(&schema, json!({ "list": list }), Repairing::On).unwrap();
            assert_eq!(repairs.len(), told, "{booleans}");
        }
    }

    #[test]
    fn a_secret_is_in_no_note() {
        let schema = json!({"type": "object", "additionalProperties": false, "properties": {
            "pin": {"type": "integer", "x-toolkit-secret": true},
            "pins": {"type": "array", "items": {"type": "integer"}, "x-toolkit-secret": true},
            "word": {"enum": ["hunter_two"], "x-toolkit-secret": true},
            "keys": {"type": "object", "x-toolkit-secret": true, "additionalProperties": false,
                "properties": {"hunter_2": {"type": "boolean"}}},
        }});
        for arguments in [
            json!({"pin": "4242"}),
            json!({"Pin": "4242"}),
            json!({"pins": "4242"}),
            json!({"pins": "[4242]"}),
            json!({"pins": ["4242"]}),
            json!({"word": "Hunter-Two"}),
            json!({"keys": "{\"hunter_2\": \"true\"}"}),
            json!({"arguments": "{\"pin\": \"4242\"}"}),
            json!("{\"pin\": \"4242\"}"),
        ] {
            let (_, repairs) = run(&schema, CallArguments::Json(arguments.clone()), Repairing::On).unwrap();
            assert!(!repairs.is_empty(), "{arguments}");
            for repair in repairs {
                let note = repair.to_string().to_lowercase();
                assert!(!note.contains("4242") && !note.contains("two") && !note.contains("true"), "{note}");
            }
        }
    }

    #[test]
    fn what_is_too_large_to_look_at_is_not_repaired() {
        let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}, "rest": {}}});
        for (size, is_repaired) in [(1000, true), (1_000_001, false)] {
            let arguments = json!({"n": "5", "rest": vec![0; size]});
            assert_eq!(run(&schema, arguments, Repairing::On).is_ok(), is_repaired, "{size}");
        }
    }

    #[test]
    fn every_repair_of_a_value_has_its_words() {
        let compiled = Compiled::new("test", json!({"type": "object"})).unwrap();
        for (kind, note) in [
            (RepairKind::StringToNumber, "read as a number"),
            (RepairKind::StringToBoolean, "read as a boolean"),
            (RepairKind::StringToNull, "read as null"),
            (RepairKind::StringToObject, "read as an object"),
            (RepairKind::StringToList, "read as a list"),
            (RepairKind::ValueToList, "read as a list with this one item"),
            (RepairKind::NullToAbsent, "read as an absent value"),
            (RepairKind::ValueSpelling, "read as an allowed value"),
        ] {
            let repair = Repair::of_value(&compiled, "/a".to_owned(), kind, &json!("x"));
            assert_eq!(repair.to_string(), format!("/a: the string \"x\" was {note}"));
        }
        let whole = Repair::new("", RepairKind::TextUnwrapped, "note");
        assert_eq!(whole.to_string(), "the arguments: note");
    }
}

//! The walk that repairs: it follows the arguments along their schema, where they do not match.

use super::super::schema_facts::{allows_null, rest_of};
use super::super::shown::{KEPT_SECRET, is_secret};
use super::convert::{Kinds, from_text, is_null};
use super::names::renamings;
use super::spelling::only_match;
use super::{Repair, RepairKind};
use crate::excerpt::cut;
use crate::pointer::Pointer;
use crate::schema::describe::literals;
use crate::schema::{Compiled, DEEPEST, Validator, circle_within, resolve};
use serde_json::{Map, Value};
use std::collections::HashMap;

/// The most values that the repair of one call examines, counting repeated examinations. Nested variants could
/// otherwise take extremely long.
const MAX_LOOKED_AT: usize = 1_000_000;
/// The most repairs of one kind within one list or map that are reported individually.
const MAX_ALIKE: usize = 8;

/// Makes the repairs that have only one meaning. Values that cannot be repaired stay unchanged.
pub(in super::super) fn mend(compiled: &Compiled, arguments: &mut Value, repairs: &mut Vec<Repair>) {
    let mut mender =
        Mender { compiled, validators: HashMap::new(), repairs: Vec::new(), left: MAX_LOOKED_AT };
    let root = &compiled.annotated;
    if !mender.unwrap_arguments(arguments) {
        mender.mend(arguments, root, Pointer::ROOT, Wrapping::Allowed);
    }
    repairs.append(&mut mender.repairs);
}

/// The permission to wrap a value in a list. Wrapping it twice would be a guess.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Wrapping {
    Allowed,
    Done,
}

pub(super) struct Mender<'a> {
    pub(super) compiled: &'a Compiled,
    /// Validators, by the address of their schema within the tool's.
    validators: HashMap<*const Value, Option<Validator>>,
    pub(super) repairs: Vec<Repair>,
    pub(super) left: usize,
}

impl<'a> Mender<'a> {
    /// Returns true if `value` matches `schema` unchanged.
    pub(super) fn fits(&mut self, value: &Value, schema: &'a Value) -> bool {
        self.left = self.left.saturating_sub(weight(value));
        if self.left == 0 {
            return false;
        }
        let compiled = self.compiled;
        if std::ptr::eq(schema, &raw const compiled.annotated) {
            return compiled.validator().is_valid(value);
        }
        let validator = self.validators.entry(schema).or_insert_with(|| compiled.validator_of(schema));
        validator.as_ref().is_some_and(|validator| validator.is_valid(value))
    }

    /// Repairs `value` if it does not match; returns true if it matches now.
    pub(super) fn mend(
        &mut self,
        value: &mut Value,
        schema: &'a Value,
        at: Pointer<'_>,
        wrapping: Wrapping,
    ) -> bool {
        if at.depth() > DEEPEST {
            return false;
        }
        if self.fits(value, schema) {
            return true;
        }
        let root = &self.compiled.annotated;
        let target = resolve(schema, root);
        let Some(rules) = target.as_object() else { return false };
        if self.left == 0 {
            return false;
        }
        self.mend_text(value, target, at);
        match value {
            Value::Object(_) => self.mend_members(value, target, rules, at),
            Value::Array(items) => self.mend_items(items, schema, rules, at),
            _ => {}
        }
        for part in rules.get("allOf").and_then(Value::as_array).into_iter().flatten() {
            self.mend(value, part, at.same(), wrapping);
        }
        for key in ["oneOf", "anyOf"] {
            if let Some(options) = rules.get(key).and_then(Value::as_array) {
                self.mend_variant(value, options, at, wrapping);
            }
        }
        self.fits(value, schema) || self.wrap(value, schema, rules, at, wrapping)
    }

    /// Repairs a string that stands for another value, or for one of the allowed values.
    fn mend_text(&mut self, value: &mut Value, schema: &'a Value, at: Pointer<'_>) {
        let Value::String(text) = &*value else { return };
        let root = &self.compiled.annotated;
        if let Some(options) = literals(schema) {
            let spelled = only_match(text, options.iter().filter_map(Value::as_str)).map(str::to_owned);
            if let Some(spelled) = spelled.filter(|spelled| spelled != text) {
                self.spell(value, spelled, at);
                return;
            }
        }
        let Some((read, kind)) = from_text(text, Kinds::of_schema(schema, root)) else { return };
        // An object or a list can be repaired or explained further; a scalar either matches or does not.
        if read.is_object() || read.is_array() || self.fits(&read, schema) {
            self.record(at, kind, value);
            *value = read;
        }
    }

    fn mend_members(
        &mut self,
        value: &mut Value,
        schema: &'a Value,
        rules: &'a Map<String, Value>,
        at: Pointer<'_>,
    ) {
        let root = &self.compiled.annotated;
        let renamings = renamings(value, schema, root);
        let Value::Object(members) = value else { return };
        for renaming in renamings {
            let Some(member) = members.shift_remove(&renaming.given) else { continue };
            if !renaming.is_alias {
                let pointer = at.member(&renaming.name).to_string();
                let given = if is_secret(self.compiled, &pointer) {
                    "another spelling".to_owned()
                } else {
                    format!("`{}`", cut(&renaming.given, 80))
                };
                let note = format!("{given} was taken for `{}`", renaming.name);
                self.repairs.push(Repair::new(pointer, RepairKind::NameSpelling, note));
            }
            members.insert(renaming.name, member);
        }
        let properties = rules.get("properties").and_then(Value::as_object);
        let required = rules.get("required").and_then(Value::as_array);
        let rest = rest_of(rules);
        let mut absent = Vec::new();
        let before = self.repairs.len();
        for (name, member) in members.iter_mut() {
            let here = at.member(name);
            if let Some(property) = properties.and_then(|properties| properties.get(name)) {
                let is_required = required.is_some_and(|required| required.iter().any(|other| other == name));
                if !is_required && self.means_absent(member, property) {
                    self.record(here, RepairKind::NullToAbsent, member);
                    absent.push(name.clone());
                } else {
                    self.mend(member, property, here, Wrapping::Allowed);
                }
            } else if let Some(rest) = rest {
                self.mend(member, rest, here, Wrapping::Allowed);
            }
        }
        for name in absent {
            members.shift_remove(&name);
        }
        if rest.is_some() {
            self.join_alike(before, at);
        }
    }

    /// Returns true if an optional property is meant as absent: `null`, also as a string where no string is expected.
    fn means_absent(&mut self, member: &Value, property: &'a Value) -> bool {
        let root = &self.compiled.annotated;
        match member {
            Value::Null => !allows_null(property, root, 0),
            Value::String(text) if is_null(text) => {
                let takes_text = literals(resolve(property, root)).is_none()
                    && Kinds::of_schema(property, root).has_any_of(Kinds::STRING);
                !takes_text && !allows_null(property, root, 0) && !self.fits(member, property)
            }
            _ => false,
        }
    }

    pub(super) fn spell(&mut self, value: &mut Value, spelled: String, at: Pointer<'_>) {
        let pointer = at.to_string();
        let spelled = Value::String(spelled);
        let note = if is_secret(self.compiled, &pointer) {
            format!("{KEPT_SECRET} was read as an allowed one")
        } else {
            format!("{} was taken for {}", super::super::shown::short(value), cut(&spelled.to_string(), 80))
        };
        self.repairs.push(Repair::new(pointer, RepairKind::ValueSpelling, note));
        *value = spelled;
    }

    pub(super) fn record(&mut self, at: Pointer<'_>, kind: RepairKind, given: &Value) {
        self.repairs.push(Repair::of_value(self.compiled, at.to_string(), kind, given));
    }

    /// Combines many repairs of one kind within one list or map into one.
    pub(super) fn join_alike(&mut self, before: usize, at: Pointer<'_>) {
        let mut counts: HashMap<RepairKind, usize> = HashMap::new();
        for repair in &self.repairs[before..] {
            *counts.entry(repair.kind).or_default() += 1;
        }
        if counts.values().all(|count| *count <= MAX_ALIKE) {
            return;
        }
        let pointer = at.to_string();
        let made = self.repairs.split_off(before);
        for mut repair in made {
            match counts.get_mut(&repair.kind) {
                Some(0) => continue,
                Some(count) if *count > MAX_ALIKE => {
                    let place = repair.pointer.strip_prefix(&pointer).unwrap_or_default();
                    repair.note = format!("{} times within, first at {}: {}", count, place, repair.note);
                    repair.pointer.clone_from(&pointer);
                    *count = 0;
                }
                _ => {}
            }
            self.repairs.push(repair);
        }
    }
}

impl Compiled {
    /// Compiles a validator of one schema within the tool's.
    fn validator_of(&self, schema: &Value) -> Option<Validator> {
        let mut document = schema.clone();
        if let (Some(document), Some(definitions)) = (document.as_object_mut(), self.annotated.get("$defs")) {
            document.insert("$defs".into(), definitions.clone());
        }
        // A reference to the root of the tool's schema leads back to the part here.
        if circle_within(&document).is_some() {
            return None;
        }
        Validator::new(&document).ok()
    }
}

/// Returns the number of values within a value, including itself.
fn weight(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(weight).sum::<usize>(),
        Value::Object(members) => 1 + members.values().map(weight).sum::<usize>(),
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::nested;
    use super::*;
    use serde_json::json;

    /// Returns `value` after a repair with this limit of examined values.
    fn mended(schema: &Value, value: &Value, left: usize) -> Value {
        let compiled = Compiled::new("test", schema.clone()).unwrap();
        let mut mender =
            Mender { compiled: &compiled, validators: HashMap::new(), repairs: Vec::new(), left };
        let mut value = value.clone();
        mender.mend(&mut value, &compiled.annotated, Pointer::ROOT, Wrapping::Allowed);
        value
    }

    #[test]
    fn a_value_weighs_as_much_as_it_holds() {
        for (value, expected) in [
            (json!(null), 1),
            (json!([]), 1),
            (json!({}), 1),
            (json!([1, "two", [3]]), 5),
            (json!({"a": 1, "b": {"c": [1, 2]}}), 6),
        ] {
            assert_eq!(weight(&value), expected, "{value}");
        }
    }

    #[test]
    fn a_schema_that_contains_itself_is_followed() {
        for next in [json!({"$ref": "#"}), json!({"anyOf": [{"$ref": "#"}, {"type": "null"}]})] {
            let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}, "next": next}});
            let given = json!({"n": "1", "next": {"n": 2, "next": {"n": "x"}}});
            let expected = json!({"n": 1, "next": {"n": 2, "next": {"n": "x"}}});
            assert_eq!(mended(&schema, &given, MAX_LOOKED_AT), expected, "{schema}");
        }
        let schema =
            json!({"type": "object", "properties": {"n": {"type": "integer"}, "next": {"$ref": "#"}}});
        let given = json!({"n": 1, "next": {"next": {"n": "5"}}});
        assert_eq!(mended(&schema, &given, MAX_LOOKED_AT), json!({"n": 1, "next": {"next": {"n": 5}}}));
    }

    #[test]
    fn out_of_steps_nothing_is_guessed() {
        let list = json!({"type": "array", "items": {"type": "integer"}});
        let either = json!({"anyOf": [list, {"type": "array", "items": list}]});
        let given = json!(["5"]);
        for left in (0..200).chain([MAX_LOOKED_AT]) {
            assert_eq!(mended(&either, &given, left), given, "{left}");
        }
        assert_eq!(mended(&list, &given, MAX_LOOKED_AT), json!([5]));
    }

    #[test]
    fn schemas_are_followed_as_deep_as_text_can_nest() {
        let (given, spelled) = (json!("InProgress"), json!("in_progress"));
        for (depth, is_mended) in [(1, true), (DEEPEST, true), (DEEPEST + 1, false)] {
            let schema = nested("allOf", depth, json!({"enum": [spelled]}));
            let expected = if is_mended { &spelled } else { &given };
            assert_eq!(mended(&schema, &given, MAX_LOOKED_AT), *expected, "{depth}");
        }
    }

    #[test]
    fn null_as_a_text_is_absent_where_no_text_and_no_null_is_wanted() {
        for (property, given, expected) in [
            (json!({"type": "integer"}), "null", None),
            (json!({"type": "integer"}), " None ", None),
            (json!({"type": "integer"}), "x", Some(json!("x"))),
            (json!({"type": ["integer", "null"]}), "null", Some(json!(null))),
            (json!({"type": "string"}), "null", Some(json!("null"))),
            (json!({"type": "string", "maxLength": 1}), "null", Some(json!("null"))),
            (json!({"type": ["string", "null"], "maxLength": 1}), "null", Some(json!("null"))),
            (json!({"enum": ["a", "b"]}), "null", None),
            (json!({"enum": ["a", null]}), "null", Some(json!("null"))),
            (json!({"enum": ["a", "null"]}), "null", Some(json!("null"))),
        ] {
            let schema = json!({"properties": {"x": property, "y": property, "n": {"type": "integer"}},
                "required": ["n", "y"]});
            let value = mended(&schema, &json!({"x": given, "n": "5"}), MAX_LOOKED_AT);
            assert_eq!((value.get("x"), &value["n"]), (expected.as_ref(), &json!(5)), "{given} {property}");
            let required = mended(&schema, &json!({"y": given, "n": "5"}), MAX_LOOKED_AT);
            let expected = expected.unwrap_or_else(|| json!(given));
            assert_eq!(required.get("y"), Some(&expected), "{given} {property}");
        }
    }

    #[test]
    fn null_is_absent_where_it_is_optional() {
        let schema = json!({"properties": {"x": {"type": "integer"}, "y": {"type": "integer"},
            "z": {"type": ["integer", "null"]}, "n": {"type": "integer"}}, "required": ["y", "n"]});
        let given = json!({"x": null, "y": null, "z": null, "n": "5"});
        assert_eq!(mended(&schema, &given, MAX_LOOKED_AT), json!({"y": null, "z": null, "n": 5}));
    }
}

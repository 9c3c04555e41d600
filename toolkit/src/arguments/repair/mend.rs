//! The walk that repairs: down the arguments along their schema, wherever something does not fit.

use super::super::pointer::Pointer;
use super::super::shape::{allows_null, rest_of};
use super::super::shown::{KEPT_SECRET, is_secret};
use super::super::variant::{is_anything, meant_option, shared_tag};
use super::convert::{Kinds, from_text, is_null};
use super::names::{is_closed, renamings};
use super::spelling::only_match;
use super::{Repair, RepairKind};
use crate::schema::describe::{cut, literals};
use crate::schema::{Compiled, DEEPEST, resolve};
use jsonschema::Validator;
use serde_json::{Map, Value};
use std::collections::HashMap;

/// How many values one call's repair looks at, each as often as it does. Variants within variants could take for ever.
const MOST_LOOKED_AT: usize = 1_000_000;
/// The most repairs of one kind within one list or map that are told one by one.
const MOST_ALIKE: usize = 8;
/// Under these keys models send all arguments, as protocols do.
const WRAPPERS: [&str; 8] =
    ["arguments", "args", "input", "inputs", "parameters", "params", "kwargs", "tool_input"];

/// Repairs what can only mean one thing. What cannot be repaired stays as it came.
pub(in super::super) fn mend(compiled: &Compiled, arguments: &mut Value, repairs: &mut Vec<Repair>) {
    let mut mender =
        Mender { compiled, validators: HashMap::new(), repairs: Vec::new(), left: MOST_LOOKED_AT };
    let root = &compiled.annotated;
    if !mender.unwrap_arguments(arguments) {
        mender.mend(arguments, root, Pointer::ROOT, Wrapping::Allowed);
    }
    repairs.append(&mut mender.repairs);
}

/// Whether a value may become a list with itself as the only item. Twice in a row would be a guess.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wrapping {
    Allowed,
    Done,
}

struct Mender<'a> {
    compiled: &'a Compiled,
    /// By the address of their schema within the tool's.
    validators: HashMap<*const Value, Option<Validator>>,
    repairs: Vec<Repair>,
    left: usize,
}

impl<'a> Mender<'a> {
    /// Whether `value` fits `schema` as it is.
    fn fits(&mut self, value: &Value, schema: &'a Value) -> bool {
        self.left = self.left.saturating_sub(weight(value));
        if self.left == 0 {
            return false;
        }
        let compiled = self.compiled;
        if std::ptr::eq(schema, &raw const compiled.annotated) {
            return compiled.validator.is_valid(value);
        }
        let validator = self.validators.entry(schema).or_insert_with(|| compiled.validator_of(schema));
        validator.as_ref().is_some_and(|validator| validator.is_valid(value))
    }

    /// Changes `value` where it does not fit; says whether it fits now.
    fn mend(&mut self, value: &mut Value, schema: &'a Value, at: Pointer<'_>, wrapping: Wrapping) -> bool {
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

    /// A string that stands for something else, or for one of the allowed values.
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
        // What is within an object or a list can be mended or explained; a scalar fits or does not.
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

    /// Whether an optional property is there only in name: `null`, also as a string where no string is wanted.
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

    fn mend_items(
        &mut self,
        items: &mut Vec<Value>,
        schema: &'a Value,
        rules: &'a Map<String, Value>,
        at: Pointer<'_>,
    ) {
        let places = rules.get("prefixItems").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let each = rules.get("items").filter(|each| each.is_object());
        let before = self.repairs.len();
        if let Some(each) = each.filter(|each| places.is_empty() && self.is_list_of_lists(each))
            && items.iter().any(|item| !item.is_array())
        {
            self.mend_list_of_lists(items, schema, each, at);
        } else {
            for (index, item) in items.iter_mut().enumerate() {
                if let Some(place) = places.get(index).or(each) {
                    self.mend(item, place, at.item(index), Wrapping::Allowed);
                }
            }
        }
        self.join_alike(before, at);
    }

    fn is_list_of_lists(&self, each: &Value) -> bool {
        Kinds::of_schema(each, &self.compiled.annotated).has_any_of(Kinds::ARRAY)
    }

    /// A flat list where lists of lists are wanted: each item may have been meant as a list, or all of it as one.
    fn mend_list_of_lists(
        &mut self,
        items: &mut Vec<Value>,
        schema: &'a Value,
        each: &'a Value,
        at: Pointer<'_>,
    ) {
        let before = self.repairs.len();
        let mut by_item = items.clone();
        for (index, item) in by_item.iter_mut().enumerate() {
            self.mend(item, each, at.item(index), Wrapping::Allowed);
        }
        let by_item = Value::Array(by_item);
        let fits_by_item = self.fits(&by_item, schema);
        let made = self.repairs.split_off(before);

        let mut whole = Value::Array(items.clone());
        let fits_whole = self.mend(&mut whole, each, at.item(0), Wrapping::Done);
        let whole = Value::Array(vec![whole]);
        let fits_whole = fits_whole && self.fits(&whole, schema);
        let made_whole = self.repairs.split_off(before);
        let is_same = by_item == whole;
        let (Value::Array(by_item), Value::Array(whole)) = (by_item, whole) else { return };
        if fits_by_item && (is_same || !fits_whole) {
            *items = by_item;
            self.repairs.extend(made);
        } else if fits_whole && !fits_by_item {
            let given = Value::Array(std::mem::replace(items, whole));
            self.record(at, RepairKind::ValueToList, &given);
            self.repairs.extend(made_whole);
        }
    }

    /// The variant that is meant, or else the only one that the value can be made to fit.
    fn mend_variant(&mut self, value: &mut Value, options: &'a [Value], at: Pointer<'_>, wrapping: Wrapping) {
        let root = &self.compiled.annotated;
        // What a flattened type may be absent for says nothing of the value.
        let telling = || options.iter().filter(|option| !is_anything(option));
        if telling().any(|option| self.fits(value, option)) {
            return;
        }
        self.spell_tag(value, options, at);
        if let Some(option) = meant_option(value, options, root) {
            self.mend(value, option, at.same(), wrapping);
            return;
        }
        let before = self.repairs.len();
        let mut found: Option<(Value, Vec<Repair>)> = None;
        for option in telling() {
            let mut trial = value.clone();
            let fits = self.mend(&mut trial, option, at.same(), wrapping);
            let made = self.repairs.split_off(before);
            match &found {
                _ if !fits => {}
                None => found = Some((trial, made)),
                Some((other, _)) if *other == trial => {}
                Some(_) => return,
            }
        }
        // Out of steps, another variant may have fitted too.
        if let Some((mended, made)) = found.filter(|_| self.left > 0) {
            *value = mended;
            self.repairs.extend(made);
        }
    }

    /// The tag of a variant, in another case style.
    fn spell_tag(&mut self, value: &mut Value, options: &'a [Value], at: Pointer<'_>) {
        let Value::Object(members) = value else { return };
        let Some((tag, values)) = shared_tag(options, &self.compiled.annotated) else { return };
        let Some(given) = members.get_mut(tag) else { return };
        let Some(text) = given.as_str() else { return };
        let spelled = only_match(text, values.iter().filter_map(|value| value.as_str()));
        if let Some(spelled) = spelled.filter(|spelled| *spelled != text).map(str::to_owned) {
            self.spell(given, spelled, at.member(tag));
        }
    }

    /// One value where a list of such is wanted.
    fn wrap(
        &mut self,
        value: &mut Value,
        schema: &'a Value,
        rules: &'a Map<String, Value>,
        at: Pointer<'_>,
        wrapping: Wrapping,
    ) -> bool {
        let root = &self.compiled.annotated;
        let Some(each) = rules.get("items").filter(|each| each.is_object()) else { return false };
        let can_be_one = match &*value {
            Value::Null | Value::Array(_) => false,
            // Of another kind than a string, it is read as one or not at all.
            Value::String(text) => {
                !Kinds::of_schema(each, root).has_any_of(Kinds::STRING) || !may_be_none_or_many(text)
            }
            _ => true,
        };
        let is_wanted = Kinds::of_schema(schema, root).has_any_of(Kinds::of_value(value));
        if wrapping == Wrapping::Done || !can_be_one || is_wanted || rules.contains_key("prefixItems") {
            return false;
        }
        let before = self.repairs.len();
        let mut item = value.clone();
        self.mend(&mut item, each, at.item(0), Wrapping::Done);
        let list = Value::Array(vec![item]);
        let made = self.repairs.split_off(before);
        let fits = self.fits(&list, schema);
        if fits {
            self.record(at, RepairKind::ValueToList, value);
            self.repairs.extend(made);
            *value = list;
        }
        fits
    }

    /// All arguments under one key, as a protocol has them, and nothing beside it but the tool's name.
    fn unwrap_arguments(&mut self, arguments: &mut Value) -> bool {
        let root = &self.compiled.annotated;
        let Some(members) = arguments.as_object() else { return false };
        let is_unknown = |name: &str| {
            let mut known = Vec::new();
            super::super::known::add_properties(&mut known, root, root, arguments, 0);
            !known.contains(&name)
        };
        if !root.as_object().is_some_and(is_closed) || members.len() > 2 {
            return false;
        }
        let mut found = None;
        for (name, member) in members {
            let is_name_of_tool =
                matches!(name.as_str(), "name" | "tool" | "tool_name") && *member == self.compiled.name;
            if WRAPPERS.contains(&name.as_str()) && found.is_none() {
                found = Some((name, member));
            } else if !is_name_of_tool {
                return false;
            }
            if !is_unknown(name) {
                return false;
            }
        }
        let Some((name, member)) = found else { return false };
        let note = format!("the arguments stood under `{name}`");
        let is_nothing =
            member.is_null() || member.as_str().is_some_and(|text| text.trim().is_empty() || is_null(text));
        let mut within = if is_nothing { Value::Object(Map::new()) } else { member.clone() };
        if !self.mend(&mut within, root, Pointer::ROOT, Wrapping::Done) {
            self.repairs.clear();
            return false;
        }
        self.repairs.insert(0, Repair::new("", RepairKind::ArgumentsUnwrapped, note));
        *arguments = within;
        true
    }

    fn spell(&mut self, value: &mut Value, spelled: String, at: Pointer<'_>) {
        let pointer = at.to_string();
        let spelled = Value::String(spelled);
        let note = if is_secret(self.compiled, &pointer) {
            format!("{KEPT_SECRET} was taken for an allowed one")
        } else {
            format!("{} was taken for {}", super::super::shown::short(value), cut(&spelled.to_string(), 80))
        };
        self.repairs.push(Repair::new(pointer, RepairKind::ValueSpelling, note));
        *value = spelled;
    }

    fn record(&mut self, at: Pointer<'_>, kind: RepairKind, given: &Value) {
        self.repairs.push(Repair::of_value(self.compiled, at.to_string(), kind, given));
    }

    /// Tells many repairs of one kind within one list or map as one.
    fn join_alike(&mut self, before: usize, at: Pointer<'_>) {
        let mut counts: HashMap<RepairKind, usize> = HashMap::new();
        for repair in &self.repairs[before..] {
            *counts.entry(repair.kind).or_default() += 1;
        }
        if counts.values().all(|count| *count <= MOST_ALIKE) {
            return;
        }
        let pointer = at.to_string();
        let made = self.repairs.split_off(before);
        for mut repair in made {
            match counts.get_mut(&repair.kind) {
                Some(0) => continue,
                Some(count) if *count > MOST_ALIKE => {
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
    /// A validator of one schema within the tool's.
    fn validator_of(&self, schema: &Value) -> Option<Validator> {
        let mut document = schema.clone();
        if let (Some(document), Some(definitions)) = (document.as_object_mut(), self.annotated.get("$defs")) {
            document.insert("$defs".into(), definitions.clone());
        }
        crate::schema::validator(&document).ok()
    }
}

/// How many values there are within a value, itself included.
fn weight(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(weight).sum::<usize>(),
        Value::Object(members) => 1 + members.values().map(weight).sum::<usize>(),
        _ => 1,
    }
}

/// Whether a text may be a list in another notation, or no item at all, so that it is not clearly one.
fn may_be_none_or_many(text: &str) -> bool {
    text.trim().is_empty() || text.trim_start().starts_with('[') || text.contains([',', ';', '\n'])
}

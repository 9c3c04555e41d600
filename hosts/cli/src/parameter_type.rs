//! Types of a tool's parameters, read from its JSON Schema as far as a command line needs them: names and permitted
//! kinds of values.

use crate::kinds::Kinds;
use serde_json::{Map, Value};
use toolkit::Tool;

/// References and combinations nested deeper than this go round in a circle.
const MAX_DEPTH: u32 = 32;

/// A parameter of a tool.
#[derive(Debug)]
pub(crate) struct Parameter<'a> {
    pub(crate) name: &'a str,
    pub(crate) description: &'a str,
    pub(crate) required: bool,
    /// Other names that are accepted.
    pub(crate) aliases: Vec<&'a str>,
    pub(crate) ty: ParameterType<'a>,
}

/// Returns the parameters of a tool, in the order of its schema; none if the schema is invalid.
pub(crate) fn parameters(tool: &Tool) -> Vec<Parameter<'_>> {
    let Ok(root) = tool.input_schema() else { return Vec::new() };
    let mut parameters = Vec::new();
    collect(root, root, Presence::AsStated, MAX_DEPTH, &mut parameters);
    for parameter in &mut parameters {
        parameter.aliases = tool.parameter_aliases(parameter.name).collect();
    }
    parameters
}

/// The parameters within a parameter that is an object, or a list of objects.
pub(crate) fn members<'a>(ty: &ParameterType<'a>) -> Vec<Parameter<'a>> {
    let mut found = Vec::new();
    let of_items = ty.kinds().has(Kinds::ARRAY).then(|| ty.item(0));
    for ty in std::iter::once(ty).chain(&of_items) {
        for schema in &ty.any_of {
            collect(schema, ty.root, Presence::AsStated, MAX_DEPTH, &mut found);
        }
    }
    found
}

/// Meaning of `required` in an object schema for the call.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Presence {
    AsStated,
    /// Required only in one of several alternatives.
    Optional,
}

/// Adds the properties of an object schema and of its alternatives.
fn collect<'a>(
    schema: &'a Value,
    root: &'a Value,
    presence: Presence,
    depth: u32,
    found: &mut Vec<Parameter<'a>>,
) {
    let (Some(schema), Some(depth)) = (schema.as_object(), depth.checked_sub(1)) else { return };
    for (name, property) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
        let is_listed = items(schema, "required").any(|required| required == name.as_str());
        let required = presence == Presence::AsStated && is_listed;
        match found.iter_mut().find(|parameter| parameter.name == name) {
            Some(known) => {
                known.required |= required;
                known.ty.any_of.push(property);
            }
            None => found.push(Parameter {
                name,
                description: description(property, root, depth),
                required,
                aliases: Vec::new(),
                ty: ParameterType { root, any_of: vec![property] },
            }),
        }
    }
    if let Some(target) = target(schema, root) {
        collect(target, root, presence, depth, found);
    }
    for part in items(schema, "allOf") {
        collect(part, root, presence, depth, found);
    }
    for key in ["anyOf", "oneOf"] {
        for option in items(schema, key) {
            collect(option, root, Presence::Optional, depth, found);
        }
        if presence == Presence::AsStated {
            let shared = required_by_all(items(schema, key), root);
            found
                .iter_mut()
                .filter(|known| shared.contains(&known.name))
                .for_each(|known| known.required = true);
        }
    }
}

/// The properties that every one of some alternatives requires, such as the tag of an enumeration.
fn required_by_all<'a>(mut options: impl Iterator<Item = &'a Value>, root: &'a Value) -> Vec<&'a str> {
    let required = |option: &'a Value| -> Vec<&'a str> {
        let schema = option
            .as_object()
            .map(|schema| target(schema, root).and_then(Value::as_object).unwrap_or(schema));
        schema.into_iter().flat_map(|schema| items(schema, "required")).filter_map(Value::as_str).collect()
    };
    let mut shared = options.next().map(required).unwrap_or_default();
    for option in options {
        let required = required(option);
        shared.retain(|name| required.contains(name));
    }
    shared
}

/// Returns the description of a schema, or else that of the schema it refers to.
fn description<'a>(schema: &'a Value, root: &'a Value, depth: u32) -> &'a str {
    if let Some(description) = schema.get("description").and_then(Value::as_str) {
        return description;
    }
    match (schema.as_object().and_then(|schema| target(schema, root)), depth.checked_sub(1)) {
        (Some(target), Some(depth)) => description(target, root, depth),
        _ => "",
    }
}

/// The type of a parameter: one schema, or one of several where alternatives share a property.
#[derive(Debug, Clone)]
pub(crate) struct ParameterType<'a> {
    root: &'a Value,
    any_of: Vec<&'a Value>,
}

impl<'a> ParameterType<'a> {
    /// The kinds of values that it allows.
    pub(crate) fn kinds(&self) -> Kinds {
        self.any_of
            .iter()
            .fold(Kinds::NONE, |kinds, schema| kinds | kinds_of(schema, self.root, MAX_DEPTH))
            .or_any()
    }

    /// The type of the items of a list.
    pub(crate) fn item(&self, index: usize) -> Self {
        let mut any_of = Vec::new();
        self.visit(|schema| {
            any_of.extend(items(schema, "prefixItems").nth(index).or_else(|| schema.get("items")));
        });
        if any_of.is_empty() {
            any_of.push(&Value::Bool(true));
        }
        Self { root: self.root, any_of }
    }

    /// The types that a value has one of, references followed: itself where there is no choice.
    pub(crate) fn alternatives(&self) -> Vec<Self> {
        let mut found = Vec::new();
        for schema in &self.any_of {
            add_alternatives(schema, self.root, MAX_DEPTH, &mut found);
        }
        found.into_iter().map(|schema| Self { root: self.root, any_of: vec![schema] }).collect()
    }

    /// Returns the schema, if there is only one.
    pub(crate) fn schema(&self) -> Option<&'a Value> {
        match self.any_of.as_slice() {
            [only] => Some(only),
            _ => None,
        }
    }

    /// Returns the types of a tuple's items; empty if it is not a tuple.
    pub(crate) fn tuple(&self) -> Vec<Self> {
        let items = self.keyword("prefixItems").and_then(Value::as_array).into_iter().flatten();
        items.map(|schema| Self { root: self.root, any_of: vec![schema] }).collect()
    }

    /// Returns the type of a map's values, if it has one.
    pub(crate) fn values(&self) -> Option<Self> {
        let values = self.keyword("additionalProperties").filter(|values| values.is_object())?;
        Some(Self { root: self.root, any_of: vec![values] })
    }

    /// The values that it lists, if it lists all of them.
    pub(crate) fn choices(&self) -> Option<Vec<&'a Value>> {
        let mut choices = Vec::new();
        for schema in &self.any_of {
            choices.extend(choices_of(schema, self.root, MAX_DEPTH)?);
        }
        choices.dedup();
        (!choices.is_empty()).then_some(choices)
    }

    /// Returns the value of a keyword from the schema, from a schema it refers to, or from one of its alternatives.
    pub(crate) fn keyword(&self, key: &str) -> Option<&'a Value> {
        let mut found = None;
        self.visit(|schema| found = found.or_else(|| schema.get(key)));
        found
    }

    /// Calls `see` on every schema that describes the value itself.
    fn visit(&self, mut see: impl FnMut(&'a Map<String, Value>)) {
        let mut open: Vec<(&'a Value, u32)> =
            self.any_of.iter().rev().map(|schema| (*schema, MAX_DEPTH)).collect();
        while let Some((schema, depth)) = open.pop() {
            let (Some(schema), Some(depth)) = (schema.as_object(), depth.checked_sub(1)) else { continue };
            see(schema);
            let parts = ["oneOf", "anyOf", "allOf"].into_iter().flat_map(|key| items(schema, key));
            let parts: Vec<&Value> = parts.chain(target(schema, self.root)).collect();
            open.extend(parts.into_iter().map(|part| (part, depth)));
        }
    }
}

fn kinds_of(schema: &Value, root: &Value, depth: u32) -> Kinds {
    let (Some(schema), Some(depth)) = (schema.as_object(), depth.checked_sub(1)) else { return Kinds::ANY };
    let mut kinds = Kinds::ANY;
    match schema.get("type") {
        Some(Value::String(name)) => kinds = kinds & Kinds::named(name),
        Some(Value::Array(names)) => {
            let names = names.iter().filter_map(Value::as_str);
            kinds = kinds & names.fold(Kinds::NONE, |kinds, name| kinds | Kinds::named(name));
        }
        _ => {}
    }
    if let Some(value) = schema.get("const") {
        kinds = kinds & Kinds::of(value);
    }
    if let Some(Value::Array(values)) = schema.get("enum") {
        kinds = kinds & values.iter().fold(Kinds::NONE, |kinds, value| kinds | Kinds::of(value));
    }
    if let Some(target) = target(schema, root) {
        kinds = kinds & kinds_of(target, root, depth);
    }
    for part in items(schema, "allOf") {
        kinds = kinds & kinds_of(part, root, depth);
    }
    for key in ["anyOf", "oneOf"] {
        if let Some(Value::Array(options)) = schema.get(key) {
            kinds = kinds
                & options.iter().fold(Kinds::NONE, |kinds, option| kinds | kinds_of(option, root, depth));
        }
    }
    kinds
}

/// Adds the alternatives of a schema. A schema with keywords of its own is one itself, whatever else it refers to.
fn add_alternatives<'a>(schema: &'a Value, root: &'a Value, depth: u32, found: &mut Vec<&'a Value>) {
    let says = ["properties", "prefixItems", "items", "additionalProperties", "const", "enum"];
    if let (Some(members), Some(depth)) = (schema.as_object(), depth.checked_sub(1))
        && !says.iter().any(|key| members.contains_key(*key))
    {
        let parts: Vec<&Value> = match target(members, root) {
            Some(target) => vec![target],
            None if members.contains_key("oneOf") => items(members, "oneOf").collect(),
            None if members.contains_key("anyOf") => items(members, "anyOf").collect(),
            None => items(members, "allOf").take(1).collect(),
        };
        if !parts.is_empty() {
            return parts.into_iter().for_each(|part| add_alternatives(part, root, depth, found));
        }
    }
    if !found.iter().any(|known| std::ptr::eq(*known, schema)) {
        found.push(schema);
    }
}

fn choices_of<'a>(schema: &'a Value, root: &'a Value, depth: u32) -> Option<Vec<&'a Value>> {
    let (schema, depth) = (schema.as_object()?, depth.checked_sub(1)?);
    if let Some(value) = schema.get("const") {
        return Some(vec![value]);
    }
    if let Some(Value::Array(values)) = schema.get("enum") {
        return Some(values.iter().collect());
    }
    if let Some(target) = target(schema, root) {
        return choices_of(target, root, depth);
    }
    let options = schema.get("oneOf").or_else(|| schema.get("anyOf"))?.as_array()?;
    let lists: Option<Vec<_>> = options.iter().map(|option| choices_of(option, root, depth)).collect();
    Some(lists?.concat())
}

/// Resolves the `$ref` of a schema within its document.
fn target<'a>(schema: &Map<String, Value>, root: &'a Value) -> Option<&'a Value> {
    root.pointer(schema.get("$ref")?.as_str()?.strip_prefix('#')?)
}

fn items<'a>(schema: &'a Map<String, Value>, key: &str) -> impl Iterator<Item = &'a Value> + use<'a> {
    schema.get(key).and_then(Value::as_array).into_iter().flatten()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use serde_json::json;

    pub(crate) fn typed(schema: &Value) -> ParameterType<'_> {
        ParameterType { root: schema, any_of: vec![schema] }
    }

    #[test]
    fn kinds() {
        let number = Kinds::INTEGER | Kinds::FRACTION;
        for (schema, expected) in [
            (json!({"type": "string"}), Kinds::STRING),
            (json!({"type": "number"}), number),
            (json!({"type": ["integer", "null"]}), Kinds::INTEGER | Kinds::NULL),
            (json!({"anyOf": [{"type": "integer"}, {"type": "string"}]}), Kinds::INTEGER | Kinds::STRING),
            (json!({"oneOf": [{"const": "a"}, {"const": 1.5}]}), Kinds::STRING | Kinds::FRACTION),
            (json!({"enum": [1, true, null, 2.0]}), Kinds::INTEGER | Kinds::BOOLEAN | Kinds::NULL),
            (json!({"$ref": "#/$defs/N", "$defs": {"N": {"type": "array"}}}), Kinds::ARRAY),
            (json!({"$ref": "#/$defs/N", "$defs": {"N": {"$ref": "#/$defs/N"}}}), Kinds::ANY),
            (json!({"allOf": [{"description": "x"}, {"type": "object"}]}), Kinds::OBJECT),
            (json!({"type": "object", "oneOf": [{"properties": {}}]}), Kinds::OBJECT),
            (json!({"description": "anything"}), Kinds::ANY),
            (json!({"type": "string", "enum": [1]}), Kinds::ANY),
            (json!(true), Kinds::ANY),
            (json!(false), Kinds::ANY),
        ] {
            assert_eq!(typed(&schema).kinds(), expected, "{schema}");
        }
    }

    #[test]
    fn items_of_lists() {
        for (schema, index, expected) in [
            (json!({"type": "array", "items": {"type": "integer"}}), 3, Kinds::INTEGER),
            (json!({"prefixItems": [{"type": "boolean"}], "items": {"type": "string"}}), 0, Kinds::BOOLEAN),
            (json!({"prefixItems": [{"type": "boolean"}], "items": {"type": "string"}}), 1, Kinds::STRING),
            (json!({"anyOf": [{"type": "null"}, {"items": {"type": "object"}}]}), 0, Kinds::OBJECT),
            (json!({"$ref": "#/$defs/N", "$defs": {"N": {"items": {"type": "null"}}}}), 0, Kinds::NULL),
            (json!({"type": "array"}), 0, Kinds::ANY),
        ] {
            assert_eq!(typed(&schema).item(index).kinds(), expected, "{schema}");
        }
    }

    #[test]
    fn choices() {
        for (schema, expected) in [
            (json!({"enum": ["a", 1]}), Some(json!(["a", 1]))),
            (json!({"oneOf": [{"const": "a"}, {"enum": ["b", "c"]}]}), Some(json!(["a", "b", "c"]))),
            (json!({"$ref": "#/$defs/N", "$defs": {"N": {"const": 1}}}), Some(json!([1]))),
            (json!({"anyOf": [{"const": "a"}, {"type": "string"}]}), None),
            (json!({"type": "string"}), None),
        ] {
            let choices =
                typed(&schema).choices().map(|choices| choices.into_iter().cloned().collect::<Value>());
            assert_eq!(choices, expected, "{schema}");
        }
    }

    #[test]
    fn properties_of_alternatives() {
        let schema = json!({
            "properties": {"both": {"$ref": "#/$defs/Text"}},
            "required": ["both"],
            "allOf": [{"properties": {"part": {}}, "required": ["part"]}],
            "oneOf": [
                {"properties": {"kind": {"const": "a"}, "x": {}}, "required": ["kind", "x"]},
                {"properties": {"kind": {"const": "b"}}, "required": ["kind"]},
            ],
            "$defs": {"Text": {"type": "string", "description": "A text."}},
        });
        let mut found = Vec::new();
        collect(&schema, &schema, Presence::AsStated, MAX_DEPTH, &mut found);
        let names: Vec<(&str, bool)> =
            found.iter().map(|parameter| (parameter.name, parameter.required)).collect();
        assert_eq!(names, [("both", true), ("part", true), ("kind", true), ("x", false)]);
        assert_eq!(found[0].description, "A text.");
        assert_eq!(found[2].ty.choices(), Some(vec![&json!("a"), &json!("b")]));
    }
}

//! Structure of a parameter's value: members of objects, items of tuples and lists, alternatives.

use crate::kinds::Kinds;
use crate::parameter_type::{Parameter, ParameterType, members};
use crate::words::{plain, rules, type_word};
use crate::wrap::wrap;
use serde_json::Value;

/// Maximum depth to which the structure of a value is shown.
const DEEPEST: usize = 6;

/// Returns the lines that show the structure of a value, each after `indent`; none for a plain value.
pub(crate) fn lines(ty: &ParameterType<'_>, indent: &str, columns: Option<usize>) -> String {
    let mut shape = Shape { text: String::new(), columns, above: Vec::new() };
    shape.within(ty, indent);
    shape.text
}

struct Shape<'a> {
    text: String,
    columns: Option<usize>,
    /// The enclosing schemas of the shown one: a type may contain itself.
    above: Vec<&'a Value>,
}

impl<'a> Shape<'a> {
    fn within(&mut self, ty: &ParameterType<'a>, indent: &str) {
        let alternatives: Vec<ParameterType<'a>> =
            ty.alternatives().into_iter().filter(|one| one.kinds() != Kinds::NULL).collect();
        match alternatives.as_slice() {
            [] => {}
            [only] => self.one(only, indent),
            // Values that are listed with the type are explained only if they have structure or a description.
            several if several.iter().any(|one| is_structured(one) || !description(one).is_empty()) => {
                for one in several {
                    self.alternative(one, indent);
                }
            }
            _ => {}
        }
    }

    /// Adds a value that is not a choice between alternatives.
    fn one(&mut self, ty: &ParameterType<'a>, indent: &str) {
        let Some(schema) = ty.schema() else { return };
        let is_within_itself = self.above.iter().any(|above| std::ptr::eq(*above, schema));
        if is_within_itself || self.above.len() >= DEEPEST {
            if is_structured(ty) {
                self.line(indent, "…");
            }
            return;
        }
        self.above.push(schema);
        let items = ty.tuple();
        if !items.is_empty() {
            for (number, item) in items.iter().enumerate() {
                self.entry(&format!("item {}", number + 1), item, None, description(item), indent);
            }
        } else if ty.kinds().without(Kinds::NULL) == Kinds::ARRAY {
            let item = ty.item(0);
            if item.alternatives().iter().any(is_structured) {
                self.line(indent, "each item:");
                self.within(&item, &format!("{indent}  "));
            }
        } else {
            for Parameter { name, description, required, ty, .. } in own_members(ty) {
                self.entry(name, &ty, Some(required), description, indent);
            }
            if let Some(value) = ty.values() {
                self.entry("<name>", &value, None, description(&value), indent);
            }
        }
        self.above.pop();
    }

    /// Adds one alternative: a plain value, `{ name: … }`, or an object identified by a constant member.
    fn alternative(&mut self, ty: &ParameterType<'a>, indent: &str) {
        let further = format!("{indent}    ");
        if let Some(choices) = ty.choices() {
            let words: Vec<String> = choices.into_iter().map(plain).collect();
            self.described(&format!("- {}", words.join(" | ")), description(ty), indent);
            return;
        }
        let all = own_members(ty);
        if let [Parameter { name, required: true, ty: inner, .. }] = all.as_slice()
            && inner.choices().is_none()
        {
            self.described(&format!("- {{ {name}: {} }}", type_word(inner)), description(ty), indent);
            self.within(inner, &further);
            return;
        }
        let tag = all.iter().find_map(|member| match member.ty.choices()?.as_slice() {
            [only] => Some((member.name, plain(only))),
            _ => None,
        });
        let Some((tag, value)) = tag else {
            self.described(&format!("- {}", type_word(ty)), description(ty), indent);
            return self.one(ty, &further);
        };
        self.described(&format!("- {{ {tag}: {value}, … }}"), description(ty), indent);
        for Parameter { name, description, required, ty, .. } in all {
            if name != tag {
                self.entry(name, &ty, Some(required), description, &further);
            }
        }
    }

    fn entry(
        &mut self,
        name: &str,
        ty: &ParameterType<'a>,
        required: Option<bool>,
        description: &str,
        indent: &str,
    ) {
        let mut notes = vec![type_word(ty)];
        notes.extend(required.map(|required| if required { "required" } else { "optional" }.to_owned()));
        notes.extend(rules(ty));
        self.described(&format!("{name}  {}", notes.join(", ")), description, indent);
        self.within(ty, &format!("{indent}    "));
    }

    fn described(&mut self, line: &str, description: &str, indent: &str) {
        self.line(indent, line);
        let indent = format!("{indent}    ");
        self.text.push_str(&wrap(description, &indent, &indent, self.columns));
    }

    fn line(&mut self, indent: &str, line: &str) {
        self.text.push_str(&wrap(line, indent, &format!("{indent}    "), self.columns));
    }
}

/// Returns true if the value has structure that its type word does not show.
fn is_structured(ty: &ParameterType<'_>) -> bool {
    let kinds = ty.kinds().without(Kinds::NULL);
    !own_members(ty).is_empty()
        || !ty.tuple().is_empty()
        || ty.values().is_some_and(|value| value.alternatives().iter().any(is_structured_once))
        || kinds == Kinds::ARRAY && ty.item(0).alternatives().iter().any(is_structured_once)
}

/// Returns the same for the content of a list or map: a type that contains itself must not be followed endlessly.
fn is_structured_once(ty: &ParameterType<'_>) -> bool {
    !own_members(ty).is_empty() || !ty.tuple().is_empty()
}

/// Returns the members of an object, without those of a list's items.
fn own_members<'a>(ty: &ParameterType<'a>) -> Vec<Parameter<'a>> {
    if ty.kinds().has(Kinds::ARRAY) { Vec::new() } else { members(ty) }
}

fn description<'a>(ty: &ParameterType<'a>) -> &'a str {
    ty.keyword("description").and_then(Value::as_str).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parameter_type::tests::typed;
    use serde_json::json;

    fn shown(schema: &Value) -> String {
        lines(&typed(schema), "  ", Some(60))
    }

    #[test]
    fn members_items_and_alternatives_are_shown() {
        for (schema, expected) in [
            (json!({"type": "string"}), ""),
            (json!({"type": "array", "items": {"type": "string"}}), ""),
            (
                json!({"type": "object", "properties": {
                    "host": {"type": "string", "description": "The host that is written to, by its name or its address."},
                    "ports": {"type": "array", "items": {"type": "integer", "minimum": 1}},
                    "inner": {"$ref": "#/$defs/Inner"},
                }, "required": ["host"], "$defs": {"Inner": {"type": "object", "properties": {"deep": {"type": "boolean"}}}}}),
                "  host  string, required\n      The host that is written to, by its name or its\n      address.\n  ports  list of \
                 integer, optional\n  inner  object, optional\n      deep  boolean, optional\n",
            ),
            (
                json!({"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}], "minItems": 2, "maxItems": 2}),
                "  item 1  string\n  item 2  integer\n",
            ),
            (
                json!({"type": "array", "items": {"type": "object", "properties": {"x": {"type": "number"}}, "required": ["x"]}}),
                "  each item:\n    x  number, required\n",
            ),
            (
                json!({"oneOf": [
                    {"const": "all", "description": "Everything."},
                    {"type": "object", "description": "Some.", "properties": {"some": {"type": "object", "properties": {
                        "count": {"type": "integer"}}, "required": ["count"]}}, "required": ["some"]},
                ]}),
                "  - all\n      Everything.\n  - { some: object }\n      Some.\n      count  integer, required\n",
            ),
            (
                json!({"oneOf": [
                    {"type": "object", "properties": {"kind": {"const": "file"}, "path": {"type": "string"}},
                        "required": ["kind", "path"]},
                    {"type": "object", "properties": {"kind": {"const": "none"}}, "required": ["kind"]},
                ]}),
                "  - { kind: file, … }\n      path  string, required\n  - { kind: none, … }\n",
            ),
            (
                json!({"type": "object", "additionalProperties": {"type": "object", "properties": {"x": {"type": "integer"}}}}),
                "  <name>  object\n      x  integer, optional\n",
            ),
            (
                json!({"$ref": "#/$defs/Tree", "$defs": {"Tree": {"type": "object", "properties": {
                    "value": {"type": "integer"}, "left": {"anyOf": [{"$ref": "#/$defs/Tree"}, {"type": "null"}]}}}}}),
                "  value  integer, optional\n  left  object|null, optional\n      …\n",
            ),
        ] {
            assert_eq!(shown(&schema), expected, "{schema}");
        }
    }
}

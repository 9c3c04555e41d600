//! Checks for arguments that have another shape than their author probably meant.

use super::Findings;
use crate::tool::Tool;
use serde_json::Value;
use toolkit_core::escape::escape_line;
use toolkit_core::parameter::Input;

/// Keywords that describe values, and allow the same ones.
const ANNOTATIONS: [&str; 6] = ["title", "description", "default", "examples", "deprecated", "$comment"];

/// Reports a function whose only parameter is a struct: a model has to send an object within the object of all arguments.
pub(super) fn check(tool: &Tool, schema: &Value, findings: &mut Findings) {
    let is_function = tool.def().is_some_and(|def| matches!(def.input, Input::Parameters(_)));
    let properties = schema.get("properties").and_then(Value::as_object).filter(|_| is_function);
    let Some((name, parameter)) =
        properties.filter(|properties| properties.len() == 1).and_then(|properties| properties.iter().next())
    else {
        return;
    };
    let target = parameter.get("$ref").and_then(Value::as_str).and_then(|target| target.strip_prefix('#'));
    let parameter = target.and_then(|target| schema.pointer(target)).unwrap_or(parameter);
    let has_fields =
        parameter.get("properties").and_then(Value::as_object).is_some_and(|fields| !fields.is_empty());
    if has_fields {
        let message = format!(
            "all its arguments stand within `{}`; take the struct with `#[args]`, so that a model sends its fields alone",
            escape_line(name)
        );
        findings.add("nested-arguments", &format!("/properties/{name}"), message);
    }
}

/// Reports variants without a tag that no value reaches, because an earlier one takes all of theirs.
pub(super) fn unreachable(variants: &[Value], pointer: &str, findings: &mut Findings) {
    for (number, variant) in variants.iter().enumerate() {
        if let Some(earlier) = variants[..number].iter().position(|earlier| takes_all_of(earlier, variant)) {
            let message = format!(
                "no value reaches this variant, because variant {earlier} takes all of its values; put it first, or tag the enum"
            );
            findings.add("unreachable-variant", &format!("{pointer}/anyOf/{number}"), message);
        }
    }
}

/// Returns true if the first schema certainly allows all that the second one allows.
fn takes_all_of(one: &Value, other: &Value) -> bool {
    let (Some(one), Some(other)) = (one.as_object(), other.as_object()) else { return false };
    let rules = |(key, _): &(&String, &Value)| !ANNOTATIONS.contains(&key.as_str());
    // `format` is no limit of the values by itself, but it is that of an integer's type.
    let mut others = other.iter().filter(rules);
    let is_wider_type = |kind: &Value| {
        let own = other.get("type");
        own == Some(kind) || kind == "number" && own.is_some_and(|own| own == "integer")
    };
    let mut ones = one.iter().filter(rules).peekable();
    if ones.peek().is_none() {
        return true;
    }
    let is_same = ones.clone().all(|(key, value)| other.get(key) == Some(value))
        && others.all(|(key, value)| one.get(key) == Some(value));
    let is_type_alone = ones.clone().count() == 1 && one.get("type").is_some_and(is_wider_type);
    is_same || is_type_alone
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn variants_that_take_all_of_others() {
        for (one, other, expected) in [
            (json!({"type": "string"}), json!({"type": "string", "description": "A name."}), true),
            (json!({"type": "string"}), json!({"type": "string", "maxLength": 5}), true),
            (json!({"type": "number"}), json!({"type": "integer", "minimum": 0}), true),
            (json!({"$ref": "#/$defs/a"}), json!({"$ref": "#/$defs/a"}), true),
            (json!({}), json!({"type": "string"}), true),
            (json!({"type": "string", "maxLength": 5}), json!({"type": "string"}), false),
            (json!({"type": "integer"}), json!({"type": "number"}), false),
            (json!({"type": "string"}), json!({"type": "null"}), false),
            (json!({"type": "object", "properties": {}}), json!({"type": "object"}), false),
        ] {
            assert_eq!(takes_all_of(&one, &other), expected, "{one} {other}");
        }
    }
}

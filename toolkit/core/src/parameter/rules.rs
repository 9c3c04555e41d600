//! Rules on a parameter's value: their keywords in the schema, and the check of a default.

use crate::arguments::KEPT_SECRET;
use crate::parameter::Literal;
use crate::schema::Validator;
use crate::schema::describe::describe;
use serde_json::{Map, Value};

/// A rule on a parameter's value beyond its type.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Rule {
    /// The minimum of a number.
    Minimum(Literal),
    /// The maximum of a number.
    Maximum(Literal),
    /// The exclusive maximum of a number.
    ExclusiveMaximum(Literal),
    /// The minimum number of characters, items or entries.
    MinLength(u64),
    /// The maximum number of characters, items or entries.
    MaxLength(u64),
    /// A regular expression (ECMA-262) that a part of the string must match.
    Pattern(&'static str),
}

/// Returns the reason why `value` violates one of a parameter's own rules, if it does.
///
/// A secret value is not in it.
pub(crate) fn rules_fault(rules: &[Rule], value: &Value, is_secret: bool) -> Option<String> {
    if rules.is_empty() {
        return None;
    }
    let kind = match value {
        Value::Number(number) if !number.is_f64() => "integer",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
        // No rule applies to these.
        Value::Null | Value::Bool(_) => return None,
    };
    let mut schema = Map::new();
    schema.insert("type".into(), kind.into());
    for rule in rules {
        apply(*rule, &mut schema);
    }
    let schema = Value::Object(schema);
    match Validator::new(&schema) {
        Ok(validator) if validator.is_valid(value) => None,
        Ok(_) => {
            let value = if is_secret { KEPT_SECRET.to_owned() } else { value.to_string() };
            Some(format!("its rules ask for {}, and it is {value}", describe(&schema, &schema)))
        }
        Err(error) => Some(error),
    }
}

/// Adds the keyword of a rule to the schema of its parameter.
pub(super) fn apply(rule: Rule, schema: &mut Map<String, Value>) {
    let kind = |schema: &Map<String, Value>| {
        schema.get("type").and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    let (key, value) = match rule {
        Rule::Minimum(bound) => ("minimum", bound.to_value()),
        Rule::Maximum(bound) => ("maximum", bound.to_value()),
        Rule::ExclusiveMaximum(bound) => ("exclusiveMaximum", bound.to_value()),
        Rule::MinLength(count) => {
            (length_key(&kind(schema), "minLength", "minItems", "minProperties"), count.into())
        }
        Rule::MaxLength(count) => {
            (length_key(&kind(schema), "maxLength", "maxItems", "maxProperties"), count.into())
        }
        Rule::Pattern(pattern) => ("pattern", pattern.into()),
    };
    schema.insert(key.to_owned(), value);
}

fn length_key(kind: &str, string: &'static str, array: &'static str, object: &'static str) -> &'static str {
    match kind {
        "array" => array,
        "object" => object,
        _ => string,
    }
}

//! Parameters of which the schema is known to be valid, without making it for each tool at start-up.

use super::rules::{Rule, apply};
use super::{Input, ParameterDef, Shown, compose};
use crate::schema::{Compiled, SchemaFn, certainly_allows};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// The schemas of valid types, by the addresses of the functions that generate them. Functions that the compiler merged generate the same
/// schema.
static VALID: Mutex<BTreeMap<usize, Arc<Value>>> = Mutex::new(BTreeMap::new());

/// The only property of the schema in which a type is checked.
const PROPERTY: &str = "value";

/// Returns true if the schema of a tool's arguments certainly compiles, and each default and example fits its parameter. If not, the schema
/// must be made to see, which costs more than all else about a tool at start-up.
#[doc(hidden)]
pub fn is_certainly_valid(input: &Input) -> bool {
    let Input::Parameters(parameters) = input else { return false };
    parameters.iter().all(|parameter| parameter.rules.iter().all(is_valid) && fits(parameter))
}

/// Returns true if a rule certainly writes a valid keyword: a pattern may be none, and a bound may be no number of JSON.
fn is_valid(rule: &Rule) -> bool {
    match rule {
        Rule::Minimum(bound) | Rule::Maximum(bound) | Rule::ExclusiveMaximum(bound) => {
            bound.to_value().is_number()
        }
        Rule::MinLength(_) | Rule::MaxLength(_) => true,
        Rule::Pattern(_) => false,
    }
}

fn fits(parameter: &ParameterDef) -> bool {
    let Some(schema) = known(parameter.schema).or_else(|| learn(parameter.schema)) else { return false };
    if parameter.default.is_none() && parameter.examples.is_empty() {
        return true;
    }
    let mut members = schema.as_object().cloned().unwrap_or_default();
    parameter.rules.iter().for_each(|rule| apply(*rule, &mut members));
    let schema = Value::Object(members);
    let mut values = parameter.default.iter().chain(parameter.examples);
    values.all(|value: &Shown| value.to_value().is_none_or(|value| certainly_allows(&schema, &value)))
}

fn known(schema: SchemaFn) -> Option<Arc<Value>> {
    VALID.lock().unwrap_or_else(PoisonError::into_inner).get(&address(schema)).cloned()
}

/// Generates the schema of a type, without the lock, since a type's function is its author's code. Returns it if it is valid.
fn learn(schema: SchemaFn) -> Option<Arc<Value>> {
    let document = compose(|generator| {
        json!({
            "type": "object",
            "properties": { PROPERTY: schema(generator).to_value() },
            "additionalProperties": false,
        })
    });
    let compiled = Compiled::new("", document).ok()?;
    let part = Arc::new(compiled.schema["properties"][PROPERTY].clone());
    VALID.lock().unwrap_or_else(PoisonError::into_inner).insert(address(schema), Arc::clone(&part));
    Some(part)
}

fn address(schema: SchemaFn) -> usize {
    schema as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parameter::{Literal, arg};
    use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
    use serde::Deserialize;
    use std::borrow::Cow;

    /// A type whose schema does not compile.
    #[derive(Deserialize)]
    struct Broken {}

    impl JsonSchema for Broken {
        fn schema_name() -> Cow<'static, str> {
            "Broken".into()
        }

        fn json_schema(_: &mut SchemaGenerator) -> Schema {
            json_schema!({ "type": "nonsense" })
        }
    }

    const ONE: &[Shown] = &[Shown::Literal(Literal::Int(1))];
    const PLAIN: ParameterDef = arg::<u8>("plain", "").def;
    const SHOWN: ParameterDef = arg::<u8>("shown", "").default_literal(Literal::Int(1)).examples(ONE).def;
    const BROKEN: ParameterDef = arg::<Broken>("broken", "").def;
    const LARGE: ParameterDef = arg::<u8>("large", "").default_literal(Literal::Int(256)).def;
    const WORD: ParameterDef = arg::<String>("word", "").examples(ONE).def;
    const BOUNDED: ParameterDef =
        arg::<u8>("bounded", "").rules(&[Rule::Minimum(Literal::Int(2))]).examples(ONE).def;
    const NO_NUMBER: ParameterDef =
        arg::<f64>("no_number", "").rules(&[Rule::Minimum(Literal::Float(f64::NAN))]).def;
    const LIKE: ParameterDef = arg::<String>("like", "").rules(&[Rule::Pattern("(")]).def;

    #[test]
    fn only_what_is_known_to_be_valid_is_certain() {
        // Twice: the second time, the valid types are known.
        for _ in 0..2 {
            for (input, expected) in [
                (Input::Parameters(&[]), true),
                (Input::Parameters(&[&PLAIN, &SHOWN]), true),
                (Input::Parameters(&[&PLAIN, &BROKEN]), false),
                (Input::Parameters(&[&LARGE]), false),
                (Input::Parameters(&[&WORD]), false),
                (Input::Parameters(&[&BOUNDED]), false),
                (Input::Parameters(&[&NO_NUMBER]), false),
                (Input::Parameters(&[&LIKE]), false),
                (Input::Whole(&PLAIN), false),
            ] {
                assert_eq!(is_certainly_valid(&input), expected, "{input:?}");
            }
        }
    }
}

//! The types of parameters that the validator of this crate is known to cover.

use super::{Input, ParameterDef, Rule, of_input};
use crate::schema::{SchemaFn, circle_within, compose, repeated_name, uncovered};
use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

/// The types that are covered, by the addresses of the functions that generate their schemas. Functions that the compiler merged
/// generate the same schema.
static COVERED: Mutex<BTreeSet<usize>> = Mutex::new(BTreeSet::new());

/// Returns the part of the schema of a tool's arguments that only the missing feature `json-schema` can check, if there is one. The schema
/// is made only if it must be looked at, since that costs more than all else about a tool at start-up.
#[doc(hidden)]
pub fn missing_feature(input: &Input) -> Option<String> {
    if cfg!(feature = "json-schema") || is_covered(input) {
        return None;
    }
    let schema = of_input(input);
    // A type that refers to itself without end, or that has a name twice, is reported as that.
    if circle_within(&schema).is_some() || repeated_name(&schema).is_some() {
        None
    } else {
        uncovered(&schema)
    }
}

/// Returns true if the arguments are separate parameters without patterns, and of types that are covered. Each type is looked at once in a
/// process: most tools take texts, numbers and flags.
fn is_covered(input: &Input) -> bool {
    let Input::Parameters(parameters) = input else { return false };
    let mut rules = parameters.iter().flat_map(|parameter| parameter.rules);
    !rules.any(|rule| matches!(rule, Rule::Pattern(_))) && (are_known(parameters) || learn(parameters))
}

fn are_known(parameters: &[&ParameterDef]) -> bool {
    let covered = COVERED.lock().unwrap_or_else(PoisonError::into_inner);
    parameters.iter().all(|parameter| covered.contains(&address(parameter.schema)))
}

/// Generates the schemas of the types, without the lock, since a type's function is its author's code.
fn learn(parameters: &[&ParameterDef]) -> bool {
    let is_covered = |parameter: &&&ParameterDef| {
        uncovered(&compose(|generator| (parameter.schema)(generator).to_value())).is_none()
    };
    let found: Vec<usize> =
        parameters.iter().filter(is_covered).map(|parameter| address(parameter.schema)).collect();
    let are_all = found.len() == parameters.len();
    COVERED.lock().unwrap_or_else(PoisonError::into_inner).extend(found);
    are_all
}

fn address(schema: SchemaFn) -> usize {
    schema as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parameter::arg;
    use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
    use serde::Deserialize;
    use std::borrow::Cow;

    /// A type with a keyword that only the validator of the feature `json-schema` covers.
    #[derive(Deserialize)]
    struct Pair {}

    impl JsonSchema for Pair {
        fn schema_name() -> Cow<'static, str> {
            "Pair".into()
        }

        fn json_schema(_: &mut SchemaGenerator) -> Schema {
            json_schema!({ "type": "object", "dependentRequired": { "left": ["right"] } })
        }
    }

    const TEXT: ParameterDef = arg::<String>("text", "").def;
    const NUMBERS: ParameterDef = arg::<Vec<Option<u8>>>("numbers", "").def;
    const PAIR: ParameterDef = arg::<Pair>("pair", "").def;
    const LONG: ParameterDef = arg::<String>("long", "").rules(&[Rule::MinLength(9)]).def;
    const LIKE: ParameterDef = arg::<String>("like", "").rules(&[Rule::Pattern("(?=a)")]).def;

    #[test]
    fn parameters_are_covered_if_all_their_types_are() {
        for (what, input, expected) in [
            ("none", Input::Parameters(&[]), true),
            ("one that is not", Input::Parameters(&[&TEXT, &PAIR]), false),
            ("known types", Input::Parameters(&[&TEXT]), true),
            ("new ones", Input::Parameters(&[&TEXT, &NUMBERS]), true),
            ("one that was looked at", Input::Parameters(&[&NUMBERS, &PAIR]), false),
            ("one with a length", Input::Parameters(&[&TEXT, &LONG]), true),
            ("one with a pattern", Input::Parameters(&[&TEXT, &LIKE]), false),
            ("all as one", Input::Whole(&TEXT), false),
        ] {
            assert_eq!(is_covered(&input), expected, "{what}");
        }
    }
}

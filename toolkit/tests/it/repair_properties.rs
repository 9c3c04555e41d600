//! Properties of every argument type that the docs of `ToolArg` list:
//!
//! * A value that its schema allows decodes, unless it is beyond the limits of a number of 32 or 64 bits, which are enforced but not
//!   shown; it is not repaired, and encodes back to the same JSON: `5.0` is 5, a set has no order,
//!   an absent field of an `Option` may come back as `null`, and a number for `f64` is the nearest float.
//! * What is repaired is allowed by the schema, and is not repaired again.

#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

mod generate;
mod tools;

use jsonschema::Validator;
use proptest::test_runner::{Config, TestCaseError, TestRng, TestRunner};
use serde_json::{Value, json};
use std::cell::Cell;
use tokio::runtime::Runtime;
use toolkit::prelude::*;
use toolkit::{Tool, ToolErrorKind, Toolbox, inspection::LoopGuard};

/// How many values of each type; `PROPTEST_CASES` says otherwise.
const CASES: u32 = 400;

#[test]
fn what_the_schema_allows_decodes_and_what_is_repaired_is_allowed() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let mut wrong = Vec::new();
    for tool in tools::all() {
        let name = tool.name().to_owned();
        let types = Types::new(&runtime, tool);
        let config = Config {
            cases: std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(CASES),
            failure_persistence: None,
            max_global_rejects: 0,
            ..Config::default()
        };
        let rng = TestRng::deterministic_rng(config.rng_algorithm);
        let seen = Seen::default();
        let values = generate::values(&types.schema["properties"]["value"], &types.schema);
        let ran = TestRunner::new_with_rng(config, rng).run(&values, |value| types.check(&value, &seen));
        if let Err(error) = ran {
            wrong.push(format!("{name}: {error}"));
            continue;
        }
        let Seen { valid, refused } = seen;
        if valid.get() < 40 || refused.get() == 0 {
            wrong.push(format!("{name}: {valid:?} valid and {refused:?} refused say little"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[derive(Default)]
struct Seen {
    valid: Cell<u32>,
    refused: Cell<u32>,
}

fn count(cell: &Cell<u32>) {
    cell.set(cell.get() + 1);
}

/// A tool that takes one `value` and answers with what it decoded to.
struct Types<'a> {
    runtime: &'a Runtime,
    toolbox: Toolbox,
    name: String,
    schema: Value,
    validator: Validator,
}

impl<'a> Types<'a> {
    fn new(runtime: &'a Runtime, tool: Tool) -> Self {
        let schema = tool.input_schema().unwrap().clone();
        let validator = jsonschema::draft202012::new(&schema).unwrap();
        let name = tool.name().to_owned();
        let toolkit =
            Toolkit::empty().without_asking_first().loop_guard(LoopGuard::off()).tool(tool).build().unwrap();
        let toolbox = runtime.block_on(toolkit.toolbox(&Caller::new()));
        Self { runtime, toolbox, name, schema, validator }
    }

    fn call(&self, arguments: &Value) -> ToolResult {
        let call = ToolCall::new("1", &self.name, arguments.clone());
        self.runtime.block_on(self.toolbox.call(call))
    }

    fn check(&self, value: &Value, seen: &Seen) -> Result<(), TestCaseError> {
        let arguments = json!({ "value": value });
        let is_valid = self.validator.is_valid(&arguments);
        let result = self.call(&arguments);
        let fail = |what: &str| Err(TestCaseError::fail(format!("{what}: {arguments} became {result:?}")));
        if let Some(error) = result.error() {
            count(&seen.refused);
            return match error.kind() {
                ToolErrorKind::InvalidArguments if !is_valid || is_beyond_limits(error, &arguments) => Ok(()),
                _ => fail("refused though the schema allows it"),
            };
        }
        let is_repaired = result.output().unwrap().metadata.contains_key("repairs");
        let back: Value = serde_json::from_str(&result.text()).unwrap();
        if is_valid {
            count(&seen.valid);
            let schema = &self.schema["properties"]["value"];
            // Fields that these do not know are ignored.
            let is_open = matches!(self.name.as_str(), "flattened" | "flattened_enum");
            let is_same = same(value, &back, schema, &self.schema)
                || is_open && same(&back, &known(value, &back), schema, &self.schema);
            return match (is_repaired, is_same) {
                (false, true) => Ok(()),
                (true, _) => fail("repaired though the schema allows it"),
                (false, false) => fail("another value"),
            };
        }
        if !is_repaired {
            return fail("accepted in silence though the schema refuses it");
        }
        let mut arguments = json!({ "value": back });
        if !self.validator.is_valid(&arguments) {
            arguments = without_nulls(arguments);
        }
        if !self.validator.is_valid(&arguments) {
            return fail("repaired to what the schema refuses");
        }
        let again = self.call(&arguments);
        let Some(output) = again.output().filter(|output| output.metadata.is_empty()) else {
            return fail("repaired twice");
        };
        let again: Value = serde_json::from_str(&output.to_text()).unwrap();
        let schema = &self.schema["properties"]["value"];
        if same(&back, &again, schema, &self.schema) { Ok(()) } else { fail("repaired to another value") }
    }
}

/// Returns true if the only problems are numbers beyond the limits of their types.
fn is_beyond_limits(error: &ToolError, arguments: &Value) -> bool {
    const LIMITS: [&str; 7] = [
        "2147483647",
        "-2147483648",
        "4294967295",
        "9223372036854775807",
        "-9223372036854775808",
        "18446744073709551615",
        "3.4028234663852886e+38",
    ];
    error.problems().unwrap().problems.iter().all(|problem| {
        let number = arguments.pointer(&problem.pointer).and_then(Value::as_f64);
        let exceeds = |least: f64| number.is_some_and(|number| number.abs() > least);
        let names_limit = LIMITS.iter().any(|limit| problem.expected.contains(limit));
        // Among the variants of an enum, no bounds are told.
        exceeds(f64::from(i32::MAX)) && names_limit || exceeds(9.2e18) && problem.expected.contains(" or ")
    })
}

/// Returns true if two values are equal in the sense of the docs of this file.
fn same(given: &Value, back: &Value, schema: &Value, root: &Value) -> bool {
    let schema = generate::resolve(schema, root);
    match (given, back) {
        (Value::Number(given), Value::Number(back)) => {
            let is_integer = |number: &serde_json::Number| !number.is_f64();
            given == back || !(is_integer(given) && is_integer(back)) && given.as_f64() == back.as_f64()
        }
        (Value::Array(given), Value::Array(back)) if schema["uniqueItems"] == true => {
            given.len() == back.len()
                && given.iter().all(|item| back.iter().any(|other| same(item, other, &schema["items"], root)))
        }
        (Value::Array(given), Value::Array(back)) => {
            let each = |index: usize| schema["prefixItems"].get(index).unwrap_or(&schema["items"]);
            given.len() == back.len()
                && given
                    .iter()
                    .zip(back)
                    .enumerate()
                    .all(|(index, (one, other))| same(one, other, each(index), root))
        }
        (Value::Object(given), Value::Object(back)) => {
            let each = |name: &str| schema["properties"].get(name).unwrap_or(&schema["additionalProperties"]);
            given
                .iter()
                .all(|(name, one)| back.get(name).is_some_and(|other| same(one, other, each(name), root)))
                && back.iter().all(|(name, value)| given.contains_key(name) || value.is_null())
        }
        _ => given == back,
    }
}

/// Of two objects, the first with the names of the second; `null` where it has none.
fn known(given: &Value, back: &Value) -> Value {
    let names = back.as_object().into_iter().flat_map(serde_json::Map::keys);
    names.map(|name| (name.clone(), given[name].clone())).collect()
}

/// Without the members that are `null`, which is how `None` is written.
fn without_nulls(value: Value) -> Value {
    match value {
        Value::Object(members) => {
            let members = members.into_iter().filter(|(_, member)| !member.is_null());
            members.map(|(name, member)| (name, without_nulls(member))).collect()
        }
        Value::Array(items) => items.into_iter().map(without_nulls).collect(),
        other => other,
    }
}

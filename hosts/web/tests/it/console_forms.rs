//! A property of the forms of the console: every value that a schema allows can be made with the controls of its form, and every problem of the
//! server with a value is shown.
//!
//! Schemas, values and problems are made here, and `fill.mjs` does what a person does.

mod generate;
mod leaves;

use generate::Generated;
use leaves::Dice;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use toolkit::prelude::*;
use toolkit::{Tool, ToolErrorKind, Toolbox};

const SCHEMAS: usize = 500;
/// Valid values of each schema, and as many invalid ones.
const VALUES: usize = 3;
const TRIES: usize = 12;
/// Another seed, such as `FORM_SEED=7`.
const SEED_VARIABLE: &str = "FORM_SEED";
const SEED: u64 = 1;
/// Failures that are printed.
const MAX_SHOWN: usize = 12;

/// A schema with values, and the problems of the server with those that it does not allow.
struct Case {
    schema: Value,
    values: Vec<Value>,
    invalid: Vec<Value>,
}

#[derive(Default)]
struct Counts {
    generated: usize,
    valid: usize,
    invalid: usize,
}

#[tokio::test]
#[ignore = "needs Node: cargo xtask test"]
async fn a_form_can_make_every_valid_value_and_shows_every_problem() {
    let seed = std::env::var(SEED_VARIABLE).map_or(SEED, |seed| seed.parse().unwrap());
    let mut counts = Counts::default();
    let cases = cases(seed, &mut counts).await;
    assert!(counts.valid * 10 > counts.generated * 9, "{} of {} values", counts.valid, counts.generated);
    let results = fill(&cases);
    assert_eq!(results.len(), cases.len());

    let mut faults = Vec::new();
    let mut places: BTreeMap<&str, usize> = BTreeMap::new();
    for (case, result) in cases.iter().zip(&results) {
        for (value, made) in case.values.iter().zip(result["values"].as_array().unwrap()) {
            faults.extend(fault(value, made).map(|fault| format!("{fault}\n  {value}\n  {}", case.schema)));
        }
        for (invalid, shown) in case.invalid.iter().zip(result["invalid"].as_array().unwrap()) {
            for place in shown.as_array().unwrap().iter().map(|place| place.as_str().unwrap()) {
                match place {
                    "field" | "other" => *places.entry(place).or_default() += 1,
                    fault => faults.push(format!("{fault}\n  {invalid}\n  {}", case.schema)),
                }
            }
        }
    }
    println!(
        "{} schemas, {} valid values of {} generated, {} invalid values; problems by place: {places:?}",
        cases.len(),
        counts.valid,
        counts.generated,
        counts.invalid
    );
    let text = faults.iter().take(MAX_SHOWN).fold(String::new(), |mut text, fault| {
        writeln!(text, "{fault}").unwrap();
        text
    });
    assert!(faults.is_empty(), "{} faults with {SEED_VARIABLE}={seed}:\n{text}", faults.len());
    let count = |place| places.get(place).copied().unwrap_or_default();
    assert!(count("field") > 10 * count("other"), "{places:?}");
}

/// Returns how a form failed to make a value, or to show it.
fn fault(value: &Value, made: &Value) -> Option<String> {
    if let Some(failed) = made["failed"].as_str() {
        return Some(format!("not made: {failed}"));
    }
    let sent = made["sent"].as_str().unwrap();
    let read: Value = serde_json::from_str(sent).unwrap();
    if canonical(&read) != canonical(value) {
        return Some(format!("{sent} was sent"));
    }
    made["shown"].as_str().map(|shown| format!("not shown: {shown}"))
}

/// Writes whole numbers as integers: `5.0` is the number 5.
#[expect(clippy::cast_possible_truncation, reason = "these are whole numbers below 2^53")]
fn canonical(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(canonical).collect(),
        Value::Object(members) => {
            let members = members.iter().map(|(name, member)| (name.clone(), canonical(member)));
            members.collect::<Map<_, _>>().into()
        }
        Value::Number(number) => match number.as_f64() {
            Some(float) if number.is_f64() && float.fract() == 0.0 && float.abs() < 9e15 => {
                json!(float as i64)
            }
            _ => value.clone(),
        },
        _ => value.clone(),
    }
}

async fn cases(seed: u64, counts: &mut Counts) -> Vec<Case> {
    let mut dice = Dice::new(seed);
    let generated: Vec<Generated> = (0..SCHEMAS).map(|_| Generated::new(&mut dice)).collect();
    let tools = generated.iter().enumerate().map(|(place, generated)| {
        let tool = Tool::builder(format!("t{place}")).description("Takes arguments.").read_only();
        let tool = tool.input_schema(generated.schema()).build(|_, _| async { "called" });
        tool.unwrap_or_else(|error| panic!("{error}: {}", generated.schema()))
    });
    let toolbox = Toolkit::empty().tools(tools).build().unwrap().toolbox(&Caller::new()).await;
    let mut cases = Vec::new();
    for (place, generated) in generated.iter().enumerate() {
        let name = format!("t{place}");
        let mut case = Case {
            schema: toolbox.find(&name).unwrap().enforced_schema().unwrap().clone(),
            values: Vec::new(),
            invalid: Vec::new(),
        };
        for _ in 0..TRIES {
            let value = generated.value(&mut dice);
            counts.generated += 1;
            if is_valid(&toolbox, &name, &value) {
                counts.valid += 1;
                case.values.push(value);
            }
            if case.values.len() == VALUES {
                break;
            }
        }
        assert!(!case.values.is_empty(), "no value is allowed with {SEED_VARIABLE}={seed}: {}", case.schema);
        for _ in 0..TRIES {
            let mut value = dice.pick(&case.values).clone();
            (0..=dice.below(3)).for_each(|_| spoil(&mut dice, &mut value));
            case.invalid.extend(problems(&toolbox, &name, &value));
            if case.invalid.len() == VALUES {
                break;
            }
        }
        counts.invalid += case.invalid.len();
        cases.push(case);
    }
    cases
}

/// Returns true if the server takes a value as it is.
fn is_valid(toolbox: &Toolbox, name: &str, value: &Value) -> bool {
    let checked = toolbox.check_arguments(name, value.clone());
    checked.is_ok_and(|(arguments, repairs)| repairs.is_empty() && arguments == *value)
}

/// Returns a value as text with the problems that the server has with it, if it has any.
fn problems(toolbox: &Toolbox, name: &str, value: &Value) -> Option<Value> {
    let error = toolbox.check_arguments(name, value.clone()).err()?;
    assert_eq!(error.kind(), ToolErrorKind::InvalidArguments, "{error}");
    let problems = error.problems()?.problems.iter();
    let problems: Vec<Value> =
        problems.map(|problem| json!({ "path": problem.pointer, "message": problem.to_string() })).collect();
    Some(json!({ "text": value.to_string(), "problems": problems }))
}

/// Replaces, removes or adds a value somewhere.
fn spoil(dice: &mut Dice, whole: &mut Value) {
    let wrongs = [json!("wrong"), json!(-7), json!(0.5), json!(null), json!([[]]), json!({ "w": 1 })];
    let mut places = Vec::new();
    collect_places(whole, String::new(), &mut places);
    let place = dice.pick(&places).clone();
    let value = whole.pointer_mut(&place).unwrap();
    match value {
        Value::Object(members) if place.is_empty() || dice.chance(60) => {
            let names: Vec<String> = members.keys().cloned().collect();
            if names.is_empty() || dice.chance(40) {
                members.insert("unknown".to_owned(), dice.pick(&wrongs).clone());
            } else {
                members.shift_remove(dice.pick(&names));
            }
        }
        _ => *value = dice.pick(&wrongs).clone(),
    }
}

fn collect_places(value: &Value, place: String, places: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                let name = name.replace('~', "~0").replace('/', "~1");
                collect_places(member, format!("{place}/{name}"), places);
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                collect_places(item, format!("{place}/{index}"), places);
            }
        }
        _ => {}
    }
    places.push(place);
}

/// Runs `fill.mjs`, and returns one result for each case.
fn fill(cases: &[Case]) -> Vec<Value> {
    let crate_directory = Path::new(env!("CARGO_MANIFEST_DIR"));
    let directory = tempfile::tempdir().unwrap();
    let [from, to] = ["cases.jsonl", "results.jsonl"].map(|name| directory.path().join(name));
    let lines = cases.iter().map(|case| {
        let case = json!({ "schema": case.schema, "values": case.values, "invalid": case.invalid });
        format!("{case}\n")
    });
    std::fs::write(&from, lines.collect::<String>()).unwrap();
    let output = std::process::Command::new(crate_directory.join("../../target/tools/python/bin/node"))
        .arg(crate_directory.join("tests/it/console_forms/fill.mjs"))
        .arg(crate_directory.join("console"))
        .args([&from, &to])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let results = std::fs::read_to_string(&to).unwrap();
    results.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

//! Findings of `testing::compatibility` about pairs of definitions, and that it is right to find nothing.

#![cfg(feature = "testing")]
#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

mod generator;
mod table;

use generator::Tape;
use jsonschema::Validator;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Value, json};
use std::cell::Cell;
use toolkit::testing::{Severity, Snapshot, compatibility};

fn snapshot(input: &Value, output: Option<&Value>) -> Snapshot {
    let mut json = json!({
        "name": "t", "description": "T.", "annotations": {"readOnlyHint": false, "idempotentHint": false},
        "inputSchema": input,
    });
    if let Some(output) = output {
        json["outputSchema"] = output.clone();
    }
    Snapshot::from_json(&json.to_string()).unwrap()
}

fn validator(schema: &Value) -> Validator {
    jsonschema::options().with_draft(jsonschema::Draft::Draft202012).offline().build(schema).unwrap()
}

fn worst(old: &Snapshot, new: &Snapshot) -> Severity {
    compatibility(old, new).iter().map(|change| change.severity).max().unwrap_or(Severity::Compatible)
}

/// A schema, the same with some choices made otherwise, and choices for values.
fn pairs() -> impl Strategy<Value = (Value, Value, Vec<u8>)> {
    let choices = prop::collection::vec(any::<u8>(), 0..120);
    let edits = prop::collection::vec((0_usize..120, any::<u8>()), 0..3);
    let values = prop::collection::vec(any::<u8>(), 400);
    (choices, edits, values).prop_map(|(choices, edits, values)| {
        let old = generator::root(&mut Tape::new(&choices));
        let mut other = choices;
        for (place, choice) in edits {
            if let Some(place) = place.checked_rem(other.len()) {
                other[place] = choice;
            }
        }
        (old, generator::root(&mut Tape::new(&other)), values)
    })
}

#[test]
fn where_nothing_breaks_everything_that_fitted_fits() {
    let mut runner = TestRunner::new_with_rng(
        Config { cases: 2_000, failure_persistence: None, max_shrink_iters: 20_000, ..Config::default() },
        prop::test_runner::TestRng::deterministic_rng(prop::test_runner::RngAlgorithm::ChaCha),
    );
    let (silent, told, tried) = (Cell::new(0), Cell::new(0), Cell::new(0));
    let outcome = runner.run(&pairs(), |(old, new, values)| {
        let (is_old, is_new) = (validator(&old), validator(&new));
        let object = json!({"type": "object"});
        let input = worst(&snapshot(&old, None), &snapshot(&new, None));
        // Of an output the new one must fit the old schema.
        let output = worst(&snapshot(&object, Some(&new)), &snapshot(&object, Some(&old)));
        if input >= Severity::MayBreak {
            told.set(told.get() + 1);
        } else if old != new {
            silent.set(silent.get() + 1);
        }
        let mut tape = Tape::new(&values);
        for _ in 0..24 {
            let value = generator::value(&mut tape, &old, &old, 0);
            if !is_old.is_valid(&value) {
                continue;
            }
            tried.set(tried.get() + 1);
            if !is_new.is_valid(&value) {
                prop_assert!(input >= Severity::MayBreak, "{value} fits {old} and not {new}");
                prop_assert!(output >= Severity::MayBreak, "as output {value} fits {old} and not {new}");
            }
        }
        Ok(())
    });
    outcome.unwrap();
    // Without these the test would have shown nothing.
    assert!(silent.get() > 150, "{} pairs that differ and break nothing", silent.get());
    assert!(told.get() > 150, "{} pairs that break something", told.get());
    assert!(tried.get() > 10_000, "{} values", tried.get());
}

#[test]
fn what_is_the_same_has_no_changes() {
    let mut runner = TestRunner::deterministic();
    let choices = prop::collection::vec(any::<u8>(), 0..120);
    let outcome = runner.run(&choices, |choices| {
        let schema = generator::root(&mut Tape::new(&choices));
        let snapshot = snapshot(&schema, Some(&schema));
        prop_assert_eq!(compatibility(&snapshot, &snapshot), []);
        prop_assert_eq!(Snapshot::from_json(&snapshot.to_json()).unwrap(), snapshot);
        Ok(())
    });
    outcome.unwrap();
}

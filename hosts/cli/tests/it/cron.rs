//! `cron next`: the times of an expression.

#![cfg(all(target_os = "linux", feature = "gateway"))]

use crate::cron_rule::{NO_DIFFERENCE, compare};
use crate::fixture::person::Person;
use serde_json::{Value, json};
use toolkit_tests::repository;

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

/// Compares a month in which the clock of a zone is set; the long tests compare the year, and zones in which it is not set.
fn compare_month(zone: &str, month: u8) -> Vec<Value> {
    let day = |month: u8| format!("2027-{month:02}-01");
    compare(zone, &day(month), &day(month + 1), 60_000)
}

#[test]
#[ignore = "needs cronsim: cargo xtask test"]
fn a_month_in_which_the_clock_of_new_york_is_set_follows_the_rule() {
    assert_eq!(compare_month("America/New_York", 3), NO_DIFFERENCE);
}

#[test]
#[ignore = "needs cronsim: cargo xtask test"]
fn a_month_in_which_the_clock_of_lord_howe_island_is_set_follows_the_rule() {
    // It is set back by half an hour: cronsim misses times after that.
    let differs = [
        json!(["*/7 */2 * * *", 0, 5]),
        json!(["30 * * * *", 0, 1]),
        json!(["*/30 2 * * *", 0, 1]),
        json!(["* 2 * * sun", 0, 30]),
        json!(["0 */2 * * *", 0, 1]),
        json!(["0 */3 * * *", 0, 1]),
    ];
    assert_eq!(compare_month("Australia/Lord_Howe", 4), differs);
}

#[test]
#[ignore = "needs cronsim: cargo xtask test"]
fn a_month_in_which_the_clock_of_casablanca_is_set_follows_the_rule() {
    assert_eq!(compare_month("Africa/Casablanca", 2), NO_DIFFERENCE);
}

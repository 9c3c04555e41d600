//! `cron next` over a year beside a brute force of the rule.

use crate::cron_rule::{NO_DIFFERENCE, compare};
use serde_json::{Value, json};

fn year(zone: &str) -> Vec<Value> {
    compare(zone, "2027-01-01", "2028-01-01", 800_000)
}

#[test]
#[ignore = "needs cronsim: cargo xtask test"]
fn the_year_2027_in_new_york_follows_the_rule() {
    assert_eq!(year("America/New_York"), NO_DIFFERENCE);
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
    assert_eq!(year("Australia/Lord_Howe"), differs);
}

#[test]
#[ignore = "needs cronsim: cargo xtask test"]
fn the_year_2027_in_apia_follows_the_rule() {
    assert_eq!(year("Pacific/Apia"), NO_DIFFERENCE);
}

#[test]
#[ignore = "needs cronsim: cargo xtask test"]
fn the_year_2027_in_casablanca_follows_the_rule() {
    assert_eq!(year("Africa/Casablanca"), NO_DIFFERENCE);
}

#[test]
#[ignore = "needs cronsim: cargo xtask test"]
fn the_year_2027_in_utc_follows_the_rule() {
    assert_eq!(year("UTC"), NO_DIFFERENCE);
}

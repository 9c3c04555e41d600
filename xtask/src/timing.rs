//! Durations of steps and of tests, and the slowest of them.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The number of rows of a list of the slowest.
const ROWS: usize = 10;

static STEPS: Mutex<Vec<Timed>> = Mutex::new(Vec::new());
static TESTS: Mutex<Vec<Timed>> = Mutex::new(Vec::new());

/// A step or a test that has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Timed {
    name: String,
    elapsed: Duration,
}

/// Runs a step and records its duration.
pub(crate) fn record<T>(name: String, step: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let result = step();
    push(&STEPS, Timed { name, elapsed: start.elapsed() });
    result
}

/// Records the duration of a test, if `line` is nextest's report of one.
pub(crate) fn record_test(line: &str) {
    if let Some(test) = parse_test(line) {
        push(&TESTS, test);
    }
}

/// The slowest steps and the slowest tests, as tables; a table without rows is left out.
pub(crate) fn slowest() -> String {
    [("steps", &STEPS), ("tests", &TESTS)]
        .into_iter()
        .map(|(kind, list)| table(kind, list.lock().unwrap_or_else(PoisonError::into_inner).clone()))
        .collect()
}

fn push(list: &Mutex<Vec<Timed>>, timed: Timed) {
    list.lock().unwrap_or_else(PoisonError::into_inner).push(timed);
}

/// Reads `        PASS [   0.014s] ( 245/1602) crate::program module::test`, without colours.
fn parse_test(line: &str) -> Option<Timed> {
    let (outcome, rest) = line.trim_start().split_once(" [")?;
    if !matches!(outcome.trim(), "PASS" | "FAIL") {
        return None;
    }
    let (seconds, rest) = rest.split_once("s] ")?;
    let elapsed = Duration::try_from_secs_f64(seconds.trim().parse().ok()?).ok()?;
    let (_, name) = rest.split_once(") ")?;
    Some(Timed { name: name.trim().to_owned(), elapsed })
}

fn table(kind: &str, mut list: Vec<Timed>) -> String {
    list.sort_by_key(|timed| std::cmp::Reverse(timed.elapsed));
    let rows = list
        .iter()
        .take(ROWS)
        .map(|Timed { name, elapsed }| format!("{:>8.1} s  {name}\n", elapsed.as_secs_f64()));
    let head = (!list.is_empty()).then(|| format!("\nslowest {kind}:\n"));
    head.into_iter().chain(rows).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_of_tests_are_read() {
        for (line, expected) in [
            (
                "        PASS [   0.014s] ( 245/1602) toolkit::it arguments::all",
                Some((14, "toolkit::it arguments::all")),
            ),
            ("        FAIL [  60.500s] (1/2) xtask tally::tests::a", Some((60_500, "xtask tally::tests::a"))),
            ("        SLOW [> 60.000s] (─────────) toolkit::it a", None),
            ("     Summary [   0.005s] 3 tests run: 3 passed, 0 skipped", None),
        ] {
            let expected = expected.map(|(millis, name)| Timed {
                name: name.to_owned(),
                elapsed: Duration::from_millis(millis),
            });
            assert_eq!(parse_test(line), expected, "{line}");
        }
    }

    #[test]
    fn the_slowest_come_first_and_no_more_than_ten() {
        let list = (0..12)
            .map(|number| Timed { name: format!("step {number}"), elapsed: Duration::from_secs(number) });
        let table = table("steps", list.collect());
        assert_eq!(table.lines().nth(2), Some("    11.0 s  step 11"));
        assert_eq!(table.lines().count(), 2 + ROWS);
        assert_eq!(super::table("tests", Vec::new()), "");
    }
}

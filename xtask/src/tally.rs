//! Numbers of passed, failed and skipped tests, read from the output of the test runners.

use std::fmt;
use std::ops::AddAssign;

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) passed: u64,
    pub(crate) failed: u64,
    pub(crate) skipped: u64,
}

impl Tally {
    /// Reads nextest's closing line, `Summary [ 0.1s] 3 tests run: 1 passed (1 slow), 2 failed, 0 skipped`.
    pub(crate) fn from_nextest(line: &str) -> Option<Self> {
        let line = without_colors(line);
        let (_, counts) = line.trim_start().strip_prefix("Summary [")?.split_once(" run: ")?;
        Some(Self::sum(&without_parentheses(counts), ','))
    }

    /// Reads the closing line of one doc-test run, `test result: ok. 2 passed; 0 failed; 1 ignored; …`.
    pub(crate) fn from_libtest(line: &str) -> Option<Self> {
        let line = without_colors(line);
        let (_, counts) = line.strip_prefix("test result: ")?.split_once(". ")?;
        Some(Self::sum(counts, ';'))
    }

    fn sum(counts: &str, separator: char) -> Self {
        let mut tally = Self::default();
        for (number, outcome) in counts.split(separator).filter_map(|count| count.trim().split_once(' ')) {
            let Ok(number) = number.parse::<u64>() else { continue };
            match outcome.trim() {
                "passed" => tally.passed += number,
                "skipped" | "ignored" | "filtered out" => tally.skipped += number,
                "measured" => {}
                // nextest has several ways to fail: failed, timed out, exec failed.
                _ => tally.failed += number,
            }
        }
        tally
    }
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} passed, {} failed, {} skipped", self.passed, self.failed, self.skipped)
    }
}

/// Drops terminal colours (`ESC [ … m`).
pub(crate) fn without_colors(line: &str) -> String {
    let mut parts = line.split("\x1b[");
    let first = parts.next().unwrap_or_default();
    std::iter::once(first)
        .chain(parts.map(|part| part.split_once('m').map_or("", |(_, rest)| rest)))
        .collect()
}

fn without_parentheses(text: &str) -> String {
    let mut parts = text.split('(');
    let first = parts.next().unwrap_or_default();
    std::iter::once(first)
        .chain(parts.map(|part| part.split_once(')').map_or("", |(_, rest)| rest)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally(passed: u64, failed: u64, skipped: u64) -> Tally {
        Tally { passed, failed, skipped }
    }

    #[test]
    fn nextest_summaries() {
        for (line, expected) in [
            ("     Summary [   0.005s] 3 tests run: 3 passed, 0 skipped", Some(tally(3, 0, 0))),
            ("     Summary [   1.2s] 1 test run: 1 passed, 4 skipped", Some(tally(1, 0, 4))),
            (
                "Summary [ 1s] 9 tests run: 6 passed (1 slow, 2 flaky), 1 failed, 2 timed out, 0 skipped",
                Some(tally(6, 3, 0)),
            ),
            ("Summary [ 1s] 2/7 tests run: 1 passed, 1 exec failed, 0 skipped", Some(tally(1, 1, 0))),
            (
                "\x1b[32;1m     Summary\x1b[0m [   0.005s] \x1b[1m2\x1b[0m tests run: \x1b[1m2\x1b[0m \x1b[32;1mpassed\x1b[0m, \x1b[1m0\x1b[0m \x1b[33;1mskipped\x1b[0m",
                Some(tally(2, 0, 0)),
            ),
            ("        PASS [   0.005s] xtask tally::tests::nextest_summaries", None),
        ] {
            assert_eq!(Tally::from_nextest(line), expected, "{line}");
        }
    }

    #[test]
    fn doc_test_summaries() {
        for (line, expected) in [
            (
                "test result: ok. 2 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.05s",
                Some(tally(2, 0, 1)),
            ),
            (
                "test result: FAILED. 1 passed; 3 failed; 0 ignored; 0 measured; 2 filtered out; finished in 0s",
                Some(tally(1, 3, 2)),
            ),
            ("test src/lib.rs - (line 3) ... ok", None),
        ] {
            assert_eq!(Tally::from_libtest(line), expected, "{line}");
        }
    }
}

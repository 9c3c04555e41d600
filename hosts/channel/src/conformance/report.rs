//! The outcomes of checks.

use std::fmt;

use super::double::Unsupported;

/// The outcome of a check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The channel does it.
    Passed,
    /// The channel does something else.
    Failed {
        /// The expected behaviour.
        expected: String,
        /// The behaviour that was seen.
        seen: String,
    },
    /// The check did not run, for this reason.
    LeftOut(String),
}

/// A check with its outcome.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    /// The name of the check.
    pub name: &'static str,
    /// The rule that it checks.
    pub rule: &'static str,
    /// The outcome.
    pub outcome: Outcome,
}

/// The outcomes of all checks, in the order in which they ran.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct Report {
    /// The checks.
    pub checks: Vec<Check>,
}

impl Report {
    /// The names of the checks that failed.
    pub fn failed(&self) -> Vec<&'static str> {
        self.names(|outcome| matches!(outcome, Outcome::Failed { .. }))
    }

    /// The names of the checks that were left out.
    pub fn left_out(&self) -> Vec<&'static str> {
        self.names(|outcome| matches!(outcome, Outcome::LeftOut(_)))
    }

    fn names(&self, is_wanted: impl Fn(&Outcome) -> bool) -> Vec<&'static str> {
        self.checks.iter().filter(|check| is_wanted(&check.outcome)).map(|check| check.name).collect()
    }

    /// Requires that no check failed.
    ///
    /// # Panics
    ///
    /// A check failed. The message has the list of all checks.
    pub fn assert(&self) {
        assert!(self.failed().is_empty(), "the channel does not keep to its trait:\n{self}");
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for Check { name, rule, outcome } in &self.checks {
            match outcome {
                Outcome::Passed => writeln!(f, "passed    {name}")?,
                Outcome::LeftOut(reason) => writeln!(f, "left out  {name}: {reason}")?,
                Outcome::Failed { expected, seen } => {
                    writeln!(
                        f,
                        "FAILED    {name}: {rule}\n          expected: {expected}\n          seen: {seen}"
                    )?;
                }
            }
        }
        Ok(())
    }
}

/// The end of a check that did not pass.
#[derive(Debug)]
pub(super) enum Stop {
    Failed { expected: String, seen: String },
    LeftOut(String),
}

/// The result of a check, or of a step of it.
pub(super) type Checked<T = ()> = Result<T, Stop>;

impl Stop {
    /// The end of a check that failed.
    pub(super) fn failed(expected: impl Into<String>, seen: impl Into<String>) -> Self {
        Self::Failed { expected: expected.into(), seen: seen.into() }
    }
}

impl From<Unsupported> for Stop {
    fn from(Unsupported(reason): Unsupported) -> Self {
        Self::LeftOut(reason)
    }
}

impl From<Checked> for Outcome {
    fn from(checked: Checked) -> Self {
        match checked {
            Ok(()) => Self::Passed,
            Err(Stop::Failed { expected, seen }) => Self::Failed { expected, seen },
            Err(Stop::LeftOut(reason)) => Self::LeftOut(reason),
        }
    }
}

/// Fails unless the condition holds.
pub(super) fn ensure(holds: bool, expected: impl Into<String>, seen: impl FnOnce() -> String) -> Checked {
    if holds { Ok(()) } else { Err(Stop::failed(expected, seen())) }
}

/// Fails unless both values are equal.
pub(super) fn equal<T: PartialEq + fmt::Debug + ?Sized>(subject: &str, seen: &T, expected: &T) -> Checked {
    ensure(seen == expected, format!("{subject}: {}", shown(expected)), || shown(seen))
}

/// The most characters of a value that a report shows.
const MAX_SHOWN: usize = 600;

/// Returns a value as a report shows it.
pub(super) fn shown<T: fmt::Debug + ?Sized>(value: &T) -> String {
    let text = format!("{value:?}");
    match text.char_indices().nth(MAX_SHOWN) {
        Some((end, _)) => format!("{}… ({} characters)", &text[..end], text.chars().count()),
        None => text,
    }
}

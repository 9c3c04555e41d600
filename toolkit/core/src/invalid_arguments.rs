//! Validation errors of arguments in the form for the model: where, what was expected, what was given, what to do.

use crate::excerpt::cut;
use crate::pointer::escape;
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::fmt;

/// The most problems that are reported for one call; a model would not correct more at once.
pub(crate) const MAX_TOLD: usize = 20;
/// The most characters of a pointer.
const LONGEST_POINTER: usize = 200;
/// The most characters of the expected or the actual value.
const LONGEST_TEXT: usize = 1000;

/// The validation errors of the arguments of one call.
///
/// Its text is for the model: one line for each problem, then the tool's signature.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct InvalidArguments {
    /// The tool that was called.
    pub tool: String,
    /// The problems, in the order of the schema: at most 20.
    pub problems: Vec<Problem>,
    /// True if there are more problems than are reported.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub more: bool,
    /// The tool's parameters in one line.
    pub signature: String,
}

impl InvalidArguments {
    #[doc(hidden)]
    pub fn of(mut problems: Vec<Problem>) -> Self {
        // Validation stops there, so the number of remaining problems is unknown.
        let more = problems.len() > MAX_TOLD;
        let mut told = HashSet::new();
        problems.retain(|problem| told.insert(problem.clone()));
        problems.truncate(MAX_TOLD);
        Self { problems, more, ..Self::default() }
    }
}

/// One validation error.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Problem {
    /// The place: a JSON pointer into the arguments, empty for all of them.
    pub pointer: String,
    /// The expected value.
    pub expected: String,
    /// The actual value, shortened.
    pub actual: String,
    /// The argument that was probably meant, or a JSON pointer to where it belongs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nearest: Option<String>,
}

impl Problem {
    #[doc(hidden)]
    pub fn new(pointer: impl Into<String>, expected: impl Into<String>, actual: impl Into<String>) -> Self {
        Self {
            pointer: shortened(pointer.into(), LONGEST_POINTER),
            expected: shortened(expected.into(), LONGEST_TEXT),
            actual: shortened(actual.into(), LONGEST_TEXT),
            nearest: None,
        }
    }

    /// The expected value in the message of a type that refuses a value which its schema allows, until the
    /// schema's description is available.
    #[doc(hidden)]
    pub const DECODES: &str = "a value that its type accepts";

    /// Returns the description of a value that a type refuses although its schema allows it.
    #[doc(hidden)]
    pub fn undecoded(error: &serde_json::Error) -> String {
        format!("a value that does not decode: {error}")
    }

    /// Returns the pointer to an argument.
    #[doc(hidden)]
    pub fn pointer_to(argument: &str) -> String {
        format!("/{}", escape(argument))
    }

    pub(crate) fn near(self, nearest: Option<String>) -> Self {
        Self { nearest, ..self }
    }
}

fn shortened(text: String, most: usize) -> String {
    // A text has at most as many characters as bytes.
    if text.len() <= most { text } else { cut(&text, most) }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pointer = if self.pointer.is_empty() { "the arguments" } else { &self.pointer };
        write!(f, "{pointer}: expected {}, got {}", self.expected, self.actual)?;
        match &self.nearest {
            Some(nearest) => write!(f, "; did you mean `{nearest}`?"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for InvalidArguments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("invalid arguments")?;
        if !self.tool.is_empty() {
            write!(f, " for `{}`", self.tool)?;
        }
        if self.more {
            write!(f, " (more than {} problems)", self.problems.len())?;
        } else if self.problems.len() > 1 {
            write!(f, " ({} problems)", self.problems.len())?;
        }
        f.write_str(":")?;
        for problem in &self.problems {
            write!(f, "\n- {problem}")?;
        }
        if self.more {
            f.write_str("\n- … and more")?;
        }
        if !self.signature.is_empty() {
            write!(f, "\nUsage: {}", self.signature)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_stays_short() {
        let of = |count: usize| Problem::new("p".repeat(count), "e".repeat(count), "a".repeat(count));
        let lengths = |problem: &Problem| {
            [&problem.pointer, &problem.expected, &problem.actual].map(|text| text.chars().count())
        };
        assert_eq!(lengths(&of(200)), [200, 200, 200]);
        assert_eq!(lengths(&of(1000)), [201, 1000, 1000], "with a sign that it was cut");
        assert_eq!(lengths(&of(9999)), [201, 1001, 1001]);
    }

    #[test]
    fn problems_are_told_with_their_number() {
        let problem = |n: usize| Problem::new(format!("/{n}"), "this", "that");
        let near = problem(0).near(Some("those".into()));
        assert_eq!(near.to_string(), "/0: expected this, got that; did you mean `those`?");
        for (count, tool, signature, expected) in [
            (0, "", "", "invalid arguments:"),
            (1, "", "", "invalid arguments:\n- /0: expected this, got that"),
            (
                2,
                "read",
                "read()",
                "invalid arguments for `read` (2 problems):\n- /0: expected this, got that\n- /1: expected this, got that\nUsage: read()",
            ),
        ] {
            let told = InvalidArguments {
                tool: tool.into(),
                signature: signature.into(),
                ..InvalidArguments::of((0..count).map(problem).collect())
            };
            assert_eq!(told.to_string(), expected);
        }
        let many = InvalidArguments::of((0..=MAX_TOLD).map(problem).collect()).to_string();
        assert!(many.starts_with("invalid arguments (more than 20 problems):\n- /0:"), "{many}");
        assert!(many.ends_with("\n- /19: expected this, got that\n- … and more"), "{many}");
    }
}

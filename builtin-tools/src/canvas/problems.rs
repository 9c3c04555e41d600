//! The problems of commands, each at its place, and the sums that are limited.

use super::commands::{MAX_LABEL_CHARS, Point};

/// Maximum distance of a coordinate from the origin.
pub(super) const MAX_COORDINATE: f64 = 100_000.0;
/// Maximum number of points and values of all commands.
const MAX_ALL_POINTS: usize = 200_000;
/// Maximum number of characters of all texts.
const MAX_ALL_CHARS: usize = 50_000;
/// Maximum number of problems that are told.
const MAX_PROBLEMS: usize = 10;

/// The problems of the commands, and notes on those that are drawn all the same.
#[derive(Debug, Default)]
pub(super) struct Problems {
    all: Vec<String>,
    notes: Vec<String>,
    points: usize,
    chars: usize,
}

impl Problems {
    pub(super) fn push(&mut self, place: &str, problem: impl AsRef<str>) {
        self.all.push(format!("{place}: {}", problem.as_ref()));
    }

    /// Returns the error message with all problems; `None` if there are none.
    pub(super) fn message(&self) -> Option<String> {
        let count = self.all.len();
        let problems = match count {
            0 => return None,
            1 => "1 problem".to_owned(),
            _ => format!("{count} problems"),
        };
        let mut lines: Vec<String> =
            self.all.iter().take(MAX_PROBLEMS).map(|problem| format!("- {problem}")).collect();
        if count > MAX_PROBLEMS {
            lines.push(format!("- and {} more", count - MAX_PROBLEMS));
        }
        Some(format!("invalid arguments for `canvas` ({problems}):\n{}", lines.join("\n")))
    }

    /// Adds a note for the result.
    pub(super) fn note(&mut self, place: &str, note: Option<String>) {
        self.notes.extend(note.map(|note| format!("{place}: {note}")));
    }

    /// Returns the notes for the result.
    pub(super) fn into_notes(self) -> Vec<String> {
        self.notes
    }

    pub(super) fn count_points(&mut self, place: &str, count: usize) {
        let before = self.points;
        self.points = before.saturating_add(count);
        if before <= MAX_ALL_POINTS && self.points > MAX_ALL_POINTS {
            self.push(
                place,
                format!(
                    "the commands have more than {MAX_ALL_POINTS} points and values together; draw fewer"
                ),
            );
        }
    }

    pub(super) fn count_chars(&mut self, place: &str, text: &str) {
        let before = self.chars;
        self.chars = before.saturating_add(text.chars().count());
        if before <= MAX_ALL_CHARS && self.chars > MAX_ALL_CHARS {
            self.push(
                place,
                format!("the texts have more than {MAX_ALL_CHARS} characters together; write less"),
            );
        }
    }

    pub(super) fn number(&mut self, place: &str, name: &str, value: f64) {
        if !value.is_finite() || value.abs() > MAX_COORDINATE {
            self.push(
                &format!("{place}.{name}"),
                format!("{value:e} is too far away; the largest coordinate is {MAX_COORDINATE}"),
            );
        }
    }

    pub(super) fn numbers<const N: usize>(&mut self, place: &str, values: [(&str, f64); N]) {
        for (name, value) in values {
            self.number(place, name, value);
        }
    }

    pub(super) fn all_points(&mut self, place: &str, points: &[Point]) {
        self.count_points(place, points.len());
        let far = |value: &f64| !value.is_finite() || value.abs() > MAX_COORDINATE;
        if let Some(at) = points.iter().position(|point| point.iter().any(far)) {
            self.push(
                &format!("{place}.points[{at}]"),
                format!("it is too far away; the largest coordinate is {MAX_COORDINATE}"),
            );
        }
    }

    /// A label, which is one line.
    pub(super) fn label(&mut self, place: &str, text: &str) {
        self.count_chars(place, text);
        if text.chars().count() > MAX_LABEL_CHARS {
            self.push(place, format!("it has more than {MAX_LABEL_CHARS} characters; shorten it"));
        }
    }
}

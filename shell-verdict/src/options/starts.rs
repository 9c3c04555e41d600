//! Positions at which the command of a wrapper may begin: an unknown option is read both with and without a value.

use super::spec::{self, Takes};
use crate::words::Value;
use std::collections::BTreeSet;

/// Maximum number of words that are examined.
const MAX: usize = 64;

/// Returns each position at which the command may begin, after the options of a table line and the given number of
/// operands.
pub(crate) fn starts(line: &'static str, values: &[Value], operands: usize) -> BTreeSet<usize> {
    let (_, spec) = spec::read_line(line);
    let (mut seen, mut waiting) = (BTreeSet::new(), vec![(0, operands)]);
    let mut found = BTreeSet::new();
    while let Some((at, operands)) = waiting.pop() {
        // No test covers the exact limit: one more word is only one more attempt.
        let Some(value) = values.get(at).filter(|_| at < MAX && seen.insert((at, operands))) else {
            continue;
        };
        let Some(text) = value.text() else {
            // The word may be an option, a value or several words.
            waiting.push((at + 1, operands));
            continue;
        };
        if text == "--" {
            if operands < values.len() {
                found.insert(at + 1 + operands);
            }
            continue;
        }
        if text.len() > 1 && text.starts_with('-') {
            let takes = takes_next(&spec, text);
            if takes != Some(true) {
                waiting.push((at + 1, operands));
            }
            if takes != Some(false) {
                waiting.push((at + 2, operands));
            }
            continue;
        }
        match operands.checked_sub(1) {
            Some(operands) => waiting.push((at + 1, operands)),
            // `env` takes variables before it.
            None if text.contains('=') && !text.starts_with('=') => waiting.push((at + 1, 0)),
            None => {
                found.insert(at);
            }
        }
    }
    // No test covers the exact bound: a start behind the last word would be no command, with the same result.
    found.retain(|at| *at < values.len());
    found
}

/// Returns true if an option takes the next word for its value; `None` where that is not known.
fn takes_next(spec: &spec::Spec, text: &str) -> Option<bool> {
    let of = |takes: Takes| match takes {
        Takes::Harm(_) | Takes::Two => None,
        Takes::Maybe | Takes::Next => Some(false),
        takes => Some(takes.has_value()),
    };
    if text.starts_with("--") {
        if text.contains('=') {
            return Some(false);
        }
        return spec.long(text).or_else(|| spec.abbreviated(text).map(|(_, takes)| takes)).and_then(of);
    }
    if spec.takes_numbers && text[1..].bytes().all(|byte| byte.is_ascii_digit()) {
        return Some(false);
    }
    for (at, letter) in text.char_indices().skip(1) {
        let is_last = at + letter.len_utf8() == text.len();
        match spec.short(letter).map(of)? {
            Some(false) => {
                // The attached text is its value.
                if matches!(spec.short(letter), Some(Takes::Maybe)) {
                    return Some(false);
                }
            }
            Some(true) => return Some(is_last),
            None => return None,
        }
    }
    Some(false)
}

//! Facts about a command that hold anywhere in its text, in any order: the known value of a variable or of the directory
//! at one position counts only if no other part may have changed it.

use super::Variable;
use std::collections::{BTreeMap, BTreeSet};

/// Facts about a command at any place.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Facts {
    /// The assigned variables, with the value if it is the same everywhere.
    values: BTreeMap<String, Only>,
    /// The variables that may get other attributes or another scope, or be gone.
    reshaped: BTreeSet<String>,
    /// Variables with a value that the shell expands as a pattern if it is not quoted.
    patterns: BTreeSet<String>,
    /// True if the text is not executed in its order, or redefines names: functions, jumps, traps.
    pub(crate) is_tangled: bool,
    /// A function may be gone at any time.
    pub(crate) loses_functions: bool,
    /// True if the text changes the directory.
    pub(crate) changes_directory: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Only {
    Text(String),
    Numbers,
    /// The variables of one loop, by its text and position.
    Loop(String, usize),
    Several,
}

impl Facts {
    /// Notes that a variable gets a value.
    pub(crate) fn assigned(&mut self, name: &str, value: &Variable) {
        self.note_pattern(name, value);
        let new = match value {
            Variable::Text(text) => Only::Text(text.clone()),
            Variable::Number => Only::Numbers,
            Variable::Unknown => Only::Several,
        };
        self.add(name, new);
    }

    /// Records that a loop at this position of a text assigns a value to a variable.
    pub(crate) fn looped(&mut self, name: &str, value: &Variable, text: &str, at: usize) {
        self.note_pattern(name, value);
        self.add(name, Only::Loop(text.to_owned(), at));
    }

    /// Notes that a variable may get other attributes or another scope, or be gone.
    pub(crate) fn reshaped(&mut self, name: &str) {
        self.reshaped.insert(name.to_owned());
    }

    /// Returns true if a variable that has this value may get another, or be changed in another way.
    pub(crate) fn may_differ(&self, name: &str, value: &str) -> bool {
        self.reshaped.contains(name)
            || match self.values.get(name) {
                None => false,
                Some(Only::Text(text)) => text != value,
                Some(_) => true,
            }
    }

    fn note_pattern(&mut self, name: &str, value: &Variable) {
        if matches!(value, Variable::Text(text) if text.contains(['*', '?', '['])) {
            self.patterns.insert(name.to_owned());
        }
    }

    /// Returns true if a variable may hold a pattern.
    pub(crate) fn may_hold_pattern(&self, name: &str) -> bool {
        self.patterns.contains(name)
    }

    fn add(&mut self, name: &str, new: Only) {
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let both = match self.values.get(name) {
            None => new,
            Some(known) if *known == new => return,
            Some(Only::Several) => return,
            Some(known) => {
                let all_numbers = [known, &new].into_iter().all(|only| match only {
                    Only::Text(text) => is_number(text),
                    Only::Numbers => true,
                    Only::Loop(..) | Only::Several => false,
                });
                if all_numbers { Only::Numbers } else { Only::Several }
            }
        };
        self.values.insert(name.to_owned(), both);
    }

    /// Returns the value of a variable that remains possible, for its apparent value at some position.
    pub(crate) fn restrict<'v>(&self, name: &str, value: &'v Variable) -> &'v Variable {
        match (self.values.get(name), value) {
            // Within the loop the variable has one of its values, whatever else is done.
            (None | Some(Only::Loop(..)), value) => value,
            (Some(Only::Text(_)), value) if !self.is_tangled => value,
            (Some(Only::Text(text)), _)
                if text.bytes().all(|byte| byte.is_ascii_digit()) && !text.is_empty() =>
            {
                &Variable::Number
            }
            (Some(Only::Numbers), _) => &Variable::Number,
            _ => &Variable::Unknown,
        }
    }
}

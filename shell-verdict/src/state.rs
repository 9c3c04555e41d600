//! What is known at a place of a command: variables, the directory, functions.

use crate::names;
use crate::situation::Situation;
use brush_parser::ast;
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::rc::Rc;

/// What a variable holds, after the command assigned it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Variable {
    Text(String),
    Number,
    Unknown,
}

/// What is known of a variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Known<'a> {
    Text(&'a str),
    /// A number, whichever.
    Number,
    Unset,
    Unknown,
}

/// A function that the command defines.
pub(crate) struct Function {
    pub(crate) body: ast::FunctionBody,
    /// The text that it stands in.
    pub(crate) text: Rc<str>,
}

/// What is known at a place of a command.
#[derive(Clone)]
pub(crate) struct State<'a> {
    pub(crate) situation: &'a Situation<'a>,
    /// The directory; `None` once it is not known.
    pub(crate) cwd: Option<PathBuf>,
    pub(crate) assigned: BTreeMap<String, Variable>,
    pub(crate) functions: BTreeMap<String, Rc<Function>>,
    /// What may or may not have happened counts as done: for what must not run, not for what may.
    pub(crate) is_lenient: bool,
    /// Something was forgotten since it may or may not have happened.
    pub(crate) lost: Rc<Cell<bool>>,
    /// The directories that `pushd` left.
    pub(crate) directories: Vec<Option<PathBuf>>,
    /// Variables whose values are evaluated when they get one.
    pub(crate) evaluated: BTreeSet<String>,
    /// Patterns mean what they do by default.
    pub(crate) plain_patterns: bool,
}

impl<'a> State<'a> {
    pub(crate) fn new(situation: &'a Situation<'a>) -> Self {
        Self {
            situation,
            cwd: Some(situation.cwd.to_owned()),
            is_lenient: false,
            lost: Rc::default(),
            directories: Vec::new(),
            evaluated: BTreeSet::new(),
            assigned: BTreeMap::new(),
            functions: BTreeMap::new(),
            plain_patterns: true,
        }
    }

    /// What a variable holds.
    pub(crate) fn variable(&self, name: &str) -> Known<'_> {
        match self.assigned.get(name) {
            Some(Variable::Text(text)) => return Known::Text(text),
            Some(Variable::Number) => return Known::Number,
            Some(Variable::Unknown) => return Known::Unknown,
            None => {}
        }
        if name == "PWD" {
            let cwd = self.cwd.as_deref().and_then(|cwd| cwd.to_str());
            return cwd.map_or(Known::Unknown, Known::Text);
        }
        if names::is("variables-numbers", name) {
            return Known::Number;
        }
        match self.situation.env.get(name) {
            Some(value) if name != "OLDPWD" && name != "_" => Known::Text(value),
            Some(_) => Known::Unknown,
            None if name.starts_with("BASH") || names::is("variables-others", name) => Known::Unknown,
            None => Known::Unset,
        }
    }

    pub(crate) fn assign(&mut self, name: String, value: Variable) {
        self.assigned.insert(name, value);
    }

    /// What is known where it may be this or that.
    pub(crate) fn merge(&mut self, other: Self) {
        if self.cwd != other.cwd || self.assigned != other.assigned || self.directories != other.directories {
            self.lost.set(true);
        }
        if self.is_lenient {
            return;
        }
        if self.cwd != other.cwd {
            self.cwd = None;
        }
        for (name, own) in &mut self.assigned {
            if other.assigned.get(name) != Some(own) {
                *own = Variable::Unknown;
            }
        }
        for name in other.assigned.into_keys() {
            self.assigned.entry(name).or_insert(Variable::Unknown);
        }
        // A function that may be another is called as either: whoever calls it does not know which.
        for (name, function) in other.functions {
            self.functions.entry(name).or_insert(function);
        }
        self.plain_patterns &= other.plain_patterns;
        self.evaluated.extend(other.evaluated);
        if self.directories != other.directories {
            self.directories.clear();
        }
    }

    /// Forgets what another state assigns otherwise.
    pub(crate) fn forget(&mut self, other: &Self) {
        if self.cwd != other.cwd || self.assigned != other.assigned || self.directories != other.directories {
            self.lost.set(true);
        }
        if self.is_lenient {
            return;
        }
        for (name, value) in &other.assigned {
            if self.assigned.get(name) != Some(value) {
                let was_number = match self.variable(name) {
                    Known::Number => true,
                    Known::Text(text) => !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()),
                    _ => false,
                };
                let is_number = was_number && *value == Variable::Number;
                self.assign(name.clone(), if is_number { Variable::Number } else { Variable::Unknown });
            }
        }
        if self.cwd != other.cwd {
            self.cwd = None;
        }
        self.plain_patterns &= other.plain_patterns;
        self.evaluated.extend(other.evaluated.iter().cloned());
        if self.directories != other.directories {
            self.directories.clear();
        }
    }
}

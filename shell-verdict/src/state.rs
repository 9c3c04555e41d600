//! The state at a position of a command: variables, the directory, functions.

mod facts;

pub(crate) use facts::Facts;

use crate::names;
use crate::situation::Situation;
use brush_parser::ast;
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::rc::Rc;

/// The value of a variable after the command assigned it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Variable {
    Text(String),
    Number,
    Unknown,
}

/// The knowledge of a variable.
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
    /// True if the function is certainly defined.
    pub(crate) is_certain: bool,
    pub(crate) body: ast::FunctionBody,
    /// The text that contains it.
    pub(crate) text: Rc<str>,
}

/// Returns true if a text is a number without a sign.
pub(crate) fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Maximum number of directory entries and words that are examined for a command.
const BUDGET: usize = 20_000;

/// The state at a position of a command.
#[derive(Clone)]
pub(crate) struct State<'a> {
    pub(crate) situation: &'a Situation<'a>,
    /// The directory; `None` if it is unknown.
    pub(crate) cwd: Option<PathBuf>,
    pub(crate) assigned: Rc<BTreeMap<String, Variable>>,
    pub(crate) functions: Rc<BTreeMap<String, Rc<Function>>>,
    /// True if everything that may have happened counts as done: to find forbidden commands, not to allow any.
    pub(crate) is_lenient: bool,
    /// The facts about the whole command from an earlier look.
    pub(crate) facts: Rc<Facts>,
    /// The facts about it from this look.
    pub(crate) seen: Rc<RefCell<Facts>>,
    /// Remaining budget of directory entries to examine, and of words that patterns and braces expand to.
    pub(crate) budget: Rc<Cell<usize>>,
    /// Variables whose values are evaluated on assignment.
    pub(crate) evaluated: Rc<BTreeSet<String>>,
    /// Patterns have their default meaning.
    pub(crate) plain_patterns: bool,
    /// The function that is being called.
    pub(crate) function: Option<Rc<str>>,
}

impl<'a> State<'a> {
    pub(crate) fn new(situation: &'a Situation<'a>) -> Self {
        Self {
            situation,
            cwd: Some(situation.cwd.to_owned()),
            is_lenient: false,
            facts: Rc::default(),
            seen: Rc::default(),
            budget: Rc::new(Cell::new(BUDGET)),
            evaluated: Rc::default(),
            assigned: Rc::default(),
            functions: Rc::default(),
            plain_patterns: true,
            function: None,
        }
    }

    /// Returns the value of a variable.
    pub(crate) fn variable(&self, name: &str) -> Known<'_> {
        if let Some(value) = self.assigned.get(name) {
            // The shell's own variables may change at any time; an existing one may be left unchanged.
            let is_own = name.starts_with("BASH")
                || names::is("variables-numbers", name)
                || names::is("variables-others", name)
                || self.situation.env.contains_key(name);
            let value = if self.is_lenient { value } else { self.facts.restrict(name, value) };
            return match value {
                Variable::Text(_) | Variable::Number if is_own && !self.is_lenient => Known::Unknown,
                Variable::Text(text) => Known::Text(text),
                Variable::Number => Known::Number,
                Variable::Unknown => Known::Unknown,
            };
        }
        if name == "FUNCNAME"
            && let Some(function) = self.function.as_deref().filter(|_| self.is_lenient)
        {
            return Known::Text(function);
        }
        if name == "PWD" {
            let cwd = self.cwd.as_deref().and_then(|cwd| cwd.to_str());
            return cwd.map_or(Known::Unknown, Known::Text);
        }
        let inherited = self.situation.env.get(name);
        if names::is("variables-numbers", name) {
            // bash takes some of them as they are in its environment.
            return if inherited.is_none_or(|value| is_number(value)) {
                Known::Number
            } else {
                Known::Unknown
            };
        }
        match inherited {
            Some(value) if name != "OLDPWD" && name != "_" => Known::Text(value),
            Some(_) => Known::Unknown,
            None if name.starts_with("BASH") || names::is("variables-others", name) => Known::Unknown,
            None => Known::Unset,
        }
    }

    pub(crate) fn assign(&mut self, name: String, value: Variable) {
        self.seen.borrow_mut().assigned(&name, &value);
        Rc::make_mut(&mut self.assigned).insert(name, value);
    }

    /// A variable gets one of the values of a loop.
    pub(crate) fn assign_in_loop(&mut self, name: &str, value: Variable, text: &str, at: usize) {
        self.seen.borrow_mut().looped(name, &value, text, at);
        Rc::make_mut(&mut self.assigned).insert(name.to_owned(), value);
    }

    /// Records that the text is not executed in its order, or that names get other meanings.
    pub(crate) fn tangle(&mut self) {
        self.seen.borrow_mut().is_tangled = true;
    }

    /// Takes from the budget. Returns true if it suffices.
    pub(crate) fn spend(&self, much: usize) -> bool {
        let left = self.budget.get().checked_sub(much);
        self.budget.set(left.unwrap_or(0));
        left.is_some()
    }

    /// Reduces the state to what holds both in this state and in another, either of which may be reached.
    pub(crate) fn merge(&mut self, other: &Self) {
        if self.is_lenient {
            return;
        }
        if self.cwd != other.cwd {
            self.cwd = None;
        }
        if self.assigned != other.assigned {
            let assigned = Rc::make_mut(&mut self.assigned);
            for (name, own) in assigned.iter_mut() {
                if other.assigned.get(name) != Some(own) {
                    *own = Variable::Unknown;
                }
            }
            for name in other.assigned.keys() {
                assigned.entry(name.clone()).or_insert(Variable::Unknown);
            }
        }
        // A call of a function that may not be defined is also judged as if it were not.
        // No test covers the condition: a definition is judged by itself, and makes variables and the
        // directory uncertain.
        if !Rc::ptr_eq(&self.functions, &other.functions) {
            let functions = Rc::make_mut(&mut self.functions);
            for (name, function) in other.functions.iter() {
                functions.entry(name.clone()).or_insert_with(|| Rc::clone(function));
            }
        }
        // No test covers this, here and in `forget`: a command that changes patterns needs approval anyway.
        self.plain_patterns &= other.plain_patterns;
        self.keep_evaluated(other);
    }

    /// Removes values that another state assigns differently.
    pub(crate) fn forget(&mut self, other: &Self) {
        if self.is_lenient {
            return;
        }
        for (name, value) in other.assigned.iter() {
            if self.assigned.get(name) != Some(value) {
                // The other possible values are known for the whole command.
                let value = match value {
                    Variable::Number => Variable::Number,
                    Variable::Text(_) | Variable::Unknown => Variable::Unknown,
                };
                Rc::make_mut(&mut self.assigned).insert(name.clone(), value);
            }
        }
        if self.cwd != other.cwd {
            self.cwd = None;
        }
        self.plain_patterns &= other.plain_patterns;
        self.keep_evaluated(other);
    }

    fn keep_evaluated(&mut self, other: &Self) {
        if !Rc::ptr_eq(&self.evaluated, &other.evaluated) {
            Rc::make_mut(&mut self.evaluated).extend(other.evaluated.iter().cloned());
        }
    }
}

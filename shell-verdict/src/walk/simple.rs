//! Simple commands: assignments, words, redirections.

use super::place::{array_doubt, end_doubt, place, substitution_doubt};
use super::{Judge, Source, is_name};
use crate::class::Class;
use crate::environment;
use crate::state::Variable;
use crate::verdict::Part;
use crate::words::Value;
use brush_parser::ast::{self, SourceLocation as _};
use std::rc::Rc;

/// A word of a simple command.
#[derive(Debug, Clone)]
pub(crate) struct Word {
    pub(crate) value: Value,
    /// The assignment, if the word looks like one.
    pub(crate) assigned: Option<Assigned>,
}

/// An assignment.
#[derive(Debug, Clone)]
pub(crate) struct Assigned {
    pub(crate) name: String,
    pub(crate) value: Variable,
    /// True if the value is a list, as written.
    pub(crate) is_list: bool,
}

impl Word {
    fn plain(value: Value) -> Self {
        Self { value, assigned: None }
    }
}

impl Judge<'_> {
    pub(super) fn simple(&mut self, simple: &ast::SimpleCommand, source: &Source, into: &mut Part) {
        let span = place(simple, source);
        let mut part = Part::new(span.clone(), source.text.get(span.clone()).unwrap_or_default());
        if let Some(why) = end_doubt(simple, &source.text[span.end..]) {
            part.has(Class::Unknown, why);
        }
        let mut assigned: Vec<Assigned> = Vec::new();
        self.substituted = None;
        let before = simple.prefix.as_ref().map(|_| self.state.clone());
        for item in simple.prefix.iter().flat_map(|prefix| &prefix.0) {
            match item {
                ast::CommandPrefixOrSuffixItem::AssignmentWord(assignment, _) => {
                    // The next one may use an earlier assignment.
                    if let Some(Assigned { name, value, .. }) = assigned.last().cloned() {
                        self.state.assign(name, value);
                    }
                    let one = self.assignment(assignment, source, &mut part);
                    assigned.push(one);
                }
                item => self.item(item, source, &mut part, &mut Vec::new()),
            }
        }
        let mut words = Vec::new();
        if let Some(name) = &simple.word_or_name {
            words.extend(self.fields(&name.value, &mut part).into_iter().map(Word::plain));
        }
        let mut may_be_array = simple.word_or_name.as_ref().is_some_and(|name| takes_arrays(&name.value));
        for item in simple.suffix.iter().flat_map(|suffix| &suffix.0) {
            may_be_array &= !matches!(item, ast::CommandPrefixOrSuffixItem::IoRedirect(_));
            if is_array(item) && !may_be_array {
                part.has(
                    Class::Unknown,
                    "bash takes an array only before a command, or behind one that declares it",
                );
            }
            self.item(item, source, &mut part, &mut words);
        }
        if words.is_empty() {
            for Assigned { name, value, .. } in assigned {
                self.assigned(name, value, &mut part);
            }
        } else {
            // `IFS= read line` is the usual way to read one.
            let reads = words[0].value.text() == Some("read");
            let assigned =
                assigned.into_iter().filter(|assigned| !(reads && assigned.name == "IFS")).collect();
            self.name_end = self.name_end(simple, source);
            // A function with this name may run anything else.
            let program = words[0].value.text().filter(|name| !self.state.functions.contains_key(*name));
            let program = program.map(str::to_owned);
            self.with_environment(assigned, program.as_deref(), &mut part, |judge, part| {
                (judge.judges.simple)(judge, words, part);
            });
            self.name_end = None;
            if let Some(before) = before {
                self.state.merge(&before);
            }
        }
        into.add(part);
    }

    /// Returns the name of a program, and the position in the command at which it ends. `None` if it is not written literally, is in
    /// another text, or may be a function, which would get the program's arguments.
    fn name_end(&self, simple: &ast::SimpleCommand, source: &Source) -> Option<(String, usize)> {
        let is_command = self.command.as_ref().is_some_and(|command| Rc::ptr_eq(command, &source.text));
        let name = simple.word_or_name.as_ref().filter(|_| is_command && self.state.functions.is_empty())?;
        let span = source.span(&name.location()?);
        let before = source.text[..span.start].chars().next_back();
        let after = source.text[span.end..].chars().next();
        let is_apart = before.is_none_or(|c| c.is_whitespace() || ";&|({".contains(c))
            && after.is_none_or(|c| c.is_whitespace() || ";&|)".contains(c));
        (is_apart && source.text[span.clone()] == name.value).then(|| (name.value.clone(), span.end))
    }

    /// Judges a command with variables set only for it.
    fn with_environment(
        &mut self,
        assigned: Vec<Assigned>,
        program: Option<&str>,
        part: &mut Part,
        run: impl FnOnce(&mut Self, &mut Part),
    ) {
        if assigned.is_empty() {
            return run(self, part);
        }
        for Assigned { name, value, .. } in &assigned {
            let text = match value {
                Variable::Text(text) => Some(text.as_str()),
                _ => None,
            };
            if let Some(why) = environment::assignment_for(name, text, program) {
                part.has(Class::Code, why);
            }
        }
        // They are gone afterwards but where a special builtin keeps them, so either may be.
        let before = self.state.clone();
        for Assigned { name, value, .. } in assigned {
            self.state.assign(name, value);
        }
        run(self, part);
        self.state.merge(&before);
    }

    fn item(
        &mut self,
        item: &ast::CommandPrefixOrSuffixItem,
        source: &Source,
        part: &mut Part,
        words: &mut Vec<Word>,
    ) {
        use ast::CommandPrefixOrSuffixItem as I;
        match item {
            I::IoRedirect(redirect) => self.redirect(redirect, source, part),
            I::Word(word) => {
                // Before a redirection it names a variable.
                let name = word.value.strip_prefix('{').and_then(|word| word.strip_suffix('}'));
                if name.is_some_and(is_name) {
                    part.has(Class::Unknown, format!("{} may name a variable for a redirection", word.value));
                }
                words.extend(self.fields(&word.value, part).into_iter().map(Word::plain));
            }
            I::AssignmentWord(assignment, word) => {
                let assigned = self.assignment(assignment, source, part);
                // In these a tilde stands for a directory, at any position of such a word.
                let has_tilde = word.value.contains("=~") || word.value.contains(":~");
                let value = match &assignment.value {
                    ast::AssignmentValue::Scalar(_) if has_tilde => Value::unknown(),
                    ast::AssignmentValue::Scalar(_) => {
                        // Commands in it were judged with the assignment.
                        let mut values = self.fields(&word.value, &mut Part::new(0..0, ""));
                        if values.len() == 1 { values.remove(0) } else { Value::unknown() }
                    }
                    ast::AssignmentValue::Array(_) => Value::unknown(),
                };
                words.push(Word { value, assigned: Some(assigned) });
            }
            I::ProcessSubstitution(_, shell) => {
                if let Some(why) = substitution_doubt(shell, source) {
                    part.has(Class::Unknown, why);
                }
                self.apart(|judge| judge.list(&shell.list, source, part));
                self.substituted = self.output_of_list(&shell.list, source);
                // It may be a part of the word before it, which then has another value.
                let start = source.byte(shell.loc.start.index);
                let before = source.text[..start].trim_end_matches(['<', '>', '(']);
                let joins = before.ends_with(|c: char| !c.is_whitespace());
                let value = if joins { Value::unknown() } else { Value::Text("/dev/fd/63".to_owned()) };
                words.push(Word::plain(value));
            }
        }
    }

    fn assignment(&mut self, assignment: &ast::Assignment, source: &Source, part: &mut Part) -> Assigned {
        let (name, is_element) = match &assignment.name {
            ast::AssignmentName::VariableName(name) => (name.clone(), false),
            ast::AssignmentName::ArrayElementName(name, index) => {
                self.arithmetic(index, part);
                (name.clone(), true)
            }
        };
        let value = match &assignment.value {
            ast::AssignmentValue::Scalar(value) => match self.single(&value.value, part) {
                Value::Text(text) if !assignment.append && !is_element => Variable::Text(text),
                _ => Variable::Unknown,
            },
            ast::AssignmentValue::Array(values) => {
                if let Some(why) = array_doubt(assignment, source) {
                    part.has(Class::Unknown, why);
                }
                for (index, value) in values {
                    if let Some(index) = index {
                        self.arithmetic(&index.value, part);
                    }
                    if index.is_none() && value.value.starts_with('[') {
                        part.has(Class::Unknown, "an element of an array may begin with its index");
                    }
                    self.fields(&value.value, part);
                }
                Variable::Unknown
            }
        };
        let is_list = matches!(assignment.value, ast::AssignmentValue::Array(_));
        Assigned { name, value, is_list }
    }
}

fn is_array(item: &ast::CommandPrefixOrSuffixItem) -> bool {
    use ast::{AssignmentValue::Array, CommandPrefixOrSuffixItem::AssignmentWord};
    matches!(item, AssignmentWord(assignment, _) if matches!(assignment.value, Array(_)))
}

/// Returns true for commands that accept arrays. The name must be written literally: bash does not recognise a quoted one while
/// parsing.
fn takes_arrays(name: &str) -> bool {
    matches!(name, "alias" | "declare" | "eval" | "export" | "let" | "local" | "readonly" | "typeset")
}

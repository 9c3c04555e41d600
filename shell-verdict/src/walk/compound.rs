//! Compound commands and functions.

use super::brackets::{Brackets, begins_as_arithmetic, brackets, is_arithmetic_for};
use super::{Judge, Source};
use crate::class::Class;
use crate::names::base;
use crate::situation::Decision;
use crate::state::{Function, State, Variable};
use crate::verdict::Part;
use brush_parser::ast;
use std::rc::Rc;

/// Returns true if a list only runs commands of these names, in the foreground.
fn does_only(list: &ast::CompoundList, names: &[&str]) -> bool {
    list.0.iter().all(|ast::CompoundListItem(and_or, separator)| {
        !matches!(separator, ast::SeparatorOperator::Async)
            && and_or.additional.is_empty()
            && !and_or.first.bang
            && matches!(&and_or.first.seq[..], [ast::Command::Simple(simple)] if {
                let name = simple.word_or_name.as_ref();
                name.is_none_or(|name| names.contains(&base(&name.value)))
            })
    })
}

/// Returns true if the body of a loop starts something in the background, and nothing that takes time.
fn floods(list: &ast::CompoundList) -> bool {
    let is_async = |item: &&ast::CompoundListItem| matches!(item.1, ast::SeparatorOperator::Async);
    let others: Vec<_> = list.0.iter().filter(|item| !is_async(item)).cloned().collect();
    others.len() < list.0.len()
        && does_only(&ast::CompoundList(others), &[":", "true", "false", "echo", "printf", "let"])
}

/// Maximum depth of nested function calls.
const DEEPEST_CALLS: usize = 8;
/// Maximum number of known values for which a loop is judged with each value.
const MAX_VALUES: usize = 16;

impl<'a> Judge<'a> {
    pub(super) fn compound(&mut self, compound: &ast::CompoundCommand, source: &Source, into: &mut Part) {
        use ast::CompoundCommand as C;
        let is_condition = !matches!(compound, C::BraceGroup(_) | C::Subshell(_));
        self.conditions += usize::from(is_condition);
        self.compound_within(compound, source, into);
        self.conditions -= usize::from(is_condition);
    }

    fn compound_within(&mut self, compound: &ast::CompoundCommand, source: &Source, into: &mut Part) {
        use ast::CompoundCommand as C;
        match compound {
            C::Arithmetic(command) => match brackets(&source.text[source.span(&command.loc)]) {
                Brackets::Arithmetic => self.arithmetic(&command.expr.value, into),
                Brackets::Subshells(inner) => self.subshell(inner, into),
                Brackets::Unclear => {
                    into.has(Class::Unknown, "bash may take these brackets for a subshell");
                    self.subshell(&command.expr.value, into);
                }
            },
            C::ArithmeticForClause(command) => {
                if !is_arithmetic_for(&source.text[source.span(&command.loc)]) {
                    into.has(Class::Unknown, "bash may take these brackets for something else");
                }
                let is_forever =
                    command.condition.as_ref().is_none_or(|text| matches!(text.value.trim(), "" | "1"));
                if is_forever && floods(&command.body.list) {
                    into.has(Class::Forbidden, "it starts commands in the background without an end");
                }
                if let Some(expression) = &command.initializer {
                    self.arithmetic(&expression.value, into);
                }
                self.repeated(into, |judge, into| {
                    if let Some(expression) = &command.condition {
                        judge.arithmetic(&expression.value, into);
                    }
                    judge.list(&command.body.list, source, into);
                    if let Some(expression) = &command.updater {
                        judge.arithmetic(&expression.value, into);
                    }
                });
            }
            C::BraceGroup(group) => self.list(&group.list, source, into),
            C::Subshell(shell) => {
                let text = &source.text[source.span(&shell.loc)];
                if begins_as_arithmetic(text) && !matches!(brackets(text), Brackets::Subshells(_)) {
                    into.has(Class::Unknown, "bash may take these brackets for arithmetic");
                }
                self.apart(|judge| judge.list(&shell.list, source, into));
            }
            C::ForClause(command) => self.for_each(command, source, into),
            C::CaseClause(command) => {
                self.single(&command.value.value, into);
                let before = self.state.clone();
                for case in &command.cases {
                    for pattern in &case.patterns {
                        if pattern.value == "esac" {
                            into.has(
                                Class::Unknown,
                                "bash may take `esac` for the end, and not for a pattern",
                            );
                        }
                        self.single(&pattern.value, into);
                    }
                    if let Some(list) = &case.cmd {
                        self.list(list, source, into);
                        self.state.merge(&before);
                    }
                }
            }
            C::IfClause(command) => {
                self.list(&command.condition, source, into);
                let before = self.state.clone();
                self.list(&command.then, source, into);
                let mut ends = std::mem::replace(&mut self.state, before);
                for ast::ElseClause { condition, body } in command.elses.iter().flatten() {
                    if let Some(condition) = condition {
                        self.list(condition, source, into);
                    }
                    let before = self.state.clone();
                    self.list(body, source, into);
                    ends.merge(&std::mem::replace(&mut self.state, before));
                }
                self.state.merge(&ends);
            }
            C::WhileClause(ast::WhileOrUntilClauseCommand(condition, body, _))
            | C::UntilClause(ast::WhileOrUntilClauseCommand(condition, body, _)) => {
                let forever: &[&str] =
                    if matches!(compound, C::WhileClause(_)) { &[":", "true"] } else { &["false"] };
                if does_only(condition, forever) && floods(&body.list) {
                    into.has(Class::Forbidden, "it starts commands in the background without an end");
                }
                self.repeated(into, |judge, into| {
                    judge.list(condition, source, into);
                    judge.list(&body.list, source, into);
                });
            }
            C::Coprocess(command) => {
                into.has(Class::Unknown, "a coprocess runs beside the command");
                self.apart(|judge| judge.command(&command.body, source, into));
            }
        }
    }

    /// A text that a subshell runs.
    fn subshell(&mut self, text: &str, into: &mut Part) {
        let mut part = Part::new(into.span.clone(), text);
        self.apart(|judge| judge.text(text, &mut part));
        part.parts.drain(..).for_each(|part| into.add(part));
        for reason in part.reasons {
            into.because(reason.class, reason.decision, reason.ground, reason.text);
        }
    }

    /// Judges a `for` loop: with each value, if all values are known.
    fn for_each(&mut self, command: &ast::ForClauseCommand, source: &Source, into: &mut Part) {
        let mut values = Vec::new();
        for word in command.values.iter().flatten() {
            values.extend(self.fields(&word.value, into));
        }
        let name = command.variable_name.clone();
        let texts: Option<Vec<String>> = values.iter().map(|value| value.text().map(str::to_owned)).collect();
        let texts = texts.filter(|texts| texts.len() <= MAX_VALUES);
        let texts = texts.unwrap_or_default();
        let (text, at) = (source.text.clone(), command.loc.start.index);
        // The shell's own use of the name.
        self.assigned_in_loop(&name, into);
        if texts.is_empty() {
            return self.repeated(into, |judge, into| {
                judge.state.assign_in_loop(&name, Variable::Unknown, &text, at);
                judge.list(&command.body.list, source, into);
            });
        }
        self.settle(into, |judge, into| {
            judge.state.assign_in_loop(&name, Variable::Unknown, &text, at);
            judge.list(&command.body.list, source, into);
        });
        let begin: State<'a> = self.state.clone();
        let mut ends = begin.clone();
        for value in texts {
            self.state = begin.clone();
            self.state.assign_in_loop(&name, Variable::Text(value), &text, at);
            self.list(&command.body.list, source, into);
            ends.merge(&std::mem::replace(&mut self.state, begin.clone()));
        }
        self.state = ends;
    }

    /// Walks a part that runs repeatedly: changes at its end also hold at its beginning.
    fn repeated(&mut self, into: &mut Part, run: impl Fn(&mut Self, &mut Part)) {
        self.settle(into, &run);
        let before = self.state.clone();
        run(self, into);
        self.state.merge(&before);
    }

    /// Removes values that an iteration changes. Changes of the first iteration may cause more changes in the second.
    fn settle(&mut self, into: &Part, run: impl Fn(&mut Self, &mut Part)) {
        for _ in 0..2 {
            let before = self.state.clone();
            run(self, &mut Part::new(into.span.clone(), ""));
            let after = std::mem::replace(&mut self.state, before);
            self.state.forget(&after);
        }
    }

    /// Records a function, which is judged at each call; forbidden commands are also searched for in its definition.
    pub(super) fn define(&mut self, function: &ast::FunctionDefinition, source: &Source, into: &mut Part) {
        let name = function.fname.value.clone();
        self.state.tangle();
        // The function may have the name of a program, and get its arguments.
        self.arguments.clear();
        if name.contains(|c: char| !c.is_ascii_alphanumeric() && !"_-.:+/@,".contains(c)) {
            into.has(Class::Unknown, format!("bash may not take {name} as the name of a function"));
        }
        let is_new = !self.state.functions.contains_key(&name);
        if !is_new {
            into.has(Class::Unknown, format!("the function {name} is defined twice"));
        }
        let is_certain = is_new && self.conditions == 0 && !self.state.facts.loses_functions;
        let known = Function { is_certain, body: function.body.clone(), text: source.text.clone() };
        Rc::make_mut(&mut self.state.functions).insert(name.clone(), Rc::new(known));
        let mut trial = Part::new(into.span.clone(), "");
        self.apart(|judge| {
            judge.call(&name, &mut trial);
        });
        // Its effects may occur at any time from here on.
        if trial.decision > Decision::Allow {
            into.class = into.class.max(trial.class);
            into.decision = into.decision.max(trial.decision);
            into.reasons.append(&mut trial.reasons);
            into.parts.append(&mut trial.parts);
        }
    }

    /// Judges the call of a function, if there is one of this name. Returns true if it is certainly the function, and nothing
    /// else.
    pub(crate) fn call(&mut self, name: &str, part: &mut Part) -> bool {
        let Some(function) = self.state.functions.get(name).cloned() else { return false };
        // Another may have the same name within it.
        let is_same = |other: &Rc<Function>| {
            Rc::ptr_eq(other, &function) || other.body.to_string() == function.body.to_string()
        };
        if self.calls.iter().any(|(calling, other)| calling == name && is_same(other)) {
            self.recursions += 1;
            part.has(Class::Unknown, format!("the function {name} calls itself"));
            return true;
        }
        if self.calls.len() >= DEEPEST_CALLS {
            part.has(Class::Unknown, "function calls are nested too deeply");
            return true;
        }
        let source = Source::of(function.text.clone());
        let ast::FunctionBody(body, redirects) = &function.body;
        self.calls.push((name.to_owned(), Rc::clone(&function)));
        let outer = self.state.function.replace(name.into());
        self.conditions += 1;
        let reads_pipe = std::mem::take(&mut self.reads_pipe);
        self.redirects(redirects.as_ref(), &source, part);
        self.compound(body, &source, part);
        self.reads_pipe = reads_pipe;
        self.conditions -= 1;
        self.calls.pop();
        self.state.function = outer;
        function.is_certain
    }
}

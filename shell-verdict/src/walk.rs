//! Walk through the syntax tree of a command: each simple command, and its expansions.

mod brackets;
mod compound;
mod guarded;
mod input;
mod parse;
mod paths;
mod place;
mod redirect;
mod simple;
mod test;

pub(crate) use paths::{is_device, is_no_file, resolve};
pub(crate) use simple::{Assigned, Word};
pub(crate) use test::is_name;

use crate::class::Class;
use crate::environment;
use crate::listed::Listed;
use crate::never;
use crate::repository::Repositories;
use crate::situation::{Decision, Shell, Situation};
use crate::state::{Facts, Function, State, Variable};
use crate::verdict::{Part, Verdict};
use crate::words::{self, Found, Unclear, Value};
use brush_parser::{SourceSpan, ast};
use parse::{is_bashism, may_fail_to_expand};
use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::Rc;

/// Maximum nesting depth of commands.
const DEEPEST: usize = 12;
/// Maximum number of simple commands.
const MAX_COMMANDS: usize = 2_000;

/// The judges of commands that a walk meets, which need the walk themselves.
#[derive(Clone, Copy)]
pub(crate) struct Judges {
    /// Judges a simple command by its words.
    pub(crate) simple: fn(&mut Judge<'_>, Vec<Word>, &mut Part),
    /// Judges a command of which the values are known, as one that a wrapper starts: no function or builtin.
    pub(crate) nested: fn(&mut Judge<'_>, &[Value], &mut Part),
}

/// Judges one command.
pub(crate) struct Judge<'a> {
    judges: Judges,
    pub(crate) state: State<'a>,
    depth: usize,
    commands: usize,
    /// The functions that are being called.
    calls: Vec<(String, Rc<Function>)>,
    /// Number of recursive function calls found.
    recursions: usize,
    /// Number of enclosing conditions, loops and functions: commands within them may not run.
    conditions: usize,
    /// True if the command that is started does not get the variables that keep it harmless.
    pub(crate) loses_env: bool,
    /// True if the command's input is certainly a pipe: the command is directly in the pipeline.
    pub(crate) reads_pipe: bool,
    pub(crate) env: Vec<(String, String)>,
    /// Arguments that programs get beside their own, by where in the command the name of each ends.
    pub(crate) arguments: BTreeMap<usize, &'static str>,
    /// Name of the program of the present simple command, and the position in the command at which it ends, if it is written literally.
    pub(crate) name_end: Option<(String, usize)>,
    /// The text of the command, once it is parsed.
    command: Option<Rc<str>>,
    /// The repositories examined for this command, which may name git any number of times.
    pub(crate) repositories: Rc<Repositories>,
    /// The command's input, where that is known.
    pub(crate) input: Option<String>,
    /// The names that the command reads as input, if they are known.
    pub(crate) listed_input: Option<Rc<Listed>>,
    /// The same of the last process substitution.
    substituted: Option<String>,
    /// Number of attempts to judge a command at a position where it only may begin.
    pub(crate) tries: usize,
}

/// A text that is judged.
#[derive(Clone)]
pub(crate) struct Source {
    text: Rc<str>,
    /// Byte offset of each character, if some are longer than a byte.
    begins: Option<Rc<[usize]>>,
}

impl Source {
    fn new(text: &str) -> Self {
        Self::of(text.into())
    }

    fn of(text: Rc<str>) -> Self {
        let begins = (!text.is_ascii()).then(|| text.char_indices().map(|(at, _)| at).collect());
        Self { text, begins }
    }

    /// The parser counts characters.
    fn byte(&self, index: usize) -> usize {
        match &self.begins {
            None => index.min(self.text.len()),
            Some(begins) => begins.get(index).copied().unwrap_or(self.text.len()),
        }
    }

    fn span(&self, span: &SourceSpan) -> Range<usize> {
        let start = self.byte(span.start.index);
        start..self.byte(span.end.index).max(start)
    }
}

/// Maximum number of times that a command is judged again because a later part affects an earlier one.
const MAX_LOOKS: usize = 5;

pub(crate) fn judge(command: &str, situation: &Situation<'_>, judges: Judges) -> Verdict {
    let mut facts = Rc::new(Facts::default());
    let mut looks = 0;
    let repositories = Rc::new(Repositories::default());
    let (mut whole, judge) = loop {
        let mut judge = Judge::new(situation, judges, Rc::clone(&repositories));
        judge.state.facts = Rc::clone(&facts);
        if facts.is_tangled && facts.changes_directory {
            judge.state.cwd = None;
        }
        let mut whole = Part::new(0..command.len(), command);
        judge.text(command, &mut whole);
        let seen = judge.state.seen.borrow().clone();
        looks += 1;
        if seen == *facts {
            break (whole, judge);
        }
        if looks == MAX_LOOKS {
            whole.has(Class::Unknown, "what the command does depends on itself in too many ways");
            break (whole, judge);
        }
        facts = Rc::new(seen);
    };
    for name in situation.env.keys().filter(|name| environment::is_dangerous(name)) {
        whole.has(Class::Code, format!("{name} is in the environment, and changes what commands do"));
    }
    for (name, value) in situation.env {
        if let Some(why) = environment::misfit(name, value, command, situation.cwd) {
            whole.has(Class::Code, format!("{name} is in the environment, and {why}"));
        }
    }
    if let Some(name) = judge.lost_guard() {
        whole.has(
            Class::Code,
            format!("it may change {name}, which keeps a program from running or writing something"),
        );
    }
    // Only saves a look, so no test covers the conditions: after a single look the lenient one finds the
    // same, and a denial stays a denial.
    if whole.decision < Decision::Deny && looks > 1 {
        look_leniently(command, situation, judges, repositories, &mut whole);
    }
    Verdict {
        decision: whole.decision,
        class: whole.class,
        parts: whole.parts,
        reasons: whole.reasons,
        arguments: judge.arguments.into_iter().map(|(at, text)| (at, text.to_owned())).collect(),
        env: judge.env,
    }
}

/// Judges a command again as if everything that may happen before a part of it did, and keeps the forbidden commands found.
fn look_leniently(
    command: &str,
    situation: &Situation<'_>,
    judges: Judges,
    repositories: Rc<Repositories>,
    into: &mut Part,
) {
    let mut judge = Judge::new(situation, judges, repositories);
    judge.state.is_lenient = true;
    let mut whole = Part::new(0..command.len(), command);
    judge.text(command, &mut whole);
    let mut waiting = vec![&whole];
    while let Some(part) = waiting.pop() {
        for reason in part.reasons.iter().filter(|reason| reason.decision == Decision::Deny) {
            let text = format!("if the part before it takes effect: {}", reason.text);
            into.because(reason.class, reason.decision, reason.ground, text);
        }
        waiting.extend(&part.parts);
    }
}

impl<'a> Judge<'a> {
    fn new(situation: &'a Situation<'a>, judges: Judges, repositories: Rc<Repositories>) -> Self {
        Self {
            judges,
            state: State::new(situation),
            depth: 0,
            commands: 0,
            calls: Vec::new(),
            recursions: 0,
            conditions: 0,
            loses_env: false,
            reads_pipe: false,
            env: Vec::new(),
            arguments: BTreeMap::new(),
            name_end: None,
            command: None,
            repositories,
            input: None,
            listed_input: None,
            substituted: None,
            tries: 0,
        }
    }

    /// Judges a command of which the values are known, as one that a wrapper starts: no function or builtin.
    pub(crate) fn nested(&mut self, values: &[Value], part: &mut Part) {
        (self.judges.nested)(self, values, part);
    }

    pub(crate) fn situation(&self) -> &'a Situation<'a> {
        self.state.situation
    }

    /// Judges a text that the shell runs.
    pub(crate) fn text(&mut self, text: &str, into: &mut Part) {
        let source = Source::new(text);
        let program = match self.parse(&source) {
            Ok(program) => program,
            Err(why) => {
                into.has(Class::Unknown, why);
                never::look(text, into);
                return;
            }
        };
        if self.command.is_none() {
            self.command = Some(Rc::clone(&source.text));
        }
        let joined = text.replace("\\\n", "");
        if self.situation().shell == Shell::Sh && is_bashism(&joined) {
            into.has(Class::Unknown, "sh may understand the command otherwise than bash");
        }
        // A failing expansion ends its line, and the next line still runs.
        if program.complete_commands.len() > 1 && may_fail_to_expand(&joined) {
            self.state.tangle();
        }
        self.depth += 1;
        let reads_pipe = std::mem::take(&mut self.reads_pipe);
        for list in &program.complete_commands {
            self.list(list, &source, into);
        }
        self.reads_pipe = reads_pipe;
        self.depth -= 1;
    }

    /// Runs a function with a copy of the state, as a subshell does.
    pub(crate) fn apart(&mut self, run: impl FnOnce(&mut Self)) {
        let state = self.state.clone();
        run(self);
        self.state = state;
    }

    fn list(&mut self, list: &ast::CompoundList, source: &Source, into: &mut Part) {
        // Only one command of the pipeline reads it.
        let listed_input = self.listed_input.take();
        for ast::CompoundListItem(and_or, separator) in &list.0 {
            if matches!(separator, ast::SeparatorOperator::Async) {
                if self.conditions > 0 {
                    into.has(Class::Unknown, "a command may be started in the background again and again");
                }
                let recursions = self.recursions;
                self.apart(|judge| judge.and_or(and_or, source, into));
                if self.recursions > recursions {
                    into.has(Class::Forbidden, "a function starts itself in the background, again and again");
                }
            } else {
                self.and_or(and_or, source, into);
            }
        }
        self.listed_input = listed_input;
    }

    fn and_or(&mut self, list: &ast::AndOrList, source: &Source, into: &mut Part) {
        self.pipeline(&list.first, source, into);
        // The possible state at the end of the list. A command after `&&` runs after the one before it, as long as there is no `||`.
        let mut ends: Option<State<'a>> = None;
        let mut is_certain = true;
        for next in &list.additional {
            let pipeline = match next {
                ast::AndOr::And(pipeline) => pipeline,
                ast::AndOr::Or(pipeline) => {
                    is_certain = false;
                    pipeline
                }
            };
            let before = self.state.clone();
            match &mut ends {
                None => ends = Some(before),
                Some(ends) => ends.merge(&before),
            }
            if !is_certain
                && !self.state.is_lenient
                && let Some(ends) = &ends
            {
                self.state = ends.clone();
            }
            self.conditions += 1;
            self.pipeline(pipeline, source, into);
            self.conditions -= 1;
        }
        if let Some(ends) = ends {
            self.state.merge(&ends);
        }
    }

    fn pipeline(&mut self, pipeline: &ast::Pipeline, source: &Source, into: &mut Part) {
        match &pipeline.seq[..] {
            [] => into.has(Class::Unknown, "a command is missing"),
            [one] => self.command(one, source, into),
            several => {
                let reads_pipe = self.reads_pipe;
                let input = self.input.clone();
                let mut recursive = 0;
                let mut listed: Option<Rc<Listed>> = None;
                for (index, command) in several.iter().enumerate() {
                    self.reads_pipe = index > 0 && matches!(command, ast::Command::Simple(_));
                    let is_read = several[index + 1..].first().is_some_and(|next| self.may_run_input(next));
                    let output = if is_read { self.output(command, source) } else { None };
                    let recursions = self.recursions;
                    let is_listed = several[index + 1..].iter().any(input::is_xargs);
                    let printed =
                        if is_listed { self.listed(command, listed.take(), index == 0) } else { None };
                    self.apart(|judge| judge.command(command, source, into));
                    recursive += usize::from(self.recursions > recursions);
                    self.input = output;
                    self.listed_input = several
                        .get(index + 1)
                        .and_then(|next| if input::is_xargs(next) { printed.clone() } else { None });
                    listed = printed;
                }
                if recursive > 1 {
                    into.has(Class::Forbidden, "a function starts itself twice at once, again and again");
                }
                self.listed_input = None;
                self.reads_pipe = reads_pipe;
                self.input = input;
            }
        }
    }

    fn command(&mut self, command: &ast::Command, source: &Source, into: &mut Part) {
        self.commands += 1;
        if self.commands > MAX_COMMANDS {
            return into.has(Class::Unknown, format!("more than {MAX_COMMANDS} commands are not judged"));
        }
        match command {
            ast::Command::Simple(simple) => {
                let redirects = input::redirects_of(simple);
                self.reading(&redirects, source, |judge| judge.simple(simple, source, into));
            }
            ast::Command::Compound(compound, redirects) => {
                self.redirects(redirects.as_ref(), source, into);
                let redirects = redirects.iter().flat_map(|list| &list.0).collect();
                self.reading(&redirects, source, |judge| judge.compound(compound, source, into));
            }
            ast::Command::Function(function) => self.define(function, source, into),
            ast::Command::ExtendedTest(test, redirects) => {
                self.redirects(redirects.as_ref(), source, into);
                self.test(&test.expr, into);
            }
        }
    }

    /// Returns the values of a word, and judges the commands in it.
    pub(crate) fn fields(&mut self, word: &str, into: &mut Part) -> Vec<Value> {
        let mut found = Found::default();
        let values = words::fields(word, &self.state, &mut found);
        self.found(found, into);
        values.unwrap_or_else(|why| vec![unclear(word, why, into)])
    }

    /// Returns the value of a word that is assigned, tested or read.
    pub(crate) fn single(&mut self, word: &str, into: &mut Part) -> Value {
        let mut found = Found::default();
        let value = words::single(word, &self.state, &mut found);
        self.found(found, into);
        value.unwrap_or_else(|why| unclear(word, why, into))
    }

    pub(crate) fn arithmetic(&mut self, text: &str, into: &mut Part) {
        let mut found = Found::default();
        let result = words::arithmetic(text, &self.state, &mut found);
        self.found(found, into);
        if let Err(why) = result {
            unclear(text, why, into);
        }
    }

    fn found(&mut self, found: Found, into: &mut Part) {
        for what in found.evaluates {
            into.has(Class::Code, what);
        }
        for (name, is_number) in found.assigns {
            self.assigned(name, if is_number { Variable::Number } else { Variable::Unknown }, into);
        }
        for directory in found.lists {
            self.lists_directory(directory, into);
        }
        for command in found.commands {
            let mut part = Part::new(into.span.clone(), &command);
            self.apart(|judge| judge.text(&command, &mut part));
            self.substituted = self.output_of_text(&command);
            // The commands in it are the parts.
            part.parts.drain(..).for_each(|part| into.add(part));
            for reason in part.reasons {
                into.because(reason.class, reason.decision, reason.ground, reason.text);
            }
        }
    }

    /// A variable of the shell gets a value.
    fn assigned(&mut self, name: String, value: Variable, into: &mut Part) {
        let used = if self.situation().env.contains_key(&name) {
            environment::Use::Program
        } else {
            environment::Use::Shell
        };
        let text = match &value {
            Variable::Text(text) => Some(text.as_str()),
            _ => None,
        };
        if let Some(why) = environment::assignment(&name, text, used) {
            into.has(Class::Code, why);
        }
        let is_number =
            text.is_some_and(|text| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()));
        if self.state.evaluated.contains(&name) && !is_number {
            into.has(
                Class::Code,
                format!("the value of {name} is evaluated, since it was declared a number"),
            );
        }
        self.state.assign(name, value);
    }

    /// Records the assignments to a loop variable, whatever the values: only the effect of the name counts.
    fn assigned_in_loop(&mut self, name: &str, into: &mut Part) {
        let is_exported = self.situation().env.contains_key(name);
        let used = if is_exported { environment::Use::Program } else { environment::Use::Shell };
        if let Some(why) = environment::assignment(name, None, used) {
            into.has(Class::Code, why);
        }
        if self.state.evaluated.contains(name) {
            into.has(
                Class::Code,
                format!("the value of {name} is evaluated, since it was declared a number"),
            );
        }
    }

    /// Enters a nested command. Returns true unless it is too deep.
    pub(crate) fn enter(&mut self) -> bool {
        self.depth += 1;
        self.depth <= DEEPEST
    }

    pub(crate) fn leave(&mut self) {
        self.depth -= 1;
    }

    /// A builtin sets a variable.
    pub(crate) fn assign(&mut self, name: &str, value: Variable, part: &mut Part) {
        self.assigned(name.to_owned(), value, part);
    }

    /// Records that a variable goes to all programs from here on.
    pub(crate) fn export(name: &str, value: &Variable, part: &mut Part) {
        let text = match value {
            Variable::Text(text) => Some(text.as_str()),
            _ => None,
        };
        if let Some(why) = environment::assignment(name, text, environment::Use::Program) {
            part.has(Class::Code, why);
        }
    }

    /// A text that a command runs as a shell does.
    pub(crate) fn payload(&mut self, text: &str, shell: Shell, part: &mut Part) {
        let mut whole = Part::new(part.span.clone(), text);
        if shell == Shell::Sh && is_bashism(text) {
            whole.has(Class::Code, "sh may understand it otherwise than bash");
        }
        self.text(text, &mut whole);
        part.add(whole);
    }
}

fn unclear(word: &str, why: Unclear, into: &mut Part) -> Value {
    into.has(Class::Unknown, format!("`{}` is not understood: {why}", shortened(word)));
    never::look_in_word(word, into);
    Value::unknown()
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(60) {
        None => text.to_owned(),
        Some((at, _)) => format!("{}…", &text[..at]),
    }
}

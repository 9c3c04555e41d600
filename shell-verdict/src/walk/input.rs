//! The input of a command, if it is known from the text of another: only forbidden commands are searched for in it.

use super::{Judge, Source};
use crate::class::Class;
use crate::listed::{self, Listed};
use crate::names::{self, base};
use crate::never;
use crate::situation::Shell;
use crate::verdict::Part;
use crate::words::Value;
use brush_parser::ast;
use std::rc::Rc;

/// Maximum size of a kept text, in bytes.
const LONGEST: usize = 16 << 10;

/// The redirections of the commands around.
type Redirects<'r> = Vec<&'r ast::IoRedirect>;

impl Judge<'_> {
    /// Judges a command with the input from its redirections.
    pub(super) fn reading(
        &mut self,
        redirects: &Redirects<'_>,
        source: &Source,
        run: impl FnOnce(&mut Self),
    ) {
        let before = self.input.clone();
        for redirect in redirects {
            self.input = match redirect {
                ast::IoRedirect::File(None | Some(0), kind, target) => match (kind, target) {
                    (
                        ast::IoFileRedirectKind::Read,
                        ast::IoFileRedirectTarget::ProcessSubstitution(_, shell),
                    ) => self.output_of_list(&shell.list, source),
                    (ast::IoFileRedirectKind::Read, _) => None,
                    _ => continue,
                },
                ast::IoRedirect::HereDocument(None | Some(0), document) => Some(document.doc.value.clone()),
                ast::IoRedirect::HereString(None | Some(0), word) => {
                    let word = word.value.clone();
                    self.trying(|judge, part| known(&judge.single(&word, part)).to_owned()).into()
                }
                _ => continue,
            };
        }
        run(self);
        self.input = before;
    }

    /// Returns true if a command may run its input, or pass it on.
    pub(super) fn may_run_input(&self, command: &ast::Command) -> bool {
        let ast::Command::Simple(simple) = command else { return true };
        // Only saves time: other commands do not use the output that is worked out, so no test covers it.
        simple.word_or_name.as_ref().is_none_or(|name| {
            let base = base(&name.value).trim_matches(['\\', '"', '\'']);
            matches!(base, "cat" | "tee" | "source" | ".")
                || base.contains('$')
                || names::is("shells", base)
                || names::is("before-a-command", base)
                || self.state.functions.contains_key(base)
        })
    }

    /// Returns the output of a command, as far as its words determine it.
    pub(super) fn output(&mut self, command: &ast::Command, source: &Source) -> Option<String> {
        let text = match command {
            ast::Command::Simple(simple) => self.output_of_simple(simple, source),
            ast::Command::Compound(compound, _) => {
                let mut whole = String::new();
                for list in lists_of(compound) {
                    whole.push_str(&self.output_of_list(list, source).unwrap_or_default());
                }
                (!whole.is_empty()).then_some(whole)
            }
            _ => None,
        };
        text.filter(|text| text.len() <= LONGEST)
    }

    /// The same of several commands, one after the other.
    pub(super) fn output_of_list(&mut self, list: &ast::CompoundList, source: &Source) -> Option<String> {
        let mut whole = String::new();
        for ast::CompoundListItem(and_or, _) in &list.0 {
            let pipelines = and_or.additional.iter().map(|next| match next {
                ast::AndOr::And(pipeline) | ast::AndOr::Or(pipeline) => pipeline,
            });
            for pipeline in [&and_or.first].into_iter().chain(pipelines) {
                // The output of several joined commands is not tracked.
                if let [command] = &pipeline.seq[..] {
                    whole.push_str(&self.output(command, source).unwrap_or_default());
                }
                // No test covers this limit, and the others below. They save time and memory: a text is only
                // searched for forbidden commands, and whatever runs it needs approval anyway.
                if whole.len() > LONGEST {
                    return None;
                }
            }
        }
        (!whole.is_empty()).then_some(whole)
    }

    fn output_of_simple(&mut self, simple: &ast::SimpleCommand, source: &Source) -> Option<String> {
        let name = simple.word_or_name.as_ref()?.value.trim_start_matches('\\').to_owned();
        if !matches!(name.as_str(), "echo" | "printf" | "cat" | "tee" | "command" | "builtin") {
            return None;
        }
        let mut words = Vec::new();
        for item in simple.suffix.iter().flat_map(|suffix| &suffix.0) {
            if let ast::CommandPrefixOrSuffixItem::Word(word)
            | ast::CommandPrefixOrSuffixItem::AssignmentWord(_, word) = item
            {
                // Nested commands are judged elsewhere.
                let runs = ["`", "$(", "<(", ">("].iter().any(|sign| word.value.contains(sign));
                if runs && !word.value.starts_with('\'') {
                    words.push(Value::unknown());
                } else {
                    words.extend(self.trying(|judge, part| judge.fields(&word.value, part)));
                }
            }
        }
        let texts: Vec<&str> = words.iter().map(known).collect();
        let (name, texts) = match (name.as_str(), &texts[..]) {
            ("command" | "builtin", [name, rest @ ..]) => (*name, rest),
            (name, texts) => (name, texts),
        };
        match name {
            "echo" => Some(echo(texts)),
            "printf" => Some(printf(texts)),
            "tee" => self.input.clone(),
            "cat" if texts.iter().all(|text| text.starts_with('-')) => {
                let mut read = None;
                self.reading(&redirects_of(simple), source, |judge| read.clone_from(&judge.input));
                read
            }
            _ => None,
        }
    }

    /// Returns the same for a text, if it begins with a command that only prints its words.
    pub(super) fn output_of_text(&mut self, text: &str) -> Option<String> {
        let begins = ["echo ", "printf ", "cat <<"].iter().any(|name| text.trim_start().starts_with(name));
        // No test covers the first condition: it only saves time, since fewer texts are parsed.
        if !begins || text.len() > LONGEST {
            return None;
        }
        let source = Source::new(text);
        let program = self.parse(&source).ok()?;
        let lists = program.complete_commands.iter();
        let whole: String = lists.filter_map(|list| self.output_of_list(list, &source)).collect();
        (!whole.is_empty()).then_some(whole)
    }

    /// Returns the values as a text, with the last substitution in place of unknown parts.
    pub(crate) fn guessed(&self, values: &[Value]) -> Option<String> {
        let substituted = self.substituted.as_deref()?.trim_end();
        let guess = |value: &Value| match value {
            Value::Text(text) => text.clone(),
            value => known(value).to_owned() + substituted,
        };
        Some(values.iter().map(guess).collect::<Vec<_>>().join(" "))
    }

    /// Returns the names that a command of a pipeline prints: those that it finds, or some of those that it reads.
    pub(super) fn listed(
        &mut self,
        command: &ast::Command,
        read: Option<Rc<Listed>>,
        is_first: bool,
    ) -> Option<Rc<Listed>> {
        let ast::Command::Simple(simple) = command else { return None };
        let suffix = simple.suffix.iter().flat_map(|suffix| &suffix.0);
        let name = simple.word_or_name.as_ref().filter(|_| simple.prefix.is_none())?;
        let is_named = self.state.functions.contains_key(&name.value) || self.state.facts.is_tangled;
        let is_known = matches!(
            name.value.as_str(),
            "find" | "git" | "rg" | "sort" | "head" | "tail" | "uniq" | "grep" | "egrep" | "fgrep"
        );
        if is_named || !is_known {
            return None;
        }
        let mut words = vec![Value::Text(name.value.clone())];
        for item in suffix {
            match item {
                ast::CommandPrefixOrSuffixItem::Word(word) => {
                    // A nested command may print anything.
                    if ["`", "$(", "<(", ">("].iter().any(|sign| word.value.contains(sign)) {
                        return None;
                    }
                    words.extend(self.trying(|judge, part| judge.fields(&word.value, part)));
                }
                // Errors go elsewhere.
                ast::CommandPrefixOrSuffixItem::IoRedirect(ast::IoRedirect::File(
                    Some(2),
                    ast::IoFileRedirectKind::Write | ast::IoFileRedirectKind::Append,
                    ast::IoFileRedirectTarget::Filename(_),
                )) => {}
                _ => return None,
            }
        }
        let texts: Vec<&str> = words.iter().map(Value::text).collect::<Option<_>>()?;
        match read {
            Some(read) => listed::passes_on(&texts).then_some(read),
            None if is_first => {
                listed::of_words(&texts, self.state.cwd.as_deref()?, self.state.situation).map(Rc::new)
            }
            None => None,
        }
    }

    /// Runs a function, and discards its changes of the state.
    fn trying<T>(&mut self, run: impl FnOnce(&mut Self, &mut Part) -> T) -> T {
        let state = self.state.clone();
        let result = run(self, &mut Part::new(0..0, ""));
        self.state = state;
        result
    }

    /// Returns the text of a file's name, if that refers to the command's input.
    pub(crate) fn text_behind(&self, file: Option<&str>) -> Option<String> {
        match file {
            None | Some("-" | "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0") => self.input.clone(),
            Some(file) if file.starts_with("/dev/fd/") => self.substituted.clone(),
            Some(_) => None,
        }
    }

    /// A text that a shell reads, and runs.
    pub(crate) fn fed(&mut self, text: &str, shell: Shell, part: &mut Part) {
        if text.trim().is_empty() {
            return;
        }
        part.has(Class::Code, "it runs a text that is a part of the command");
        // No test covers the exact limit: it only saves time, and the command needs approval either way.
        if text.len() > LONGEST {
            never::look(text, part);
        } else {
            self.payload(text, shell, part);
        }
    }
}

/// The lists of commands that a compound one may run.
fn lists_of(compound: &ast::CompoundCommand) -> Vec<&ast::CompoundList> {
    use ast::CompoundCommand as C;
    match compound {
        C::BraceGroup(group) => vec![&group.list],
        C::Subshell(shell) => vec![&shell.list],
        C::ForClause(command) => vec![&command.body.list],
        C::ArithmeticForClause(command) => vec![&command.body.list],
        C::WhileClause(ast::WhileOrUntilClauseCommand(_, body, _))
        | C::UntilClause(ast::WhileOrUntilClauseCommand(_, body, _)) => vec![&body.list],
        C::IfClause(command) => {
            let elses = command.elses.iter().flatten().map(|clause| &clause.body);
            [&command.then].into_iter().chain(elses).collect()
        }
        C::CaseClause(command) => command.cases.iter().filter_map(|case| case.cmd.as_ref()).collect(),
        _ => Vec::new(),
    }
}

/// Returns true if a command of a pipe is `xargs` that reads from the pipe.
pub(super) fn is_xargs(command: &ast::Command) -> bool {
    let ast::Command::Simple(simple) = command else { return false };
    let is_plain = redirects_of(simple).iter().all(|redirect| {
        matches!(
            redirect,
            ast::IoRedirect::File(Some(1 | 2), ..)
                | ast::IoRedirect::File(
                    None,
                    ast::IoFileRedirectKind::Write
                        | ast::IoFileRedirectKind::Append
                        | ast::IoFileRedirectKind::Clobber,
                    _
                )
        )
    });
    is_plain && simple.word_or_name.as_ref().is_some_and(|name| name.value == "xargs")
}

pub(super) fn redirects_of(simple: &ast::SimpleCommand) -> Redirects<'_> {
    let before = simple.prefix.iter().flat_map(|prefix| &prefix.0);
    let after = simple.suffix.iter().flat_map(|suffix| &suffix.0);
    let mut redirects = Vec::new();
    for item in before.chain(after) {
        if let ast::CommandPrefixOrSuffixItem::IoRedirect(redirect) = item {
            redirects.push(redirect);
        }
    }
    redirects
}

/// Returns the known part of a value.
fn known(value: &Value) -> &str {
    match value {
        Value::Text(text) | Value::Unknown { prefix: text, .. } => text,
        Value::Below { .. } | Value::Listed(_) => "",
    }
}

fn echo(texts: &[&str]) -> String {
    let is_option = |text: &&&str| {
        text.len() > 1 && text.starts_with('-') && text[1..].bytes().all(|byte| b"neE".contains(&byte))
    };
    let options = texts.iter().take_while(is_option).count();
    let text = texts[options..].join(" ");
    let has_escapes = texts[..options].iter().any(|option| option.contains('e'));
    (if has_escapes { unescaped(&text) } else { text }) + "\n"
}

fn printf(texts: &[&str]) -> String {
    let texts = if texts.first() == Some(&"--") { &texts[1..] } else { texts };
    let Some((format, mut texts)) = texts.split_first() else { return String::new() };
    let format = unescaped(format);
    let mut whole = String::new();
    loop {
        let before = texts.len();
        let mut rest = format.as_str();
        while let Some((text, after)) = rest.split_once('%') {
            whole.push_str(text);
            let end = after.find(|c: char| c.is_ascii_alphabetic() || c == '%');
            match end.map(|end| (&after[end..=end], &after[end + 1..])) {
                Some(("%", after)) => {
                    whole.push('%');
                    rest = after;
                }
                Some((kind, after)) => {
                    if let Some((text, others)) = texts.split_first() {
                        whole.push_str(&if kind == "b" { unescaped(text) } else { (*text).to_owned() });
                        texts = others;
                    }
                    rest = after;
                }
                None => rest = "",
            }
        }
        whole.push_str(rest);
        if texts.is_empty() || texts.len() == before || whole.len() > LONGEST {
            return whole;
        }
    }
}

/// Replaces escapes that end lines, and those that only look like more.
fn unescaped(text: &str) -> String {
    text.replace("\\n", "\n").replace("\\t", "\t").replace("\\r", "\n").replace("\\\\", "\\")
}

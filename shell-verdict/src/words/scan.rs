//! A word read from left to right.

use super::arithmetic::arithmetic;
use super::number::name_length;
use super::quote::ansi_c;
use super::skip::{closing_brace, closing_parenthesis, plain_arithmetic};
use super::{Found, Unclear};
use crate::listed::{self, Split};
use crate::state::{Known, State};
use std::rc::Rc;

/// The longest word that is worked out, in bytes.
const LONGEST: usize = 64 * 1024;

/// The part of a word that was read.
#[derive(Debug, Default)]
pub(super) struct Out {
    /// Each character, and whether it was quoted.
    pub(super) chars: Vec<(char, bool)>,
    /// From here on the word is unknown; true if the rest is split into words.
    pub(super) hole: Option<bool>,
    /// True if there is a pattern in or after the unknown part.
    pub(super) is_pattern_behind: bool,
    /// True if something was quoted: the word exists even if it is empty.
    pub(super) is_quoted: bool,
    /// The word is one of these words, or several of them.
    pub(super) listed: Option<Rc<[String]>>,
    /// True if an unquoted expansion was empty.
    pub(super) is_emptied: bool,
}

impl Out {
    fn push(&mut self, text: &str, is_quoted: bool) {
        // Variables of variables grow without end.
        if self.chars.len() + text.len() > LONGEST {
            return self.hole(!is_quoted);
        }
        if self.hole.is_none() {
            self.chars.extend(text.chars().map(|c| (c, is_quoted)));
        } else {
            self.is_pattern_behind |= !is_quoted && text.contains(['*', '?', '[']);
        }
    }

    fn hole(&mut self, splits: bool) {
        self.hole = Some(self.hole.unwrap_or(false) || splits);
    }
}

/// The quotes that a character is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Quotes {
    None,
    Double,
    /// A here-document: double quotes are characters of it.
    Document,
}

/// Returns true if a command writes a pattern that is quoted there, which the shell expands where its output is not.
fn writes_pattern(command: &str) -> bool {
    let writes = ["echo ", "printf "].iter().any(|name| command.trim_start().starts_with(name));
    writes && command.contains(['*', '?', '[']) && command.contains(['\'', '"', '\\'])
}

pub(super) struct Scan<'t, 's> {
    text: &'t str,
    at: usize,
    state: &'s State<'s>,
    found: &'s mut Found,
    /// True for an assigned value, false for a word of a command.
    is_assigned: bool,
}

impl<'t, 's> Scan<'t, 's> {
    pub(super) fn new(text: &'t str, state: &'s State<'s>, found: &'s mut Found) -> Self {
        Self { text, at: 0, state, found, is_assigned: false }
    }

    pub(super) fn word(mut self) -> Result<Out, Unclear> {
        let mut out = Out::default();
        self.tilde(&mut out);
        self.run(Quotes::None, &mut out)?;
        Ok(out)
    }

    pub(super) fn assigned(mut self) -> Result<Out, Unclear> {
        self.is_assigned = true;
        self.word()
    }

    pub(super) fn document(mut self) -> Result<Out, Unclear> {
        let mut out = Out::default();
        self.run(Quotes::Document, &mut out)?;
        Ok(out)
    }

    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn next(&mut self) -> Option<char> {
        let c = self.rest().chars().next()?;
        self.at += c.len_utf8();
        Some(c)
    }

    fn run(&mut self, quotes: Quotes, out: &mut Out) -> Result<(), Unclear> {
        let is_quoted = quotes != Quotes::None;
        while let Some(c) = self.next() {
            match c {
                '\\' => self.escaped(quotes, out),
                '\'' if quotes == Quotes::None => {
                    let end = self.rest().find('\'').ok_or("a single quote is not closed")?;
                    out.push(&self.rest()[..end], true);
                    out.is_quoted = true;
                    self.at += end + 1;
                }
                '"' if quotes == Quotes::None => {
                    out.is_quoted = true;
                    self.run(Quotes::Double, out)?;
                }
                '"' if quotes == Quotes::Double => return Ok(()),
                '$' => self.dollar(quotes, out)?,
                '`' => self.backquoted(is_quoted, out)?,
                ':' if self.is_assigned && !is_quoted => {
                    out.push(":", false);
                    self.tilde(out);
                }
                c if !is_quoted && (c.is_whitespace() || "|&;<>()".contains(c)) => {
                    // The parser has another idea of where the word ends.
                    return Err("a word has a character in it that would end it");
                }
                c => out.push(c.encode_utf8(&mut [0; 4]), is_quoted),
            }
        }
        if quotes == Quotes::Double { Err("a double quote is not closed") } else { Ok(()) }
    }

    fn escaped(&mut self, quotes: Quotes, out: &mut Out) {
        let special = match quotes {
            Quotes::None => None,
            Quotes::Double => Some("$`\"\\\n"),
            Quotes::Document => Some("$`\\\n"),
        };
        match self.rest().chars().next() {
            None => out.push("\\", true),
            Some(c) if special.is_some_and(|special| !special.contains(c)) => out.push("\\", true),
            Some(c) => {
                self.at += c.len_utf8();
                if c != '\n' {
                    out.push(c.encode_utf8(&mut [0; 4]), true);
                }
            }
        }
    }

    /// Expands a tilde that stands for a directory.
    fn tilde(&mut self, out: &mut Out) {
        let Some(rest) = self.rest().strip_prefix('~') else { return };
        let end = rest.find(['/', ':']).unwrap_or(rest.len());
        let name = &rest[..end];
        if name.contains(['\\', '\'', '"', '$', '`']) {
            return;
        }
        match name {
            "" => match self.state.variable("HOME") {
                Known::Text(home) => out.push(home, true),
                _ => out.hole(false),
            },
            "+" => match self.state.variable("PWD") {
                Known::Text(directory) => out.push(directory, true),
                _ => out.hole(false),
            },
            _ => out.hole(false),
        }
        out.is_quoted = true;
        self.at += 1 + name.len();
    }

    fn dollar(&mut self, quotes: Quotes, out: &mut Out) -> Result<(), Unclear> {
        let is_quoted = quotes != Quotes::None;
        let rest = self.rest();
        let Some(first) = rest.chars().next() else {
            out.push("$", is_quoted);
            return Ok(());
        };
        match first {
            '\'' if !is_quoted => {
                let (text, length) = ansi_c(&rest[1..])?;
                self.at += 1 + length;
                match text {
                    Some(text) => out.push(&text, true),
                    None => out.hole(false),
                }
                out.is_quoted = true;
            }
            '"' if !is_quoted => {
                self.at += 1;
                self.run(Quotes::Double, out)?;
                // The text of a translation is in files.
                out.hole(false);
            }
            '(' if rest.starts_with("((") => {
                let inner = match plain_arithmetic(rest.as_bytes(), 2) {
                    Some(inner) => inner,
                    None => closing_parenthesis(rest, 1)?,
                };
                if rest[inner + 1..].starts_with(')') {
                    self.at += inner + 2;
                    self.arithmetic(&rest[2..inner])?;
                    out.hole(!is_quoted);
                } else {
                    self.substitution(rest, is_quoted, out)?;
                }
            }
            '(' => self.substitution(rest, is_quoted, out)?,
            '[' => {
                let end = rest.find(']').ok_or("an arithmetic expansion is not closed")?;
                // No test covers the 1: `]` is an ordinary character, and the word is unknown from here on.
                self.at += end + 1;
                self.arithmetic(&rest[1..end])?;
                out.hole(!is_quoted);
            }
            '{' => {
                let end = closing_brace(rest, 0, is_quoted)?;
                self.at += end + 1;
                self.braced(&rest[1..end], is_quoted, out)?;
            }
            c if c.is_ascii_alphabetic() || c == '_' => {
                let end = name_length(rest);
                self.at += end;
                self.variable(&rest[..end], is_quoted, out);
            }
            '@' | '*' | '#' | '?' | '-' | '$' | '!' | '0'..='9' => {
                self.at += 1;
                out.hole(!is_quoted || first == '@');
            }
            _ => out.push("$", is_quoted),
        }
        Ok(())
    }

    fn arithmetic(&mut self, text: &str) -> Result<(), Unclear> {
        arithmetic(text, self.state, self.found)
    }

    fn substitution(&mut self, rest: &str, is_quoted: bool, out: &mut Out) -> Result<(), Unclear> {
        let end = closing_parenthesis(rest, 0)?;
        self.at += end + 1;
        let command = &rest[1..end];
        out.is_pattern_behind |= !is_quoted && writes_pattern(command);
        self.found.commands.push(command.to_owned());
        // It prints the variable's value, unless a function has its name.
        let is_builtin = !self.state.functions.contains_key("pwd") && !self.state.facts.is_tangled;
        if command.trim_matches([' ', '\t']) == "pwd" && is_builtin {
            self.variable("PWD", is_quoted, out);
        } else {
            out.hole(!is_quoted);
            // As a whole word, it is the printed text.
            if !is_quoted
                && !self.is_assigned
                && rest.len() + 1 == self.text.len()
                && self.at == self.text.len()
            {
                out.listed = self.listed(command);
            }
        }
        Ok(())
    }

    /// Returns the words that a command prints, if they are known.
    fn listed(&self, command: &str) -> Option<Rc<[String]>> {
        let is_named = ["find", "git", "rg", "sort", "head", "tail", "uniq", "grep"]
            .iter()
            .any(|name| self.state.functions.contains_key(*name));
        let is_plain = !is_named && !self.state.facts.is_tangled && self.state.plain_patterns;
        let cwd =
            self.state.cwd.as_deref().filter(|_| is_plain && !self.state.assigned.contains_key("IFS"))?;
        listed::words_of(&listed::of_text(command, cwd, self.state.situation)?, Split::Shell)
    }

    fn backquoted(&mut self, is_quoted: bool, out: &mut Out) -> Result<(), Unclear> {
        let mut command = String::new();
        loop {
            match self.next().ok_or("a backquote is not closed")? {
                '`' => break,
                '\\' => match self.next().ok_or("a backquote is not closed")? {
                    // The shell takes these backslashes away before it reads the command; within double quotes one more.
                    c @ ('$' | '`' | '\\') => command.push(c),
                    '"' if is_quoted => command.push('"'),
                    c => command.extend(['\\', c]),
                },
                c => command.push(c),
            }
        }
        out.is_pattern_behind |= !is_quoted && writes_pattern(&command);
        self.found.commands.push(command);
        out.hole(!is_quoted);
        Ok(())
    }

    /// A variable by its name alone. One that is not set is not known: who wrote the command expects something of it.
    fn variable(&mut self, name: &str, is_quoted: bool, out: &mut Out) {
        match self.state.variable(name) {
            Known::Text(value) if is_quoted || self.is_assigned => out.push(value, true),
            Known::Text(value) if !value.is_empty() && value.chars().all(is_one_word) => {
                out.push(value, true);
            }
            Known::Text("") => out.is_emptied = true,
            Known::Text(value) => {
                out.is_pattern_behind |= value.contains(['*', '?', '[']);
                out.hole(true);
            }
            _ => self.hole_of(name, is_quoted, out),
        }
    }

    /// A value of a variable that is not known, or not worked out.
    fn hole_of(&self, name: &str, is_quoted: bool, out: &mut Out) {
        out.is_pattern_behind |= !is_quoted && self.state.facts.may_hold_pattern(name);
        out.hole(!is_quoted);
    }

    /// Reads the text in `${…}`.
    fn braced(&mut self, body: &str, is_quoted: bool, out: &mut Out) -> Result<(), Unclear> {
        let splits = !is_quoted;
        // `${#x}` is a number, `${#}` and `${##…}` are about the number of arguments.
        if let Some(of) = body.strip_prefix('#').filter(|of| !of.is_empty()) {
            let (_, rest) = self.reference(of)?;
            if !rest.is_empty() {
                self.within(rest, is_quoted)?;
            }
            out.hole(splits);
            return Ok(());
        }
        if let Some(of) = body.strip_prefix('!') {
            let end = name_length(of);
            // The names of variables, or the keys of an array.
            if end == 0 || !matches!(&of[end..], "*" | "@" | "[@]" | "[*]") {
                self.found.evaluates.push("`${!…}` evaluates a name that is not known");
                self.within(of, is_quoted)?;
            }
            out.hole(splits || body.ends_with('@'));
            return Ok(());
        }
        let (name, operation) = self.reference(body)?;
        let Some(name) = name else {
            self.operation(None, operation, is_quoted)?;
            out.hole(splits || body.starts_with('@') || body.contains("[@]"));
            return Ok(());
        };
        if operation.is_empty() {
            self.variable(name, is_quoted, out);
            return Ok(());
        }
        self.operation(Some(name), operation, is_quoted)?;
        // Only the simplest defaults are worked out.
        let default = operation.strip_prefix(":-").filter(|text| text.chars().all(is_one_word));
        match (self.state.variable(name), default) {
            (Known::Unset | Known::Text(""), Some(default)) if !default.is_empty() => out.push(default, true),
            (Known::Text(_), Some(_)) => self.variable(name, is_quoted, out),
            _ => self.hole_of(name, is_quoted, out),
        }
        Ok(())
    }

    /// Parses a parameter and its operation. Returns the name, if it is an ordinary variable.
    fn reference<'b>(&mut self, body: &'b str) -> Result<(Option<&'b str>, &'b str), Unclear> {
        let length = name_length(body);
        if length == 0 {
            let digits = body.bytes().take_while(u8::is_ascii_digit).count();
            let special = body.starts_with(['@', '*', '#', '?', '-', '$', '!']);
            return match digits.max(usize::from(special)) {
                0 => Err("an expansion names no variable"),
                length => Ok((None, &body[length..])),
            };
        }
        let (name, rest) = body.split_at(length);
        let Some(subscript) = rest.strip_prefix('[') else { return Ok((Some(name), rest)) };
        let end = subscript.find(']').ok_or("a subscript is not closed")?;
        let (subscript, rest) = (&subscript[..end], &subscript[end + 1..]);
        if !matches!(subscript, "@" | "*") {
            self.arithmetic(subscript)?;
        }
        Ok((None, rest))
    }

    fn operation(&mut self, name: Option<&str>, operation: &str, is_quoted: bool) -> Result<(), Unclear> {
        if let Some(transform) = operation.strip_prefix('@') {
            if transform == "P" {
                self.found.evaluates.push("`@P` expands a value as a prompt, commands in it included");
            }
            let is_known = matches!(transform, "Q" | "E" | "U" | "u" | "L" | "A" | "K" | "k" | "a" | "P");
            return if is_known { Ok(()) } else { Err("an expansion is not known") };
        }
        let assigned = operation.strip_prefix(":=").or(operation.strip_prefix('='));
        if let Some(value) = assigned {
            match name {
                Some(name) => self.found.assigns.push((name.to_owned(), false)),
                None => self.found.evaluates.push("an expansion assigns what is not a plain variable"),
            }
            return self.within(value, is_quoted);
        }
        let text = [
            ":-", ":?", ":+", "-", "?", "+", "##", "#", "%%", "%", "//", "/#", "/%", "/", "^^", "^", ",,",
            ",",
        ];
        if let Some(text) = text.iter().find_map(|text| operation.strip_prefix(text)) {
            return self.within(text, is_quoted);
        }
        if let Some(range) = operation.strip_prefix(':') {
            let (offset, length) = range.split_once(':').unwrap_or((range, "0"));
            self.arithmetic(offset)?;
            return self.arithmetic(length);
        }
        if operation.is_empty() { Ok(()) } else { Err("an expansion is not known") }
    }

    /// Expands a text within an expansion.
    fn within(&mut self, text: &str, is_quoted: bool) -> Result<(), Unclear> {
        // Within double quotes a single quote is literal in some expansions: a command with one there needs approval.
        if is_quoted && text.contains(['\'', '"']) {
            return Err("an expansion within quotes contains quotes");
        }
        let mut out = Out::default();
        let mut scan = Scan::new(text, self.state, self.found);
        // Blanks and the like are characters of it.
        if is_quoted || !text.contains(['\'', '"', '\\']) {
            scan.run(Quotes::Document, &mut out)?;
        } else {
            scan.run(Quotes::None, &mut out)?;
        }
        let substitutes = text.contains("<(") || text.contains(">(");
        if substitutes { Err("a process may be substituted in an expansion") } else { Ok(()) }
    }
}

/// Returns true if a character of a variable's value is neither split at nor special in a pattern.
fn is_one_word(c: char) -> bool {
    !c.is_whitespace() && !c.is_control() && !"*?[]\\(){}$`'\"~!".contains(c)
}

//! Programs that only read, and the options with which they do.

mod operands;
mod search;
mod spec;
mod starts;

use crate::class::Class;
use crate::never;
use crate::situation::Access;
use crate::verdict::Part;
use crate::walk::{Judge, is_no_file};
use crate::words::Value;
use search::Searching;
use spec::{Spec, Takes};
use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

pub(crate) use starts::starts;

static PROGRAMS: LazyLock<HashMap<&'static str, Arc<Spec>>> =
    LazyLock::new(|| spec::read_table(include_str!("options/table.txt")));

/// Judges a program of the table. Returns true if it is one.
pub(crate) fn judge(judge: &mut Judge<'_>, base: &str, values: &[Value], part: &mut Part) -> bool {
    let Some(spec) = PROGRAMS.get(base) else { return false };
    let mut reading = Reading::new(judge, spec, base, part);
    reading.words(values);
    reading.operands();
    if spec.class != Class::ReadOnly {
        part.is(spec.class, format!("{base} {}", spec.class.words()));
    }
    true
}

/// Reads the options of a wrapper before its command: returns the number of their words, and whether all are known.
pub(crate) fn before_command(
    judge: &mut Judge<'_>,
    spec_line: &'static str,
    values: &[Value],
    part: &mut Part,
) -> usize {
    let (names, spec) = spec::read_line(spec_line);
    let base = names[0];
    let mut reading = Reading::new(judge, &spec, base, part);
    reading.options_until_operand(values)
}

/// The programs that a line of a table is about.
#[cfg(test)]
pub(crate) fn programs_of(line: &'static str) -> Vec<&'static str> {
    spec::read_line(line).0
}

#[expect(clippy::struct_excessive_bools, reason = "each is of its own")]
struct Reading<'r, 'a> {
    judge: &'r mut Judge<'a>,
    spec: &'r Spec,
    /// The name in the table.
    name: &'r str,
    base: &'r str,
    part: &'r mut Part,
    operands: Vec<Value>,
    /// All below a directory is read; whether links are followed.
    tree: Option<bool>,
    /// An option gave the expression, so no operand is one.
    has_expression: bool,
    /// A file with expressions was named, which may be its input.
    has_file: bool,
    /// True if the command reads nothing, and only prints its help or version.
    tells_of_itself: bool,
    /// True if the command lists the file types that it knows.
    lists_types: bool,
    /// True if only names of files are shown.
    is_listing: bool,
    /// Directories are compared, with all that is below them.
    compares: bool,
    searching: Searching,
}

impl<'r, 'a> Reading<'r, 'a> {
    fn new(judge: &'r mut Judge<'a>, spec: &'r Spec, name: &'r str, part: &'r mut Part) -> Self {
        // As a person types it.
        let base = name.strip_prefix("git:").unwrap_or(name);
        Self {
            judge,
            spec,
            name,
            base,
            part,
            operands: Vec::new(),
            tree: None,
            has_expression: false,
            has_file: false,
            tells_of_itself: false,
            lists_types: false,
            is_listing: false,
            compares: matches!(name, "diff" | "sdiff" | "diff3"),
            searching: Searching::default(),
        }
    }
}

impl Reading<'_, '_> {
    fn words(&mut self, values: &[Value]) {
        if self.spec.takes_at_files
            && values.iter().any(|value| value.text().is_none_or(|text| text.starts_with('@')))
        {
            let base = self.base;
            self.part.has(Class::Unknown, format!("{base} may take its options from a file"));
        }
        let mut at = 0;
        while at < values.len() {
            match &values[at] {
                Value::Text(text) if text == "--" => {
                    self.operands.extend_from_slice(&values[at + 1..]);
                    return;
                }
                Value::Text(text) if text.len() > 1 && text.starts_with('-') => {
                    at += 1 + self.option(text, &values[at + 1..]);
                    continue;
                }
                value
                    if value.text().is_none()
                        && value.may_be_option()
                        && !self.spec.is_harmless
                        // For these programs an option may also name files, and no file has such a name.
                        && (!self.spec.is_safe || matches!(value, Value::Listed(_))) =>
                {
                    let base = self.base;
                    self.part.has(
                        Class::Unknown,
                        format!("{base} gets a word that may be an option, and is not known before it runs"),
                    );
                }
                _ => {}
            }
            self.operands.push(values[at].clone());
            at += 1;
            if self.spec.options_come_first {
                self.rest(&values[at..]);
                return;
            }
        }
    }

    /// Judges the words after the first operand, where options are not accepted: a word that looks like an option was
    /// probably meant as one.
    fn rest(&mut self, values: &[Value]) {
        if let Some(value) = values.iter().find(|value| value.text() != Some("-") && value.may_be_option()) {
            self.unknown(value.text().unwrap_or("with what is not known before it runs"));
        }
        self.operands.extend_from_slice(values);
    }

    /// Up to the first word that is no option; how many there are.
    fn options_until_operand(&mut self, values: &[Value]) -> usize {
        let mut at = 0;
        while let Some(value) = values.get(at) {
            match value {
                Value::Text(text) if text == "--" => return at + 1,
                Value::Text(text) if text.len() > 1 && text.starts_with('-') => {
                    at += 1 + self.option(text, &values[at + 1..]);
                }
                value if value.text().is_none() && value.may_be_option() => {
                    let base = self.base;
                    self.part.has(
                        Class::Unknown,
                        format!("{base} gets a word that may be an option, and is not known before it runs"),
                    );
                    return at;
                }
                _ => return at,
            }
        }
        at.min(values.len())
    }

    /// Reads one option; returns the number of words after it that are its values.
    fn option(&mut self, text: &str, after: &[Value]) -> usize {
        if text.starts_with("--") || self.spec.has_long_with_one_dash {
            return self.long(text, after);
        }
        // `-5` of head and the like.
        if self.spec.takes_numbers && text[1..].bytes().all(|byte| byte.is_ascii_digit()) {
            return 0;
        }
        for (at, letter) in text.char_indices().skip(1) {
            let rest = &text[at + letter.len_utf8()..];
            match self.spec.short(letter) {
                Some(takes) if takes.has_value() => {
                    // This program's options never have attached values, except for a number: older versions refuse them.
                    let is_level = letter == 'L' && rest.bytes().all(|byte| byte.is_ascii_digit());
                    if self.base == "tree" && !rest.is_empty() && !is_level {
                        self.unknown(&format!("-{letter}{rest}"));
                    }
                    return match (rest, takes) {
                        ("", Takes::Maybe) => 0,
                        ("", Takes::Number) => self.number(&format!("-{letter}"), after),
                        ("", takes) => self.value(takes, &format!("-{letter}"), after),
                        (rest, takes) => {
                            self.takes(takes, &format!("-{letter}"), &Value::Text(rest.to_owned()), after);
                            usize::from(takes == Takes::Two)
                        }
                    };
                }
                Some(takes) => {
                    self.takes(takes, &format!("-{letter}"), &Value::Text(String::new()), after);
                    // The rest of the word may be the value of such an option.
                    if matches!(takes, Takes::Harm(_)) {
                        return 0;
                    }
                }
                None => self.unknown(&format!("-{letter}")),
            }
        }
        0
    }

    fn long(&mut self, text: &str, after: &[Value]) -> usize {
        let (name, value) = match text.split_once('=') {
            Some((name, value)) => (name, Some(Value::Text(value.to_owned()))),
            None => (text, None),
        };
        // Some options with a single dash have an attached number.
        let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        let letter = name.strip_prefix('-').and_then(|name| {
            let takes = self.spec.short(name.chars().next()?)?;
            let is_attached =
                || takes == Takes::Text && value.is_none() && name.get(1..).is_some_and(is_number);
            if name.len() > 1 && is_attached() {
                Some(Takes::Nothing)
            } else {
                Some(takes).filter(|_| name.len() == 1)
            }
        });
        let known = self.spec.long(name).or(letter).map(|takes| (name, takes));
        let Some((name, takes)) = known.or_else(|| self.spec.abbreviated(name)) else {
            self.unknown(name);
            return 0;
        };
        match (takes.has_value(), value) {
            (false, None) => {
                self.takes(takes, name, &Value::Text(String::new()), after);
                0
            }
            (false, Some(_)) if matches!(takes, Takes::Harm(_)) => {
                self.takes(takes, name, &Value::unknown(), after);
                0
            }
            // This is an error.
            (false, Some(_)) => {
                self.unknown(name);
                0
            }
            (true, Some(value)) => {
                self.takes(takes, name, &value, after);
                usize::from(takes == Takes::Two)
            }
            (true, None)
                if matches!(takes, Takes::Maybe | Takes::Number)
                    || (takes == Takes::Next && after.is_empty()) =>
            {
                0
            }
            (true, None) => self.value(takes, name, after),
        }
    }

    /// The next word is the value if it is a number.
    fn number(&mut self, name: &str, after: &[Value]) -> usize {
        let Some(value) = after.first() else { return 0 };
        match value.text().map(str::as_bytes) {
            Some(text) if !text.is_empty() && text.iter().all(u8::is_ascii_digit) => 1,
            Some([b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'.' | b'/', ..]) => 0,
            _ => {
                self.unknown(name);
                0
            }
        }
    }

    /// The value is the next word.
    fn value(&mut self, takes: Takes, name: &str, after: &[Value]) -> usize {
        let Some(value) = after.first() else {
            // Probably an error, but that is not certain.
            self.unknown(name);
            return 0;
        };
        if value.may_split() && !self.spec.is_harmless {
            let base = self.base;
            self.part.has(Class::Unknown, format!("{base} gets words that are not known before it runs"));
        }
        // Another release of the program, or another system's, may know the option without a value.
        let is_option = value.text().is_some_and(|text| {
            text.strip_prefix('-')
                .is_some_and(|rest| rest.starts_with(|c: char| c == '-' || c.is_alphabetic()))
        });
        if is_option && takes != Takes::Expression {
            self.unknown(&format!("{name} {}", value.text().unwrap_or_default()));
        }
        self.takes(takes, name, &value.clone(), &after[1..]);
        if takes == Takes::Two { 2 } else { 1 }
    }

    fn takes(&mut self, takes: Takes, name: &str, value: &Value, after: &[Value]) {
        let base = self.base;
        match self.name {
            "rg" => self.searching.rg(name, value),
            "grep" | "egrep" | "fgrep" | "rgrep" => self.searching.grep(name, value),
            "git:grep" => self.searching.git_grep(name),
            _ => {}
        }
        match takes {
            Takes::Nothing => {
                self.tells_of_itself |= matches!(name, "--help" | "--version");
                self.lists_types |= name == "--type-list";
            }
            Takes::Text | Takes::Maybe | Takes::Number | Takes::Next => {
                // `-d recurse` is `-r`.
                let is_grep = matches!(base, "grep" | "egrep" | "fgrep");
                if is_grep
                    && (name == "-d" || name == "--directories")
                    && !value
                        .text()
                        .is_some_and(|text| text.starts_with(['s', 'r']) && !text.starts_with("rec"))
                {
                    self.tree = Some(self.tree.unwrap_or(false));
                }
            }

            Takes::Listing => {
                self.is_listing = true;
                self.has_expression = true;
            }
            Takes::Expression | Takes::NoExpression => self.has_expression = true,
            Takes::ExpressionFile => {
                self.has_expression = true;
                self.has_file = true;
                self.judge.path(value, Access::Read, self.part);
            }
            Takes::Two => {
                if self.spec.second_is_file(name) {
                    let file = after.first().cloned().unwrap_or_else(Value::unknown);
                    self.judge.path(&file, Access::Read, self.part);
                }
            }
            Takes::Read => {
                // As for an operand: `diff` reads the content of a directory.
                let access =
                    if self.compares { Access::ReadTree { follows_links: true } } else { Access::Read };
                self.judge.path(value, access, self.part);
            }
            Takes::Write => {
                // Most of them write a file of the name `-`.
                if !value.text().is_some_and(|text| is_no_file(text, Access::Write)) {
                    self.part.has(Class::Write, format!("{base} {name} writes a file"));
                    self.judge.path(value, Access::Write, self.part);
                }
            }
            Takes::Names => {
                self.part.has(Class::Unknown, format!("{base} {name} reads the names of files from a file"));
                self.judge.path(value, Access::Read, self.part);
            }
            Takes::Runs => {
                self.part.has(Class::Code, format!("{base} {name} runs a program"));
                let words: Vec<&str> = [value].into_iter().chain(after).filter_map(Value::text).collect();
                never::look(&words.join(" "), self.part);
            }
            Takes::Harm(class) => self.part.has(class, format!("{base} {name} {}", class.words())),
            Takes::Tree { follows_links } => {
                self.tree = Some(self.tree.unwrap_or(false) || follows_links);
            }
        }
    }

    fn unknown(&mut self, name: &str) {
        if !self.spec.is_harmless && self.spec.class == Class::ReadOnly {
            let base = self.base;
            self.part.has(Class::Unknown, format!("{base} {name} is not known to only read"));
        }
    }
}

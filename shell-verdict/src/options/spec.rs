//! A line of the table, read.

use crate::class::Class;
use std::collections::HashMap;
use std::sync::Arc;

/// The meaning of the value of an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Takes {
    Nothing,
    Text,
    /// An optional attached value.
    Maybe,
    /// An optional number, attached or as the next word.
    Number,
    /// A value, which the last word may be without.
    Next,
    /// Two values.
    Two,
    /// A file that is read.
    Read,
    /// A file that is written.
    Write,
    /// A file with the names of others.
    Names,
    /// A program that is run.
    Runs,
    /// The option has an effect of this class.
    Harm(Class),
    /// All below the operands is read.
    Tree {
        follows_links: bool,
    },
    /// The value is the expression.
    Expression,
    /// The value is a file with the expression.
    ExpressionFile,
    /// The command has no expression.
    NoExpression,
    /// The command has no expression, and only shows names.
    Listing,
}

impl Takes {
    pub(super) fn has_value(self) -> bool {
        !matches!(
            self,
            Self::Nothing | Self::Harm(_) | Self::Tree { .. } | Self::NoExpression | Self::Listing
        )
    }

    fn read(sign: &str) -> Self {
        match sign {
            "" => Self::Nothing,
            ":" => Self::Text,
            "?" => Self::Maybe,
            "#" => Self::Number,
            ":?" => Self::Next,
            "::" | "::<" => Self::Two,
            "<" => Self::Read,
            ">" => Self::Write,
            "%" => Self::Names,
            "!" => Self::Runs,
            "^" => Self::Harm(Class::Write),
            "&" => Self::Harm(Class::Unknown),
            "*" => Self::Tree { follows_links: false },
            "@" => Self::Tree { follows_links: true },
            "/" => Self::NoExpression,
            "//" => Self::Listing,
            "=" => Self::Expression,
            "~" => Self::ExpressionFile,
            other => unreachable!("the table has no sign {other}"),
        }
    }
}

/// The meaning of a program's operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    Read,
    /// Names below a directory are listed.
    Names,
    /// All below a directory is read.
    Tree,
    Write,
    /// A format, which begins with a plus.
    Plus,
}

/// A program, and the known meaning of its words.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a word of the table")]
pub(super) struct Spec {
    pub(super) class: Class,
    /// True if no option does more than change the output or select which operands are read.
    pub(super) is_safe: bool,
    /// No option and no operand does anything.
    pub(super) is_harmless: bool,
    pub(super) has_long_with_one_dash: bool,
    /// After the first operand nothing is an option.
    pub(super) options_come_first: bool,
    /// True if the program accepts no abbreviations of option names.
    pub(super) has_no_abbreviations: bool,
    /// True if prefixes of option names do not count as the option: there are too many other options to list.
    pub(super) has_whole_names: bool,
    pub(super) takes_numbers: bool,
    pub(super) takes_at_files: bool,
    pub(super) has_expression: bool,
    pub(super) default_is_here: bool,
    /// True if the operands beyond the maximum are written.
    pub(super) more_writes: bool,
    pub(super) most: usize,
    pub(super) kinds: Vec<Kind>,
    pub(super) short: Vec<(char, Takes)>,
    pub(super) long: Vec<(&'static str, Takes)>,
    two_files: Vec<&'static str>,
    /// Lines whose options the program has as well.
    pub(super) includes: Vec<&'static str>,
}

impl Spec {
    pub(super) fn short(&self, letter: char) -> Option<Takes> {
        self.short.iter().find(|(known, _)| *known == letter).map(|(_, takes)| *takes)
    }

    pub(super) fn long(&self, name: &str) -> Option<Takes> {
        self.long.iter().find(|(known, _)| *known == name).map(|(_, takes)| *takes)
    }

    /// Returns the option for a prefix of its name; of several, a harmful one.
    pub(super) fn abbreviated(&self, name: &str) -> Option<(&'static str, Takes)> {
        if self.has_long_with_one_dash || self.has_no_abbreviations || name.len() < 3 {
            return None;
        }
        let matching = || self.long.iter().filter(|(known, _)| known.starts_with(name)).copied();
        let does_harm = |(_, takes): &(&str, Takes)| {
            matches!(takes, Takes::Write | Takes::Runs | Takes::Harm(_) | Takes::Names)
        };
        matching().find(does_harm).or_else(|| {
            let first = matching().next().filter(|_| !self.has_whole_names)?;
            // A prefix is an error if several options with different meanings match.
            matching().all(|(_, takes)| takes == first.1).then_some(first)
        })
    }

    pub(super) fn second_is_file(&self, name: &str) -> bool {
        self.two_files.contains(&name)
    }
}

/// All programs of a table.
pub(super) fn read_table(table: &'static str) -> HashMap<&'static str, Arc<Spec>> {
    let lines = table.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty());
    let mut programs = HashMap::new();
    for line in lines {
        let (names, mut spec) = read_line(line);
        for included in std::mem::take(&mut spec.includes) {
            let included: &Arc<Spec> = &programs[included];
            spec.short.extend_from_slice(&included.short);
            spec.long.extend_from_slice(&included.long);
        }
        let spec = Arc::new(spec);
        programs.extend(names.into_iter().map(|name| (name, Arc::clone(&spec))));
    }
    programs
}

/// The programs of a line.
pub(super) fn read_line(line: &'static str) -> (Vec<&'static str>, Spec) {
    let mut fields = line.split('|').map(str::trim);
    let mut field = || fields.next().expect("each line of the table has four fields");
    let (names, short, long, operands) = (field(), field(), field(), field());
    let is_sign = |c: char| ":?#<>%!^&*@=~/".contains(c);
    let mut letters = Vec::new();
    let mut rest = short;
    while let Some(letter) = rest.chars().next() {
        let after = &rest[letter.len_utf8()..];
        // Behind a blank a sign is a letter.
        if letter == ' ' {
            rest = after;
            continue;
        }
        let end = after.find(|c| !is_sign(c)).unwrap_or(after.len());
        letters.push((letter, Takes::read(&after[..end])));
        rest = &after[end..];
    }
    let mut two_files = Vec::new();
    let includes = long.split_whitespace().filter_map(|word| word.strip_prefix('+')).collect();
    let long = long
        .split_whitespace()
        .filter(|word| !word.starts_with('+'))
        .map(|option| {
            let name = option.trim_end_matches(is_sign);
            let sign = &option[name.len()..];
            if sign == "::<" {
                two_files.push(name);
            }
            (name, Takes::read(sign))
        })
        .collect();
    let mut spec = Spec {
        class: Class::ReadOnly,
        is_harmless: false,
        is_safe: false,
        has_long_with_one_dash: false,
        has_whole_names: names.starts_with("git:"),
        options_come_first: false,
        has_no_abbreviations: false,
        takes_numbers: false,
        takes_at_files: false,
        has_expression: false,
        default_is_here: false,
        more_writes: false,
        most: usize::MAX,
        kinds: Vec::new(),
        short: letters,
        long,
        two_files,
        includes,
    };
    let kind = |word| match word {
        "text" => Kind::Text,
        "read" => Kind::Read,
        "names" => Kind::Names,
        "tree" => Kind::Tree,
        "write" => Kind::Write,
        "plus" => Kind::Plus,
        other => unreachable!("the table has no kind {other}"),
    };
    for word in operands.split_whitespace() {
        match word {
            "none" => spec.most = 0,
            "one" => spec.most = 1,
            "two" => spec.most = 2,
            "more:write" => spec.more_writes = true,
            "first" => spec.options_come_first = true,
            "exact" => spec.has_no_abbreviations = true,
            "safe" => spec.is_safe = true,
            "harmless" => spec.is_harmless = true,
            "onedash" => spec.has_long_with_one_dash = true,
            "numbers" => spec.takes_numbers = true,
            "atfiles" => spec.takes_at_files = true,
            "expr" => spec.has_expression = true,
            "here" => spec.default_is_here = true,
            "class:write" => spec.class = Class::Write,
            "class:network" => spec.class = Class::Network,
            "class:dangerous" => spec.class = Class::Dangerous,
            word => spec.kinds.push(kind(word)),
        }
    }
    (names.split_whitespace().collect(), spec)
}

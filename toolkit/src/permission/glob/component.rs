//! Components of path patterns.

use super::{PatternError, SPECIAL};

pub(super) const TRAILING_BACKSLASH: PatternError =
    PatternError("it ends with a `\\`, which escapes nothing; write `\\\\` for the character");
const UNCLOSED: PatternError =
    PatternError("it has a `[` without a `]` in the same part of the path; write `\\[` for the character");

/// One component of a pattern: no `/` in it.
#[derive(Debug, Clone)]
pub(super) struct Component(Vec<Token>);

#[derive(Debug, Clone)]
enum Token {
    /// Literal characters.
    Text(Box<str>),
    /// `?`: any one character.
    AnyOne,
    /// `*`: any characters, including none.
    AnyText,
    /// `[…]`: one of these characters, or with negation any other one.
    Class { is_negated: bool, items: Vec<Item> },
}

#[derive(Debug, Clone, Copy)]
enum Item {
    Range(char, char),
    /// `[:alpha:]` and the like.
    Named(fn(char) -> bool),
}

impl Component {
    pub(super) fn any() -> Self {
        Self(vec![Token::AnyText])
    }

    pub(super) fn literal(text: &str) -> Self {
        Self(vec![Token::Text(text.into())])
    }

    pub(super) fn parse(text: &str) -> Result<Self, PatternError> {
        let mut tokens: Vec<Token> = Vec::new();
        let mut plain = String::new();
        let mut rest = text;
        while let Some(c) = rest.chars().next() {
            let mut length = c.len_utf8();
            let token = match c {
                '\\' => {
                    let escaped = rest[1..].chars().next().ok_or(TRAILING_BACKSLASH)?;
                    plain.push(escaped);
                    length += escaped.len_utf8();
                    None
                }
                '*' => Some(Token::AnyText),
                '?' => Some(Token::AnyOne),
                '[' => {
                    let (token, end) = class(rest)?;
                    length = end;
                    Some(token)
                }
                c => {
                    plain.push(c);
                    None
                }
            };
            if let Some(token) = token {
                if !plain.is_empty() {
                    tokens.push(Token::Text(std::mem::take(&mut plain).into()));
                }
                // `**` within a component is `*`.
                if !matches!((&token, tokens.last()), (Token::AnyText, Some(Token::AnyText))) {
                    tokens.push(token);
                }
            }
            rest = &rest[length..];
        }
        if !plain.is_empty() || tokens.is_empty() {
            tokens.push(Token::Text(plain.into()));
        }
        debug_assert!(
            tokens.len() == 1 || text.contains(SPECIAL),
            "only a special character splits a component"
        );
        Ok(Self(tokens))
    }

    /// Returns true if it matches every name.
    pub(super) fn is_any(&self) -> bool {
        matches!(self.0.as_slice(), [Token::AnyText])
    }

    pub(super) fn is_literal(&self) -> bool {
        self.as_literal().is_some()
    }

    /// Returns the only name that it matches, if it has no wildcard.
    pub(super) fn as_literal(&self) -> Option<&str> {
        match self.0.as_slice() {
            [Token::Text(text)] => Some(text),
            _ => None,
        }
    }

    /// Returns its text if `*` is its only wildcard, and stands for nothing else in it.
    pub(super) fn as_plain(&self) -> Option<String> {
        let mut plain = String::new();
        for token in &self.0 {
            match token {
                Token::Text(text) if !text.contains('*') => plain.push_str(text),
                Token::AnyText => plain.push('*'),
                _ => return None,
            }
        }
        Some(plain)
    }

    /// Returns its text with `*` and `?` as the only wildcards: with others in it, it matches more names.
    pub(super) fn as_wide(&self) -> String {
        let mut wide = String::new();
        for token in &self.0 {
            match token {
                Token::Text(text) => {
                    wide.extend(text.chars().map(|c| if "*?[]\\".contains(c) { '?' } else { c }));
                }
                Token::AnyText => wide.push('*'),
                Token::AnyOne | Token::Class { .. } => wide.push('?'),
            }
        }
        wide
    }

    /// Returns true if it matches the whole name. In the worst case, the time is proportional to the product of both
    /// lengths.
    pub(super) fn matches(&self, name: &str) -> bool {
        let (mut at, mut rest) = (0, name);
        // The positions at which to retry if the tokens after the last `*` do not match.
        let mut retry: Option<(usize, &str)> = None;
        loop {
            let next = match self.0.get(at) {
                None if rest.is_empty() => return true,
                None => None,
                Some(Token::AnyText) => {
                    at += 1;
                    retry = Some((at, rest));
                    continue;
                }
                Some(token) => token.strip(rest),
            };
            if let Some(next) = next {
                (at, rest) = (at + 1, next);
                continue;
            }
            let Some((after, from)) = &mut retry else { return false };
            let Some(c) = from.chars().next() else { return false };
            *from = &from[c.len_utf8()..];
            (at, rest) = (*after, *from);
        }
    }
}

impl Token {
    /// Returns the rest of a text after a match of the token at its beginning.
    fn strip<'a>(&self, text: &'a str) -> Option<&'a str> {
        if let Self::Text(plain) = self {
            return text.strip_prefix(&**plain);
        }
        let c = text.chars().next()?;
        let is_match = match self {
            Self::Class { is_negated, items } => items.iter().any(|item| item.has(c)) != *is_negated,
            _ => true,
        };
        is_match.then(|| &text[c.len_utf8()..])
    }
}

impl Item {
    fn has(self, c: char) -> bool {
        match self {
            Self::Range(first, last) => (first..=last).contains(&c),
            Self::Named(is_in) => is_in(c),
        }
    }
}

/// Returns the length in bytes of the class at the beginning of a text.
pub(super) fn class_end(text: &str) -> Result<usize, PatternError> {
    class(text).map(|(_, end)| end)
}

/// Parses the class at the beginning of a text; returns it and its length in bytes.
fn class(text: &str) -> Result<(Token, usize), PatternError> {
    let mut at = 1;
    let is_negated = text[at..].starts_with(['!', '^']);
    at += usize::from(is_negated);
    let first = at;
    let mut items = Vec::new();
    loop {
        let rest = &text[at..];
        if rest.starts_with(']') && at > first {
            return Ok((Token::Class { is_negated, items }, at + 1));
        }
        if let Some((named, length)) = named(rest)? {
            items.push(Item::Named(named));
            at += length;
            continue;
        }
        let (from, length) = character(rest)?;
        at += length;
        let range = text[at..].strip_prefix('-').filter(|rest| !rest.starts_with(']'));
        let to = match range {
            Some(rest) => {
                let (to, length) = character(rest)?;
                at += 1 + length;
                to
            }
            None => from,
        };
        if from > to {
            return Err(PatternError(
                "a range in its `[…]` ends before it begins; write the lesser character first",
            ));
        }
        items.push(Item::Range(from, to));
    }
}

/// Parses a character of a class, which may be escaped; returns it and its length in bytes.
fn character(text: &str) -> Result<(char, usize), PatternError> {
    let mut chars = text.chars();
    match (chars.next(), chars.next()) {
        (Some('\\'), Some(c)) => Ok((c, 1 + c.len_utf8())),
        (None | Some('\\' | '/'), _) => Err(UNCLOSED),
        (Some(c), _) => Ok((c, c.len_utf8())),
    }
}

/// Parses a named set of characters, such as `[:digit:]`; returns it and its length in bytes.
#[expect(clippy::type_complexity, reason = "a function with what it takes")]
fn named(text: &str) -> Result<Option<(fn(char) -> bool, usize)>, PatternError> {
    let Some(name) = text.strip_prefix("[:") else { return Ok(None) };
    let Some((name, _)) = name.split_once(":]") else { return Ok(None) };
    let is_in: fn(char) -> bool = match name {
        "alnum" => |c| c.is_ascii_alphanumeric(),
        "alpha" => |c| c.is_ascii_alphabetic(),
        "blank" => |c| matches!(c, ' ' | '\t'),
        "cntrl" => |c| c.is_ascii_control(),
        "digit" => |c| c.is_ascii_digit(),
        "graph" => |c| c.is_ascii_graphic(),
        "lower" => |c| c.is_ascii_lowercase(),
        "print" => |c| c == ' ' || c.is_ascii_graphic(),
        "punct" => |c| c.is_ascii_punctuation(),
        "space" => |c| c.is_ascii_whitespace() || c == '\u{b}',
        "upper" => |c| c.is_ascii_uppercase(),
        "xdigit" => |c| c.is_ascii_hexdigit(),
        _ => {
            return Err(PatternError(
                "it has an unknown `[:…:]`; there are alnum, alpha, blank, cntrl, digit, graph, lower, print, punct, space, \
                 upper and xdigit",
            ));
        }
    };
    Ok(Some((is_in, name.len() + 4)))
}

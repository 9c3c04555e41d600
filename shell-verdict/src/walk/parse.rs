//! Parses a text to its syntax tree; texts on which the parser would not terminate never reach it.

use super::{DEEPEST, Judge, Source};
use crate::words::plain_arithmetic;
use brush_parser::{ParserOptions, Token, ast, parse_tokens, uncached_tokenize_str};
use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Maximum nesting depth of brackets and keywords in a text.
const DEEPEST_NESTING: usize = 40;
/// Maximum nesting depth of constructs that the parser tries in two ways each: in an incomplete text each of them doubles the
/// parsing time.
const MAX_BRANCHES: usize = 12;
/// The longest command that is judged, in bytes.
const LONGEST: usize = 64 * 1024;

impl Judge<'_> {
    pub(super) fn parse(&self, source: &Source) -> Result<ast::Program, String> {
        let text = &*source.text;
        if self.depth > DEEPEST {
            return Err("commands are nested too deeply".to_owned());
        }
        if !self.state.spend(text.len() / 64) {
            return Err("commands are nested too deeply to be checked".to_owned());
        }
        if text.len() > LONGEST {
            return Err(format!("the command is longer than {LONGEST} bytes"));
        }
        let is_odd = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
        if text.chars().any(is_odd) {
            return Err("the command holds control characters".to_owned());
        }
        // The parser takes them for a number that it can hold.
        let is_huge =
            |digits: &str| digits.len() - digits.trim_end_matches(|c: char| c.is_ascii_digit()).len() > 8;
        if text.match_indices(['<', '>']).any(|(at, _)| is_huge(&text[..at])) {
            return Err("the number of a descriptor is too large".to_owned());
        }
        // As the parser reads it: an operator may be split by a line continuation.
        let joined = text.replace("\\\n", "");
        if is_process_number_before_bracket(&joined) {
            return Err("`$$` comes before a bracket or a quote".to_owned());
        }
        // For one that does not end the parser looks without an end.
        if !here_documents_end(text) || !here_documents_end(&joined) {
            return Err("the end of a here-document is not certain".to_owned());
        }
        let branches = branches(&joined);
        if is_too_deep(&joined) || branches > MAX_BRANCHES {
            return Err("brackets and keywords are nested too deeply".to_owned());
        }
        let Some(subscripts) = subscripts(&joined) else {
            return Err("subscripts and expansions are nested too deeply".to_owned());
        };
        if !self.state.spend((1 << branches) / 2 + subscripts) {
            return Err("brackets are nested too deeply to be checked".to_owned());
        }
        // The parser may have faults; a command must not stop its host.
        let parsed = catch_unwind(AssertUnwindSafe(|| parsed(source)));
        parsed.unwrap_or_else(|_| Err("the command cannot be parsed".to_owned()))
    }
}

fn parsed(source: &Source) -> Result<ast::Program, String> {
    let text = &*source.text;
    // No test covers the option: with it, a word would contain a bracket, and need approval for that.
    let options = ParserOptions { enable_extended_globbing: false, ..ParserOptions::default() };
    let fault = |error: &dyn Display| format!("the command cannot be parsed: {error}");
    let tokens = uncached_tokenize_str(text, &options.tokenizer_options()).map_err(|error| fault(&error))?;
    if tokens.iter().any(|token| is_altered(token, source)) {
        return Err("a word contains a comment or the end of a line".to_owned());
    }
    parse_tokens(&tokens, &options).map_err(|error| fault(&error))
}

/// Returns true if a word differs from the text. The parser drops comments, even in an arithmetic expansion, where bash has none
/// and runs their content; and it joins lines within `$'…'`, where bash does not.
fn is_altered(token: &Token, source: &Source) -> bool {
    let Token::Word(text, span) = token else { return false };
    let written = &source.text[source.span(span)];
    // The end of a here-document follows it without a recorded position, and leading tabs are removed in some.
    if written.is_empty() || written.starts_with(text) {
        return false;
    }
    let joined = written.replace("\\\n", "");
    let is_joined = !written.contains('\'') && joined.trim_start_matches([' ', '\t', '\n']) == text;
    let is_without_tabs = || {
        let lines: Vec<&str> = written.split('\n').map(|line| line.trim_start_matches('\t')).collect();
        text.is_empty() || lines.join("\n").starts_with(text)
    };
    !(is_joined || is_without_tabs())
}

/// Returns true if `$$` precedes a bracket with which the second dollar alone would begin an expansion. The parser reads it as
/// such, and words end elsewhere for bash. It may return true too often, but never too rarely.
fn is_process_number_before_bracket(text: &str) -> bool {
    let bytes = text.as_bytes();
    let run = |end: usize, of: u8| bytes[..end].iter().rev().take_while(|byte| **byte == of).count();
    text.match_indices(['{', '(', '[', '\'', '"']).any(|(at, _)| {
        let dollars = run(at, b'$');
        let is_escaped = !run(at - dollars, b'\\').is_multiple_of(2);
        // Of three the first two are a number, and so are the last two where the first is escaped.
        dollars > 1 && dollars.is_multiple_of(2) != is_escaped
    })
}

/// Returns the position of the first here-document. The shift operators of a plain arithmetic expansion do not count.
fn here_document(text: &str) -> Option<usize> {
    let mut at = 0;
    let text = text.as_bytes();
    let find = |at: usize| {
        let mut at = at;
        loop {
            if text[at..].starts_with(b"$((")
                && let Some(end) = plain_arithmetic(text, at + 3)
            {
                at = end + 2;
            } else if text.get(at)? == &b'<' && text.get(at + 1) == Some(&b'<') {
                return Some(at);
            } else {
                at += 1;
            }
        }
    };
    while let Some(begin) = find(at) {
        let length = text[begin..].iter().take_while(|byte| **byte == b'<').count();
        if length != 3 {
            return Some(begin);
        }
        at = begin + length;
    }
    None
}

/// Returns true if each here-document has a line that ends it.
fn here_documents_end(text: &str) -> bool {
    let mut rest = text;
    while let Some(at) = here_document(rest) {
        rest = rest[at..].trim_start_matches('<').trim_start_matches('-').trim_start_matches([' ', '\t']);
        let quote = rest.chars().next().filter(|c| matches!(c, '\'' | '"'));
        let word = rest.trim_start_matches(['\'', '"']);
        let length = word.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
        let (end, after) = word.split_at(length);
        let is_closed = quote.is_none_or(|quote| after.starts_with(quote));
        let ends = after.split('\n').skip(1).any(|line| line.trim_start_matches('\t') == end);
        // No test tells the first two apart: an odd end needs approval again where redirections are judged.
        if end.is_empty() || !is_closed || !ends {
            return false;
        }
        rest = after;
    }
    true
}

/// Returns true if something in a text may fail while it is expanded.
pub(super) fn may_fail_to_expand(text: &str) -> bool {
    let is_more_than_a_name = |rest: &str| {
        let name = rest.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
        !rest[name..].starts_with('}')
    };
    ["((", "$[", "let "].iter().any(|what| text.contains(what))
        || text.match_indices("${").any(|(at, _)| is_more_than_a_name(&text[at + 2..]))
}

/// Returns true if a text has something in it that only bash understands, or that other shells understand otherwise.
pub(super) fn is_bashism(text: &str) -> bool {
    const ONLY_BASH: &[&str] = &[
        "{",
        "$'",
        "$\"",
        "[[",
        "((",
        "<(",
        ">(",
        "&>",
        "<<<",
        "|&",
        ">&",
        "function ",
        "select ",
        "coproc",
        "+=",
        "==",
        "$[",
        "time ",
    ];
    ONLY_BASH.iter().any(|only| text.contains(only))
}

/// Returns an upper bound of the nesting depth of round brackets and `case`.
fn branches(text: &str) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0_usize);
    for byte in text.bytes() {
        match byte {
            b'(' => depth += 1,
            b')' => depth = depth.saturating_sub(1),
            _ => continue,
        }
        deepest = deepest.max(depth);
    }
    let (mut depth, mut deepest_cases) = (0_usize, 0_usize);
    for word in text.split(|c: char| c.is_whitespace() || ";&|(){}".contains(c)) {
        match word {
            "case" => depth += 1,
            "esac" => depth = depth.saturating_sub(1),
            _ => continue,
        }
        deepest_cases = deepest_cases.max(depth);
    }
    deepest + deepest_cases
}

/// Returns the cost to the parser of expansions in subscripts, each of which it tries in some thirty ways: `a[${b[${c}]}]` has
/// two nested ones. `None` if they are nested deeper than that. It is an upper bound.
fn subscripts(text: &str) -> Option<usize> {
    const WAYS: usize = 32;
    let bytes = text.as_bytes();
    let (mut open, mut cost) = (Vec::new(), 0);
    for (at, &byte) in bytes.iter().enumerate() {
        match byte {
            b'[' => open.push(b']'),
            b'{' if at > 0 && bytes[at - 1] == b'$' => {
                let is_subscript = open.last() == Some(&b']');
                open.push(b'}');
                if is_subscript {
                    let pairs = open.windows(2).filter(|pair| pair == b"]}").count();
                    if pairs > 2 {
                        return None;
                    }
                    cost += WAYS.pow(u32::try_from(pairs).unwrap_or(2)) / WAYS;
                }
            }
            b']' | b'}' if open.last() == Some(&byte) => {
                open.pop();
            }
            _ => {}
        }
    }
    Some(cost)
}

/// Returns true if brackets or keywords are nested so deep that the parser might not terminate. It may return true too often,
/// but never too rarely.
fn is_too_deep(text: &str) -> bool {
    let (mut depth, mut deepest) = (0_usize, 0_usize);
    for byte in text.bytes() {
        match byte {
            b'(' | b'{' | b'[' => depth += 1,
            b')' | b'}' | b']' => depth = depth.saturating_sub(1),
            _ => continue,
        }
        deepest = deepest.max(depth);
    }
    let (mut depth, mut deepest_keywords) = (0_usize, 0_usize);
    for word in text.split(|c: char| c.is_whitespace() || ";&|(){}".contains(c)) {
        match word {
            "if" | "while" | "until" | "for" | "case" | "do" | "then" | "elif" | "else" | "!" | "coproc"
            | "function" => {
                depth += 1;
            }
            "fi" | "done" | "esac" => depth = depth.saturating_sub(2),
            _ => continue,
        }
        deepest_keywords = deepest_keywords.max(depth);
    }
    deepest > DEEPEST_NESTING || deepest_keywords > DEEPEST_NESTING * 3
}

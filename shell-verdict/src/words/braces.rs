//! Braces: `{a,b}` and `{1..3}`, which are expanded before everything else.

use super::Unclear;
use crate::state::State;
use std::borrow::Cow;

/// Maximum number of words from one brace expansion.
const MAX: usize = 256;

/// Returns the words that a word expands to.
pub(super) fn expand<'w>(word: &'w str, state: &State<'_>) -> Result<Vec<Cow<'w, str>>, Unclear> {
    if !word.contains('{') {
        return Ok(vec![Cow::Borrowed(word)]);
    }
    let mut waiting = vec![word.to_owned()];
    let mut words: Vec<Cow<'_, str>> = Vec::new();
    while let Some(word) = waiting.pop() {
        match first(&word)? {
            // An empty result is not a word.
            None if word.is_empty() => {}
            None => words.push(Cow::Owned(word)),
            Some(Found { open, close, members }) => {
                // In their order, since the last that waits is the next.
                for member in members.iter().rev() {
                    waiting.push(format!("{}{member}{}", &word[..open], &word[close + 1..]));
                }
            }
        }
        // The time to read a word is proportional to its length.
        if waiting.len() + words.len() > MAX
            || !state.spend(1 + waiting.last().map_or(0, |word| word.len() / 256))
        {
            return Err("braces expand to too many words to be checked");
        }
    }
    Ok(words)
}

struct Found {
    open: usize,
    close: usize,
    members: Vec<String>,
}

/// The first braces that are expanded.
fn first(word: &str) -> Result<Option<Found>, Unclear> {
    let bytes = word.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            // At the beginning of a word, `{}` is literal.
            b'{' if at == 0 && bytes.get(1) == Some(&b'}') => at = 2,
            b'{' => {
                if let Some(found) = members(word, at)? {
                    return Ok(Some(found));
                }
                at += 1;
            }
            _ => at = past(bytes, at)?,
        }
    }
    Ok(None)
}

/// Returns the members of the braces that open here; `None` if they are only characters.
fn members(word: &str, open: usize) -> Result<Option<Found>, Unclear> {
    let bytes = word.as_bytes();
    let (mut at, mut depth, mut from) = (open + 1, 0_usize, open + 1);
    let mut members = Vec::new();
    while at < bytes.len() {
        match bytes[at] {
            b'{' => (depth, at) = (depth + 1, at + 1),
            b'}' if depth > 0 => (depth, at) = (depth - 1, at + 1),
            // Without a comma or dots before it, the brace is literal.
            b'}' if from == open + 1 && !word[from..at].contains("..") => at += 1,
            b'}' => {
                let inner = &word[open + 1..at];
                members.push(word[from..at].to_owned());
                let members = if members.len() > 1 { Some(members) } else { sequence(inner)? };
                return Ok(members.map(|members| Found { open, close: at, members }));
            }
            b',' if depth == 0 => {
                members.push(word[from..at].to_owned());
                (from, at) = (at + 1, at + 1);
            }
            _ => at = past(bytes, at)?,
        }
    }
    // If a brace is not closed, shells differ about those within it.
    if word[open + 1..].contains('{') { Err("a brace is not closed") } else { Ok(None) }
}

/// `1..3`, `01..12`, `a..z` and the same with steps, `1..9..2`; others are not worked out.
fn sequence(inner: &str) -> Result<Option<Vec<String>>, Unclear> {
    const OTHER: Unclear = "braces contain a sequence that is not expanded here";
    if !inner.contains("..") {
        return Ok(None);
    }
    let parts: Vec<&str> = inner.split("..").collect();
    let (first, last, step) = match parts[..] {
        [first, last] => (first, last, "1"),
        [first, last, step] => (first, last, step),
        _ => return Err(OTHER),
    };
    let number = |text: &str| -> Option<u32> {
        let is_plain = !text.is_empty() && text.len() < 6 && text.bytes().all(|byte| byte.is_ascii_digit());
        is_plain.then(|| text.parse().ok()).flatten()
    };
    // Between letters of both cases there are other characters.
    let letter = |text: &str| match text.as_bytes() {
        [letter] if letter.is_ascii_alphabetic() => Some(*letter),
        _ => None,
    };
    let step = number(step).filter(|step| *step > 0).ok_or(OTHER)?;
    let (from, to, is_letter) = match (number(first), number(last), letter(first), letter(last)) {
        (Some(from), Some(to), ..) => (from, to, false),
        (_, _, Some(from), Some(to)) if from.is_ascii_lowercase() == to.is_ascii_lowercase() => {
            (u32::from(from), u32::from(to), true)
        }
        _ => return Err(OTHER),
    };
    // Saves memory: `expand` refuses as many words, too. No test covers the exact limit.
    if from.abs_diff(to) as usize > MAX {
        return Err("braces expand to too many words to be checked");
    }
    let has_zeros = |text: &str| text.len() > 1 && text.starts_with('0');
    let width = if has_zeros(first) || has_zeros(last) { first.len().max(last.len()) } else { 0 };
    let word = |value: u32| match char::from_u32(value).filter(|_| is_letter) {
        Some(letter) => letter.to_string(),
        None => format!("{value:0width$}"),
    };
    let steps = (0..=from.abs_diff(to)).step_by(step as usize);
    // With equal ends there is one word, the same in both directions, so no test covers `<=` for them.
    let members = steps.map(|step| word(if from <= to { from + step } else { from - step }));
    Ok(Some(members.collect()))
}

/// Returns the position after the present character, quote or substitution.
fn past(bytes: &[u8], at: usize) -> Result<usize, Unclear> {
    let text = || std::str::from_utf8(bytes).expect("it came from a text");
    match bytes[at] {
        b'\\' => Ok(at + 2),
        b'\'' => {
            let end = bytes[at + 1..]
                .iter()
                .position(|byte| *byte == b'\'')
                .ok_or("a single quote is not closed")?;
            Ok(at + 1 + end + 1)
        }
        b'"' => Ok(super::skip::closing_quote(bytes, at)? + 1),
        b'`' => Err("something is substituted in a word with braces"),
        b'$' => match bytes.get(at + 1) {
            // No test covers the 1 before `{` and the one after `)`: the bracket itself has no meaning there.
            // `${…}` holds no braces that are expanded.
            Some(b'{') => Ok(super::skip::closing_brace(text(), at + 1, false)? + 1),
            Some(b'(') => Ok(super::skip::closing_parenthesis(text(), at + 1)? + 1),
            Some(b'\'') => Err("something is quoted with a dollar in a word with braces"),
            _ => Ok(at + 1),
        },
        _ => Ok(at + 1),
    }
}

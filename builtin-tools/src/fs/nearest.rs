//! Describes the text of a file that is most similar to one which was not found, and the differences.
//!
//! The text is shown to the model, so it must not be produced for a file that may not be read.

use super::fold::{self, Looseness};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt::Write as _;
use std::hash::{BuildHasher, RandomState};

/// Maximum number of lines of the text that are looked for.
const MAX_ASKED: usize = 2_000;
/// Maximum number of positions at which a repeated line is compared.
const MAX_REPEATED: usize = 4;
/// Maximum number of places that are weighed against each other.
const MAX_PLACES: usize = 100_000;
/// Maximum number of compared bytes of a line.
const MAX_COMPARED: usize = 400;
/// Minimum share of common text, in hundredths, for two lines to be similar.
const LEAST_SHARED: usize = 50;
/// Maximum number of shown lines that differ.
const MAX_SHOWN: usize = 4;
/// Maximum number of lines shown with their numbers.
const MAX_NUMBERED: usize = 12;
/// Maximum number of shown characters of a line.
const MAX_CHARACTERS: usize = 160;

/// Describes the text of the file that is most similar to `asked`, and the lines in which it differs; `None` if nothing
/// is similar.
pub(super) fn nearest(file: &[u8], asked: &str) -> Option<String> {
    let asked: Vec<&str> = asked.lines().take(MAX_ASKED).collect();
    let first = by_equal_lines(file, &asked).or_else(|| by_likeness(file, &asked))?;
    Some(describe(file, first, &asked))
}

/// Some lines of a file from one on, counted from 1, each with its number as `read` shows it.
pub(super) fn numbered(file: &[u8], first: usize, count: usize) -> String {
    let lines = lines(file).zip(1..).skip(first.saturating_sub(1)).take(count.clamp(1, MAX_NUMBERED));
    let lines: Vec<String> = lines.map(|(line, number)| format!("{number:>6}→{}", shown(line, 0))).collect();
    lines.join("\n")
}

/// Returns the line, counted from 0, at which most of the lines of `asked` are in their places, if they are a
/// substantial part of it.
fn by_equal_lines(file: &[u8], asked: &[&str]) -> Option<usize> {
    let hasher = RandomState::new();
    let key = |line: &[u8]| hasher.hash_one(&fold::fold(line, Looseness::Indentation)[..]);
    let mut wanted: HashMap<u64, Vec<usize>> = HashMap::new();
    let mut whole = 0;
    for (index, line) in asked.iter().enumerate() {
        let indexes = wanted.entry(key(line.as_bytes())).or_default();
        if indexes.len() < MAX_REPEATED {
            indexes.push(index);
        }
        whole += weight(line.as_bytes());
    }
    let mut places: HashMap<usize, usize> = HashMap::new();
    for (number, line) in lines(file).enumerate() {
        // A line longer than all requested ones cannot be equal.
        if line.len() > MAX_COMPARED * 8 || weight(line) == 0 {
            continue;
        }
        for first in
            wanted.get(&key(line)).into_iter().flatten().filter_map(|index| number.checked_sub(*index))
        {
            let is_full = places.len() >= MAX_PLACES;
            match places.entry(first) {
                Entry::Occupied(mut place) => *place.get_mut() += weight(line),
                Entry::Vacant(_) if is_full => {}
                Entry::Vacant(place) => {
                    place.insert(weight(line));
                }
            }
        }
    }
    let (first, shared) =
        places.into_iter().max_by_key(|&(first, weight)| (weight, std::cmp::Reverse(first)))?;
    (shared * 4 >= whole).then_some(first)
}

/// Returns how specific a line is: a closing bracket is not.
fn weight(line: &[u8]) -> usize {
    line.iter().filter(|byte| byte.is_ascii_alphanumeric() || !byte.is_ascii()).take(40).count()
}

/// The place of the longest line, by the line that shares most pairs of characters with it.
fn by_likeness(file: &[u8], asked: &[&str]) -> Option<usize> {
    let folded: Vec<Vec<u8>> =
        asked.iter().map(|line| fold::fold(line.as_bytes(), Looseness::Indentation)).collect();
    let (index, longest) = folded
        .iter()
        .enumerate()
        .max_by_key(|(index, line)| (line.len().min(MAX_COMPARED), std::cmp::Reverse(*index)))?;
    let wanted = &longest[..longest.len().min(MAX_COMPARED)];
    let mut pairs = vec![false; 1 << 16];
    let pair = |pair: &[u8]| usize::from(u16::from_be_bytes([pair[0], pair[1]]));
    wanted.windows(2).for_each(|two| pairs[pair(two)] = true);
    let mut best: Option<(usize, usize)> = None;
    for (number, line) in lines(file).enumerate() {
        let line = line.trim_ascii();
        let line = &line[..line.len().min(MAX_COMPARED)];
        let all = wanted.len().saturating_sub(1).max(line.len().saturating_sub(1));
        let shared = line.windows(2).filter(|two| pairs[pair(two)]).count();
        if all > 0 && shared * 100 >= all * LEAST_SHARED {
            let score = shared * 1_000 / all;
            if best.is_none_or(|(_, other)| score > other) {
                best = Some((number, score));
            }
        }
    }
    best.map(|(number, _)| number.saturating_sub(index))
}

/// The lines of a file without their endings and without its byte order mark.
fn lines(file: &[u8]) -> impl Iterator<Item = &[u8]> {
    let text = &file[fold::mark(file)..];
    text.split_inclusive(|&byte| byte == b'\n').map(|line| {
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        line.strip_suffix(b"\r").unwrap_or(line)
    })
}

fn describe(file: &[u8], first: usize, asked: &[&str]) -> String {
    let there: Vec<&[u8]> = lines(file).skip(first).take(asked.len()).collect();
    let last = first + there.len().max(1);
    let mut text = match first + 1 {
        line if line == last => format!("the nearest text is on line {line}"),
        line => format!("the nearest text is on lines {line} to {last}"),
    };
    let differ: Vec<usize> = (0..asked.len())
        .filter(|&index| there.get(index).is_none_or(|line| *line != asked[index].as_bytes()))
        .collect();
    if differ.is_empty() {
        text.push_str(", and differs in its line endings only");
    }
    for &index in differ.iter().take(MAX_SHOWN) {
        let _ = match there.get(index) {
            Some(line) => {
                let from = first_difference(line, asked[index].as_bytes());
                let how = difference(line, asked[index], from);
                write!(text, "\nline {} differs{how}:\n  there: {}\n", first + index + 1, shown(line, from))
            }
            None => writeln!(text, "\nthe file ends before line {}:", first + index + 1),
        };
        let asked = asked[index].as_bytes();
        let from = there.get(index).map_or(0, |line| first_difference(line, asked));
        let _ = write!(text, "  asked: {}", shown(asked, from));
    }
    if differ.len() > MAX_SHOWN {
        let _ = write!(text, "\n{} more lines differ", differ.len() - MAX_SHOWN);
    }
    text
}

/// Returns the offset of the first character in which two lines differ.
fn first_difference(one: &[u8], other: &[u8]) -> usize {
    let mut at = one.iter().zip(other).take_while(|(one, other)| one == other).count();
    let is_within = |line: &[u8], at: usize| line.get(at).is_some_and(|byte| matches!(byte, 0x80..=0xBF));
    while at > 0 && (is_within(one, at) || is_within(other, at)) {
        at -= 1;
    }
    at
}

/// Describes a difference of two lines that is hard to see.
fn difference(there: &[u8], asked: &str, from: usize) -> String {
    let same = |looseness| fold::fold(there, looseness) == fold::fold(asked.as_bytes(), looseness);
    if same(Looseness::Trailing) {
        return " in white space at its end".to_owned();
    }
    if same(Looseness::Unicode) {
        return " in typographic quotes, dashes or spaces".to_owned();
    }
    if same(Looseness::Indentation) {
        let (there, asked) = (indentation(there), indentation(asked.as_bytes()));
        return format!(" in indentation ({there} there, {asked} asked)");
    }
    let (indent, wanted) = (fold::indentation(there), fold::indentation(asked.as_bytes()));
    // If the request has none, it meant a part of a line.
    if wanted == 0 {
        let there = &there[indent..];
        return unlike(there, asked.as_bytes(), first_difference(there, asked.as_bytes()), indent);
    }
    if from <= indent.min(wanted) && there[..indent] != asked.as_bytes()[..wanted] {
        let (there, asked) = (indentation(there), indentation(asked.as_bytes()));
        return format!(" in indentation ({there} there, {asked} asked) and after it");
    }
    unlike(there, asked.as_bytes(), from, 0)
}

/// Describes where two lines begin to differ, if that is hard to see; `before` characters precede the first of them.
fn unlike(there: &[u8], asked: &[u8], from: usize, before: usize) -> String {
    let number = || before + String::from_utf8_lossy(&there[..from]).chars().count() + 1;
    let first = |line: &[u8]| String::from_utf8_lossy(&line[from..line.len().min(from + 4)]).chars().next();
    let (one, other) = (first(there), first(asked));
    let is_seen = |character: Option<char>| character.is_none_or(|character| character.is_ascii_graphic());
    if !is_seen(one) || !is_seen(other) {
        let (one, other) = (named(one), named(other));
        return format!(" at character {} ({one} there, {other} asked)", number());
    }
    if from > MAX_CHARACTERS / 2 {
        return format!(" from character {} on", number());
    }
    String::new()
}

/// Returns the name of a character that may look like another.
fn named(character: Option<char>) -> String {
    match character {
        None => "the end of the line".to_owned(),
        Some(' ') => "a space".to_owned(),
        Some('\t') => "a tab".to_owned(),
        Some(character) if character.is_ascii_graphic() => format!("`{character}`"),
        Some(character) => format!("U+{:04X}", u32::from(character)),
    }
}

fn indentation(line: &[u8]) -> String {
    let indent = &line[..fold::indentation(line)];
    let counted = |byte: u8, one: &str, many: &str| match memchr::memchr_iter(byte, indent).count() {
        0 => None,
        1 => Some(format!("1 {one}")),
        count => Some(format!("{count} {many}")),
    };
    match (counted(b'\t', "tab", "tabs"), counted(b' ', "space", "spaces")) {
        (None, None) => "none".to_owned(),
        (Some(tabs), Some(spaces)) => format!("{tabs} and {spaces}"),
        (Some(one), None) | (None, Some(one)) => one,
    }
}

/// Returns a line literally, cut around an offset.
fn shown(line: &[u8], around: usize) -> String {
    let around = around.min(line.len());
    let begins = |at: &usize| line.get(*at).is_none_or(|byte| !matches!(byte, 0x80..=0xBF));
    let start = match around.checked_sub(MAX_CHARACTERS / 2) {
        Some(start) if line.len() > MAX_CHARACTERS => (0..=start).rev().find(begins).unwrap_or(0),
        _ => 0,
    };
    let before = if start > 0 { "…" } else { "" };
    let line = String::from_utf8_lossy(&line[start..line.len().min(start + MAX_CHARACTERS * 4)]);
    match line.char_indices().nth(MAX_CHARACTERS) {
        Some((end, _)) => format!("{before}{}…", &line[..end]),
        None => format!("{before}{line}"),
    }
}

#[cfg(test)]
mod tests;

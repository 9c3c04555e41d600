//! The pieces of a word.

use super::MAX_LENGTH;
use std::ops::Range;

/// Maximum number of letters behind a dash that may be options without a value.
const MAX_CLUSTER: usize = 16;

/// Returns the positions in a word with one dash at which a value may begin, after the letters of its options.
pub(super) fn cluster(word: &str) -> impl Iterator<Item = usize> {
    // These begin a path, or a value.
    let is_option = |letter: &char| !matches!(letter, '.' | '/' | '~' | '$' | '=' | '-');
    let letters =
        word.char_indices().skip(1).take(MAX_CLUSTER).take_while(move |(_, letter)| is_option(letter));
    letters.map(|(at, letter)| at + letter.len_utf8()).filter(|at| *at < word.len())
}

/// Returns true if a text that could be a path may begin after this character.
fn separates(c: char) -> bool {
    is_hard(c) || is_soft(c) || matches!(c, '=' | '@' | '<' | '>' | '(' | '[' | '{' | '+' | '!')
}

/// Returns true if a text ends here in every notation.
fn is_hard(c: char) -> bool {
    c.is_whitespace() || matches!(c, '\'' | '"' | '`' | ')' | ']' | '}')
}

/// Returns true if a text ends here in a list of several.
fn is_soft(c: char) -> bool {
    matches!(c, ',' | ';' | ':' | '|' | '&' | '<' | '>')
}

/// Returns the ranges of a word that could be paths: each begins after a separator, and ends with the word, where a text ends in every
/// notation, or where it ends in a list.
pub(super) fn pieces(word: &str) -> impl Iterator<Item = Range<usize>> {
    let starts = word.char_indices().filter(|(_, c)| separates(*c)).map(|(at, c)| at + c.len_utf8());
    let starts = std::iter::once(0).chain(starts).filter(|start| *start < word.len());
    let ranges = starts.flat_map(move |start| {
        let rest = &word[start..word.floor_char_boundary(start + MAX_LENGTH)];
        let end = |ends: fn(char) -> bool| rest.find(ends).map(|length| start..start + length);
        let hard = end(is_hard);
        let soft = end(|c| is_hard(c) || is_soft(c));
        // A text from the beginning to the end is the word itself.
        let whole = (start > 0).then_some(start..word.len());
        [soft, hard, whole]
    });
    ranges.flatten().filter(|range| !range.is_empty() && range.len() <= MAX_LENGTH)
}

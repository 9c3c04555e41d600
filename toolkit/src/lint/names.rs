//! Checks names of tools: names that providers refuse, and names that are easily confused.

use super::Findings;
use crate::search::{all_stems_of, words_of};
use crate::tool::Tool;
use std::collections::HashMap;

/// The maximum length of a name that providers accept.
const LONGEST: usize = 64;
/// The minimum length of names, and of words in names, that are compared: shorter ones are different words if a letter
/// differs.
const SHORTEST_COMPARED: usize = 5;
/// Prefixes that give a word another meaning: `upload` is not `unload`.
const BEGINNINGS: &[&str] = &["de", "en", "ex", "im", "in", "on", "re", "un", "up"];
/// The maximum number of similar names that are compared pairwise.
const MAX_IN_SERIES: usize = 32;

pub(super) fn check(tool: &Tool, findings: &mut Findings) {
    if !is_taken(tool.name(), "_-") {
        let message = "providers take letters, digits, `_` and `-` in the name of a tool, at most 64; give it another one";
        findings.add("tool-name-refused", "name", message.to_owned());
    }
}

/// Returns true if every provider accepts the name.
pub(super) fn is_taken(name: &str, signs: &str) -> bool {
    let is_taken = |sign: char| sign.is_ascii_alphanumeric() || signs.contains(sign);
    !name.is_empty() && name.len() <= LONGEST && name.chars().all(is_taken)
}

/// Reports tools whose names are easily confused, at the second tool in the order of names.
pub(super) fn alike(tools: &[&Tool], findings: &mut Findings) {
    let mut tools: Vec<&Tool> = tools.to_vec();
    tools.sort_by(|one, other| one.name().cmp(other.name()));
    let names: Vec<&str> = tools.iter().map(|tool| tool.name()).collect();
    for (first, second) in pairs(&names) {
        findings.of(tools[second]);
        findings.add(
            "similar-names",
            "name",
            format!("it is easily mistaken for `{}`; choose names that show the difference", names[first]),
        );
    }
}

/// Returns the pairs of names that are too similar, as indices, with the first in the order of names first.
pub(super) fn pairs(names: &[&str]) -> Vec<(usize, usize)> {
    let folded: Vec<String> = names.iter().map(|name| fold(name)).collect();
    let mut pairs = Vec::new();
    // Names of the same words, in any order and form.
    let mut by_words: HashMap<Vec<String>, Vec<usize>> = HashMap::new();
    let mut by_letters: HashMap<&str, Vec<usize>> = HashMap::new();
    // Names that become the same when one letter is left out of either differ by one letter at most.
    let mut by_shorter: HashMap<String, Vec<usize>> = HashMap::new();
    for (number, name) in names.iter().enumerate() {
        let mut words = all_stems_of(name);
        words.sort_unstable();
        by_words.entry(words).or_default().push(number);
        by_letters.entry(&folded[number]).or_default().push(number);
        let letters: Vec<char> = folded[number].chars().take(LONGEST).collect();
        if letters.len() >= SHORTEST_COMPARED {
            by_shorter.entry(folded[number].clone()).or_default().push(number);
            for left_out in 0..letters.len() {
                let shorter =
                    letters.iter().enumerate().filter(|(at, _)| *at != left_out).map(|(_, letter)| letter);
                by_shorter.entry(shorter.collect()).or_default().push(number);
            }
        }
    }
    let near = |one: usize, other: usize| {
        let (one, other) = (&*folded[one], &*folded[other]);
        // Names that differ only in their last digit are a series, and so intended.
        let is_series = one.len() == other.len()
            && one
                .bytes()
                .zip(other.bytes())
                .filter(|(one, other)| one != other)
                .all(|(one, other)| one.is_ascii_digit() && other.is_ascii_digit());
        !is_series && strsim::damerau_levenshtein(one, other) <= 1
    };
    let is_slip = |one: usize, other: usize| is_slip(names[one], names[other]);
    let words = by_words.values().flat_map(|of| couples(of));
    let letters = by_letters.values().flat_map(|of| couples(of));
    let shorter = by_shorter.values().flat_map(|of| {
        let of = &of[..of.len().min(MAX_IN_SERIES)];
        of.iter().enumerate().flat_map(|(at, one)| of[at + 1..].iter().map(|other| (*one, *other)))
    });
    let shorter = shorter.filter(|(one, other)| one != other && near(*one, *other) && is_slip(*one, *other));
    for (one, other) in
        words.chain(letters).chain(shorter).filter(|(one, other)| names[*one] != names[*other])
    {
        pairs.push(if names[one] < names[other] { (one, other) } else { (other, one) });
    }
    pairs.sort_unstable();
    pairs.dedup();
    pairs
}

/// Returns true if one of two names that differ by a letter looks like a misspelling of the other, and not like another
/// word: `get_user` and `set_user` are two tools, but `gte_user` is a misspelling of `get_user`.
fn is_slip(one: &str, other: &str) -> bool {
    let (one_words, other_words) = (words_of(one), words_of(other));
    if one_words.len() != other_words.len() {
        return is_slip_of_word(&fold(one), &fold(other));
    }
    let differ = one_words.iter().zip(&other_words).filter(|(one, other)| one != other);
    differ.take(2).all(|(one, other)| is_slip_of_word(one, other))
}

fn is_slip_of_word(one: &str, other: &str) -> bool {
    let (one, other): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    let same = one.iter().zip(&other).take_while(|(one, other)| one == other).count();
    let is_short = one.len().max(other.len()) < SHORTEST_COMPARED;
    if one.len() != other.len() {
        // A misspelled word begins with the same letter; and an additional letter at the end makes a short word another
        // word.
        return same > 0 && !(is_short && same == one.len().min(other.len()));
    }
    let is_swapped = one.get(same) == other.get(same + 1) && one.get(same + 1) == other.get(same);
    let begins =
        |word: &[char]| BEGINNINGS.iter().any(|beginning| word.iter().copied().take(2).eq(beginning.chars()));
    is_swapped || !is_short && same > 0 && !(same < 2 && begins(&one) && begins(&other))
}

/// Pairs each name with the one before it, so that each of many similar names is reported once.
fn couples(numbers: &[usize]) -> impl Iterator<Item = (usize, usize)> {
    numbers.windows(2).map(|pair| (pair[0], pair[1])).filter(|(one, other)| one != other)
}

/// Returns the name in lower case and without separators.
pub(super) fn fold(name: &str) -> String {
    name.chars().filter(|sign| sign.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

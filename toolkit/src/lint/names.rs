//! Names: those that providers refuse, and those that are mistaken for one another.

use super::Findings;
use crate::search::{all_stems_of, words_of};
use crate::tool::Tool;
use std::collections::HashMap;

/// The longest name that providers take.
const LONGEST: usize = 64;
/// Shorter names, and shorter words of names, are different words when one letter is another.
const SHORTEST_COMPARED: usize = 5;
/// Beginnings that give a word another meaning: to upload is not to unload.
const BEGINNINGS: &[&str] = &["de", "en", "ex", "im", "in", "on", "re", "un", "up"];
/// How many names that are near to one another are compared each with each.
const MAX_IN_SERIES: usize = 32;

pub(super) fn check(tool: &Tool, findings: &mut Findings) {
    if !is_taken(tool.name(), "_-") {
        let message = "providers take letters, digits, `_` and `-` in the name of a tool, at most 64; give it another one";
        findings.add("tool-name-refused", "name", message.to_owned());
    }
}

/// Whether every provider takes the name.
pub(super) fn is_taken(name: &str, signs: &str) -> bool {
    let is_taken = |sign: char| sign.is_ascii_alphanumeric() || signs.contains(sign);
    !name.is_empty() && name.len() <= LONGEST && name.chars().all(is_taken)
}

/// Tools that are easily mistaken for one another. Told of the second in the order of names.
pub(super) fn alike(tools: &[&Tool], findings: &mut Findings) {
    let mut tools: Vec<&Tool> = tools.to_vec();
    tools.sort_by(|one, other| one.name().cmp(other.name()));
    let names: Vec<&str> = tools.iter().map(|tool| tool.name()).collect();
    for (first, second) in pairs(&names) {
        findings.of(tools[second]);
        findings.add(
            "similar-names",
            "name",
            format!("it is easily mistaken for `{}`; let the names say what is different", names[first]),
        );
    }
}

/// The pairs of names that are too alike, by their numbers, the first one's name before the other's.
pub(super) fn pairs(names: &[&str]) -> Vec<(usize, usize)> {
    let folded: Vec<String> = names.iter().map(|name| fold(name)).collect();
    let mut pairs = Vec::new();
    // Those of the same words, in whatever order and form.
    let mut by_words: HashMap<Vec<String>, Vec<usize>> = HashMap::new();
    let mut by_letters: HashMap<&str, Vec<usize>> = HashMap::new();
    // Those that become the same when one letter is left out of either are a letter apart at most.
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
        // A name that ends with another digit is one of a series, and so meant.
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

/// Whether of two names that are a letter apart one looks like a slip of the other, and not like another word: `get_user` and
/// `set_user` are two tools, `get_user` and `gte_user` are one and a slip.
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
        // Words begin alike where one is a slip; and a letter more at the end makes another word of a short one.
        return same > 0 && !(is_short && same == one.len().min(other.len()));
    }
    let is_swapped = one.get(same) == other.get(same + 1) && one.get(same + 1) == other.get(same);
    let begins =
        |word: &[char]| BEGINNINGS.iter().any(|beginning| word.iter().copied().take(2).eq(beginning.chars()));
    is_swapped || !is_short && same > 0 && !(same < 2 && begins(&one) && begins(&other))
}

/// Each with the one before it: of many that are alike each is told of once.
fn couples(numbers: &[usize]) -> impl Iterator<Item = (usize, usize)> {
    numbers.windows(2).map(|pair| (pair[0], pair[1])).filter(|(one, other)| one != other)
}

/// Lower case and without separators.
pub(super) fn fold(name: &str) -> String {
    name.chars().filter(|sign| sign.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

//! Finds similar words for a word that no tool has.

use super::segment::{Segment, Shape};
use std::cmp::Reverse;

/// Returns the maximum number of changes for a word: a short word with one letter changed is another word.
pub(super) fn most_changes(word: &str) -> u8 {
    match word.chars().count() {
        0..=3 => 0,
        4..=6 => 1,
        _ => 2,
    }
}

/// Returns the words of the index nearest to this one, with their distance and the number of tools that have them: only
/// those at the smallest distance, the most frequent first, at most four.
///
/// `count` returns the number of tools that have a word, among those that may be found.
pub(super) fn nearest_words<'a>(
    word: &str,
    segments: impl Iterator<Item = &'a Segment>,
    count: impl Fn(&str) -> usize,
) -> Vec<(String, u8)> {
    let (most, shape) = (most_changes(word), Shape::of(word));
    if most == 0 {
        return Vec::new();
    }
    let mut near: Vec<(u8, String)> = Vec::new();
    for segment in segments {
        for number in segment.maybe_near(shape, most) {
            let other = segment.word(number);
            // A misspelled first letter is rare, and would make every short word similar to many.
            let most = if other.chars().next() == word.chars().next() { most } else { most - 1 };
            if most == 0 {
                continue;
            }
            let distance = strsim::damerau_levenshtein(word, other);
            if let Some(distance) = u8::try_from(distance).ok().filter(|distance| *distance <= most) {
                near.push((distance, other.to_owned()));
            }
        }
    }
    near.sort_unstable();
    near.dedup();
    let mut near: Vec<(u8, Reverse<usize>, String)> = near
        .into_iter()
        .map(|(distance, other)| (distance, Reverse(count(&other)), other))
        .filter(|(_, Reverse(count), _)| *count > 0)
        .collect();
    near.sort_unstable();
    let nearest = near.first().map_or(0, |(distance, ..)| *distance);
    near.into_iter()
        .take_while(|(distance, ..)| *distance == nearest)
        .take(4)
        .map(|(distance, _, word)| (word, distance))
        .collect()
}

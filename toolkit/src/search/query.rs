//! Maps the words of a query to words of the index.

use super::near::{most_changes, nearest_words};
use super::scope::Scope;
use super::synonyms::{plain_verb, synonyms};
use super::words::{each_word, is_empty_word, stem_of};
use std::collections::HashSet;

/// The maximum number of words of a query that count.
const MAX_WORDS: usize = 32;
/// The maximum length of a query that is read, in bytes.
const MAX_BYTES: usize = 1_024;
/// The maximum number of longer words that a prefix stands for.
const MAX_LONGER: usize = 8;

/// The weight of a synonym.
const SYNONYM: f32 = 0.7;
/// The weight of a longer word that begins with the word, and of a shorter one that is its prefix.
const LONGER: f32 = 0.6;
/// The weights of a word with one change, and of a word with two.
const NEAR: [f32; 2] = [0.8, 0.5];

/// One word of a query, with the words of the index that it may mean.
#[derive(Debug)]
pub(super) struct Wanted {
    /// The words of the index, each once, with their weights; the weight of the word itself is 1.
    pub(super) readings: Vec<(String, f32)>,
}

/// Returns the words of a query with their possible meanings.
pub(super) fn wanted(query: &str, scope: &Scope<'_>) -> Vec<Wanted> {
    let mut words = Vec::new();
    each_word(&query[..query.floor_char_boundary(MAX_BYTES)], |word| {
        if words.len() < MAX_WORDS {
            words.push(word.to_owned());
        }
    });
    let words = with_plain_verbs(words);
    let full: Vec<String> = words.iter().filter(|word| !is_empty_word(word)).cloned().collect();
    // If a query has only insignificant words, they are used, because names contain such words too.
    let words = if full.is_empty() { words } else { full };
    let mut stems: Vec<String> = words.iter().map(|word| stem_of(word)).collect();
    // "web hook", if tools say "webhook".
    let joined = words.windows(2).map(|pair| stem_of(&pair.concat())).filter(|stem| scope.count(stem) > 0);
    let joined: Vec<String> = joined.collect();
    stems.extend(joined);
    let mut seen = HashSet::new();
    stems.retain(|stem| seen.insert(stem.clone()));
    stems.into_iter().flat_map(|stem| read(&stem, scope)).collect()
}

/// Replaces verbs of two words by a single verb.
fn with_plain_verbs(words: Vec<String>) -> Vec<String> {
    let mut plain: Vec<String> = Vec::with_capacity(words.len());
    for word in words {
        match plain.last_mut() {
            Some(before) if let Some(verb) = plain_verb(before, &word) => verb.clone_into(before),
            _ => plain.push(word),
        }
    }
    plain
}

/// Returns the meanings of one word: usually one, or two if the word is a compound.
fn read(stem: &str, scope: &Scope<'_>) -> Vec<Wanted> {
    let is_there = scope.count(stem) > 0;
    let mut readings = Readings::default();
    if is_there {
        readings.add(stem, 1.0);
    }
    for other in synonyms(stem).iter().filter(|other| scope.count(other) > 0) {
        readings.add(other, SYNONYM);
    }
    if stem.len() >= 3 {
        for longer in scope.beginning_with(stem, MAX_LONGER) {
            readings.add(&longer, LONGER);
        }
    }
    for (end, _) in stem.char_indices().skip(4) {
        if scope.count(&stem[..end]) > 0 {
            readings.add(&stem[..end], LONGER);
        }
    }
    // A word with synonyms is not treated as misspelled.
    if !is_there && synonyms(stem).is_empty() {
        if let Some(halves) = halves(stem, scope).filter(|_| readings.is_weak()) {
            return halves.map(Wanted::exactly).into();
        }
        if most_changes(stem) > 0 {
            for (near, changes) in nearest_words(stem, scope.segments(), |word| scope.count(word)) {
                let weight = NEAR[usize::from(changes.clamp(1, 2)) - 1];
                // The corrected word has synonyms too.
                for other in synonyms(&near).iter().filter(|other| scope.count(other) > 0) {
                    readings.add(other, weight * SYNONYM);
                }
                readings.add(&near, weight);
            }
        }
    }
    if readings.0.is_empty() { Vec::new() } else { vec![Wanted { readings: readings.0 }] }
}

/// Splits a compound into two words of the index, the most evenly sized ones.
fn halves(stem: &str, scope: &Scope<'_>) -> Option<[String; 2]> {
    let length = stem.len();
    let mut places: Vec<usize> =
        stem.char_indices().map(|(at, _)| at).filter(|at| *at >= 3 && length - at >= 3).collect();
    places.sort_by_key(|at| at.abs_diff(length - at));
    places.into_iter().find_map(|at| {
        let (first, second) = (stem_of(&stem[..at]), stem_of(&stem[at..]));
        (scope.count(&first) > 0 && scope.count(&second) > 0).then_some([first, second])
    })
}

impl Wanted {
    fn exactly(word: String) -> Self {
        Self { readings: vec![(word, 1.0)] }
    }
}

#[derive(Default)]
struct Readings(Vec<(String, f32)>);

impl Readings {
    /// Adds a meaning; of several with the same word, the highest weight counts.
    fn add(&mut self, word: &str, weight: f32) {
        match self.0.iter_mut().find(|(known, _)| known == word) {
            Some((_, known)) => *known = known.max(weight),
            None => self.0.push((word.to_owned(), weight)),
        }
    }

    fn is_weak(&self) -> bool {
        self.0.iter().all(|(_, weight)| *weight < 0.5)
    }
}

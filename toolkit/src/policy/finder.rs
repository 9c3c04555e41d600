//! Finds which of many patterns can match a name, in one pass over the name.

use super::entry::matches;
use aho_corasick::AhoCorasick;

/// Up to this number, patterns are tried one by one, because preparing a search takes longer than it saves.
const FEW: usize = 8;
/// Beyond this number, patterns are tried one by one too: a workspace file with thousands of patterns would make
/// preparing the search take many seconds, in the worst case proportional to the square of their number.
const MANY: usize = 1_000;

/// A prepared search for name patterns.
#[derive(Debug, Default)]
pub(super) struct Finder {
    /// The longest text without a star of each pattern.
    literals: Option<AhoCorasick>,
    /// The index of the pattern for each literal.
    places: Vec<usize>,
    /// The indices of patterns that must always be tried.
    others: Vec<usize>,
}

impl Finder {
    /// Prepares a search for patterns, each with its index.
    pub(super) fn new<'a>(patterns: impl Iterator<Item = (usize, &'a str)>) -> Self {
        let longest = |pattern: &'a str| pattern.split('*').max_by_key(|text| text.len()).unwrap_or_default();
        let literals: Vec<_> = patterns.map(|(place, pattern)| (place, longest(pattern))).collect();
        let is_worth_it = (FEW..=MANY).contains(&literals.len());
        let (found, others): (Vec<_>, Vec<_>) =
            literals.into_iter().partition(|(_, literal)| is_worth_it && !literal.is_empty());
        let places: Vec<usize> = found.iter().map(|(place, _)| *place).collect();
        let mut others: Vec<usize> = others.into_iter().map(|(place, _)| place).collect();
        let literals =
            (!found.is_empty()).then(|| AhoCorasick::new(found.iter().map(|(_, literal)| literal)));
        let literals = literals.and_then(Result::ok);
        if literals.is_none() {
            // Too many patterns for a prepared search: each is tried.
            others.extend(&places);
        }
        Self { literals, places, others }
    }

    /// Calls back with the index of each pattern that matches, some of them more than once.
    pub(super) fn find<'a>(
        &self,
        text: &str,
        pattern: impl Fn(usize) -> Option<&'a str>,
        mut found: impl FnMut(usize),
    ) {
        let mut check = |place: usize| {
            if pattern(place).is_some_and(|pattern| matches(pattern, text)) {
                found(place);
            }
        };
        self.others.iter().for_each(|place| check(*place));
        if let Some(literals) = &self.literals {
            let candidates = literals.find_overlapping_iter(text);
            candidates.for_each(|candidate| check(self.places[candidate.pattern().as_usize()]));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn it_finds_what_matches_and_nothing_else() {
        let all = ["*", "re*", "*ad", "r*d", "*ea*", "a*ea*", "**", "read*", "*x", "re*x*", "ea*"];
        for patterns in [&all[..], &all[1..FEW], &all[..0]] {
            let finder = Finder::new(patterns.iter().copied().enumerate());
            for text in ["read", "area", "ad", "", "x", "rex", "reread", "nothing"] {
                let mut found = BTreeSet::new();
                finder.find(
                    text,
                    |place| Some(patterns[place]),
                    |place| {
                        found.insert(place);
                    },
                );
                let expected = (0..patterns.len()).filter(|place| matches(patterns[*place], text));
                assert_eq!(found, expected.collect(), "{text}");
            }
        }
    }

    #[test]
    fn so_many_that_each_is_tried_are_found_too() {
        for count in [MANY, MANY + 1] {
            let patterns: Vec<String> = (0..count).map(|number| format!("*a{number}")).collect();
            let finder = Finder::new(patterns.iter().map(String::as_str).enumerate());
            assert_eq!(finder.literals.is_some(), count == MANY);
            let mut found = BTreeSet::new();
            let pattern = |place: usize| Some(patterns[place].as_str());
            finder.find("aba77", pattern, |place| {
                found.insert(place);
            });
            assert_eq!(found, BTreeSet::from([77]), "{count}");
        }
    }

    #[test]
    fn what_is_left_out_is_not_found() {
        let finder = Finder::new([(0, "*"), (1, "r*")].into_iter());
        finder.find("read", |place| (place == 1).then_some("r*"), |place| assert_eq!(place, 1));
        let many = Finder::new((0..FEW).map(|place| (place, "r*")));
        let mut found = Vec::new();
        many.find("read", |place| (place == 3).then_some("r*"), |place| found.push(place));
        assert_eq!(found, [3]);
    }
}

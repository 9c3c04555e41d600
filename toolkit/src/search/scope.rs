//! The scope of a search: the tools of one toolbox, from all segments.

use super::segment::Segment;
use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

/// Marks a document that is not a tool in the scope.
pub(super) const NOWHERE: u32 = u32::MAX;

/// A segment, with the index in the toolbox of each of its documents.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) segment: Arc<Segment>,
    pub(super) places: Vec<u32>,
}

/// The scope of a search. Tools outside of it influence neither the results nor their order.
pub(super) struct Scope<'a> {
    pub(super) parts: &'a [Part],
    /// The number of tools.
    pub(super) tools: usize,
    counts: RefCell<HashMap<String, usize>>,
}

impl<'a> Scope<'a> {
    pub(super) fn of(parts: &'a [Part], tools: usize) -> Self {
        Self { parts, tools, counts: RefCell::default() }
    }

    /// Returns the number of tools that have this word.
    pub(super) fn count(&self, word: &str) -> usize {
        if let Some(count) = self.counts.borrow().get(word) {
            return *count;
        }
        let count = self.parts.iter().map(|part| part.count(word)).sum();
        self.counts.borrow_mut().insert(word.to_owned(), count);
        count
    }

    /// Returns the shortest words with this prefix, except the prefix itself.
    pub(super) fn beginning_with(&self, beginning: &str, most: usize) -> Vec<String> {
        let mut longer: Vec<(usize, &str)> = self
            .parts
            .iter()
            .flat_map(|part| {
                let segment = &part.segment;
                segment.beginning_with(beginning).map(move |number| segment.word(number))
            })
            .filter(|word| word.len() > beginning.len())
            .map(|word| (word.len(), word))
            .collect();
        longer.sort_unstable();
        longer.dedup();
        longer
            .into_iter()
            .filter(|(_, word)| self.count(word) > 0)
            .take(most)
            .map(|(_, word)| word.to_owned())
            .collect()
    }

    pub(super) fn segments(&self) -> impl Iterator<Item = &Segment> {
        self.parts.iter().map(|part| &*part.segment)
    }
}

impl Part {
    fn count(&self, word: &str) -> usize {
        let Some(number) = self.segment.number_of(word) else { return 0 };
        let is_there = |document: u32| self.places[document as usize] != NOWHERE;
        self.segment.postings(number).iter().filter(|posting| is_there(posting.document)).count()
    }
}

//! What a search may find: the tools of one toolbox, wherever they are indexed.

use super::segment::Segment;
use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

/// Says of a document that it is no tool that may be found.
pub(super) const NOWHERE: u32 = u32::MAX;

/// A segment, with the place in the toolbox of each of its documents.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) segment: Arc<Segment>,
    pub(super) places: Vec<u32>,
}

/// What a search may find. It knows of no other tool: neither what is found nor in which order depends on one.
pub(super) struct Scope<'a> {
    pub(super) parts: &'a [Part],
    /// How many tools there are.
    pub(super) tools: usize,
    counts: RefCell<HashMap<String, usize>>,
}

impl<'a> Scope<'a> {
    pub(super) fn of(parts: &'a [Part], tools: usize) -> Self {
        Self { parts, tools, counts: RefCell::default() }
    }

    /// How many tools have this word.
    pub(super) fn count(&self, word: &str) -> usize {
        if let Some(count) = self.counts.borrow().get(word) {
            return *count;
        }
        let count = self.parts.iter().map(|part| part.count(word)).sum();
        self.counts.borrow_mut().insert(word.to_owned(), count);
        count
    }

    /// The shortest words that begin so, but for the beginning itself.
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

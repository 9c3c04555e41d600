//! An immutable index from words to tools.

use super::document::{Document, MAX_WORDS};
use super::words::{each_word, stem_of};
use crate::tool::{Tool, WeakTool};
use foldhash::fast::RandomState;
use std::collections::HashMap;

/// The maximum number of different words: a larger number can only come from an attack.
const MAX_STEMS: usize = 500_000;

/// The occurrence of a word in a tool.
#[derive(Debug, Clone, Copy)]
pub(super) struct Posting {
    pub(super) document: u32,
    /// The weight of the word in the tool.
    pub(super) weight: f32,
}

/// A summary of a word, to rule out quickly that another word is similar.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape {
    length: u8,
    /// One bit for each letter in the word.
    letters: u32,
}

impl Shape {
    pub(super) fn of(word: &str) -> Self {
        let letters = word.chars().fold(0, |letters, sign| letters | 1 << (u32::from(sign) % 32));
        Self { length: u8::try_from(word.chars().count()).unwrap_or(u8::MAX), letters }
    }

    /// Returns true if this number of changes may lead from one to the other. Each change affects two letters at most.
    pub(super) fn may_be_near(self, other: Self, changes: u8) -> bool {
        self.length.abs_diff(other.length) <= changes
            && (self.letters ^ other.letters).count_ones() <= 2 * u32::from(changes)
    }
}

/// An indexed tool.
#[derive(Debug)]
pub(super) struct Indexed {
    name: Box<str>,
    tool: WeakTool,
}

impl Indexed {
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Returns true if it is exactly this tool.
    pub(super) fn is(&self, tool: &Tool) -> bool {
        self.tool.is(tool)
    }
}

/// The words of some tools. It does not keep the tools alive.
#[derive(Debug, Default)]
pub(super) struct Segment {
    documents: Vec<Indexed>,
    /// The words, sorted.
    words: Vec<Box<str>>,
    shapes: Vec<Shape>,
    /// The start of the postings of each word; one more entry than there are words.
    starts: Vec<u32>,
    postings: Vec<Posting>,
}

impl Segment {
    /// Builds a segment of these tools, in this order. A tool with an invalid schema is found by its other texts.
    pub(super) fn build<'a>(tools: impl IntoIterator<Item = &'a Tool>) -> Self {
        let mut builder = Builder::default();
        let documents: Vec<Indexed> = tools
            .into_iter()
            .zip(0..)
            .map(|(tool, number)| {
                builder.add(number, tool);
                Indexed { name: tool.name().into(), tool: tool.downgrade() }
            })
            .collect();
        builder.finish(documents)
    }

    pub(super) fn documents(&self) -> &[Indexed] {
        &self.documents
    }

    pub(super) fn word(&self, number: usize) -> &str {
        &self.words[number]
    }

    pub(super) fn number_of(&self, word: &str) -> Option<usize> {
        self.words.binary_search_by(|other| (**other).cmp(word)).ok()
    }

    /// Returns the words with this prefix, in order.
    pub(super) fn beginning_with(&self, beginning: &str) -> impl Iterator<Item = usize> {
        let first = self.words.partition_point(|word| &**word < beginning);
        (first..self.words.len()).take_while(move |number| self.words[*number].starts_with(beginning))
    }

    /// Returns the words that may be reached with this number of changes.
    pub(super) fn maybe_near(&self, shape: Shape, changes: u8) -> impl Iterator<Item = usize> {
        let near =
            move |(number, other): (usize, &Shape)| shape.may_be_near(*other, changes).then_some(number);
        self.shapes.iter().enumerate().filter_map(near)
    }

    pub(super) fn postings(&self, number: usize) -> &[Posting] {
        &self.postings[self.starts[number] as usize..self.starts[number + 1] as usize]
    }
}

/// Builds a segment, with numbers for words.
#[derive(Default)]
struct Builder {
    /// The number of each stem.
    stems: HashMap<Box<str>, u32, RandomState>,
    /// The number of the stem of each word form, so that each is computed once.
    forms: HashMap<Box<str>, u32, RandomState>,
    postings: Vec<Vec<Posting>>,
    /// The weight of each word in the tool that is being added.
    counts: Vec<(u32, f32)>,
}

impl Builder {
    fn add(&mut self, document: u32, tool: &Tool) {
        let mut counts = std::mem::take(&mut self.counts);
        let mut left = MAX_WORDS;
        Document(tool).each_text(|field, text| {
            let first = counts.len();
            each_word(text, |word| {
                if left > 0
                    && !field.leaves_out(word)
                    && let Some(number) = self.number(word)
                {
                    left -= 1;
                    counts.push((number, 0.0));
                }
            });
            let weight = field.weight(counts.len() - first);
            counts[first..].iter_mut().for_each(|(_, count)| *count = weight);
        });
        counts.sort_unstable_by(|one, other| one.0.cmp(&other.0).then(one.1.total_cmp(&other.1)));
        for of_word in counts.chunk_by(|one, other| one.0 == other.0) {
            let weight = of_word.iter().map(|(_, weight)| weight).sum();
            self.postings[of_word[0].0 as usize].push(Posting { document, weight });
        }
        counts.clear();
        self.counts = counts;
    }

    /// Returns the number of a word's stem; `None` if there are too many.
    fn number(&mut self, word: &str) -> Option<u32> {
        if let Some(number) = self.forms.get(word) {
            return Some(*number);
        }
        if self.forms.len() >= MAX_STEMS {
            return None;
        }
        let stem = stem_of(word);
        let number = match self.stems.get(&*stem) {
            Some(number) => *number,
            None => {
                let number = u32::try_from(self.postings.len()).ok()?;
                self.postings.push(Vec::new());
                self.stems.insert(stem.into_boxed_str(), number);
                number
            }
        };
        self.forms.insert(word.into(), number);
        Some(number)
    }

    fn finish(self, documents: Vec<Indexed>) -> Segment {
        let mut words: Vec<(Box<str>, u32)> = self.stems.into_iter().collect();
        words.sort_unstable();
        let mut segment = Segment { documents, starts: vec![0], ..Segment::default() };
        for (word, number) in words {
            segment.shapes.push(Shape::of(&word));
            segment.words.push(word);
            segment.postings.extend_from_slice(&self.postings[number as usize]);
            segment.starts.push(u32::try_from(segment.postings.len()).unwrap_or(u32::MAX));
        }
        segment.postings.shrink_to_fit();
        segment
    }
}

//! Which words stand in which tools: an index that never changes.

use super::document::{Document, MAX_WORDS};
use super::words::{each_word, stem_of};
use crate::tool::{Tool, WeakTool};
use foldhash::fast::RandomState;
use std::collections::HashMap;

/// How many words are told apart: whoever sends more of them than a language has means harm.
const MAX_STEMS: usize = 500_000;

/// That a word stands in a tool.
#[derive(Debug, Clone, Copy)]
pub(super) struct Posting {
    pub(super) document: u32,
    /// How much of the tool it is about.
    pub(super) weight: f32,
}

/// How a word looks, to tell quickly that another cannot be near it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape {
    length: u8,
    /// One bit for each letter that is in it.
    letters: u32,
}

impl Shape {
    pub(super) fn of(word: &str) -> Self {
        let letters = word.chars().fold(0, |letters, sign| letters | 1 << (u32::from(sign) % 32));
        Self { length: u8::try_from(word.chars().count()).unwrap_or(u8::MAX), letters }
    }

    /// Whether so few changes may lead from one to the other. Each changes two letters at most.
    pub(super) fn may_be_near(self, other: Self, changes: u8) -> bool {
        self.length.abs_diff(other.length) <= changes
            && (self.letters ^ other.letters).count_ones() <= 2 * u32::from(changes)
    }
}

/// A tool that was indexed.
#[derive(Debug)]
pub(super) struct Indexed {
    name: Box<str>,
    tool: WeakTool,
}

impl Indexed {
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Whether it is this very tool.
    pub(super) fn is(&self, tool: &Tool) -> bool {
        self.tool.is(tool)
    }
}

/// The words of some tools. It keeps no tool alive.
#[derive(Debug, Default)]
pub(super) struct Segment {
    documents: Vec<Indexed>,
    /// Sorted.
    words: Vec<Box<str>>,
    shapes: Vec<Shape>,
    /// Where the postings of a word begin; one more than there are words.
    starts: Vec<u32>,
    postings: Vec<Posting>,
}

impl Segment {
    /// Of these tools, in this order. A tool whose types state a schema that is not valid is found by its other texts.
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

    /// The words that begin so, in order.
    pub(super) fn beginning_with(&self, beginning: &str) -> impl Iterator<Item = usize> {
        let first = self.words.partition_point(|word| &**word < beginning);
        (first..self.words.len()).take_while(move |number| self.words[*number].starts_with(beginning))
    }

    /// The words to which so few changes may lead.
    pub(super) fn maybe_near(&self, shape: Shape, changes: u8) -> impl Iterator<Item = usize> {
        let near =
            move |(number, other): (usize, &Shape)| shape.may_be_near(*other, changes).then_some(number);
        self.shapes.iter().enumerate().filter_map(near)
    }

    pub(super) fn postings(&self, number: usize) -> &[Posting] {
        &self.postings[self.starts[number] as usize..self.starts[number + 1] as usize]
    }
}

/// Words by number as they come.
#[derive(Default)]
struct Builder {
    /// The number of each stem.
    stems: HashMap<Box<str>, u32, RandomState>,
    /// The number of the stem of each form that was met, so that each is worked out once.
    forms: HashMap<Box<str>, u32, RandomState>,
    postings: Vec<Vec<Posting>>,
    /// What the tool that is being added has of each word.
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

    /// The number of a word's stem; none where there are too many.
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

//! Searches tools by their purpose, and ranks them by relevance to a query.
//!
//! ```text
//! words      a text falls into words, words into stems
//! document   the texts of a tool: name, groups, description, parameters
//! segment    which stems stand in which tools
//! scope      what one toolbox may find of it
//! query      what is asked for: the words, their synonyms, beginnings, and what is meant by a slip
//! rank       which tools have most of it
//! ```
//!
//! A toolkit has one segment, which is built at the first search and reused while few tools are added or removed; tools
//! of a toolbox only are in a small segment of that toolbox.

mod document;
mod near;
mod query;
mod rank;
mod scope;
mod segment;
mod stem;
mod synonyms;
mod words;

use crate::tool::Tool;
use scope::{NOWHERE, Part, Scope};
use segment::{Indexed, Segment};
use std::cmp::Ordering;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// Returns the words of a text.
pub(crate) fn words_of(text: &str) -> Vec<String> {
    let mut all = Vec::new();
    words::each_word(text, |word| all.push(word.to_owned()));
    all
}

/// Returns the stems of all words of a text.
pub(crate) fn all_stems_of(text: &str) -> Vec<String> {
    words_of(text).iter().map(|word| words::stem_of(word)).collect()
}

/// Returns the stems of the significant words of a text.
pub(crate) fn stems_of(text: &str) -> Vec<String> {
    words_of(text)
        .iter()
        .filter(|word| !words::is_empty_word(word))
        .map(|word| words::stem_of(word))
        .collect()
}

/// The number of added tools after which the toolkit's segment is rebuilt.
const MAX_NEW: usize = 256;

/// The segment of a toolkit's tools, once a search has built it.
#[derive(Default)]
pub(crate) struct SharedSegment(Mutex<Option<Arc<Segment>>>);

impl fmt::Debug for SharedSegment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedSegment").finish_non_exhaustive()
    }
}

impl SharedSegment {
    /// Returns a segment that has most of these tools, which are sorted by name.
    fn of(&self, tools: &[Tool]) -> Arc<Segment> {
        let mut shared = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(segment) = &*shared {
            let known = places(segment, tools).iter().filter(|place| **place != NOWHERE).count();
            let gone = segment.documents().len() - known;
            if tools.len() - known <= MAX_NEW && gone <= known.max(MAX_NEW) {
                return Arc::clone(segment);
            }
        }
        let segment = Arc::new(Segment::build(tools));
        *shared = Some(Arc::clone(&segment));
        segment
    }
}

/// Returns the index in `tools` of each document of a segment; both are sorted by name.
fn places(segment: &Segment, tools: &[Tool]) -> Vec<u32> {
    let mut at = 0;
    let place = |document: &Indexed| {
        loop {
            let tool = tools.get(at)?;
            // Most are identical, which is quick to check. A changed tool is another tool of the same name.
            if document.is(tool) {
                at += 1;
                return Some(at - 1);
            }
            match tool.name().cmp(document.name()) {
                Ordering::Less => at += 1,
                Ordering::Equal | Ordering::Greater => return None,
            }
        }
    };
    let places = segment.documents().iter().map(place);
    places.map(|place| place.and_then(|place| u32::try_from(place).ok()).unwrap_or(NOWHERE)).collect()
}

/// The index for the searches of one toolbox.
#[derive(Debug)]
pub(crate) struct Searched {
    parts: Vec<Part>,
    /// The number of tools that may be found.
    found: usize,
}

impl Searched {
    /// Creates the index for the tools of a toolbox at the indices that may be found; `all` are the toolkit's tools.
    pub(crate) fn new(
        shared: &SharedSegment,
        all: &[Tool],
        tools: &[Tool],
        may_be_found: impl Fn(usize) -> bool,
    ) -> Self {
        let segment = shared.of(all);
        let known = places(&segment, tools);
        let mut is_known = vec![false; tools.len()];
        known.iter().filter(|place| **place != NOWHERE).for_each(|place| is_known[*place as usize] = true);
        let mut places = known;
        for place in &mut places {
            if *place != NOWHERE && !may_be_found(*place as usize) {
                *place = NOWHERE;
            }
        }
        let mut parts = vec![Part { segment, places }];
        // Tools that may not be found are not used at all.
        let own: Vec<usize> =
            (0..tools.len()).filter(|place| !is_known[*place] && may_be_found(*place)).collect();
        if !own.is_empty() {
            let segment = Arc::new(Segment::build(own.iter().map(|place| &tools[*place])));
            let places = own.into_iter().map(|place| u32::try_from(place).unwrap_or(NOWHERE)).collect();
            parts.push(Part { segment, places });
        }
        let found = parts.iter().flat_map(|part| &part.places).filter(|place| **place != NOWHERE).count();
        Self { parts, found }
    }

    /// Returns the indices of the most relevant tools, with their scores; of equally relevant tools, the first by name
    /// comes first.
    pub(crate) fn search(&self, query: &str, tools: &[Tool], limit: usize) -> Vec<(usize, f32)> {
        let scope = Scope::of(&self.parts, self.found);
        let wanted = query::wanted(query, &scope);
        let mut scores = rank::ranked(&wanted, &scope, tools.len());
        let order = |one: &(u32, f32), other: &(u32, f32)| -> Ordering {
            // Tools are sorted by name.
            other.1.total_cmp(&one.1).then(one.0.cmp(&other.0))
        };
        if scores.len() > limit && limit > 0 {
            scores.select_nth_unstable_by(limit - 1, order);
        }
        scores.truncate(limit);
        scores.sort_unstable_by(order);
        scores.into_iter().map(|(place, score)| (place as usize, score)).collect()
    }
}

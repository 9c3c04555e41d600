//! Refs: short names of elements, as a snapshot shows them.

use std::collections::HashMap;

/// An element that a snapshot showed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Node {
    pub(super) session: String,
    /// The frame that it is in.
    pub(super) frame: String,
    pub(super) backend: i64,
    /// Role and name, for messages.
    pub(super) description: String,
}

/// Refs of the document of a tab. An element keeps its ref as long as the document lasts; a number is never used again.
#[derive(Debug, Default)]
pub(super) struct Refs {
    last: u32,
    nodes: HashMap<u32, Node>,
    numbers: HashMap<(String, i64), u32>,
}

impl Refs {
    /// The ref of an element: `e5`.
    pub(super) fn name(&mut self, node: Node) -> String {
        let key = (node.session.clone(), node.backend);
        let number = *self.numbers.entry(key).or_insert_with(|| {
            self.last += 1;
            self.last
        });
        self.nodes.insert(number, node);
        format!("e{number}")
    }

    pub(super) fn get(&self, name: &str) -> Option<&Node> {
        self.nodes.get(&number(name)?)
    }

    /// True for a ref that an earlier document had.
    pub(super) fn is_old(&self, name: &str) -> bool {
        number(name).is_some_and(|number| number <= self.last)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    pub(super) fn clear(&mut self) {
        self.nodes.clear();
        self.numbers.clear();
    }
}

/// The number of a ref. Models write it in several ways.
fn number(name: &str) -> Option<u32> {
    let name = name.trim().trim_start_matches('[').trim_end_matches(']');
    let name = name.strip_prefix("ref=").unwrap_or(name).trim_start_matches('@');
    name.strip_prefix('e').and_then(|number| number.parse().ok()).filter(|number| *number > 0)
}

//! The directories of a tree.

use super::levels::Levels;
use super::listing::Listing;
use std::path::PathBuf;

/// A directory of a tree. Nodes are in the order of the walk: each after the one that contains it.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) path: PathBuf,
    /// Index of the directory that contains it.
    pub(super) parent: Option<usize>,
    /// Decisions about the directory with all that it contains.
    pub(super) levels: Levels,
    pub(super) listing: Listing,
    /// The directories within, by their index among the directories of the listing.
    pub(super) within: Vec<Option<usize>>,
}

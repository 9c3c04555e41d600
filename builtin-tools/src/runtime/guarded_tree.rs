//! The guarded paths below a directory: all that a sandboxed command must not read or write there without approval.
//!
//! A tree is walked once in a process. Later, only directories that have changed are listed again: creating, removing or renaming an
//! entry changes the times of its directory.

mod levels;
mod listing;
mod marks;
mod node;

pub(super) use listing::OF_TOOLS;
pub(super) use marks::Guarded;

use levels::Levels;
use listing::{Listing, Stamp};
use marks::emit;
use node::Node;
use std::collections::HashMap;
use std::ffi::OsStr;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use toolkit::permission::PathRules;

/// Maximum number of entries of one tree.
const MAX_ENTRIES: usize = 1_000_000;
/// Maximum number of paths of one tree that are masked individually.
const MAX_FOUND: usize = 5_000;
/// Maximum number of trees that are remembered.
const MAX_TREES: usize = 8;

/// The limits of a walk.
#[derive(Debug, Clone, Copy)]
struct Limits {
    entries: usize,
    found: usize,
}

/// A tree as it was last seen.
#[derive(Debug, Default)]
struct Tree {
    nodes: Vec<Node>,
    /// The result for these nodes.
    guarded: Option<Arc<Guarded>>,
}

/// A tree with the rules that it was examined by.
struct Known {
    root: PathBuf,
    rules: PathRules,
    tree: Arc<Mutex<Tree>>,
}

/// Returns the guarded paths below a directory, which is a real path. Blocks while it examines directories that have changed.
pub(super) fn guarded(root: &Path, rules: &PathRules) -> Arc<Guarded> {
    let limits = Limits { entries: MAX_ENTRIES, found: MAX_FOUND };
    let tree = tree_of(root, rules);
    let mut tree = tree.lock().unwrap_or_else(PoisonError::into_inner);
    tree.guarded(root, rules, limits)
}

/// Returns the remembered tree, the one used last at the end.
fn tree_of(root: &Path, rules: &PathRules) -> Arc<Mutex<Tree>> {
    static KNOWN: LazyLock<Mutex<Vec<Known>>> = LazyLock::new(Mutex::default);
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let is_meant = |known: &Known| known.root == root && known.rules.is_same(rules);
    let found = match known.iter().position(is_meant) {
        Some(at) => known.remove(at),
        None => Known { root: root.to_owned(), rules: rules.clone(), tree: Arc::default() },
    };
    if known.len() >= MAX_TREES {
        known.remove(0);
    }
    let tree = Arc::clone(&found.tree);
    known.push(found);
    tree
}

/// A directory that the walk has still to see.
struct Waiting {
    path: PathBuf,
    parent: Option<usize>,
    /// Index among the directories of the one that contains it.
    place: usize,
    levels: Levels,
    is_of_tools: bool,
    /// Index of the same directory in the tree as it was.
    before: Option<usize>,
}

impl Tree {
    fn guarded(&mut self, root: &Path, rules: &PathRules, limits: Limits) -> Arc<Guarded> {
        let (is_changed, known) = self.refresh(root, rules, limits);
        let is_same = !is_changed && known.is_ok() && !marks::has_links(&self.nodes);
        if let Some(guarded) = self.guarded.as_ref().filter(|_| is_same) {
            return Arc::clone(guarded);
        }
        let guarded = Arc::new(emit(&self.nodes, rules, limits.found, known));
        self.guarded = Some(Arc::clone(&guarded));
        guarded
    }

    /// Brings the nodes up to date. Returns true if something has changed, and whether all directories could be examined.
    fn refresh(&mut self, root: &Path, rules: &PathRules, limits: Limits) -> (bool, Result<(), String>) {
        let mut old: Vec<Option<Node>> = std::mem::take(&mut self.nodes).into_iter().map(Some).collect();
        let (mut is_changed, mut complete, mut entries) = (old.is_empty(), Ok(()), 0_usize);
        let first = Waiting {
            path: root.to_owned(),
            parent: None,
            place: 0,
            levels: Levels::of_root(rules, root),
            is_of_tools: false,
            before: (!old.is_empty()).then_some(0),
        };
        let mut waiting = vec![first];
        while let Some(next) = waiting.pop() {
            let before = next.before.and_then(|before| old[before].take());
            let stamp = match Stamp::of(&next.path) {
                Ok(stamp) => stamp,
                Err(error) => {
                    is_changed = true;
                    match (error.kind(), next.parent) {
                        (kind, _) if is_gone(kind) => {}
                        // Its owner could open it.
                        (ErrorKind::PermissionDenied, Some(parent)) => {
                            self.nodes[parent].listing.is_closed = true;
                        }
                        _ => complete = complete.and(Err(unlisted(&next.path, &error))),
                    }
                    continue;
                }
            };
            let node = match before {
                Some(node) if node.levels == next.levels && node.listing.is_current(&stamp) => node,
                before => {
                    is_changed = true;
                    let left = limits.entries.saturating_sub(entries);
                    let listed = Listing::of(&next.path, stamp, rules, next.levels, next.is_of_tools, left);
                    let listing = match listed {
                        Ok(listing) => listing,
                        Err(error) if is_gone(error.kind()) => continue,
                        Err(error) => {
                            complete = complete.and(Err(unlisted(&next.path, &error)));
                            continue;
                        }
                    };
                    let within = reused(before.as_ref(), &listing);
                    Node { path: next.path.clone(), parent: None, levels: next.levels, listing, within }
                }
            };
            entries += node.listing.entries;
            let is_over = node.listing.is_cut || entries > limits.entries;
            if is_over {
                complete = Err(format!(
                    "{} has more than {} entries, so that not all paths in it that need approval are known",
                    root.display(),
                    limits.entries
                ));
            }
            self.add(node, &next, &mut waiting);
            if is_over {
                break;
            }
        }
        is_changed |= old.iter().any(Option::is_some);
        (is_changed, complete)
    }

    /// Adds a directory, and the directories within it to those that the walk has still to see.
    fn add(&mut self, mut node: Node, from: &Waiting, waiting: &mut Vec<Waiting>) {
        let index = self.nodes.len();
        node.parent = from.parent;
        if let Some(parent) = from.parent {
            self.nodes[parent].within[from.place] = Some(index);
        }
        for (place, directory) in node.listing.directories.iter().enumerate() {
            waiting.push(Waiting {
                path: node.path.join(&directory.name),
                parent: Some(index),
                place,
                levels: directory.levels,
                is_of_tools: from.is_of_tools || listing::is_of_tools(&directory.name),
                before: node.within[place],
            });
        }
        node.within.fill(None);
        self.nodes.push(node);
    }
}

/// Returns the indices that the directories of a listing had in the tree as it was.
fn reused(before: Option<&Node>, listing: &Listing) -> Vec<Option<usize>> {
    let Some(before) = before else { return vec![None; listing.directories.len()] };
    let names = before.listing.directories.iter().map(|directory| &*directory.name);
    let known: HashMap<&OsStr, Option<usize>> = names.zip(before.within.iter().copied()).collect();
    listing.directories.iter().map(|directory| known.get(&*directory.name).copied().flatten()).collect()
}

fn is_gone(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::NotFound | ErrorKind::NotADirectory)
}

fn unlisted(path: &Path, error: &std::io::Error) -> String {
    format!(
        "{} cannot be listed ({error}), so that not all paths in it that need approval are known",
        path.display()
    )
}

#[cfg(test)]
mod tests;

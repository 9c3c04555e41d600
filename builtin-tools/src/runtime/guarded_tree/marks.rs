//! The paths to mask, from the decisions about the entries of a tree.

use super::levels::{Level, Levels};
use super::listing::{Mark, identity_of, inode_of};
use super::node::Node;
use crate::runtime::system_directories::is_of_system;
use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use toolkit::approval::Access;
use toolkit::permission::{PathDecision, PathRules};

/// The guarded paths of a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::runtime) struct Guarded {
    /// Paths that must not be read. A directory stands for all that it contains.
    pub(in crate::runtime) hidden: Vec<PathBuf>,
    /// Paths that must not be written. A directory stands for all that it contains, except for `writable`.
    pub(in crate::runtime) protected: Vec<PathBuf>,
    /// Paths within protected ones that a rule allows to be written.
    pub(in crate::runtime) writable: Vec<PathBuf>,
    /// Those of `hidden` that a rule denies to read, so that no approval of a command shows them.
    pub(in crate::runtime) unreadable: HashSet<PathBuf>,
    /// Those of `protected` that a rule denies to write.
    pub(in crate::runtime) unwritable: HashSet<PathBuf>,
    /// Files that give files attributes in git.
    pub(in crate::runtime) attributes: Vec<PathBuf>,
    /// True if nothing in the tree may be read.
    pub(in crate::runtime) is_hidden: bool,
    /// The reason for which there may be other paths, as a sentence without its full stop.
    pub(in crate::runtime) is_known: Result<(), String>,
    /// The reason for which the paths do not express all decisions: there may be others, or the whole tree must not be read or written.
    pub(in crate::runtime) complete: Result<(), String>,
    /// The same, except that a tree which a rule denies to write is one of the protected paths.
    pub(in crate::runtime) expressed: Result<(), String>,
}

/// Returns true if a symlink has to be hidden, which may lead elsewhere by now.
pub(super) fn has_links(nodes: &[Node]) -> bool {
    nodes.iter().flat_map(|node| &node.listing.marks).any(|mark| mark.is_link)
}

/// Returns the paths to mask of a tree.
pub(super) fn emit(nodes: &[Node], rules: &PathRules, limit: usize, complete: Result<(), String>) -> Guarded {
    let shows = shows(nodes);
    let mut found = Found::new(limit);
    // The masks at or above each directory.
    let mut masks: Vec<Levels> = Vec::with_capacity(nodes.len());
    for (index, node) in nodes.iter().enumerate() {
        let above = node.parent.map_or(Levels::NONE, |parent| masks[parent]);
        let mut levels = node.levels;
        if node.listing.is_closed {
            // Its owner could open it.
            levels.reading = levels.reading.max(Level::Ask);
        }
        if node.listing.is_repository {
            levels.writing = levels.writing.max(Level::Ask);
        }
        let mask = match node.parent {
            Some(_) => found.mask(&node.path, levels, above, !shows[index]),
            // A tree that must not be written is masked as a whole, with exceptions. Where writing asks, the approval of a command covers it.
            None if levels.writing == Level::Deny => {
                found.mask(&node.path, Levels { reading: above.reading, ..levels }, above, false)
            }
            None => above,
        };
        for mark in &node.listing.marks {
            found.mark(&node.path, mark, mask);
        }
        masks.push(mask);
        if found.is_full() {
            break;
        }
    }
    found.links(nodes, &masks);
    let Some(root) = nodes.first() else { return found.guarded(complete) };
    let known = complete.and(found.complete(&root.path));
    let covered = of_root(root, rules, shows[0], true);
    let expressed = of_root(root, rules, shows[0], root.levels.writing != Level::Deny);
    let is_hidden = root.levels.reading > Level::Allow && !shows[0];
    let mut guarded = found.guarded(known.clone().and(covered));
    guarded.expressed = known.clone().and(expressed);
    guarded.is_known = known;
    guarded.is_hidden = is_hidden;
    let with_attributes = nodes.iter().filter(|node| node.listing.has_attributes);
    guarded.attributes = with_attributes.map(|node| node.path.join(".gitattributes")).collect();
    guarded
}

/// Returns the reason for which no mask within the root can express the decisions about reading it, and about writing it if that counts.
fn of_root(root: &Node, rules: &PathRules, shows: bool, counts_writing: bool) -> Result<(), String> {
    let covers = |access: Access, cannot: &str| {
        let why = match rules.decide_below(&root.path, access) {
            PathDecision::Deny { reason, .. } => reason,
            PathDecision::Ask { kind, .. } => format!("a rule of permission.{kind} asks for it"),
            _ => String::new(),
        };
        Err(format!("a command cannot {cannot} {} without approval: {why}", root.path.display()))
    };
    if root.levels.reading > Level::Allow && !shows || root.listing.is_closed {
        return covers(Access::Read, "read");
    }
    if counts_writing && root.levels.writing > Level::Allow {
        return covers(Access::Write, "change");
    }
    Ok(())
}

/// Returns for each directory that must not be read if something below it may be.
fn shows(nodes: &[Node]) -> Vec<bool> {
    let mut shows: Vec<bool> = nodes.iter().map(|node| node.listing.shows).collect();
    for (index, node) in nodes.iter().enumerate().rev() {
        if let Some(parent) = node.parent
            && nodes[parent].levels.reading > Level::Allow
        {
            shows[parent] |= shows[index] || node.levels.reading == Level::Allow;
        }
    }
    shows
}

/// The levels of masked files, by device and inode: of reading and of writing.
struct Inodes(HashMap<(u64, u64), (Level, Level)>);

impl Inodes {
    fn of(nodes: &[Node], masks: &[Levels]) -> Self {
        let mut inodes = Self(HashMap::new());
        for (node, mask) in nodes.iter().zip(masks) {
            let device = node.listing.stamp.device;
            // The objects of a repository are never written, and are shared with other repositories.
            let is_of_objects = node.path.components().any(|part| part.as_os_str() == "objects");
            let writing = if is_of_objects { Level::Allow } else { mask.writing };
            if mask.reading > Level::Allow || writing > Level::Allow {
                node.listing
                    .inodes
                    .iter()
                    .for_each(|inode| inodes.add(device, *inode, mask.reading, writing));
            }
            for mark in node.listing.marks.iter().filter(|mark| !mark.is_link) {
                inodes.add(device, mark.inode, mark.levels.reading, mark.levels.writing);
            }
        }
        inodes
    }

    fn add(&mut self, device: u64, inode: u64, reading: Level, writing: Level) {
        if reading > Level::Allow || writing > Level::Allow {
            let known = self.0.entry((device, inode)).or_insert((reading, writing));
            *known = (known.0.max(reading), known.1.max(writing));
        }
    }

    /// Returns the levels of a file in a directory, if they are stricter than the masks of the directory.
    fn level(&self, node: &Node, inode: u64, mask: Levels) -> Option<(Level, Level)> {
        let known = self.0.get(&(node.listing.stamp.device, inode)).copied();
        known.filter(|(reading, writing)| *reading > mask.reading || *writing > mask.writing)
    }
}

/// Raises the level of a path.
fn raise(paths: &mut HashMap<PathBuf, Level>, path: PathBuf, level: Level) {
    let known = paths.entry(path).or_insert(level);
    *known = level.max(*known);
}

/// The paths found so far.
struct Found {
    hidden: HashMap<PathBuf, Level>,
    protected: HashMap<PathBuf, Level>,
    writable: Vec<PathBuf>,
    limit: usize,
}

impl Found {
    fn new(limit: usize) -> Self {
        Self { hidden: HashMap::new(), protected: HashMap::new(), writable: Vec::new(), limit }
    }

    fn is_full(&self) -> bool {
        self.hidden.len() + self.protected.len() + self.writable.len() > self.limit
    }

    /// Masks a path where the masks above it do not suffice. Returns the masks at or above it.
    fn mask(&mut self, path: &Path, levels: Levels, above: Levels, hides: bool) -> Levels {
        let mut mask = above;
        if levels.reading > above.reading && hides {
            self.hidden.insert(path.to_owned(), levels.reading);
            mask.reading = levels.reading;
        }
        if levels.writing > above.writing {
            self.protected.insert(path.to_owned(), levels.writing);
            mask.writing = levels.writing;
        } else if levels.writing == Level::Allow && above.writing > Level::Allow {
            self.writable.push(path.to_owned());
            mask.writing = Level::Allow;
        }
        mask
    }

    fn mark(&mut self, directory: &Path, mark: &Mark, above: Levels) {
        let path = directory.join(&mark.name);
        if !mark.is_link {
            self.mask(&path, mark.levels, above, true);
            return;
        }
        let is_stricter = mark.levels.reading > above.reading || mark.levels.writing > above.writing;
        let target = is_stricter.then(|| path.canonicalize().ok()).flatten();
        let Some(target) = target.filter(|target| !directory.starts_with(target) && !is_of_system(target))
        else {
            return;
        };
        if mark.levels.writing > above.writing {
            raise(&mut self.protected, target.clone(), mark.levels.writing);
        }
        if mark.levels.reading > above.reading {
            raise(&mut self.hidden, target, mark.levels.reading);
        }
    }

    /// Masks the other names of masked files.
    fn links(&mut self, nodes: &[Node], masks: &[Levels]) {
        let inodes = Inodes::of(nodes, masks);
        if inodes.0.is_empty() {
            return;
        }
        let is_open = |mask: &Levels| mask.reading < Level::Deny || mask.writing < Level::Deny;
        for (node, mask) in nodes.iter().zip(masks).filter(|(_, mask)| is_open(mask)) {
            let level = |inode: u64| inodes.level(node, inode, *mask);
            let count = node.listing.inodes.iter().filter(|inode| level(**inode).is_some()).count();
            // The names of masked files that are known already.
            let known = node.listing.marks.iter().filter(|mark| {
                let is_known = |(reading, writing): (Level, Level)| {
                    reading <= mark.levels.reading && writing <= mark.levels.writing
                };
                !mark.is_link && level(mark.inode).is_some_and(is_known)
            });
            if count == known.count() {
                continue;
            }
            for entry in fs::read_dir(&node.path).into_iter().flatten().filter_map(Result::ok) {
                let Some((reading, writing)) = level(inode_of(&entry)) else { continue };
                let path = entry.path();
                // Some file systems have other numbers in their listings.
                let is_directory = entry.file_type().is_ok_and(|kind| kind.is_dir());
                if is_directory || identity_of(&path).is_none() {
                    continue;
                }
                if reading > mask.reading {
                    raise(&mut self.hidden, path.clone(), reading);
                }
                if writing > mask.writing {
                    raise(&mut self.protected, path, writing);
                }
            }
        }
    }

    fn complete(&self, root: &Path) -> Result<(), String> {
        if !self.is_full() {
            return Ok(());
        }
        Err(format!(
            "more than {} paths in {} need approval, more than can be masked in a sandbox",
            self.limit,
            root.display()
        ))
    }

    fn guarded(self, complete: Result<(), String>) -> Guarded {
        let sorted = |paths: &HashMap<PathBuf, Level>| {
            let mut sorted: Vec<PathBuf> = paths.keys().cloned().collect();
            sorted.sort();
            sorted
        };
        let denied = |paths: HashMap<PathBuf, Level>| -> HashSet<PathBuf> {
            paths.into_iter().filter(|(_, level)| *level == Level::Deny).map(|(path, _)| path).collect()
        };
        Guarded {
            hidden: sorted(&self.hidden),
            protected: sorted(&self.protected),
            writable: self.writable,
            unreadable: denied(self.hidden),
            unwritable: denied(self.protected),
            attributes: Vec::new(),
            is_hidden: false,
            is_known: complete.clone(),
            expressed: complete.clone(),
            complete,
        }
    }
}

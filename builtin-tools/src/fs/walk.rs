//! The files below a directory, as ripgrep lists them: without ignored and hidden files.
//!
//! Directories are listed and files opened through [`Doors`], by handle, so that a concurrent change cannot lead a walk
//! elsewhere. Symbolic links are not followed.

mod doors;
mod rules;
#[cfg(test)]
mod tests;

pub(super) use doors::{Doors, Refused};

use ignore::overrides::{Override, OverrideBuilder};
use ignore::types::{FileTypeDef, Types, TypesBuilder};
use rules::{Names, Rules};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use toolkit::{
    CancellationToken, ToolError, ToolErrorKind,
    files::FileKind,
    text::{escape_line, nearest},
};

/// Maximum number of entries of one directory. They have to be held together to be sorted.
const MAX_ENTRIES: usize = 1_000_000;
/// Number of entries between checks for cancellation.
const NAMES_AT_ONCE: usize = 1_024;

/// The part of a tree that is wanted. It never includes ignored or hidden files again.
#[derive(Clone)]
pub(super) struct Filter {
    /// True if hidden files are wanted too: those whose name begins with a dot.
    pub(super) hidden: bool,
    globs: Override,
    types: Types,
}

impl Filter {
    /// Creates a filter for all files that are neither ignored nor hidden.
    pub(super) fn new(hidden: bool) -> Self {
        Self { hidden, globs: Override::empty(), types: Types::empty() }
    }

    /// Restricts the filter to paths that match a pattern, relative to `root`, or, with `!` at its beginning, to those
    /// that don't.
    pub(super) fn with_glob(mut self, root: &Path, pattern: &str) -> Result<Self, ToolError> {
        let mut builder = OverrideBuilder::new(root);
        let built = builder.allow_unclosed_class(false).add(pattern).and_then(|builder| builder.build());
        self.globs = built.map_err(|error| {
            let message = format!(
                "`{pattern}` is not a glob pattern: {}; `*` stands for text within one name, `**` for any directories, `?` \
                 for one character, `[ab]` for one of these and `{{a,b}}` for either; put a backslash before a \
                 literal one",
                glob_problem(&error)
            );
            ToolError::new(ToolErrorKind::InvalidArguments, message)
        })?;
        Ok(self)
    }

    /// Restricts the filter to files of a type that ripgrep knows, such as `rust`.
    pub(super) fn with_type(mut self, name: &str) -> Result<Self, ToolError> {
        let mut builder = TypesBuilder::new();
        builder.add_defaults();
        let known = builder.definitions();
        // The library takes this one for every type that there is.
        if !known.iter().any(|definition| definition.name() == name) {
            return Err(unknown_type(name, &known));
        }
        self.types = builder.select(name).build().map_err(|error| ToolError::failed(error.to_string()))?;
        Ok(self)
    }

    fn takes(&self, path: &Path, is_dir: bool) -> bool {
        !self.globs.matched(path, is_dir).is_ignore() && !self.types.matched(path, is_dir).is_ignore()
    }
}

fn unknown_type(name: &str, known: &[FileTypeDef]) -> ToolError {
    let of_extension = format!("*.{name}");
    let by_extension = known.iter().filter(|known| known.globs().contains(&of_extension));
    let mut near: Vec<&str> = by_extension.map(FileTypeDef::name).take(3).collect();
    if near.is_empty() {
        near = nearest(name, known.iter().map(FileTypeDef::name));
    }
    let near: Vec<String> = near.iter().map(|name| format!("`{name}`")).collect();
    let hint = match near.as_slice() {
        [] => "leave `type` out, and let `glob` select by name: `*.txt`, say".to_owned(),
        near => format!("did you mean {}?", near.join(" or ")),
    };
    let name = escape_line(name);
    ToolError::new(ToolErrorKind::InvalidArguments, format!("there is no file type `{name}`; {hint}"))
}

/// Returns the problem with a pattern, without the pattern itself.
fn glob_problem(error: &ignore::Error) -> String {
    match error {
        ignore::Error::Glob { err, .. } => err.clone(),
        other => other.to_string(),
    }
}

/// The error of a search whose root cannot be read.
pub(super) fn unreadable(shown: &str, why: &dyn std::fmt::Display) -> ToolError {
    ToolError::failed(format!("{shown} could not be read, so nothing was searched: {why}"))
}

/// A result of a walk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Step {
    /// A file that is wanted, by its directory and its name.
    File(Arc<Path>, OsString),
    /// A directory that could not be listed, or not whole.
    Unreadable(PathBuf),
    /// A directory that needs approval.
    Refused,
}

/// A directory to list.
#[derive(Clone)]
pub(super) struct Directory {
    path: Arc<Path>,
    /// The rules for the directory itself; its own ignore files come on top.
    rules: Arc<Rules>,
}

/// The entries of a directory, sorted by name.
#[derive(Default)]
pub(super) struct Listing {
    pub(super) entries: Vec<Entry>,
    /// True if it could not be listed, or not whole.
    pub(super) is_incomplete: bool,
}

pub(super) enum Entry {
    /// A file, by its name.
    File(OsString),
    Directory(Directory),
    Refused,
}

/// A tree to walk. Each thread takes a clone.
#[derive(Clone)]
pub(super) struct Tree<'a> {
    filter: Filter,
    doors: Doors,
    cancel: &'a CancellationToken,
}

impl<'a> Tree<'a> {
    pub(super) fn new(filter: Filter, doors: Doors, cancel: &'a CancellationToken) -> Self {
        Self { filter, doors, cancel }
    }

    /// Returns the directory at which the walk begins, whatever its name.
    ///
    /// # Errors
    ///
    /// It cannot be listed: a search that finds nothing would say that nothing is there.
    pub(super) fn root(&mut self, path: &Path) -> Result<Directory, ToolError> {
        self.doors
            .entries(path, 1, self.cancel)
            .map_err(|error| unreadable(&self.doors.shown(path), &error))?;
        Ok(Directory { path: path.into(), rules: Rules::above(path, &mut self.doors) })
    }

    /// Lists the wanted entries of a directory.
    pub(super) fn list(&mut self, directory: &Directory) -> Listing {
        let Some((names, is_incomplete)) = self.names(&directory.path) else {
            return Listing { entries: Vec::new(), is_incomplete: true };
        };
        let found = Names::among(names.iter().map(|(name, _)| name.as_os_str()));
        let rules = Rules::below(&directory.rules, &directory.path, found, &mut self.doors);
        let mut entries = Vec::with_capacity(names.len());
        // The path of one entry after the other: most are left out, or needed by name alone.
        let mut path = directory.path.to_path_buf();
        for (index, (name, kind)) in names.into_iter().enumerate() {
            if index.is_multiple_of(NAMES_AT_ONCE) && self.cancel.is_cancelled() {
                return Listing { entries, is_incomplete: true };
            }
            let is_dir = kind == Kind::Directory;
            path.push(&name);
            let (is_wanted, may_enter) = self.looks(&path, &name, is_dir, &rules);
            let entry = match kind {
                _ if !is_wanted => None,
                Kind::File => Some(Entry::File(name)),
                Kind::Directory if may_enter => {
                    let path = Arc::from(path.as_path());
                    Some(Entry::Directory(Directory { path, rules: Arc::clone(&rules) }))
                }
                Kind::Directory => Some(Entry::Refused),
            };
            entries.extend(entry);
            path.pop();
        }
        Listing { entries, is_incomplete }
    }

    /// Returns whether an entry is wanted, and whether it is a directory that may be entered.
    fn looks(&mut self, path: &Path, name: &OsStr, is_dir: bool, rules: &Rules) -> (bool, bool) {
        let verdict = rules.matched(path, is_dir);
        let is_hidden = name.as_encoded_bytes().first() == Some(&b'.') && !self.filter.hidden;
        let is_wanted =
            !verdict.is_ignore() && (!is_hidden || verdict.is_whitelist()) && self.filter.takes(path, is_dir);
        (is_wanted, is_wanted && is_dir && self.doors.may_name(path))
    }

    /// Returns the sorted names in a directory, and whether some are missing; `None` if it cannot be listed.
    fn names(&mut self, path: &Path) -> Option<(Vec<(OsString, Kind)>, bool)> {
        let (entries, is_incomplete) = self.doors.entries(path, MAX_ENTRIES, self.cancel).ok()?;
        let mut names: Vec<(OsString, Kind)> =
            entries.into_iter().filter_map(|entry| Some((entry.name, Kind::of(entry.kind)?))).collect();
        names.sort_unstable_by(|one, other| one.0.cmp(&other.0));
        Some((names, is_incomplete))
    }

    /// Every step below a directory, sorted by path.
    pub(super) fn steps(self, root: Directory) -> Steps<'a> {
        Steps { tree: self, next: Some(root), levels: Vec::new() }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    File,
    Directory,
}

impl Kind {
    /// Returns `None` for other kinds: links, pipes, sockets, devices.
    fn of(kind: FileKind) -> Option<Self> {
        match kind {
            FileKind::Directory => Some(Self::Directory),
            FileKind::File => Some(Self::File),
            _ => None,
        }
    }
}

/// The steps of a walk, in the order of their paths.
pub(super) struct Steps<'a> {
    tree: Tree<'a>,
    /// The directory to list next.
    next: Option<Directory>,
    /// The directories from the root to the present one, each with its remaining entries.
    levels: Vec<(Arc<Path>, std::vec::IntoIter<Entry>)>,
}

impl Iterator for Steps<'_> {
    type Item = Step;

    fn next(&mut self) -> Option<Step> {
        loop {
            if let Some(directory) = self.next.take() {
                let listing = self.tree.list(&directory);
                self.levels.push((Arc::clone(&directory.path), listing.entries.into_iter()));
                if listing.is_incomplete {
                    return Some(Step::Unreadable(directory.path.to_path_buf()));
                }
            }
            if self.tree.cancel.is_cancelled() {
                return None;
            }
            let (directory, entries) = self.levels.last_mut()?;
            match entries.next() {
                Some(Entry::File(name)) => return Some(Step::File(Arc::clone(directory), name)),
                Some(Entry::Directory(directory)) => self.next = Some(directory),
                Some(Entry::Refused) => return Some(Step::Refused),
                None => {
                    self.levels.pop();
                }
            }
        }
    }
}

impl Directory {
    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

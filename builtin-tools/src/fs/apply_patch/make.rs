//! Applies the computed changes of a patch to the files: all of them or none.

use super::outcome::{Fate, Known, Mode, Outcome};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use toolkit::files::{DisplacedFile, Expected, FileVersion, Target, WriteOptions, WriteOutcome};
use toolkit::prelude::*;

/// A completed step, with the data needed to undo it.
enum Done {
    /// A file was written over an existing one, or created.
    Written { at: usize, version: FileVersion, taken: Option<DisplacedFile> },
    /// A file was removed, but for certain only at the end.
    Removed { at: usize, taken: DisplacedFile },
    /// A file got the place of another.
    Moved { from: usize, to: usize },
}

/// Writes the files one after the other; `tell` gets the number of completed files, before each. Replaced and removed files
/// are kept until all are done, so that restoring them needs no disk space and loses nothing. Returns the new versions, by
/// the indexes of the files. Blocks.
///
/// # Errors
///
/// Returns the first failure; then the earlier changes are undone, or the error lists those that are not.
pub(super) fn make(
    targets: &[Target],
    known: &[Known],
    versions: &[Option<FileVersion>],
    outcome: &Outcome,
    mut tell: impl FnMut(usize, &str),
) -> Result<BTreeMap<usize, WriteOutcome>, ToolError> {
    let modes = &outcome.modes;
    let mut files = Files { targets, known, versions, modes, done: Vec::new(), written: BTreeMap::new() };
    let mut order: Vec<&(usize, Fate)> = outcome.files.iter().collect();
    // In the order of the patch, except: a file that gets the mode of another is written before that other changes, and a
    // file is moved away before another takes its place. Files whose content remains only in the old files are removed last.
    order.sort_by_key(|(at, fate)| match fate {
        Fate::Added(_) if modes.get(at).is_some_and(|mode| mode.like.is_some()) => 0,
        Fate::Changed(_) if modes.get(at).is_some_and(|mode| mode.like.is_some()) => 1,
        // The file is created where one was moved away.
        Fate::Added(_) if known[*at].content.is_some() => 3,
        Fate::Added(_) | Fate::Changed(_) | Fate::Moved { .. } => 2,
        Fate::Deleted => 4,
    });
    for (count, (at, fate)) in order.into_iter().enumerate() {
        tell(count, targets[*at].shown());
        files.make(*at, fate).map_err(|error| files.undo(error))?;
    }
    Ok(files.written)
}

struct Files<'a> {
    targets: &'a [Target],
    known: &'a [Known],
    versions: &'a [Option<FileVersion>],
    modes: &'a BTreeMap<usize, Mode>,
    done: Vec<Done>,
    /// Notes about each file that was written.
    written: BTreeMap<usize, WriteOutcome>,
}

impl Files<'_> {
    fn expected(&self, at: usize) -> Expected {
        self.versions[at]
            .clone()
            .filter(|_| !self.is_moved_away(at))
            .map_or(Expected::Absent, Expected::Version)
    }

    /// Returns true if the file that was there has got the place of another by now.
    fn is_moved_away(&self, at: usize) -> bool {
        self.done.iter().any(|done| matches!(done, Done::Moved { from, .. } if *from == at))
    }

    fn make(&mut self, at: usize, fate: &Fate) -> Result<(), ToolError> {
        let Mode { like, executable } = self.modes.get(&at).copied().unwrap_or_default();
        match fate {
            Fate::Added(content) | Fate::Changed(content) => {
                self.write(at, content, &self.expected(at), Mode { like, executable })
            }
            Fate::Deleted => {
                let taken = self.targets[at].take_away(&self.expected(at))?;
                self.done.push(Done::Removed { at, taken });
                Ok(())
            }
            Fate::Moved { from, content } => {
                let expected = self.expected(*from);
                if self.targets[*from].rename_to(&self.targets[at], &expected).is_ok() {
                    self.done.push(Done::Moved { from: *from, to: at });
                    let is_same = self.known[*from].content.as_ref() == Some(content) && executable.is_none();
                    let mode = Mode { like: None, executable };
                    return if is_same { Ok(()) } else { self.write(at, content, &expected, mode) };
                }
                // They may be on different file systems.
                self.write(at, content, &Expected::Absent, Mode { like: Some(*from), executable })?;
                let taken = self.targets[*from].take_away(&expected)?;
                self.done.push(Done::Removed { at: *from, taken });
                Ok(())
            }
        }
    }

    fn write(&mut self, at: usize, content: &[u8], expected: &Expected, mode: Mode) -> Result<(), ToolError> {
        let mut options = WriteOptions::default().with_edit();
        if let Some(like) = mode.like {
            options = options.with_like(&self.targets[like]);
        }
        if let Some(executable) = mode.executable {
            options = options.with_executable(executable);
        }
        let (written, taken) = self.targets[at].write_keeping(content, expected, options)?;
        self.done.push(Done::Written { at, version: written.version.clone(), taken });
        self.written.insert(at, written);
        Ok(())
    }

    /// Undoes the changes, the last first, and returns the error with the result.
    fn undo(&mut self, error: ToolError) -> ToolError {
        let mut left = Vec::new();
        let count = self.done.len();
        while let Some(done) = self.done.pop() {
            // If a file was written at a path from which another was moved away, it gets that file's old content before the
            // move is undone.
            let from = self.done.iter().rev().find_map(|before| match (before, &done) {
                (Done::Moved { from, to }, Done::Written { at, .. }) if to == at => Some(*from),
                _ => None,
            });
            let (at, outcome) = match done {
                Done::Written { at, version, taken } => {
                    let now = Expected::Version(version);
                    let before = &self.known[from.unwrap_or(at)];
                    let is_own = from.is_some() || !self.is_moved_away(at);
                    let outcome = match (taken, before.content.as_ref().filter(|_| is_own)) {
                        (Some(taken), _) => taken.give_back(&self.targets[at], &now),
                        (None, Some(content)) => {
                            let options = WriteOptions::default().with_edit();
                            let options = match before.executable.filter(|_| self.modes.contains_key(&at)) {
                                Some(executable) => options.with_executable(executable),
                                None => options,
                            };
                            self.targets[at].write_keeping(content, &now, options).map(|_| ())
                        }
                        (None, None) => self.targets[at].remove(&now),
                    };
                    (at, outcome)
                }
                Done::Removed { at, taken } => (at, taken.give_back(&self.targets[at], &Expected::Absent)),
                Done::Moved { from, to } => {
                    (to, self.targets[to].rename_to(&self.targets[from], &self.expected(from)))
                }
            };
            self.targets[at].remove_made_directories();
            if let Err(error) = outcome {
                left.push((at, error));
            }
        }
        let mut text = error.to_string();
        if left.is_empty() {
            let _ = match count {
                0 => write!(text, "\nnothing was changed"),
                _ => write!(text, "\nthe earlier changes of the patch were undone: all files are unchanged"),
            };
        } else {
            let _ = write!(text, "\nthese earlier changes of the patch could not be undone:");
            for (at, error) in left {
                let _ = write!(text, "\n{}: {error}", self.targets[at].shown());
            }
            text.push_str("\nall other files are unchanged; read these before continuing");
        }
        error.with_message(text)
    }
}

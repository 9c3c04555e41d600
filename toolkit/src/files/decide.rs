//! Decisions about paths that another process uses, such as a command.

use super::Workspace;
use crate::file_access::Looked;
use crate::file_access::leave::{MAX_LOOKS, restless};
use crate::permission::{DecidedPath, PathDecision};
use crate::workspace::Look;
use std::fs;
use std::path::{Path, PathBuf};
use toolkit_core::ask::Access;
use toolkit_core::error::ToolError;

/// The most work for the entries of one directory; one that needs more is asked about. It is counted instead of measured, so that a decision
/// does not depend on the speed of the machine.
const MAX_WORK: usize = 200_000;
/// The work for an entry that is allowed by its name alone, which takes about a microsecond.
const BY_NAME: usize = 1;
/// The work for an entry whose name is compared with the rules.
const BY_RULES: usize = 4;
/// The work for an entry that is resolved in the file system.
const RESOLVED: usize = 20;

impl Workspace {
    /// Returns the decision about using a path, with symlinks followed to the end, without asking. Blocks while it examines a few
    /// directories.
    ///
    /// It is for paths that another process opens, such as a command. For files that this process opens, use [`open`](Self::open) and the
    /// related functions, which also guarantee that the decision applies to the opened file.
    ///
    /// # Errors
    ///
    /// `InvalidArguments` for text that cannot be a path, `Unavailable` when there is no workspace.
    pub fn decide(&self, path: impl AsRef<Path>, access: Access) -> Result<DecidedPath, ToolError> {
        let (mut from, mut look) = (path.as_ref().to_owned(), Look::Inside);
        for _ in 0..MAX_LOOKS {
            let (decided, place) = match self.ctx.scope().look(
                self.ctx.tool(),
                self.ctx.gated_session_id(),
                &from,
                access,
                look,
            )? {
                Looked::OwnOutput(path) => return Ok(DecidedPath::allowed(path)),
                Looked::At(seen) => *seen,
            };
            if decided.decision != PathDecision::Allow || place.is_inside() || look == Look::Everywhere {
                return Ok(decided);
            }
            (from, look) = (place.real, Look::Everywhere);
        }
        Err(restless(path.as_ref()))
    }

    /// Returns the decision about reading a file, or everything below a directory: the strictest decision of all files, including hidden
    /// and ignored ones. A directory with more than 200,000 entries is asked about. Of entries that are compared with rules
    /// about reading, or look like secrets, four times as much counts, and of those outside the workspace twenty times. If `follows_links`
    /// is true, a symlink below that leads out of the directory is asked about too. Blocks while it examines the directory.
    ///
    /// # Errors
    ///
    /// As [`decide`](Self::decide).
    pub fn decide_tree(&self, path: impl AsRef<Path>, follows_links: bool) -> Result<DecidedPath, ToolError> {
        let mut decided = self.decide(path, Access::Read)?;
        if decided.decision == PathDecision::Allow && decided.path.is_dir() {
            decided.decision = self.below(&decided.path, follows_links)?;
        }
        Ok(decided)
    }

    /// Returns the decision about reading these files, found below a directory: the strictest decision of all files and the directory. The
    /// limits of [`decide_tree`](Self::decide_tree) apply to the number of files. `None` among them stands for an unknown file, and is
    /// asked about. Blocks while it examines the files.
    ///
    /// # Errors
    ///
    /// As [`decide`](Self::decide).
    pub fn decide_found(
        &self,
        directory: impl AsRef<Path>,
        files: impl IntoIterator<Item = Option<PathBuf>>,
    ) -> Result<DecidedPath, ToolError> {
        let mut decided = self.decide(directory, Access::Read)?;
        if decided.decision != PathDecision::Allow {
            return Ok(decided);
        }
        let mut budget = Budget::default();
        for file in files {
            let allowed = file.map(|file| (self.is_allowed(&file, &mut budget), file));
            let Some((Some(is_allowed), file)) = allowed else {
                decided.decision = too_many();
                return Ok(decided);
            };
            if is_allowed {
                continue;
            }
            if !budget.take(RESOLVED) {
                decided.decision = too_many();
                return Ok(decided);
            }
            match self.decide(&file, Access::Read)?.decision {
                PathDecision::Allow => {}
                PathDecision::Ask { kind, reason } => {
                    let reason = format!("which holds {}, {reason}", self.shown(&file));
                    decided.decision = PathDecision::Ask { kind, reason };
                    // A denied file is stricter, and may still follow.
                    if !self.may_deny() {
                        return Ok(decided);
                    }
                }
                found @ PathDecision::Deny { .. } => {
                    decided.decision = found;
                    return Ok(decided);
                }
            }
        }
        Ok(decided)
    }

    fn below(&self, root: &Path, follows_links: bool) -> Result<PathDecision, ToolError> {
        let may_deny = self.may_deny();
        let is_inside = self.roots()?.is_within(root);
        let mut decision = PathDecision::Allow;
        let (mut waiting, mut budget) = (vec![root.to_owned()], Budget::default());
        while let Some(directory) = waiting.pop() {
            // A directory that this process cannot list, its child processes cannot list either.
            let Ok(entries) = fs::read_dir(&directory) else { continue };
            for entry in entries.filter_map(Result::ok) {
                let path = entry.path();
                let Ok(kind) = entry.file_type() else { continue };
                if kind.is_symlink() {
                    if !budget.take(if follows_links { RESOLVED } else { BY_NAME }) {
                        return Ok(too_many());
                    }
                    if follows_links && !path.canonicalize().is_ok_and(|target| target.starts_with(root)) {
                        decision = asked("read", &format!("in which {} leads elsewhere", self.shown(&path)));
                    }
                    continue;
                }
                let is_allowed = if is_inside { self.is_allowed(&path, &mut budget) } else { Some(false) };
                let Some(is_allowed) = is_allowed else { return Ok(too_many()) };
                if !is_allowed {
                    if !budget.take(RESOLVED) {
                        return Ok(too_many());
                    }
                    let found = self.decide(&path, Access::Read)?.decision;
                    decision = match found {
                        PathDecision::Deny { .. } => return Ok(found),
                        PathDecision::Ask { kind, reason } => {
                            let shown = self.shown(&path);
                            PathDecision::Ask { kind, reason: format!("which holds {shown}, {reason}") }
                        }
                        PathDecision::Allow => decision,
                    };
                    if !may_deny && decision != PathDecision::Allow {
                        return Ok(decision);
                    }
                }
                if kind.is_dir() {
                    waiting.push(path);
                }
            }
        }
        Ok(decision)
    }

    /// Returns true if reading a file may be denied.
    fn may_deny(&self) -> bool {
        let rules = &self.ctx.scope().rules;
        rules.own_dirs.is_sealed() || rules.permissions.says_of_reading(self.ctx.tool())
    }

    /// Returns true if a real path within the workspace may be read without a question; `None` if the budget is used up.
    fn is_allowed(&self, real: &Path, budget: &mut Budget) -> Option<bool> {
        if self.roots().is_ok_and(|roots| roots.is_plain(real)) {
            return budget.take(BY_NAME).then_some(true);
        }
        budget.take(BY_RULES).then(|| self.needs_no_leave(real))
    }
}

/// The work that may still be done.
struct Budget(usize);

impl Default for Budget {
    fn default() -> Self {
        Self(MAX_WORK)
    }
}

impl Budget {
    /// Takes the work for an entry; returns false if not enough is left.
    fn take(&mut self, work: usize) -> bool {
        let left = self.0.checked_sub(work);
        self.0 = left.unwrap_or(0);
        left.is_some()
    }
}

fn too_many() -> PathDecision {
    asked("read", "which has too many entries to check")
}

fn asked(kind: &str, reason: &str) -> PathDecision {
    PathDecision::Ask { kind: kind.to_owned(), reason: reason.to_owned() }
}

//! Decisions about paths that another process uses, such as a command.

use super::Workspace;
use crate::file_access::Looked;
use crate::file_access::leave::{MAX_LOOKS, restless};
use crate::permission::{DecidedPath, PathDecision};
use crate::workspace::Look;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use toolkit_core::ask::Access;
use toolkit_core::error::ToolError;

/// The most entries that are examined below one directory; one with more is asked about.
const MAX_ENTRIES: usize = 20_000;
/// The longest time for examining one directory; one that takes longer is asked about.
const LONGEST: Duration = Duration::from_millis(200);

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
    /// and ignored ones. A directory with more than 20,000 entries, or that takes longer than 200 ms, is asked about. If `follows_links` is
    /// true, a symlink below that leads out of the directory is asked about too. Blocks while it examines the directory.
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

    /// Returns the decision about reading these files, found below a directory: the strictest decision of all files and the directory. More
    /// than 20,000 files, or files that take longer than 200 ms to find, are asked about. `None` among them stands for an unknown file, and
    /// is asked about. Blocks for that time.
    ///
    /// # Errors
    ///
    /// As [`decide`](Self::decide).
    pub fn decide_found(
        &self,
        directory: impl AsRef<Path>,
        files: impl IntoIterator<Item = Option<PathBuf>>,
    ) -> Result<DecidedPath, ToolError> {
        let until = Instant::now() + LONGEST;
        let mut decided = self.decide(directory, Access::Read)?;
        if decided.decision != PathDecision::Allow {
            return Ok(decided);
        }
        for (count, file) in files.into_iter().enumerate() {
            let Some(file) = file.filter(|_| count < MAX_ENTRIES && Instant::now() < until) else {
                decided.decision = asked("read", "which has too many entries to check");
                return Ok(decided);
            };
            if self.needs_no_leave(&file) {
                continue;
            }
            match self.decide(&file, Access::Read)?.decision {
                PathDecision::Allow => {}
                PathDecision::Ask { kind, reason } => {
                    let reason = format!("which holds {}, {reason}", self.shown(&file));
                    decided.decision = PathDecision::Ask { kind, reason };
                    // A denied file is stricter, and may still follow.
                    if !self.ctx.scope().rules.permissions.says_of_reading(self.ctx.tool()) {
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
        let until = Instant::now() + LONGEST;
        let may_deny = self.ctx.scope().rules.permissions.says_of_reading(self.ctx.tool());
        let is_inside = self.roots()?.is_within(root);
        let mut decision = PathDecision::Allow;
        let (mut waiting, mut count) = (vec![root.to_owned()], 0_usize);
        while let Some(directory) = waiting.pop() {
            // A directory that this process cannot list, its child processes cannot list either.
            let Ok(entries) = fs::read_dir(&directory) else { continue };
            for entry in entries.filter_map(Result::ok) {
                count += 1;
                if count > MAX_ENTRIES || Instant::now() > until {
                    return Ok(asked("read", "which has too many entries to check"));
                }
                let path = entry.path();
                let Ok(kind) = entry.file_type() else { continue };
                if kind.is_symlink() {
                    if follows_links && !path.canonicalize().is_ok_and(|target| target.starts_with(root)) {
                        decision = asked("read", &format!("in which {} leads elsewhere", self.shown(&path)));
                    }
                    continue;
                }
                let is_allowed = if is_inside {
                    self.needs_no_leave(&path)
                } else {
                    self.decide(&path, Access::Read)?.decision == PathDecision::Allow
                };
                if !is_allowed {
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
}

fn asked(kind: &str, reason: &str) -> PathDecision {
    PathDecision::Ask { kind: kind.to_owned(), reason: reason.to_owned() }
}

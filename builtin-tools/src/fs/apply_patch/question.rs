//! The permission prompt for a patch, and the state of the files that must still be the same after the answer.

use super::files::Places;
use super::outcome::{Fate, Known, work_out};
use super::{changes, read};
use crate::fs::diff::Diff;
use crate::fs::edit::{MAX_BYTES, check_seen};
use crate::fs::leave::may_tell;
use crate::fs::unread::is_read;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::path::PathBuf;
use std::sync::Arc;
use toolkit::files::{FileVersion, PriorContent, Proposal, ReadState, Target, Workspace};
use toolkit::prelude::*;

/// A permission prompt, and the state of the files that must still be the same after the answer.
#[derive(Default)]
pub(super) struct Question {
    /// The diffs of all files; `None` if a file may not be read before approval.
    pub(super) diffs: Option<Vec<(PathBuf, String)>>,
    /// The changed files with other names, and how many each has; the other names keep the old content.
    pub(super) other_names: Vec<(String, u64)>,
    asked: Option<Asked>,
}

struct Asked {
    versions: Vec<Option<FileVersion>>,
    /// Hash by which the change is recognised; `None` if the diff is incomplete.
    change: Option<u64>,
    hasher: RandomState,
}

/// Makes the question about the files that are proposed.
pub(super) async fn question(
    ctx: &ToolContext,
    workspace: &Workspace,
    proposals: &[Proposal],
    input: &Arc<str>,
    places: &Arc<Places>,
) -> Result<Question, ToolError> {
    let mut look = Look::default();
    let mut other_names = Vec::with_capacity(proposals.len());
    for proposal in proposals {
        let most = look.room();
        let content = match proposal.before(most).await? {
            PriorContent::File(content) => Some(content),
            PriorContent::Absent => None,
            _ => return Ok(Question::default()),
        };
        let shown = proposal.shown();
        if let Some(content) = &content {
            check_seen(workspace, proposal.path(), &shown, &content.version)?;
        }
        look.versions.push(content.as_ref().map(|content| content.version.clone()));
        other_names.push(content.as_ref().map_or(0, |content| content.other_names));
        let executable = content.as_ref().and_then(|content| content.executable);
        let is_read = content.as_ref().is_none_or(|content| is_read(workspace, proposal.path(), content));
        let content = content.map(|content| content.bytes);
        look.known.push(Known { shown, content, executable, is_readable: true, is_read });
    }
    let paths: Vec<PathBuf> = proposals.iter().map(|proposal| proposal.path().to_owned()).collect();
    let (input, places) = (Arc::clone(input), Arc::clone(places));
    let drafted = ctx.blocking(move |_| {
        let outcome = work_out(&read(&input)?, &look.known, |name| places.get(name).copied())?;
        let changes = changes(&outcome, &look.known);
        let hasher = RandomState::new();
        let asked = Asked { versions: look.versions, change: known_again(&changes, &hasher), hasher };
        let replaced = outcome.files.iter().filter_map(|(at, fate)| match fate {
            Fate::Changed(_) => Some(*at),
            Fate::Moved { from, content } if look.known[*from].content.as_ref() != Some(content) => {
                Some(*from)
            }
            _ => None,
        });
        let other_names = replaced.map(|at| (look.known[at].shown.clone(), other_names[at])).collect();
        let at = outcome.files.iter().map(|(at, _)| paths[*at].clone());
        let diffs = at.zip(changes.into_iter().map(|change| change.text)).collect();
        Ok(Question { diffs: Some(diffs), other_names, asked: Some(asked) })
    });
    drafted.await
}

impl Question {
    /// Returns true if a file has another version than the approved one.
    fn is_other(&self, look: &Look) -> bool {
        self.asked.as_ref().is_some_and(|asked| (0..look.versions.len()).any(|at| asked.differs(look, at)))
    }

    /// Refuses files that others have changed since the session has seen them, or since approval was requested.
    pub(super) fn check(
        &self,
        look: &Look,
        workspace: &Workspace,
        targets: &[Target],
    ) -> Result<(), ToolError> {
        for (at, target) in targets.iter().enumerate() {
            let seen = match &look.versions[at] {
                Some(version) => check_seen(workspace, target.path(), target.shown(), version)?,
                None => ReadState::Never,
            };
            // Changes that this session made meanwhile do not count.
            if seen != ReadState::Same && self.asked.as_ref().is_some_and(|asked| asked.differs(look, at)) {
                return Err(ToolError::failed(format!(
                    "{} was changed by something else during the approval prompt; nothing was changed. Read it again, then \
                     make a patch of its current content",
                    target.shown()
                )));
            }
        }
        Ok(())
    }

    /// Refuses another change than the one that was allowed.
    pub(super) fn check_changes(&self, look: &Look, changes: &[Diff]) -> Result<(), ToolError> {
        let is_same = |asked: &Asked| {
            let now = known_again(changes, &asked.hasher);
            now.is_some() && now == asked.change
        };
        if self.is_other(look) && !self.asked.as_ref().is_none_or(is_same) {
            return Err(meanwhile(""));
        }
        Ok(())
    }

    /// Returns the error for a patch that cannot be applied, with a note if the files have changed since the question.
    pub(super) fn changed_since(&self, look: &Look, error: ToolError) -> ToolError {
        if self.is_other(look) { meanwhile(&format!(": {error}")) } else { error }
    }
}

impl Asked {
    fn differs(&self, look: &Look, at: usize) -> bool {
        match (&self.versions[at], &look.versions[at]) {
            (None, None) => false,
            (Some(asked), Some(now)) => !asked.is_same(now),
            _ => true,
        }
    }
}

fn meanwhile(why: &str) -> ToolError {
    ToolError::failed(format!(
        "other calls of this session changed the same places of these files meanwhile; nothing was changed. Read them again\
         {why}"
    ))
}

/// The files as they are.
#[derive(Default)]
pub(super) struct Look {
    pub(super) known: Vec<Known>,
    pub(super) versions: Vec<Option<FileVersion>>,
}

impl Look {
    pub(super) fn now(workspace: &Workspace, targets: &[Target]) -> Result<Self, ToolError> {
        let mut look = Self::default();
        for target in targets {
            let content = target.read(look.room())?;
            look.versions.push(content.as_ref().map(|content| content.version.clone()));
            // Permission to write does not include reading.
            let is_readable = content.is_none() || may_tell(workspace, target.path());
            let executable = content.as_ref().and_then(|content| content.executable);
            let is_read = content.as_ref().is_none_or(|content| is_read(workspace, target.path(), content));
            let content = content.map(|content| content.bytes);
            let shown = target.shown().to_owned();
            look.known.push(Known { shown, content, executable, is_readable, is_read });
        }
        Ok(look)
    }

    /// Returns the maximum number of bytes of the next file.
    fn room(&self) -> u64 {
        let taken: usize = self.known.iter().filter_map(|file| file.content.as_ref()).map(Vec::len).sum();
        MAX_BYTES.saturating_sub(taken) as u64
    }
}

/// Returns a hash of the removed and added text, wherever it is.
fn known_again(changes: &[Diff], hasher: &RandomState) -> Option<u64> {
    let mut hash = hasher.build_hasher();
    for change in changes {
        if change.is_cut {
            return None;
        }
        // With the carriage returns at their ends, which are part of the change.
        for line in change.text.split('\n').filter(|line| !line.starts_with("@@")) {
            hash.write(line.as_bytes());
            hash.write_u8(b'\n');
        }
    }
    Some(hash.finish())
}

//! The files that a patch names: their locations, and the permissions for them.

use super::patch::{Action, Patch};
use crate::fs::edit::check_readable;
use std::collections::{HashMap, HashSet};
use std::path::{Component, Path, PathBuf};
use toolkit::prelude::*;
use toolkit::{
    ToolErrorKind,
    approval::Access,
    files::{PathRepair, PriorContent, Proposal, Target, Workspace},
};

/// A name in a patch.
pub(super) struct Name {
    path: String,
    /// True if the file must exist before the patch.
    has_to_exist: bool,
    /// True if the content before the patch matters.
    is_read: bool,
    end: End,
}

/// The state of a name after the patch.
#[derive(Debug, Clone, Copy, Default)]
struct End {
    /// True if the path is free afterwards.
    goes: bool,
    /// True if the content is moved or copied to another path.
    is_carried: bool,
}

/// All names in a patch, each once.
pub(super) fn names(parsed: &Patch<'_>) -> Vec<Name> {
    let mut names: Vec<Name> = Vec::new();
    let mut add = |path: &str, has_to_exist: bool, is_read: bool| {
        let place = names.iter().position(|name| name.path == path).unwrap_or(names.len());
        if place == names.len() {
            let path = path.to_owned();
            names.push(Name { path, has_to_exist, is_read, end: End::default() });
        }
        place
    };
    let mut ends: Vec<(usize, bool, bool)> = Vec::new();
    for change in &parsed.changes {
        let is_read = !matches!(change.action, Action::Add(_));
        let (goes, to) = match &change.action {
            Action::Add(_) => (false, None),
            Action::Delete(_) => (true, None),
            Action::Update { to, is_copy, .. } => (to.is_some() && !is_copy, to.clone()),
        };
        ends.push((add(&change.path, is_read && change.or_path.is_none(), is_read), goes, to.is_some()));
        if let Some(path) = &change.or_path {
            ends.push((add(path, false, true), goes, to.is_some()));
        }
        if let Some(to) = &to {
            add(to, false, false);
        }
    }
    for (place, goes, is_carried) in ends {
        names[place].end.goes |= goes;
        names[place].end.is_carried |= is_carried;
    }
    names
}

/// The places of names in the list of files.
pub(super) type Places = HashMap<String, usize>;

/// The files of a patch, each once, under any of its names.
#[derive(Default)]
pub(super) struct Files {
    pub(super) proposals: Vec<Proposal>,
    pub(super) places: Places,
    /// Notes on repaired paths.
    pub(super) notes: Vec<String>,
    pub(super) taken: TakenFiles,
}

/// The files of which more is taken than their content.
#[derive(Default)]
pub(super) struct TakenFiles {
    /// Indexes of the files that are removed.
    going: Vec<usize>,
    /// Indexes of the files whose content gets another path.
    carried: Vec<usize>,
    /// Real paths that may be read by now.
    readable: HashSet<PathBuf>,
}

/// The directory that a patch is applied in by a command before it: `cd directory && apply_patch`.
#[derive(Debug, Clone)]
pub(super) struct Directory(pub(super) PathBuf);

impl Directory {
    /// Refuses a directory that is known not to exist, before approval is requested.
    pub(super) async fn check(&self, workspace: &Workspace) -> Result<(), ToolError> {
        // Errors for protected paths and directories are left to the checks of the files, which report them better.
        let Ok(proposal) = workspace.propose(&self.0).await else { return Ok(()) };
        match proposal.before(0).await {
            Ok(PriorContent::Absent | PriorContent::File(_)) => Err(self.absent()),
            _ => Ok(()),
        }
    }

    /// Refuses a patch that would make the directory: `cd` does not.
    pub(super) fn check_targets(&self, targets: &[Target], places: &Places) -> Result<(), ToolError> {
        for (path, place) in places {
            let Ok(within) = Path::new(path).strip_prefix(&self.0) else { continue };
            // A path that leads out of the directory discloses nothing about it.
            let is_below = within.components().all(|part| matches!(part, Component::Normal(_)));
            let own = within.components().count().saturating_sub(1);
            if is_below && targets[*place].missing_directories() > own {
                return Err(self.absent());
            }
        }
        Ok(())
    }

    fn absent(&self) -> ToolError {
        let name = toolkit::text::escape_line(&self.0.to_string_lossy()).into_owned();
        ToolError::not_found(format!(
            "the directory of `cd {name}` does not exist; nothing was changed. Correct it, or write paths relative to the \
             workspace"
        ))
    }
}

/// Resolves the paths that the files are to be written to.
pub(super) async fn propose(
    ctx: &ToolContext,
    workspace: &Workspace,
    names: Vec<Name>,
) -> Result<Files, ToolError> {
    let mut files = Files::default();
    let mut by_path: HashMap<PathBuf, usize> = HashMap::new();
    for Name { path, has_to_exist, is_read, end: End { goes, is_carried } } in names {
        let proposal = if has_to_exist {
            workspace.propose_existing(&path).await?
        } else {
            workspace.propose(&path).await?
        };
        if is_read {
            check_readable(ctx, &proposal)?;
        }
        if goes && proposal.is_link() {
            return Err(link(&path, &proposal.shown()));
        }
        files.notes.extend(proposal.repaired().map(PathRepair::note));
        let place = *by_path.entry(proposal.path().to_owned()).or_insert(files.proposals.len());
        if place == files.proposals.len() {
            files.proposals.push(proposal);
        }
        if goes {
            files.taken.going.push(place);
        }
        if is_carried {
            let real = files.proposals[place].path().to_owned();
            files.taken.readable.extend(read_access(ctx, &real).await?);
            files.taken.carried.push(place);
        }
        files.places.insert(path, place);
    }
    Ok(files)
}

/// Requests permission to read a file, as `read` would: under another name, others might read it. Returns the real path;
/// `None` if there is no file, since the patch creates it.
async fn read_access(ctx: &ToolContext, path: &Path) -> Result<Option<PathBuf>, ToolError> {
    match ctx.check_file_access(path, Access::Read).await {
        Ok(real) => Ok(Some(real)),
        Err(error) if error.kind() == ToolErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

impl TakenFiles {
    /// Checks the files once their locations are known, which for files outside the workspace is only after approval.
    ///
    /// # Errors
    ///
    /// Returns an error if a link would lead to the removal of its target, or if a file would get another name without
    /// permission to read it.
    pub(super) async fn check(mut self, ctx: &ToolContext, targets: &[Target]) -> Result<(), ToolError> {
        if let Some(target) = self.going.iter().map(|place| &targets[*place]).find(|target| target.is_link())
        {
            return Err(link("that path", target.shown()));
        }
        for place in self.carried {
            let target = &targets[place];
            if !self.readable.contains(target.path()) {
                self.readable.extend(read_access(ctx, target.path()).await?);
            }
            let needs_leave = || {
                ToolError::failed(format!(
                    "{} changes its target on every access; something else is changing it, and nothing was changed",
                    target.shown()
                ))
            };
            // A file that the patch itself creates needs no permission.
            if !self.readable.contains(target.path()) && target.read(0).map_or(true, |there| there.is_some())
            {
                return Err(needs_leave());
            }
        }
        Ok(())
    }
}

fn link(name: &str, real: &str) -> ToolError {
    ToolError::failed(format!(
        "{} is a symbolic link to {real}, which would be deleted or moved; nothing was changed. Name that file \
         itself, or change the link with a command",
        toolkit::text::escape_line(name)
    ))
}

//! The files that a patch names: where they are, and what may be done with them.

use super::patch::{Action, Patch};
use crate::fs::edit::check_readable;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use toolkit::prelude::*;
use toolkit::{Access, PathDecision, Proposal, Repaired, Target, Workspace};

/// A name in a patch.
pub(super) struct Name {
    path: String,
    /// Whether something has to be there at first.
    has_to_exist: bool,
    /// Whether what is there at first matters.
    is_read: bool,
    /// Whether nothing has the name afterwards.
    goes: bool,
    /// The names under which its content is to be afterwards.
    to: Vec<String>,
}

/// All names in a patch, each once.
pub(super) fn names(patch: &Patch<'_>) -> Vec<Name> {
    let mut names: Vec<Name> = Vec::new();
    let mut add = |path: &str, has_to_exist: bool, is_read: bool| {
        let place = names.iter().position(|name| name.path == path).unwrap_or(names.len());
        if place == names.len() {
            let (path, goes, to) = (path.to_owned(), false, Vec::new());
            names.push(Name { path, has_to_exist, is_read, goes, to });
        }
        place
    };
    let mut ends: Vec<(usize, bool, Option<String>)> = Vec::new();
    for change in &patch.changes {
        let is_read = !matches!(change.action, Action::Add(_));
        let (goes, to) = match &change.action {
            Action::Add(_) => (false, None),
            Action::Delete(_) => (true, None),
            Action::Update { to, is_copy, .. } => (to.is_some() && !is_copy, to.clone()),
        };
        ends.push((add(&change.path, is_read && change.or_path.is_none(), is_read), goes, to.clone()));
        if let Some(path) = &change.or_path {
            ends.push((add(path, false, true), goes, to.clone()));
        }
        if let Some(to) = &to {
            add(to, false, false);
        }
    }
    for (place, goes, to) in ends {
        names[place].goes |= goes;
        names[place].to.extend(to);
    }
    names
}

/// The places of names in the list of files.
pub(super) type Places = HashMap<String, usize>;

/// The files of a patch, each once, by whatever names.
#[derive(Default)]
pub(super) struct Files {
    pub(super) proposals: Vec<Proposal>,
    pub(super) places: Places,
    /// What was repaired.
    pub(super) notes: Vec<String>,
    /// The places of those that go.
    going: Vec<usize>,
}

/// Looks at where the files are to be written.
pub(super) async fn propose(
    ctx: &ToolContext,
    workspace: &Workspace,
    names: Vec<Name>,
) -> Result<Files, ToolError> {
    let mut files = Files::default();
    let mut by_path: HashMap<PathBuf, usize> = HashMap::new();
    let mut copies: Vec<(String, Vec<String>)> = Vec::new();
    for Name { path, has_to_exist, is_read, goes, to } in names {
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
        files.notes.extend(proposal.repaired().map(Repaired::note));
        let place = *by_path.entry(proposal.path().to_owned()).or_insert(files.proposals.len());
        if place == files.proposals.len() {
            files.proposals.push(proposal);
        }
        if goes {
            files.going.push(place);
        }
        files.places.insert(path.clone(), place);
        copies.push((path, to));
    }
    for (from, to) in &copies {
        for to in to {
            check_copied(ctx, files.path(from), files.path(to)).await?;
        }
    }
    Ok(files)
}

impl Files {
    fn path<'a>(&'a self, name: &'a str) -> &'a Path {
        self.places.get(name).map_or(Path::new(name), |place| self.proposals[*place].path())
    }
}

/// Under a name that needs no leave to be read, anybody could read it: so it needs leave under its own.
async fn check_copied(ctx: &ToolContext, from: &Path, to: &Path) -> Result<(), ToolError> {
    let kind = |path: &Path| match ctx.decide_path(path, Access::Read)?.decision {
        PathDecision::Ask { kind, .. } => Ok(Some(kind)),
        _ => Ok::<_, ToolError>(None),
    };
    let needed = kind(from)?;
    if needed.is_some() && needed != kind(to)? {
        ctx.check_file_access(from, Access::Read).await?;
    }
    Ok(())
}

/// Refuses to take away what a link leads to, as far as that was not known before it was allowed.
pub(super) fn check_links(going: &[usize], targets: &[Target]) -> Result<(), ToolError> {
    match going.iter().map(|place| &targets[*place]).find(|target| target.is_link()) {
        Some(target) => Err(link("that path", target.shown())),
        None => Ok(()),
    }
}

fn link(name: &str, real: &str) -> ToolError {
    ToolError::failed(format!(
        "{} is a symbolic link, and {real} is what would go or be moved; nothing was changed. Name that file itself if it is \
         meant, and leave a link to a command",
        toolkit::escape_line(name)
    ))
}

impl Files {
    /// Takes them apart: those that are asked about, their places, what was repaired, and which go.
    pub(super) fn into_parts(self) -> (Vec<Proposal>, Places, Vec<String>, Vec<usize>) {
        (self.proposals, self.places, self.notes, self.going)
    }
}

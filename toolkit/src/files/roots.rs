//! The directories that count as within the workspace, by handle.

use super::handle::Dir;
use crate::error::ToolError;
use crate::permission::OwnDirs;
use crate::workspace::Place;
use std::io;
use std::path::{Component, Path, PathBuf};

#[derive(Debug)]
pub(super) struct Roots {
    /// The workspace first.
    all: Vec<Root>,
    /// What of the toolkit's own may be among them, as it is compared.
    own: OwnDirs,
}

#[derive(Debug)]
pub(super) struct Root {
    /// Its real path.
    pub(super) real: PathBuf,
    /// As it was named, absolute.
    given: PathBuf,
    pub(super) dir: Dir,
}

impl Roots {
    /// Opens the workspace, and of the others those that are there.
    pub(super) fn open(workspace: &Path, further: &[PathBuf], own: OwnDirs) -> Result<Self, ToolError> {
        let workspace = Root::open(workspace).map_err(|error| {
            ToolError::unavailable(format!("the workspace `{}` cannot be used: {error}", workspace.display()))
        })?;
        let further = further.iter().filter_map(|directory| Root::open(directory).ok());
        Ok(Self { all: [workspace].into_iter().chain(further).collect(), own })
    }

    pub(super) fn workspace(&self) -> &Root {
        &self.all[0]
    }

    /// The others that count as within it.
    pub(super) fn further(&self) -> impl Iterator<Item = &Root> {
        self.all[1..].iter()
    }

    /// What of the toolkit's own may be among them, as it is compared.
    pub(super) fn own(&self) -> &OwnDirs {
        &self.own
    }

    /// A real path, on which no link is, as a place.
    pub(super) fn place(&self, real: &Path) -> Place {
        Place {
            real: real.to_owned(),
            given: real.to_owned(),
            links: Vec::new(),
            is_link: false,
            workspace: self.workspace().real.clone(),
            further: self.further().map(|root| root.real.clone()).collect(),
            obstacle: None,
        }
    }

    /// The directory that holds a real path, and the way from there.
    pub(super) fn holding<'a>(&self, real: &'a Path) -> Option<(&Root, &'a Path)> {
        self.all.iter().find_map(|root| real.strip_prefix(&root.real).ok().map(|within| (root, within)))
    }

    /// The directory that a path is in by its name, and the way from there; `None` for a path that goes up.
    pub(super) fn named<'a>(&self, path: &'a Path) -> Option<(&Root, &'a Path)> {
        let within = |root: &Path| path.strip_prefix(root).ok();
        let (root, within) = if path.is_absolute() {
            self.all
                .iter()
                .find_map(|root| Some((root, within(&root.real).or_else(|| within(&root.given))?)))?
        } else {
            (self.workspace(), path)
        };
        let goes_down = |component| matches!(component, Component::Normal(_) | Component::CurDir);
        within.components().all(goes_down).then_some((root, within))
    }

    /// A directory from which a real path can be reached, and the way from there.
    pub(super) fn reaching(&self, real: &Path) -> io::Result<(Dir, PathBuf)> {
        if let Some((root, within)) = self.holding(real) {
            return Ok((root.dir.try_clone()?, within.to_owned()));
        }
        let mut top = PathBuf::new();
        let mut within = PathBuf::new();
        for component in real.components() {
            match component {
                Component::Prefix(_) | Component::RootDir => top.push(component),
                component => within.push(component),
            }
        }
        Ok((Dir::open_root(&top)?, within))
    }
}

impl Root {
    fn open(path: &Path) -> io::Result<Self> {
        let real = path.canonicalize()?;
        let dir = Dir::open_root(&real)?;
        Ok(Self { given: std::path::absolute(path).unwrap_or_else(|_| real.clone()), real, dir })
    }
}

//! The directories of the workspace, by handle.

use super::handle::Dir;
use crate::permission::{OwnDirs, is_suspect};
use crate::real_path::real_path;
use crate::workspace::{Boundary, Place, unusable};
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use toolkit_core::error::ToolError;

#[derive(Debug)]
pub(super) struct Roots {
    /// All directories, the workspace first.
    all: Vec<Root>,
    /// The directories that alone are within the boundary, if it is narrowed.
    within: Option<Vec<PathBuf>>,
    /// The toolkit's own directories that may be among them, in comparable form.
    own: OwnDirs,
    /// True if there are rules about reading, so that each path has to be decided by them.
    has_rules: bool,
    /// The directory that was examined last, and true if only the names of its entries can require a question.
    plain: Mutex<Option<(PathBuf, bool)>>,
}

#[derive(Debug)]
pub(super) struct Root {
    /// The real path.
    pub(super) real: PathBuf,
    /// The given path, absolute.
    given: PathBuf,
    pub(super) dir: Dir,
}

impl Roots {
    /// Opens the workspace, and those of the other directories that exist.
    pub(super) fn open(
        workspace: &Path,
        further: &[PathBuf],
        within: Option<Vec<PathBuf>>,
        own: OwnDirs,
        has_rules: bool,
    ) -> Result<Self, ToolError> {
        let workspace = Root::open(workspace).map_err(|error| unusable(workspace, &error))?;
        let further = further.iter().filter_map(|directory| Root::open(directory).ok());
        Ok(Self {
            all: [workspace].into_iter().chain(further).collect(),
            within,
            own,
            has_rules,
            plain: Mutex::default(),
        })
    }

    pub(super) fn workspace(&self) -> &Root {
        &self.all[0]
    }

    /// Returns the other directories, which are treated as part of the workspace.
    pub(super) fn further(&self) -> impl Iterator<Item = &Root> {
        self.all[1..].iter()
    }

    /// Returns the same directories by their paths.
    pub(super) fn boundary(&self) -> Boundary {
        let Root { real, given, .. } = self.workspace();
        Boundary {
            workspace: real.clone(),
            named: given.clone(),
            further: self.further().map(|root| root.real.clone()).collect(),
            within: self.within.clone(),
        }
    }

    /// Returns the toolkit's own directories that may be among them, in comparable form.
    pub(super) fn own(&self) -> &OwnDirs {
        &self.own
    }

    /// Returns true if a real path within, which contains no symlink, may be read as far as its own names decide. Paths of the
    /// same directory in sequence are decided quickly.
    pub(super) fn is_plain(&self, real: &Path) -> bool {
        let (Some(parent), Some(name)) = (real.parent(), real.file_name()) else { return false };
        let mut plain = self.plain.lock().unwrap_or_else(PoisonError::into_inner);
        let is_plain = match &*plain {
            Some((path, is_plain)) if path.as_os_str() == parent.as_os_str() => *is_plain,
            _ => {
                let is_suspect =
                    |part: Component<'_>| part == Component::ParentDir || is_suspect(part.as_os_str());
                let is_plain = self.is_within(parent)
                    && !self.own.may_hold(parent)
                    && !parent.components().any(is_suspect);
                *plain = Some((parent.to_owned(), is_plain));
                is_plain
            }
        };
        is_plain && !self.has_rules && !is_suspect(name)
    }

    /// Returns a real path, which contains no symlink, as a place.
    pub(super) fn place(&self, real: &Path) -> Place {
        Place {
            real: real.to_owned(),
            given: real.to_owned(),
            links: Vec::new(),
            is_link: false,
            workspace: self.workspace().real.clone(),
            further: self.further().map(|root| root.real.clone()).collect(),
            within: self.within.clone(),
            obstacle: None,
        }
    }

    /// Returns the directories that alone are within the boundary, if it is narrowed.
    pub(super) fn within(&self) -> Option<&Vec<PathBuf>> {
        self.within.as_ref()
    }

    /// Returns true if a real path is within the boundary.
    pub(super) fn is_within(&self, real: &Path) -> bool {
        let is_in = |within: &Vec<PathBuf>| within.iter().any(|directory| real.starts_with(directory));
        self.holding(real).is_some() && self.within.as_ref().is_none_or(is_in)
    }

    /// Returns the directory that contains a real path, and the relative path from there.
    pub(super) fn holding<'a>(&self, real: &'a Path) -> Option<(&Root, &'a Path)> {
        self.all.iter().find_map(|root| real.strip_prefix(&root.real).ok().map(|within| (root, within)))
    }

    /// Returns the directory that contains a path by its name, and the relative path from there; `None` for a path with `..`.
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

    /// Returns a directory from which a real path can be reached, and the relative path from there.
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
        // The handle and the real path must belong to the same directory. If the system does not tell the path, the directory at
        // the real path is opened.
        let (dir, real) = match Dir::open_root_and_path(path)? {
            (dir, Some(real)) => (dir, real),
            (_, None) => {
                let real = real_path(path)?;
                (Dir::open_root(&real)?, real)
            }
        };
        Ok(Self { given: std::path::absolute(path).unwrap_or_else(|_| real.clone()), real, dir })
    }
}

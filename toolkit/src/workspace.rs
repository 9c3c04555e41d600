//! Resolves paths, and checks if they are within the boundary of file access.

use crate::real_path::real_path;
use crate::shown_path::shown_path;
use std::collections::VecDeque;
use std::ffi::OsString;
use std::io;
use std::path::{Component, Path, PathBuf};
use toolkit_core::error::{ToolError, ToolErrorKind};
use toolkit_core::escape::escape_line;

/// The maximum number of symbolic links on one path; the same as on Linux.
const MAX_LINKS: u32 = 40;
/// The maximum length of a path, in bytes; the same as on Linux.
const MAX_PATH_BYTES: usize = 4_096;

/// A resolved path.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    /// The real path, as far as the file system was read.
    pub(crate) real: PathBuf,
    /// The path as it was given, absolute, before any link was followed.
    pub(crate) given: PathBuf,
    /// The links that were followed.
    pub(crate) links: Vec<PathBuf>,
    /// True if the path itself names one of the links.
    pub(crate) is_link: bool,
    /// The real path of the boundary.
    pub(crate) workspace: PathBuf,
    /// The real paths of the directories that count as part of it.
    pub(crate) further: Vec<PathBuf>,
    /// If the boundary is narrower, the only directories of all these that are within it.
    pub(crate) within: Option<Vec<PathBuf>>,
    /// The reason why the path cannot be used. It reveals what exists, so it must not be shown to a caller without
    /// access.
    pub(crate) obstacle: Option<Obstacle>,
}

/// The parts of a boundary other than its directory.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Bounds<'a> {
    /// Directories that count as part of it.
    pub(crate) further: &'a [PathBuf],
    /// If the boundary is narrower, the only directories of all these that are within it, as real paths.
    pub(crate) within: Option<&'a [PathBuf]>,
}

/// The reason why a path cannot be used.
#[derive(Debug, Clone)]
pub(crate) enum Obstacle {
    /// Nothing exists there, but it could be created.
    Absent(ToolError),
    /// The path cannot be used or created.
    Unusable(ToolError),
}

/// The part of the file system that may be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Look {
    /// Only the part within the boundary: the answer does not depend on anything outside.
    Inside,
    /// Everything.
    Everywhere,
}

impl Place {
    pub(crate) fn is_inside(&self) -> bool {
        self.holds(&self.real)
    }

    /// Returns true if a real path is within the boundary, or within a directory that counts as part of it.
    pub(crate) fn holds(&self, real: &Path) -> bool {
        let is_within = |within: &Vec<PathBuf>| within.iter().any(|directory| real.starts_with(directory));
        self.may_look(real) && self.within.as_ref().is_none_or(is_within)
    }

    /// Returns true if a path is within the boundary before it was narrowed: links may be read there.
    fn may_look(&self, real: &Path) -> bool {
        real.starts_with(&self.workspace) || self.further.iter().any(|directory| real.starts_with(directory))
    }

    /// Returns the path relative to the boundary, or the absolute path if it is outside.
    pub(crate) fn relative<'a>(&self, path: &'a Path) -> &'a Path {
        match path.strip_prefix(&self.workspace) {
            Ok(within) if within.as_os_str().is_empty() => Path::new("."),
            Ok(within) => within,
            Err(_) => path,
        }
    }
}

/// The boundary as real paths, resolved at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Boundary {
    /// The real path of the workspace.
    pub(crate) workspace: PathBuf,
    /// The workspace as the host names it, absolute.
    pub(crate) named: PathBuf,
    /// The real paths of the directories that count as part of it.
    pub(crate) further: Vec<PathBuf>,
    /// If the boundary is narrower, the only directories of all these that are within it.
    pub(crate) within: Option<Vec<PathBuf>>,
}

impl Boundary {
    /// Resolves the directories. A directory that does not exist contains nothing, unless it is the workspace.
    ///
    /// # Errors
    ///
    /// Returns an error if the workspace does not exist.
    pub(crate) fn resolve(boundary: &Path, bounds: Bounds<'_>) -> Result<Self, ToolError> {
        let workspace = real_path(boundary).map_err(|error| unusable(boundary, &error))?;
        let named = std::path::absolute(boundary).unwrap_or_else(|_| workspace.clone());
        let further = bounds.further.iter().filter_map(|directory| real_path(directory).ok()).collect();
        Ok(Self { workspace, named, further, within: bounds.within.map(<[PathBuf]>::to_vec) })
    }

    /// Resolves a path from the workspace, one component at a time.
    ///
    /// # Errors
    ///
    /// Returns an error if the path is not valid.
    pub(crate) fn find(&self, path: &Path, look: Look) -> Result<Place, ToolError> {
        check_form(path)?;
        // A path may contain the workspace as the host names it, or its real path.
        let roots = [&self.workspace, &self.named];
        let within = roots.into_iter().find_map(|root| path.strip_prefix(root).ok());
        Ok(walk(path, within.unwrap_or(path), self, look))
    }
}

/// Returns the error for a workspace that does not exist.
pub(crate) fn unusable(workspace: &Path, error: &io::Error) -> ToolError {
    ToolError::unavailable(format!("the workspace `{}` cannot be used: {error}", workspace.display()))
}

/// Resolves a path from the directory `boundary`.
///
/// # Errors
///
/// Returns an error if the path is not valid, or if the boundary does not exist.
pub(crate) fn find(boundary: &Path, bounds: Bounds<'_>, path: &Path, look: Look) -> Result<Place, ToolError> {
    check_form(path)?;
    Boundary::resolve(boundary, bounds)?.find(path, look)
}

fn check_form(path: &Path) -> Result<(), ToolError> {
    let wrong = |problem: &str| Err(ToolError::new(ToolErrorKind::InvalidArguments, problem));
    let bytes = path.as_os_str().as_encoded_bytes();
    if bytes.is_empty() {
        return wrong("the path is empty; name a file, or `.` for the workspace");
    }
    if bytes.contains(&0) {
        return wrong("the path contains a NUL character; remove it");
    }
    if bytes.len() > MAX_PATH_BYTES {
        return wrong("the path is longer than 4,096 bytes, the maximum");
    }
    if path.components().next().is_some_and(|first| first.as_os_str() == "~") {
        return wrong(
            "`~` is not expanded; write the whole path, or begin with `./~` for a file of that name",
        );
    }
    Ok(())
}

/// Resolves a path. In parts that may not be read, the result does not depend on what exists.
fn walk(path: &Path, from: &Path, boundary: &Boundary, look: Look) -> Place {
    let Boundary { workspace, further, within, .. } = boundary.clone();
    let given = steps(from).fold(workspace.clone(), |mut given, step| {
        step.take(&mut given);
        given
    });
    let real = workspace.clone();
    let mut place =
        Place { real, given, links: Vec::new(), is_link: false, workspace, further, within, obstacle: None };
    let mut rest: VecDeque<Step> = steps(from).collect();
    while let Some(step) = rest.pop_front() {
        let goes_up = matches!(step, Step::Up);
        let goes_down = matches!(step, Step::Down(_));
        step.take(&mut place.real);
        if place.obstacle.is_some() {
            // A directory that does not exist has no parent.
            if goes_up && let Some(Obstacle::Absent(error)) = place.obstacle.take() {
                place.obstacle = Some(Obstacle::Unusable(error));
            }
            continue;
        }
        if !goes_down || look == Look::Inside && !place.may_look(&place.real) {
            continue;
        }
        match follow(path, &place.real, place.links.len()) {
            Ok(None) => {}
            Ok(Some(target)) => {
                place.links.push(place.real.clone());
                place.is_link |= rest.is_empty();
                place.real.pop();
                for step in steps(&target).collect::<Vec<_>>().into_iter().rev() {
                    rest.push_front(step);
                }
            }
            Err(obstacle) => place.obstacle = Some(obstacle),
        }
    }
    place
}

/// Returns the target of the link at `real`; `None` if there is no link.
fn follow(path: &Path, real: &Path, links: usize) -> Result<Option<PathBuf>, Obstacle> {
    let obstacle = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound => Obstacle::Absent(cannot_use(path, &error)),
        _ => Obstacle::Unusable(cannot_use(path, &error)),
    };
    if !real.symlink_metadata().map_err(obstacle)?.is_symlink() {
        return Ok(None);
    }
    if links >= MAX_LINKS as usize {
        let error =
            ToolError::failed(format!("{} leads into a cycle of symlinks", escape_line(&shown_path(path))));
        return Err(Obstacle::Unusable(error));
    }
    real.read_link().map(Some).map_err(obstacle)
}

enum Step {
    Root,
    Up,
    Down(OsString),
}

impl Step {
    fn take(self, path: &mut PathBuf) {
        match self {
            Self::Root => *path = PathBuf::from("/"),
            Self::Up => {
                path.pop();
            }
            Self::Down(name) => path.push(name),
        }
    }
}

fn steps(path: &Path) -> impl Iterator<Item = Step> {
    path.components().filter_map(|component| match component {
        Component::Prefix(_) | Component::CurDir => None,
        Component::RootDir => Some(Step::Root),
        Component::ParentDir => Some(Step::Up),
        Component::Normal(name) => Some(Step::Down(name.to_owned())),
    })
}

fn cannot_use(path: &Path, error: &io::Error) -> ToolError {
    let path = escape_line(&shown_path(path)).into_owned();
    match error.kind() {
        io::ErrorKind::NotFound => ToolError::not_found(format!("{path} does not exist")),
        io::ErrorKind::NotADirectory => ToolError::not_found(format!(
            "{path} cannot exist: a part of its path is a file, not a directory"
        )),
        _ => ToolError::failed(format!("{path} cannot be used: {error}")),
    }
}

/// Returns the directories that are in, or are, one of each list; all are real paths.
pub(crate) fn common_directories(some: &[PathBuf], others: &[PathBuf]) -> Vec<PathBuf> {
    let mut common: Vec<PathBuf> = Vec::new();
    for one in some {
        for other in others {
            let both = match (one.starts_with(other), other.starts_with(one)) {
                (true, _) => one,
                (false, true) => other,
                (false, false) => continue,
            };
            if !common.iter().any(|known| both.starts_with(known)) {
                common.push(both.clone());
            }
        }
    }
    common
}

/// Returns true if `path` leads to a place within the directory `root`, or to `root` itself, with all `..` and symbolic
/// links resolved. A relative path is relative to `root`; for a path that does not exist, the nearest existing
/// directory decides.
///
/// Nothing outside `root` is read. If the answer cannot be determined, for example because `root` does not exist,
/// returns false.
///
/// ```
/// use toolkit::files::is_path_contained;
///
/// let root = std::env::temp_dir();
/// assert!(is_path_contained(&root, "notes/today.md"));
/// assert!(!is_path_contained(&root, "../etc/passwd"));
/// ```
pub fn is_path_contained(root: impl AsRef<Path>, path: impl AsRef<Path>) -> bool {
    let place = find(root.as_ref(), Bounds::default(), path.as_ref(), Look::Inside);
    place.is_ok_and(|place| place.is_inside() && !matches!(place.obstacle, Some(Obstacle::Unusable(_))))
}

/// Returns the directory that bounds file access: the session's, or else the configured one, or else the process's;
/// absolute, as it was named.
///
/// # Errors
///
/// Returns an error if a relative directory has to be completed and the process's working directory does not exist.
pub fn sandbox_boundary(session: Option<&Path>, configured: Option<&Path>) -> io::Result<PathBuf> {
    match session.or(configured) {
        Some(directory) => std::path::absolute(directory),
        None => std::env::current_dir(),
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    /// Creates `outside/secret`, `inside/{file,folder/deep}` and links of every kind, under a temporary directory.
    fn places() -> PathBuf {
        let base = std::env::temp_dir().join(format!("toolkit-workspace-{}", std::process::id()));
        let _ = fs::remove_dir_all(&base);
        let inside = base.join("inside");
        fs::create_dir_all(inside.join("folder")).unwrap();
        fs::create_dir_all(base.join("outside")).unwrap();
        for file in ["outside/secret", "inside/file", "inside/folder/deep", "inside/..foo"] {
            fs::write(base.join(file), "").unwrap();
        }
        for (target, link) in [
            ("../outside", "to_folder"),
            ("../outside/secret", "to_secret"),
            ("../outside/absent", "dangling"),
            ("/", "to_root"),
            ("folder", "to_inside"),
            ("../inside/file", "out_and_in"),
            ("circle_b", "circle_a"),
            ("circle_a", "circle_b"),
        ] {
            symlink(target, inside.join(link)).unwrap();
        }
        symlink(&inside, base.join("named")).unwrap();
        base.canonicalize().unwrap()
    }

    /// Returns the place within the boundary, or the kind of its error.
    fn kind(boundary: &Path, path: &str) -> Result<PathBuf, ToolErrorKind> {
        let place =
            find(boundary, Bounds::default(), Path::new(path), Look::Inside).map_err(|error| error.kind())?;
        match (place.is_inside(), place.obstacle) {
            (false, None) => Err(ToolErrorKind::Denied),
            (_, None) => Ok(place.real),
            (_, Some(Obstacle::Absent(error) | Obstacle::Unusable(error))) => Err(error.kind()),
        }
    }

    #[test]
    fn the_boundary() {
        let base = places();
        let absolute = |path: &str| format!("{}/{path}", base.display());
        let kind = |path: &str| kind(&base.join("named"), path);
        for (path, expected) in [
            ("file", "file"),
            ("./folder/../file", "file"),
            ("to_inside/deep", "folder/deep"),
            ("out_and_in", "file"),
            ("..foo", "..foo"),
            ("../inside/file", "file"),
            ("../absent/../inside/file", "file"),
            (&absolute("inside/file"), "file"),
            (&absolute("named/file"), "file"),
            (".", ""),
        ] {
            assert_eq!(kind(path), Ok(base.join("inside").join(expected).components().collect()), "{path}");
        }
        for path in
            ["absent", "file/x", "to_inside/absent", &absolute("named/absent"), &absolute("inside/absent")]
        {
            assert_eq!(kind(path), Err(ToolErrorKind::NotFound), "{path}");
        }
        assert_eq!(kind("circle_a"), Err(ToolErrorKind::Failed));
        // Whether or not anything exists there.
        for path in [
            "to_secret",
            "dangling",
            "to_folder/secret",
            "to_folder/absent",
            "to_root/etc/passwd",
            "to_root/etc/absent",
            "../outside/secret",
            "../outside/absent",
            "..",
            "/etc/passwd",
            "/etc/absent",
            &absolute("outside/secret"),
            &absolute("inside2"),
        ] {
            assert_eq!(kind(path), Err(ToolErrorKind::Denied), "{path}");
        }
        fs::remove_dir_all(base).unwrap();
    }
}

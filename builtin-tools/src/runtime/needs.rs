//! The paths that a command uses beyond those that every command may use.

use super::guards;
use super::judged::{Command, Judged};
use super::tmp;
use shell_verdict::{Access, Class, Part};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use toolkit::permission::{protected_path, sensitive_path};

/// Directories of which a contained command has its own.
pub(super) const TEMPORARY: &[&str] = &["/tmp", "/var/tmp"];

/// Programs that remove or move a directory with all that it contains. A mask in it would prevent that.
const MOVERS: &[&str] = &["rm", "mv"];

/// Paths that a command uses in addition to those that every command may use: each was allowed by a rule or the user.
#[derive(Debug, Default)]
pub(super) struct Needs {
    pub(super) writable: BTreeSet<PathBuf>,
    pub(super) visible: BTreeSet<PathBuf>,
    /// Directories with too much other content for a sandbox to let a command write there and still restrict the rest.
    pub(super) too_wide: Vec<PathBuf>,
    /// True if the command uses files in the shared `/tmp`.
    pub(super) is_temporary: bool,
    /// True if the command uses files that another command of the session left in the session's `/tmp`.
    pub(super) is_private: bool,
    /// The session's private directory for temporary files, if the command refers to it by its real path.
    pub(super) named_tmp: Option<PathBuf>,
    /// Every path of the command, with its access.
    pub(super) paths: Vec<(PathBuf, Access)>,
    /// Paths that the command removes or moves with all that they contain.
    pub(super) moved: Vec<PathBuf>,
    /// Directories of the repository's own data, if git writes to them.
    pub(super) git: Vec<PathBuf>,
    /// True if git writes.
    pub(super) writes_git: bool,
}

impl Needs {
    pub(super) fn of(command: &Command, judged: &Judged, roots: &[PathBuf], own_tmp: Option<&Path>) -> Self {
        let mut needs = Self::default();
        let (own_tmp, named_tmp) = if tmp::is_put_in_place() { (own_tmp, None) } else { (None, own_tmp) };
        needs.named_tmp = named_tmp.map(real);
        let home = command.variables.get("HOME").map(PathBuf::from);
        let is_wide = |directory: &Path| {
            directory.parent().is_none()
                || home.as_ref().is_some_and(|home| home.starts_with(directory))
                || command.workspace.starts_with(directory)
        };
        for part in judged.verdict.each_part() {
            for (path, access) in &part.paths {
                let real = real(path);
                // A search opens nothing that is hidden, unless a person allowed it to.
                let is_asked = || judged.paths.iter().any(|asked| asked.path == *path);
                let access = match access {
                    Access::Search if is_asked() => &Access::ReadTree { follows_links: false },
                    access => access,
                };
                needs.paths.push((real.clone(), *access));
                if *access == Access::Write
                    && part.program.as_deref().is_some_and(|name| MOVERS.contains(&name))
                {
                    needs.moved.push(real.clone());
                }
                let is_known = ["/dev", "/proc", "/sys"].iter().any(|known| real.starts_with(known))
                    || roots.iter().chain(&needs.named_tmp).any(|root| real.starts_with(root));
                if is_known {
                    continue;
                }
                let rest = TEMPORARY.iter().find_map(|all| real.strip_prefix(all).ok());
                if let Some(rest) = rest {
                    let is_own = own_tmp.is_some_and(|own| own.join(rest).exists()) && !real.exists();
                    needs.is_private |= is_own;
                    needs.is_temporary |= !is_own;
                    if is_own {
                        continue;
                    }
                }
                if *access != Access::Write {
                    needs.visible.insert(real);
                    continue;
                }
                let directory = if real.is_dir() { Some(real.as_path()) } else { real.parent() };
                let directory = directory.map_or_else(|| PathBuf::from("/"), first_there);
                if TEMPORARY.iter().any(|all| directory == Path::new(all)) {
                    continue;
                }
                if is_wide(&directory) {
                    needs.too_wide.push(directory);
                } else {
                    needs.writable.insert(directory);
                }
            }
        }
        // Beside a program that may do anything, the approval of a move is no approval of what that program does there.
        let is_exact = |part: &Part| {
            let is_mover = part.program.as_deref().is_some_and(|name| MOVERS.contains(&name));
            is_mover || matches!(part.class, Class::ReadOnly | Class::GitRead | Class::Write)
        };
        if !judged.verdict.each_part().all(is_exact) {
            needs.moved.clear();
        }
        // An approval covers either access.
        if !judged.relies_on_sandbox {
            needs.paths.extend(judged.possible.iter().map(|path| (real(path), Access::Write)));
        }
        let is_git = |class: Class| class == Class::GitWrite;
        needs.writes_git = judged
            .verdict
            .each_part()
            .any(|part| is_git(part.class) || part.reasons.iter().any(|reason| is_git(reason.class)));
        if needs.writes_git
            && let Some(repository) = guards::repository(&command.cwd)
        {
            for directory in repository.own.iter().chain([&repository.top]) {
                // The files of a repository are about it, of which the workspace is a part.
                let is_wide = home.as_ref().is_some_and(|home| home.starts_with(directory))
                    || directory.parent().is_none();
                if !is_wide && !roots.iter().any(|root| directory.starts_with(root)) {
                    needs.writable.insert(directory.clone());
                }
            }
            needs.git = repository.own;
        }
        needs
    }

    /// Returns the paths that the command is to create: those it names to write to, and, in the directories that it writes to, the
    /// guarded names that it reads.
    pub(super) fn named(&self) -> Vec<PathBuf> {
        let is_guarded = |path: &Path| protected_path(path).is_some() || sensitive_path(path).is_some();
        let is_guarded = |path: &Path| is_guarded(path) || is_guarded(&path.join("x"));
        let (writes, reads): (Vec<_>, Vec<_>) =
            self.paths.iter().partition(|(_, access)| *access == Access::Write);
        let moved = reads.iter().chain(&writes).filter(|(path, _)| is_guarded(path));
        let moved: Vec<_> = moved.filter_map(|(path, _)| path.file_name()).collect();
        let directories = writes.iter().filter(|(path, _)| path.is_dir());
        let below = directories.flat_map(|(path, _)| moved.iter().map(move |name| path.join(name)));
        let written = writes.iter().map(|(path, _)| path.clone()).filter(|path| is_guarded(path));
        written.chain(below).collect()
    }

    /// Returns true if the command was asked to change this path or something below it, or to remove or move a directory above it.
    pub(super) fn is_about(&self, protected: &Path) -> bool {
        let mut writes = self.paths.iter().filter(|(_, access)| *access == Access::Write);
        writes.any(|(path, _)| path.starts_with(protected)) || self.is_moved(protected)
    }

    /// Returns true if the command was asked to remove or move this path, or a directory above it.
    fn is_moved(&self, path: &Path) -> bool {
        self.moved.iter().any(|moved| path.starts_with(moved))
    }

    /// Returns true if git changes this path in the course of its work. Git never changes the hooks that it runs.
    pub(super) fn is_of_git(&self, protected: &Path) -> bool {
        !self.git.is_empty() && !self.git.iter().any(|git| protected == git.join("hooks"))
    }

    /// Returns true if the command was asked to read this path, something below it, or the tree of a directory above it, or to remove or
    /// move that.
    pub(super) fn is_read(&self, hidden: &Path) -> bool {
        self.is_moved(hidden)
            || self.paths.iter().any(|(path, access)| {
                path.starts_with(hidden)
                    || matches!(access, Access::ReadTree { .. }) && hidden.starts_with(path)
            })
    }
}

/// Resolves the existing part of a path.
fn real(path: &Path) -> PathBuf {
    let there = first_there(path);
    match (there.canonicalize(), path.strip_prefix(&there)) {
        (Ok(real), Ok(rest)) if rest.as_os_str().is_empty() => real,
        (Ok(real), Ok(rest)) => real.join(rest),
        _ => path.to_owned(),
    }
}

/// Returns the path itself, or the first existing directory above it.
fn first_there(path: &Path) -> PathBuf {
    path.ancestors().find(|above| above.exists()).unwrap_or(Path::new("/")).to_owned()
}

//! Repositories that git uses: whether their settings can make it run a program, or read elsewhere.

use super::index;
use super::keys::{self, Effect};
use super::layout::{git_dir, is_whole, read};
use super::parse::each_key;
use super::tracked::Tracked;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::rc::Rc;

/// Repositories that were checked, with the results.
#[derive(Debug, Default)]
pub(crate) struct Repositories {
    seen: RefCell<BTreeMap<(PathBuf, Looks), Checked>>,
    /// Resolved paths of directories.
    real: RefCell<BTreeMap<PathBuf, Option<PathBuf>>>,
    /// Size of the indexes read.
    read: Cell<u64>,
    /// The files that are tracked in a work tree, by where that begins.
    tracked: RefCell<BTreeMap<PathBuf, Option<Rc<Tracked>>>>,
    /// Size of the indexes read for these.
    read_of_tracked: Cell<u64>,
}

/// The paths of a repository that git reads.
#[derive(Debug, Clone, Default)]
pub(crate) struct Used {
    /// Its own directories.
    pub(crate) directories: Vec<PathBuf>,
    /// The files that its configuration names.
    pub(crate) files: Vec<PathBuf>,
}

/// The paths that git reads, or the reason for which it may do more than read.
type Checked = Result<Used, String>;

/// The files that a git command reads in addition to the repository itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) struct Looks {
    /// True if the command looks into submodules.
    pub(crate) into_submodules: bool,
    /// True if the command compares files of the work tree with committed content, which runs filters.
    pub(crate) through_filters: bool,
    /// True if the host contains git, so that it can start no program of the workspace and connect to nothing.
    pub(crate) contained: bool,
}

/// Maximum number of submodules that are looked for in one repository.
const MAX_SUBMODULES: usize = 256;
/// Maximum number of examined entries of a directory.
const MAX_ENTRIES: usize = 10_000;
/// Maximum number of files that the configuration of one repository may name.
const MAX_FILES: usize = 32;

impl Repositories {
    /// Checks each repository that git may use for a directory. Returns what each consists of.
    pub(crate) fn around(&self, cwd: &Path, looks: Looks) -> Vec<Checked> {
        let real = self.real(cwd);
        let is_real = |directory: &Path| real.as_ref().is_some_and(|real| real.starts_with(directory));
        // Through a link the way up is another.
        let other_way = real.iter().flat_map(|real| real.ancestors());
        let is_one_way = real.as_deref() == Some(cwd);
        let mut found = Vec::new();
        for directory in cwd.ancestors().chain(other_way.filter(|directory| !cwd.starts_with(directory))) {
            found.push(self.check(directory, is_real(directory), looks));
            // If a repository is broken, git searches further up.
            if is_one_way && is_whole(directory) {
                break;
            }
        }
        found
    }

    /// Returns the tracked files of the repository that a directory is in. If that is broken, those of the next repository above are
    /// included.
    pub(crate) fn tracked(&self, cwd: &Path) -> Vec<Rc<Tracked>> {
        let mut found = Vec::new();
        let Some(real) = self.real(cwd) else { return found };
        for directory in real.ancestors() {
            let known = self.tracked.borrow().get(directory).cloned();
            let tracked = known.unwrap_or_else(|| {
                let tracked = Tracked::of(directory, &self.read_of_tracked).map(Rc::new);
                self.tracked.borrow_mut().insert(directory.to_owned(), tracked.clone());
                tracked
            });
            found.extend(tracked);
            if is_whole(directory) {
                break;
            }
        }
        found
    }

    /// Returns the resolved path of a directory, if it exists.
    fn real(&self, cwd: &Path) -> Option<PathBuf> {
        if let Some(known) = self.real.borrow().get(cwd) {
            return known.clone();
        }
        let real = cwd.canonicalize().ok();
        self.real.borrow_mut().insert(cwd.to_owned(), real.clone());
        real
    }

    /// Checks the repository whose work tree begins in a directory, if one does.
    fn check(&self, directory: &Path, is_real: bool, looks: Looks) -> Checked {
        let key = (directory.to_owned(), looks);
        if let Some(known) = self.seen.borrow().get(&key) {
            return known.clone();
        }
        let mut found = check(directory, looks, &self.read);
        for path in found.iter_mut().flat_map(|used| &mut used.directories) {
            // The path itself is not a symlink.
            let is_known = is_real && *path == directory.join(".git");
            if !is_known && let Ok(real) = path.canonicalize() {
                *path = real;
            }
        }
        self.seen.borrow_mut().insert(key, found.clone());
        found
    }
}

fn check(directory: &Path, looks: Looks, read_of_indexes: &Cell<u64>) -> Checked {
    let is_inside = directory.file_name().is_some_and(|name| name == ".git");
    let is_bare =
        ["HEAD", "objects", "refs"].iter().all(|name| directory.join(name).symlink_metadata().is_ok());
    if is_inside || is_bare {
        return Err(format!(
            "{} is the inside of a repository, whose configuration it may have itself",
            directory.display()
        ));
    }
    let Some(git_dir) = git_dir(directory)? else { return Ok(Used::default()) };
    let common = read(&git_dir.join("commondir"))?;
    let common = common.map(|path| git_dir.join(path.trim_end_matches(['\n', '\r'])));
    let shared = common.filter(|common| *common != git_dir);
    let common = shared.as_ref().unwrap_or(&git_dir);
    let mut files = Vec::new();
    for file in [common.join("config"), common.join("config.worktree"), git_dir.join("config.worktree")] {
        check_configuration(&file, Configured { looks, work_tree: Some((&git_dir, directory)) }, &mut files)?;
    }
    // Symlinks that lead elsewhere belong to another repository.
    for name in [
        "objects",
        "refs",
        "refs/heads",
        "refs/tags",
        "refs/remotes",
        "refs/stash",
        "reftable",
        "HEAD",
        "packed-refs",
        "shallow",
        "info",
        "info/exclude",
        "info/attributes",
        "info/grafts",
        "info/sparse-checkout",
        "logs",
        "logs/HEAD",
        "logs/refs",
        "index",
        "config",
    ] {
        if git_dir.join(name).is_symlink() || common.join(name).is_symlink() {
            return Err(format!("{name} of the repository is a link"));
        }
    }
    if ["objects", "objects/pack", "objects/info"].iter().any(|name| holds_link(&common.join(name))) {
        return Err("in the objects of the repository is a link, or too much to check".to_owned());
    }
    for name in ["alternates", "http-alternates"] {
        if common.join("objects/info").join(name).symlink_metadata().is_ok() {
            return Err("the repository takes objects of another".to_owned());
        }
    }
    // In a submodule git runs itself, by the configuration there.
    if looks.into_submodules && !looks.contained {
        let names = index::submodules(&git_dir, read_of_indexes)?;
        let is_there = |name: &&String| directory.join(name).join(".git").symlink_metadata().is_ok();
        if names.len() > MAX_SUBMODULES {
            return Err("the repository has too many submodules to look for".to_owned());
        }
        if let Some(name) = names.iter().find(is_there) {
            return Err(format!("git looks into the submodule {name}, by the configuration of that"));
        }
    }
    let directories = std::iter::once(git_dir.clone()).chain(shared).collect();
    Ok(Used { directories, files })
}

/// Returns true if one of the entries of a directory is a symlink, or there are too many.
fn holds_link(directory: &Path) -> bool {
    let Ok(entries) = fs::read_dir(directory) else { return false };
    entries.enumerate().any(|(count, entry)| {
        let is_link = entry.and_then(|entry| entry.file_type()).map_or(true, |kind| kind.is_symlink());
        is_link || count >= MAX_ENTRIES
    })
}

/// The purpose for which a file of configuration is read.
#[derive(Clone, Copy, Default)]
struct Configured<'p> {
    looks: Looks,
    /// The git directory, and the work tree that belongs to it.
    work_tree: Option<(&'p Path, &'p Path)>,
}

/// Checks a configuration file. An absent one is harmless. Returns the files that it names.
pub(crate) fn check_file(file: &Path, looks: Looks) -> Result<Vec<PathBuf>, String> {
    let mut files = Vec::new();
    check_configuration(file, Configured { looks, work_tree: None }, &mut files)?;
    Ok(files)
}

/// Checks a configuration file and those that it includes, and adds the files that it names.
fn check_configuration(file: &Path, of: Configured<'_>, files: &mut Vec<PathBuf>) -> Result<(), String> {
    let Some(text) = read(file)? else { return Ok(()) };
    each_key(&text, &mut |section, name, key, value| {
        let is_harmless = match section {
            // Filters run only where files of the work tree are compared.
            "filter" if name.is_some() && !of.looks.through_filters => true,
            // The configuration of a submodule names its own work tree.
            "core" if key == "worktree" => of.work_tree.is_some_and(|of| is_work_tree(value, of)),
            _ if !of.looks.contained => keys::is_harmless(section, name, key, value),
            _ => match keys::effect(section, key, value) {
                Effect::Nothing => true,
                Effect::Harm => false,
                reads => match named_file(file, section, value, of).filter(|_| files.len() < MAX_FILES) {
                    None => false,
                    Some(named) => {
                        files.push(named.clone());
                        if reads == Effect::Includes {
                            return check_configuration(&named, of, files);
                        }
                        true
                    }
                },
            },
        };
        if is_harmless {
            return Ok(());
        }
        let name = name.map_or_else(String::new, |name| format!(".{name}"));
        Err(format!(
            "{section}{name}.{key} in {} can make git run something or read elsewhere",
            file.display()
        ))
    })
    .map_err(|why| if why.is_empty() { format!("{} is not understood", file.display()) } else { why })
}

/// Returns the file that a value of a configuration names, if it is written plainly. A path of an inclusion is relative to the file with
/// it, another to the work tree.
fn named_file(file: &Path, section: &str, value: &str, of: Configured<'_>) -> Option<PathBuf> {
    let base = if section.starts_with("include") { file.parent() } else { of.work_tree.map(|(_, top)| top) }?;
    let is_plain =
        !value.is_empty() && !value.starts_with(['~', ':', '%']) && !value.contains(['"', '\\', '#', ';']);
    let path = Some(base.join(value)).filter(|_| is_plain)?;
    if !path.components().any(|part| part == Component::ParentDir) {
        return Some(path);
    }
    // Such a component leads above the directory that a symlink before it leads to.
    path.canonicalize().ok().or_else(|| Some(path.parent()?.canonicalize().ok()?.join(path.file_name()?)))
}

/// Returns true if `core.worktree` has the value that the work tree has anyway.
fn is_work_tree(value: &str, (git_dir, directory): (&Path, &Path)) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-+@".contains(&byte);
    let leads_there = |named: PathBuf| {
        named.canonicalize().is_ok_and(|named| directory.canonicalize().is_ok_and(|real| named == real))
    };
    !value.is_empty() && value.bytes().all(is_plain) && leads_there(git_dir.join(value))
}

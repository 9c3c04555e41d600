//! The rules of ignore files: those of ripgrep and of git, with ripgrep's precedence.

use super::Doors;
use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder, Glob, gitconfig_excludes_path};
use std::ffi::OsStr;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Maximum size in bytes of the ignore files that count in a directory, including those of the directories above it, and maximum
/// number of their patterns: malicious files must not fill the memory. A compiled pattern takes some 3 KB.
const MAX_BYTES: usize = 1024 * 1024;
const MAX_PATTERNS: usize = 10_000;
/// Maximum length of the first line of a file that names the location of a repository.
const MAX_BYTES_OF_A_LINE: u64 = 4_096;

/// The rules that apply within a directory.
pub(super) struct Rules {
    above: Option<Arc<Rules>>,
    /// The rules of `.rgignore`, `.ignore`, `.gitignore` and a repository's `info/exclude`, in this order of precedence.
    files: [Gitignore; 4],
    /// True if a repository begins here: git's rules from above do not apply in it.
    is_repository: bool,
    /// True if this is within a repository: git's rules apply only there.
    is_in_repository: bool,
    /// The user's rules of git for all repositories.
    global: Arc<Gitignore>,
    /// Remaining room for ignore files below.
    room: Room,
}

/// Remaining room for ignore files.
#[derive(Clone, Copy)]
struct Room {
    bytes: usize,
    patterns: usize,
}

impl Room {
    const ALL: Self = Self { bytes: MAX_BYTES, patterns: MAX_PATTERNS };
}

/// The ignore files and repository directories found in a directory.
#[derive(Clone, Copy, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each file is there or not, whatever the others")]
pub(super) struct Names {
    rgignore: bool,
    ignore: bool,
    gitignore: bool,
    git: bool,
    jj: bool,
}

impl Names {
    pub(super) fn among<'a>(names: impl Iterator<Item = &'a OsStr>) -> Self {
        let mut found = Self::default();
        for name in names {
            match name.as_encoded_bytes() {
                b".rgignore" => found.rgignore = true,
                b".ignore" => found.ignore = true,
                b".gitignore" => found.gitignore = true,
                b".git" => found.git = true,
                b".jj" => found.jj = true,
                _ => {}
            }
        }
        found
    }

    const ALL: Self = Self { rgignore: true, ignore: true, gitignore: true, git: true, jj: true };

    fn any(self) -> bool {
        self.rgignore || self.ignore || self.gitignore || self.git || self.jj
    }
}

/// The location from which ignore files are read.
enum From<'a> {
    /// A file of the workspace or the tree: its content may be untrusted.
    Tree(&'a mut Doors),
    /// A file in a directory above the tree, whose owner controls the tree anyway.
    Above(&'a Doors),
}

impl From<'_> {
    fn leave_out_rules(&self) {
        match self {
            Self::Tree(doors) => doors.leave_out_rules(),
            Self::Above(doors) => doors.leave_out_rules(),
        }
    }
}

impl Rules {
    /// Returns the rules for a directory from those above it.
    pub(super) fn above(path: &Path, doors: &mut Doors) -> Arc<Self> {
        let mut room = Room::ALL;
        let global = global(doors, &mut room);
        let mut rules = Arc::new(Self {
            above: None,
            files: std::array::from_fn(|_| Gitignore::empty()),
            is_repository: false,
            is_in_repository: false,
            global: Arc::new(global),
            room,
        });
        let mut directories: Vec<&Path> = path.ancestors().skip(1).collect();
        directories.reverse();
        for directory in directories {
            let is_inside = doors.is_inside(directory);
            let mut from = if is_inside { From::Tree(doors) } else { From::Above(doors) };
            rules = Self::new(&rules, directory, Names::ALL, &mut from);
        }
        rules
    }

    /// Returns the rules within a directory in which `names` are.
    pub(super) fn below(above: &Arc<Self>, directory: &Path, names: Names, doors: &mut Doors) -> Arc<Self> {
        Self::new(above, directory, names, &mut From::Tree(doors))
    }

    fn new(above: &Arc<Self>, directory: &Path, names: Names, from: &mut From<'_>) -> Arc<Self> {
        if !names.any() {
            return Arc::clone(above);
        }
        let git = if names.git { Git::at(directory, from) } else { None };
        let is_repository = git.is_some() || names.jj && directory.join(".jj").exists();
        let mut room = above.room;
        let mut of = |is_there: bool, file: &str| {
            if is_there {
                parse(directory, &directory.join(file), from, &mut room)
            } else {
                Gitignore::empty()
            }
        };
        let [rgignore, ignore, gitignore] =
            [of(names.rgignore, ".rgignore"), of(names.ignore, ".ignore"), of(names.gitignore, ".gitignore")];
        let exclude = git.and_then(|git| git.exclude);
        let exclude = exclude.map_or_else(Gitignore::empty, |file| parse(directory, &file, from, &mut room));
        let files = [rgignore, ignore, gitignore, exclude];
        if !is_repository && files.iter().all(Gitignore::is_empty) {
            return Arc::clone(above);
        }
        Arc::new(Self {
            above: Some(Arc::clone(above)),
            files,
            is_repository,
            is_in_repository: is_repository || above.is_in_repository,
            global: Arc::clone(&above.global),
            room,
        })
    }

    /// Matches a path. For each kind of file, the nearest one with a matching rule counts.
    pub(super) fn matched(&self, path: &Path, is_dir: bool) -> Match<()> {
        let mut said: [Match<()>; 4] = std::array::from_fn(|_| Match::None);
        let mut has_left_repository = false;
        let mut rules = Some(self);
        while let Some(here) = rules {
            for (number, (said, file)) in said.iter_mut().zip(&here.files).enumerate() {
                let is_gits = number >= 2;
                let counts = !is_gits || self.is_in_repository && !has_left_repository;
                if said.is_none() && counts && !file.is_empty() {
                    *said = file.matched(path, is_dir).map(|_: &Glob| ());
                }
            }
            has_left_repository |= here.is_repository;
            rules = here.above.as_deref();
        }
        let [rgignore, ignore, gitignore, exclude] = said;
        let global = if self.is_in_repository {
            self.global.matched(path, is_dir).map(|_: &Glob| ())
        } else {
            Match::None
        };
        rgignore.or(ignore).or(gitignore).or(exclude).or(global)
    }
}

/// A directory's `.git`.
struct Git {
    /// The repository's own exclude file.
    exclude: Option<PathBuf>,
}

impl Git {
    /// Finds git's directory as ripgrep does: a directory, or a file that names that of a worktree.
    fn at(directory: &Path, from: &mut From<'_>) -> Option<Self> {
        let git = directory.join(".git");
        let is_file = git.metadata().ok()?.is_file();
        if !is_file {
            return Some(Self { exclude: Some(git.join("info/exclude")) });
        }
        let mut exclude = || {
            let line = first_line(&git, from)?;
            let there = PathBuf::from(line.strip_prefix("gitdir: ")?);
            let common = first_line(&there.join("commondir"), from)?;
            let common = if common.starts_with('.') { there.join(common) } else { PathBuf::from(common) };
            Some(common.join("info/exclude"))
        };
        Some(Self { exclude: exclude() })
    }
}

fn open(path: &Path, from: &mut From<'_>) -> Option<File> {
    match from {
        From::Tree(doors) => doors.open_rules(path),
        // A pipe would be waited for.
        From::Above(_) => path.metadata().ok()?.is_file().then(|| File::open(path).ok())?,
    }
}

fn first_line(path: &Path, from: &mut From<'_>) -> Option<String> {
    let mut text = Vec::new();
    open(path, from)?.take(MAX_BYTES_OF_A_LINE).read_to_end(&mut text).ok()?;
    let line = text.split(|byte| *byte == b'\n').next()?;
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    String::from_utf8(line.to_vec()).ok()
}

/// Parses the patterns of an ignore file, relative to a directory. Invalid patterns are skipped, and so are those beyond the limit.
fn parse(directory: &Path, file: &Path, from: &mut From<'_>, room: &mut Room) -> Gitignore {
    let Some(opened) = open(file, from) else { return Gitignore::empty() };
    let (rules, is_whole) = parse_opened(directory, file, opened, room);
    if !is_whole {
        from.leave_out_rules();
    }
    rules
}

/// Also whether all of them are there.
fn parse_opened(directory: &Path, file: &Path, opened: File, room: &mut Room) -> (Gitignore, bool) {
    let mut text = Vec::new();
    if opened.take(room.bytes as u64 + 1).read_to_end(&mut text).is_err() {
        return (Gitignore::empty(), true);
    }
    let mut is_whole = text.len() <= room.bytes;
    if !is_whole {
        // The last pattern may be half of one.
        text.truncate(memchr::memrchr(b'\n', &text[..room.bytes]).map_or(0, |end| end + 1));
    }
    room.bytes -= text.len();
    let mut builder = GitignoreBuilder::new(directory);
    let text = text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&text);
    for line in text.split(|byte| *byte == b'\n') {
        // As ripgrep does, which reads it as lines of text.
        let Ok(line) = std::str::from_utf8(line) else { break };
        let is_pattern = !line.trim().is_empty() && !line.starts_with('#');
        if is_pattern && room.patterns == 0 {
            is_whole = false;
            break;
        }
        room.patterns -= usize::from(is_pattern);
        let _ = builder.add_line(Some(file.to_owned()), line);
    }
    (builder.build().unwrap_or_else(|_| Gitignore::empty()), is_whole)
}

/// Returns the patterns of git's global exclude file.
fn global(doors: &Doors, room: &mut Room) -> Gitignore {
    let Some(file) = gitconfig_excludes_path() else { return Gitignore::empty() };
    parse(doors.workspace(), &file, &mut From::Above(doors), room)
}

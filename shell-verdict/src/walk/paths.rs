//! The paths that a command uses.

use super::Judge;
use crate::class::Class;
use crate::situation::{Access, Decision, Search};
use crate::verdict::{Ground, Part};
use crate::words::Value;
use std::path::{Component, Path, PathBuf};

impl Judge<'_> {
    /// Counts a path as used.
    pub(crate) fn path(&mut self, value: &Value, access: Access, part: &mut Part) {
        match value {
            Value::Text(text) => self.named(text, access, part),
            Value::Below { roots, are_files } => {
                let access = match access {
                    Access::Read => Access::ReadTree { follows_links: !*are_files },
                    access => access,
                };
                for root in roots {
                    self.named(root, access, part);
                }
            }
            Value::Listed(words) => {
                for word in &**words {
                    self.one_of_many(word, access, part);
                }
            }
            Value::Unknown { .. } => {
                let class = if access == Access::Write { Class::Write } else { Class::ReadOnly };
                let why = format!("it {} a path that is not known before it runs", verb(access));
                part.because(class, Decision::Ask, Ground::Detail, why);
            }
        }
    }

    /// Counts the directory that the shell lists for a pattern as read.
    pub(super) fn lists_directory(&mut self, directory: Option<PathBuf>, part: &mut Part) {
        let Some(directory) = directory else {
            let why = "the shell lists a directory that is not known before it runs";
            return part.because(Class::ReadOnly, Decision::Ask, Ground::Detail, why);
        };
        let directory = resolve(PathBuf::from("/"), &directory);
        if (self.situation().decide)(&directory, Access::Read) != Decision::Allow {
            self.decided(directory, Access::Read, part);
        }
    }

    fn named(&mut self, given: &str, access: Access, part: &mut Part) {
        if is_no_file(given, access) || (given.is_empty() && access != Access::Write) {
            return;
        }
        if access == Access::Write && is_device(given) {
            return part.is(Class::Forbidden, format!("it writes to the device {given}"));
        }
        match self.absolute(given) {
            Some(path) if access == Access::Write && path.to_str().is_some_and(is_device) => {
                part.is(Class::Forbidden, format!("it writes to the device {}", path.display()));
            }
            Some(path) => self.decided(path, access, part),
            None => {
                let why =
                    format!("it {} {given}, in a directory that is not known before it runs", verb(access));
                let class = if access == Access::Write { Class::Write } else { Class::ReadOnly };
                part.because(class, Decision::Ask, Ground::Detail, why);
            }
        }
    }

    /// Judges one of many names, of which only those are kept that are not allowed.
    fn one_of_many(&mut self, given: &str, access: Access, part: &mut Part) {
        let path = self.absolute(given).filter(|_| access != Access::Write && !is_no_file(given, access));
        match path {
            Some(path) if (self.situation().decide)(&path, access) == Decision::Allow => {}
            _ => self.named(given, access, part),
        }
    }

    fn decided(&mut self, path: PathBuf, access: Access, part: &mut Part) {
        let class = if access == Access::Write { Class::Write } else { Class::ReadOnly };
        let mut decision = (self.situation().decide)(&path, access);
        // To write is never proved to be harmless here.
        if access == Access::Write {
            decision = decision.max(Decision::Ask);
        }
        part.class = part.class.max(class);
        if decision != Decision::Allow {
            part.because(class, decision, Ground::Path, format!("it {} {}", verb(access), path.display()));
        }
        if !part.paths.iter().any(|(known, of)| *known == path && *of == access) {
            part.paths.push((path, access));
        }
    }

    /// Counts the files that a search opens as read. If they are uncertain, everything below the operand counts.
    pub(crate) fn searched(&mut self, value: &Value, search: &Search, part: &mut Part) {
        let tree = Access::ReadTree { follows_links: false };
        let path = value.text().filter(|given| !given.is_empty()).and_then(|given| self.absolute(given));
        // Behind a symlink other ignore files apply.
        let is_directory =
            |path: &PathBuf| path.is_dir() && path.canonicalize().is_ok_and(|real| real == *path);
        let (Some(path), Some(decide)) = (path.filter(is_directory), self.situation().search) else {
            return self.path(value, tree, part);
        };
        part.class = part.class.max(Class::ReadOnly);
        let decision = decide(&path, search).decision;
        if decision != Decision::Allow {
            let why = format!("it {} {}", verb(Access::Search), path.display());
            part.because(Class::ReadOnly, decision, Ground::Path, why);
        }
        if !part.paths.contains(&(path.clone(), Access::Search)) {
            part.paths.push((path, Access::Search));
        }
    }

    /// A path as the command would use it, absolute and without `.` and `..`.
    pub(crate) fn absolute(&self, given: &str) -> Option<PathBuf> {
        let path = Path::new(given);
        let from = if path.is_absolute() { PathBuf::from("/") } else { self.state.cwd.clone()? };
        Some(resolve(from, path))
    }

    /// Resolves a directory as `cd` does: a `..` removes the component before it, wherever that leads.
    pub(crate) fn directory(&self, given: &str) -> Option<PathBuf> {
        let path = Path::new(given);
        let mut whole = if path.is_absolute() { PathBuf::from("/") } else { self.state.cwd.clone()? };
        for component in path.components() {
            match component {
                Component::RootDir | Component::Prefix(_) | Component::CurDir => {}
                // An absent directory makes the whole path fail.
                Component::ParentDir if !whole.is_dir() && !self.state.is_lenient => return None,
                Component::ParentDir => {
                    whole.pop();
                }
                Component::Normal(name) => whole.push(name),
            }
        }
        Some(whole)
    }
}

/// Returns a path from a directory, absolute and without `.` and `..`.
pub(crate) fn resolve(mut whole: PathBuf, path: &Path) -> PathBuf {
    for component in path.components() {
        match component {
            Component::RootDir | Component::Prefix(_) | Component::CurDir => {}
            // The component before it may be a symlink, and then this is not its parent directory.
            Component::ParentDir => {
                let real = whole.canonicalize().unwrap_or(whole);
                whole = real.parent().map_or_else(|| PathBuf::from("/"), Path::to_owned);
            }
            Component::Normal(name) => whole.push(name),
        }
    }
    whole
}

pub(crate) fn verb(access: Access) -> &'static str {
    match access {
        Access::Read => "reads",
        Access::ReadNames => "lists all below",
        Access::ReadTree { .. } => "reads all below",
        Access::Search => "searches through",
        Access::Repository => "reads the repository",
        Access::Write => "writes",
    }
}

/// Returns true if a path is that of a stream that is open already, or of a device that holds nothing.
pub(crate) fn is_no_file(given: &str, access: Access) -> bool {
    match access {
        Access::Write => {
            matches!(given, "/dev/null" | "/dev/stdout" | "/dev/stderr" | "/dev/tty" | "/dev/full")
                || is_descriptor(given)
        }
        _ => {
            matches!(
                given,
                "/dev/null" | "/dev/stdin" | "/dev/zero" | "/dev/urandom" | "/dev/random" | "/dev/full"
            ) || is_descriptor(given)
        }
    }
}

/// Returns true if a path is that of a descriptor that the command opened itself, as of a process substitution.
fn is_descriptor(given: &str) -> bool {
    let number = given.strip_prefix("/dev/fd/");
    number.is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Returns true for a path of a disk, of the machine's memory, or of a file that suspends the machine.
pub(crate) fn is_device(given: &str) -> bool {
    const DEVICES: &[&str] = &[
        "sd", "hd", "vd", "xvd", "nvme", "mmcblk", "disk/", "mapper/", "dm-", "md", "loop", "sr", "nbd",
        "zd", "ram", "mem", "kmem", "port", "nvram", "block/", "root",
    ];
    let is_named = |name: &str| DEVICES.iter().any(|device| name.starts_with(device)) && !name.contains("..");
    given == "/proc/sysrq-trigger"
        || given.strip_prefix("/sys/power/").is_some_and(|name| !name.contains(".."))
        || given.strip_prefix("/dev/").is_some_and(is_named)
}

//! The restrictions of a command that only reads, in place: see [`Sandbox::reading`](crate::Sandbox::reading).
//!
//! Landlock grants; what is not granted is refused. A directory in which something is hidden is not granted as a whole: each of its
//! entries is, except those that are hidden or lie above something hidden, which are entered in turn. So hiding needs no mounts, and the
//! command sees the mounts, processes and owners of the system as they are. Names and metadata stay readable.

use std::collections::HashSet;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use landlock::{
    Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, PathBeneath, Ruleset, RulesetAttr,
    RulesetCreated, RulesetCreatedAttr, Scope,
};
use rustix::fs::{CWD, Dir, FileType, Mode, OFlags};

use super::landlock::{DEVICES, abi};
use crate::failure::{Failure, Step};

/// The resolved paths that a reading command may use.
#[derive(Debug)]
pub(crate) struct ReadingPlan {
    pub(super) readable: Vec<PathBuf>,
    pub(super) executable: Vec<PathBuf>,
    pub(super) hidden: Vec<PathBuf>,
    pub(super) tmp: Option<PathBuf>,
    pub(super) network_tables: bool,
}

/// The first version of Landlock that keeps signals within the sandbox.
const SCOPES: u32 = 6;

impl ReadingPlan {
    /// Returns true if the filter for system calls has to refuse signals to other processes, since Landlock does not.
    pub(super) fn filters_signals(version: u32) -> bool {
        version < SCOPES
    }

    /// Restricts this process.
    pub(super) fn restrict(&self, version: u32) -> Result<(), Failure> {
        let abi = abi(version);
        let failed = |error: landlock::RulesetError| Failure::said(Step::Landlock, error.to_string());
        let mut rules = Ruleset::default()
            .set_compatibility(CompatLevel::HardRequirement)
            .handle_access(AccessFs::from_all(abi))
            .map_err(failed)?;
        if !AccessNet::from_all(abi).is_empty() {
            rules = rules.handle_access(AccessNet::from_all(abi)).map_err(failed)?;
        }
        if !Scope::from_all(abi).is_empty() {
            rules = rules.scope(Scope::from_all(abi)).map_err(failed)?;
        }
        let all = AccessFs::from_all(abi);
        let mut grants =
            Grants { rules: Some(rules.create().map_err(failed)?), files: AccessFs::from_file(abi) };
        grants.path(Path::new("/"), AccessFs::ReadDir.into())?;
        for device in DEVICES {
            let device_access =
                AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::Truncate | AccessFs::IoctlDev;
            grants.path(Path::new(device), device_access & all)?;
        }
        let hidden = Hidden::of(&self.hidden);
        for path in &self.readable {
            grants.except(path, &hidden, AccessFs::ReadFile.into())?;
        }
        for path in &self.executable {
            grants.except(path, &hidden, AccessFs::ReadFile | AccessFs::Execute)?;
        }
        if let Some(tmp) = &self.tmp {
            grants.path(
                tmp,
                all & !(AccessFs::MakeBlock | AccessFs::MakeChar | AccessFs::MakeSock | AccessFs::Execute),
            )?;
        }
        grants.restrict()
    }
}

/// The hidden paths, and the files at them, which may have further names.
struct Hidden<'p> {
    paths: &'p [PathBuf],
    files: HashSet<(u64, u64)>,
}

impl<'p> Hidden<'p> {
    fn of(paths: &'p [PathBuf]) -> Self {
        let stats = paths.iter().filter_map(|path| rustix::fs::lstat(path).ok());
        let linked = stats.filter(|stat| stat.st_nlink > 1 && !is_directory(stat));
        Self { paths, files: linked.map(|stat| (stat.st_dev, stat.st_ino)).collect() }
    }

    /// Returns true if the path is hidden, or lies in something hidden.
    fn covers(&self, path: &Path) -> bool {
        self.paths.iter().any(|hidden| path.starts_with(hidden))
    }

    /// Returns true if something hidden lies below the path.
    fn is_below(&self, path: &Path) -> bool {
        // The paths are sorted by their components, so those below a path follow it.
        let from = self.paths.partition_point(|hidden| hidden.as_path() <= path);
        self.paths.get(from).is_some_and(|next| next.starts_with(path))
    }
}

fn is_directory(stat: &rustix::fs::Stat) -> bool {
    FileType::from_raw_mode(stat.st_mode) == FileType::Directory
}

struct Grants {
    /// `None` only while a rule is added.
    rules: Option<RulesetCreated>,
    /// The rights that a rule about a file can have.
    files: BitFlags<AccessFs>,
}

impl Grants {
    /// Grants the access to a path, if it exists, and to all below it.
    fn path(&mut self, path: &Path, access: BitFlags<AccessFs>) -> Result<(), Failure> {
        match open(CWD, path.as_os_str().as_bytes(), OFlags::PATH) {
            Some(file) => self.file(file.as_fd(), access, true),
            None => Ok(()),
        }
    }

    /// Grants the access to a path and all below it, except what is hidden.
    fn except(
        &mut self,
        path: &Path,
        hidden: &Hidden<'_>,
        access: BitFlags<AccessFs>,
    ) -> Result<(), Failure> {
        if hidden.covers(path) {
            return Ok(());
        }
        if !hidden.is_below(path) && hidden.files.is_empty() {
            return self.path(path, access);
        }
        let Some(file) = open(CWD, path.as_os_str().as_bytes(), OFlags::PATH) else { return Ok(()) };
        let Ok(stat) = rustix::fs::fstat(&file) else { return Ok(()) };
        if hidden.files.contains(&(stat.st_dev, stat.st_ino)) {
            return Ok(());
        }
        if !is_directory(&stat) || !hidden.is_below(path) {
            return self.file(file.as_fd(), access, is_directory(&stat));
        }
        // A directory that this process cannot list, the command cannot list either, and it is not granted.
        let Some(directory) = open(CWD, path.as_os_str().as_bytes(), OFlags::RDONLY | OFlags::DIRECTORY)
        else {
            return Ok(());
        };
        self.entries(&directory, path, hidden, access)
    }

    /// Grants the access to the entries of a directory, by the directory that is open, so that no link that replaces one is followed.
    fn entries(
        &mut self,
        directory: &OwnedFd,
        path: &Path,
        hidden: &Hidden<'_>,
        access: BitFlags<AccessFs>,
    ) -> Result<(), Failure> {
        let Ok(entries) = Dir::read_from(directory) else { return Ok(()) };
        for entry in entries.filter_map(Result::ok) {
            let name = entry.file_name();
            if [b".".as_slice(), b".."].contains(&name.to_bytes()) || entry.file_type() == FileType::Symlink {
                continue;
            }
            let below = path.join(std::ffi::OsStr::from_bytes(name.to_bytes()));
            if hidden.covers(&below) {
                continue;
            }
            if hidden.is_below(&below) {
                let flags = OFlags::RDONLY | OFlags::DIRECTORY;
                if let Some(inner) = open(directory, name.to_bytes(), flags) {
                    self.entries(&inner, &below, hidden, access)?;
                }
                continue;
            }
            let Some(file) = open(directory, name.to_bytes(), OFlags::PATH) else { continue };
            let Ok(stat) = rustix::fs::fstat(&file) else { continue };
            if !hidden.files.contains(&(stat.st_dev, stat.st_ino)) {
                self.file(file.as_fd(), access, is_directory(&stat))?;
            }
        }
        Ok(())
    }

    fn file(
        &mut self,
        file: BorrowedFd<'_>,
        access: BitFlags<AccessFs>,
        is_directory: bool,
    ) -> Result<(), Failure> {
        let access = if is_directory { access } else { access & self.files };
        if access.is_empty() {
            return Ok(());
        }
        let Some(rules) = self.rules.take() else { return Ok(()) };
        let added = rules.add_rule(PathBeneath::new(file, access));
        self.rules = Some(added.map_err(|error| Failure::said(Step::Landlock, error.to_string()))?);
        Ok(())
    }

    fn restrict(self) -> Result<(), Failure> {
        let Some(rules) = self.rules else {
            return Err(Failure::said(Step::Landlock, "its rules were lost".to_owned()));
        };
        rules.restrict_self().map_err(|error| Failure::said(Step::Landlock, error.to_string()))?;
        Ok(())
    }
}

/// Opens a path without following a link at its end. `None` if it cannot be opened.
fn open(within: impl std::os::fd::AsFd, path: &[u8], flags: OFlags) -> Option<OwnedFd> {
    rustix::fs::openat(within, path, flags | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty()).ok()
}

//! The file system that a command sees.
//!
//! Everything that is mounted becomes read-only, without devices and without setuid programs, recursively. Before that, copies of the
//! mounts at the writable paths were taken, which are put back afterwards; covers of empty memory lie on `/tmp`, `/run`, `/dev` and
//! hidden directories. Paths are dealt with from the root downwards, so that the deeper one counts.

use std::ffi::CString;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags};
use rustix::io::Errno;
use rustix::mount::{
    MountFlags, MountPropagationFlags, MoveMountFlags, OpenTreeFlags, mount, mount_change, move_mount,
    open_tree,
};

use super::Plan;
use crate::failure::{Failure, Step};
use crate::sys;

const READ_ONLY: u64 = libc::MOUNT_ATTR_RDONLY;
/// No devices, and no programs that give their owner's rights.
const PLAIN: u64 = libc::MOUNT_ATTR_NODEV | libc::MOUNT_ATTR_NOSUID;

/// Devices that programs need and that can do no harm.
const DEVICES: [&str; 6] = ["null", "zero", "full", "random", "urandom", "tty"];

/// Mount options of a private `/tmp`; the size is a maximum, as a share of the machine's memory.
const TMP: &str = "mode=1777,size=25%";

fn failed(path: impl AsRef<Path>) -> impl Fn(Errno) -> Failure {
    move |error| Failure::new(Step::Mounts, error).at(path.as_ref())
}

/// Returns a detached copy of the mount at a path, and of everything below it.
fn copy(path: &Path) -> Result<OwnedFd, Failure> {
    let flags = OpenTreeFlags::OPEN_TREE_CLONE
        | OpenTreeFlags::OPEN_TREE_CLOEXEC
        | OpenTreeFlags::AT_RECURSIVE
        | OpenTreeFlags::AT_SYMLINK_NOFOLLOW;
    open_tree(CWD, path, flags).map_err(failed(path))
}

fn put(copy: impl AsFd, path: &Path) -> Result<(), Failure> {
    move_mount(copy, c"", CWD, path, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH).map_err(failed(path))
}

fn attributes(copy: impl AsFd, set: u64) -> Result<(), Errno> {
    sys::set_mount_attributes(copy.as_fd(), c"", set)
        .map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))
}

/// Sets attributes of the mount at a path, and of everything below it.
fn attributes_at(path: &Path, set: u64) -> Result<(), Failure> {
    let name = CString::new(path.as_os_str().as_bytes()).map_err(|_| failed(path)(Errno::INVAL))?;
    sys::set_mount_attributes(CWD, &name, set)
        .map_err(|error| failed(path)(Errno::from_io_error(&error).unwrap_or(Errno::IO)))
}

/// Empty memory on a path.
fn cover(path: &Path, options: &str) -> Result<(), Failure> {
    let options = CString::new(options).map_err(|_| failed(path)(Errno::INVAL))?;
    mount("tmpfs", path, "tmpfs", MountFlags::NOSUID | MountFlags::NODEV, options.as_c_str())
        .map_err(failed(path))
}

fn directory(path: &Path, mode: u32) -> Result<(), Failure> {
    match rustix::fs::mkdir(path, Mode::from_bits_retain(mode)) {
        Ok(()) | Err(Errno::EXIST) => Ok(()),
        Err(error) => Err(failed(path)(error)),
    }
}

fn file(path: &Path, mode: u32) -> Result<(), Failure> {
    let flags = OFlags::CREATE | OFlags::WRONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    rustix::fs::open(path, flags, Mode::from_bits_retain(mode)).map(drop).map_err(failed(path))
}

/// Makes the place where something is mounted, with the directories above it, within a cover.
fn place(path: &Path, is_directory: bool) -> Result<(), Failure> {
    for above in path.ancestors().skip(1).collect::<Vec<_>>().into_iter().rev() {
        if !above.exists() {
            directory(above, 0o755)?;
        }
    }
    match (path.exists(), is_directory) {
        (true, _) => Ok(()),
        (false, true) => directory(path, 0o755),
        (false, false) => file(path, 0o644),
    }
}

/// The operation at a path; of several for one path, the last counts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Private,
    Visible,
    /// Unchanged, and cannot be renamed since it is a mount.
    Pinned,
    Writable,
    Protected,
    Hidden,
}

struct Entry {
    path: PathBuf,
    kind: Kind,
    copy: Option<OwnedFd>,
    is_directory: bool,
}

/// A path above another one.
struct Above<'a> {
    path: &'a Path,
    kind: Kind,
    /// True if the path or one above it is hidden.
    hides: bool,
}

/// Returns the operations in order from the root downwards.
fn entries(plan: &Plan) -> Vec<Entry> {
    let full = plan.mode == crate::Mode::Full;
    let mut all: Vec<(&Path, Kind)> = Vec::new();
    let each = [
        (&plan.private, Kind::Private),
        (&plan.visible, Kind::Visible),
        (&plan.protected, Kind::Protected),
        (&plan.hidden, Kind::Hidden),
    ];
    for (paths, kind) in each {
        all.extend(paths.iter().map(|path| (path.as_path(), kind)));
    }
    if !full {
        all.extend(plan.writable.iter().map(|path| (path.as_path(), Kind::Writable)));
    }
    // A directory above something protected could be moved away, and another be put in its place.
    for protected in &plan.protected {
        let Some(root) = plan
            .writable
            .iter()
            .filter(|root| protected.starts_with(root))
            .min_by_key(|root| root.as_os_str().len())
        else {
            continue;
        };
        let between = protected.ancestors().skip(1).take_while(|above| above != root);
        all.extend(between.map(|above| (above, Kind::Pinned)));
    }
    all.sort();
    // Of one path, the last kind.
    let mut kept: Vec<(&Path, Kind)> = Vec::new();
    for (path, kind) in all {
        match kept.last_mut() {
            Some(last) if last.0 == path => last.1 = kind,
            _ => kept.push((path, kind)),
        }
    }
    // Sorted paths have those above them before them, so that these are on a stack: thousands of paths may be hidden.
    let mut above: Vec<Above<'_>> = Vec::new();
    let mut entries = Vec::new();
    for (path, kind) in kept {
        while above.last().is_some_and(|last| !path.starts_with(last.path)) {
            above.pop();
        }
        let nearest = above.last();
        let is_in_private = nearest.is_some_and(|above| above.kind == Kind::Private);
        let is_in_hidden = nearest.is_some_and(|above| above.hides);
        above.push(Above { path, kind, hides: is_in_hidden || kind == Kind::Hidden });
        let needless = match kind {
            // Seen anyway, where nothing covers it.
            Kind::Visible => !is_in_private,
            // Not seen anyway.
            Kind::Pinned | Kind::Protected | Kind::Hidden => is_in_private,
            Kind::Private | Kind::Writable => false,
        };
        if !needless && !is_in_hidden {
            entries.push(Entry { path: path.to_owned(), kind, copy: None, is_directory: path.is_dir() });
        }
    }
    entries
}

/// Arranges all mounts. The process must be in its own mount namespace, with the privileges to change it.
pub(crate) fn arrange(plan: &Plan) -> Result<(), Failure> {
    let root = Path::new("/");
    mount_change(root, MountPropagationFlags::PRIVATE | MountPropagationFlags::REC).map_err(failed(root))?;
    let mut entries = entries(plan);
    for entry in &mut entries {
        if matches!(entry.kind, Kind::Writable | Kind::Visible) {
            let copy = copy(&entry.path)?;
            let set = if entry.kind == Kind::Visible { PLAIN | READ_ONLY } else { PLAIN };
            attributes(&copy, set).map_err(failed(&entry.path))?;
            entry.copy = Some(copy);
        }
    }
    let tmp = match &plan.tmp {
        Some(path) => {
            let tmp = copy(path)?;
            attributes(&tmp, PLAIN).map_err(failed(path))?;
            Some(tmp)
        }
        None => None,
    };
    let devices: Vec<_> =
        DEVICES.iter().filter_map(|name| Some((*name, copy(&Path::new("/dev").join(name)).ok()?))).collect();
    let full = plan.mode == crate::Mode::Full;
    attributes_at(root, if full { PLAIN } else { PLAIN | READ_ONLY })?;
    arrange_devices(&devices)?;
    if plan.has_init() {
        processes()?;
    }
    // Covers that are read-only once everything is in its place.
    let mut finished = vec![PathBuf::from("/dev")];
    for entry in &entries {
        let path = &entry.path;
        match entry.kind {
            Kind::Private if path == Path::new("/run") => {
                cover(path, "mode=755,size=1m")?;
                finished.push(path.clone());
            }
            Kind::Private => match &tmp {
                Some(_) => put(copy_of(plan, tmp.as_ref(), path)?, path)?,
                None => cover(path, TMP)?,
            },
            Kind::Visible | Kind::Writable => {
                place(path, entry.is_directory)?;
                if let Some(copy) = &entry.copy {
                    put(copy, path)?;
                }
            }
            Kind::Pinned => put(copy(path)?, path)?,
            Kind::Protected => {
                let copy = copy(path)?;
                attributes(&copy, PLAIN | READ_ONLY).map_err(failed(path))?;
                put(copy, path)?;
            }
            Kind::Hidden => hide(path, entry.is_directory)?,
        }
    }
    for path in finished {
        // Only this mount: there are writable ones below it.
        mount_read_only(&path)?;
    }
    Ok(())
}

/// Returns another copy of the directory given as `/tmp`. It may be covered by now, so the first use takes the prepared copy, and
/// others copy the place it was mounted at.
fn copy_of(plan: &Plan, tmp: Option<&OwnedFd>, path: &Path) -> Result<OwnedFd, Failure> {
    let first = plan.private.iter().find(|private| *private != Path::new("/run"));
    match (first, tmp) {
        (Some(first), Some(tmp)) if first == path => {
            rustix::io::fcntl_dupfd_cloexec(tmp, 3).map_err(failed(path))
        }
        (Some(first), _) => copy(first),
        (None, _) => Err(failed(path)(Errno::INVAL)),
    }
}

fn mount_read_only(path: &Path) -> Result<(), Failure> {
    let flags = MountFlags::BIND | MountFlags::RDONLY | MountFlags::NOSUID | MountFlags::NODEV;
    rustix::mount::mount_remount(path, flags, "").map_err(failed(path))
}

/// Arranges a `/dev` with the few devices that programs need, and private terminals and shared memory.
fn arrange_devices(devices: &[(&str, OwnedFd)]) -> Result<(), Failure> {
    let dev = Path::new("/dev");
    cover(dev, "mode=755,size=1m")?;
    for (name, copy) in devices {
        let path = dev.join(name);
        file(&path, 0o666)?;
        put(copy, &path)?;
    }
    for name in ["pts", "shm"] {
        directory(&dev.join(name), 0o755)?;
    }
    let pts = dev.join("pts");
    let flags = MountFlags::NOSUID | MountFlags::NOEXEC;
    mount("devpts", &pts, "devpts", flags, c"newinstance,ptmxmode=0666,mode=0620").map_err(failed(&pts))?;
    cover(&dev.join("shm"), TMP)?;
    let links = [
        ("ptmx", "pts/ptmx"),
        ("fd", "/proc/self/fd"),
        ("stdin", "/proc/self/fd/0"),
        ("stdout", "/proc/self/fd/1"),
        ("stderr", "/proc/self/fd/2"),
    ];
    for (name, target) in links {
        let path = dev.join(name);
        rustix::fs::symlink(target, &path).map_err(failed(&path))?;
    }
    // The file with which hidden files are covered.
    directory(&dev.join(NOTHING), 0o755)?;
    file(&dev.join(NOTHING).join("file"), 0o000)
}

/// Directory of the file with which hidden files are covered.
const NOTHING: &str = ".hidden";

/// Mounts a `/proc` that shows the namespace's own processes. It is read-only: root's user id suffices to write to much of it.
fn processes() -> Result<(), Failure> {
    let path = Path::new("/proc");
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC | MountFlags::RDONLY;
    mount("proc", path, "proc", flags, None::<&std::ffi::CStr>).map_err(failed(path))
}

/// Covers something with nothing that can be read.
fn hide(path: &Path, is_directory: bool) -> Result<(), Failure> {
    if is_directory {
        cover(path, "mode=000,size=4k")?;
        return mount_read_only(path);
    }
    let nothing = copy(&Path::new("/dev").join(NOTHING).join("file"))?;
    attributes(&nothing, PLAIN | READ_ONLY).map_err(failed(path))?;
    put(nothing, path)
}

/// Tests that these mounts are possible on this system.
pub(crate) fn possible() -> Result<(), String> {
    let words = |failure: Failure| crate::failure::words(&failure);
    let root = Path::new("/");
    mount_change(root, MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)
        .map_err(|error| words(failed(root)(error)))?;
    let null = copy(Path::new("/dev/null")).map_err(words)?;
    attributes_at(root, PLAIN | READ_ONLY).map_err(words)?;
    arrange_devices(&[("null", null)]).map_err(words)
}

/// Tests that a PID namespace is possible, which needs a `/proc` that shows its processes.
pub(crate) fn own_processes_possible() -> Result<(), String> {
    possible()?;
    processes().map_err(|failure| crate::failure::words(&failure))
}

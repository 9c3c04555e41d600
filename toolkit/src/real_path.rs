//! The real path of an existing file or directory.

use std::io;
use std::path::{Path, PathBuf};

/// Returns the real path of the file or directory at `path`: absolute and without links, as `std::fs::canonicalize`
/// returns it.
///
/// Resolving one component after the other takes a system call for each. On Linux the kernel opens the whole path
/// instead, without following links; if that succeeds, the path is the real one. Otherwise the kernel is asked for the
/// path of the opened file, so that a concurrent rename cannot mix two paths.
///
/// # Errors
///
/// Returns an error if nothing exists at the path, or if a directory in it cannot be accessed.
pub(crate) fn real_path(path: &Path) -> io::Result<PathBuf> {
    #[cfg(target_os = "linux")]
    {
        // Opened only to get its path: this does not wait for a pipe, and needs no read permission.
        let flags = rustix::fs::OFlags::PATH;
        if let Some(opened) = open_straight(path, flags) {
            opened?;
            return Ok(path.to_owned());
        }
        let opened = rustix::fs::open(path, flags | rustix::fs::OFlags::CLOEXEC, rustix::fs::Mode::empty())?;
        if let Some(real) = path_of(&opened) {
            return Ok(real);
        }
    }
    path.canonicalize()
}

/// Opens a path that is already the real path; returns `None` if it is not, or if this cannot be determined.
#[cfg(target_os = "linux")]
pub(crate) fn open_straight(
    path: &Path,
    flags: rustix::fs::OFlags,
) -> Option<io::Result<std::os::fd::OwnedFd>> {
    use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat2};
    use rustix::io::Errno;
    if !is_normal(path) {
        return None;
    }
    let flags = flags | OFlags::CLOEXEC;
    match openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS) {
        // A link is in the path, or the kernel is too old, or a sandbox does not allow the call.
        Err(Errno::LOOP | Errno::NOSYS | Errno::PERM | Errno::INVAL | Errno::AGAIN | Errno::INTR) => None,
        opened => Some(opened.map_err(io::Error::from)),
    }
}

/// Returns true if a path is written as real paths are; it may still contain links.
#[cfg(target_os = "linux")]
fn is_normal(path: &Path) -> bool {
    use std::os::unix::ffi::OsStrExt as _;
    let bytes = path.as_os_str().as_bytes();
    let is_name = |part: &[u8]| !matches!(part, b"" | b"." | b"..");
    bytes == b"/"
        || bytes.strip_prefix(b"/").is_some_and(|rest| rest.split(|byte| *byte == b'/').all(is_name))
}

/// Returns the path of an open file; `None` if the kernel cannot be asked, or knows no path.
#[cfg(target_os = "linux")]
pub(crate) fn path_of(fd: &impl std::os::fd::AsRawFd) -> Option<PathBuf> {
    use std::ffi::OsString;
    use std::os::unix::ffi::OsStringExt as _;
    if !has_proc() {
        return None;
    }
    let link = format!("/proc/self/fd/{}", fd.as_raw_fd());
    let bytes = rustix::fs::readlink(link, Vec::with_capacity(256)).ok()?.into_bytes();
    // The kernel marks removed files as deleted, and a file in another mount tree has no path from the root.
    let is_path = bytes.starts_with(b"/") && !bytes.ends_with(b" (deleted)");
    is_path.then(|| PathBuf::from(OsString::from_vec(bytes)))
}

/// Returns true if `/proc` is the kernel's own file system, and not an ordinary directory.
#[cfg(target_os = "linux")]
fn has_proc() -> bool {
    use std::sync::LazyLock;
    static HAS_PROC: LazyLock<bool> = LazyLock::new(|| {
        rustix::fs::statfs("/proc/self/fd").is_ok_and(|stat| stat.f_type == rustix::fs::PROC_SUPER_MAGIC)
    });
    *HAS_PROC
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn it_is_the_path_that_the_standard_library_finds() {
        let base = tempfile::tempdir().unwrap();
        let at = |name: &str| base.path().join(name);
        fs::create_dir_all(at("a/b/c (deleted)")).unwrap();
        fs::create_dir_all(at("a/ü\n\u{1}")).unwrap();
        fs::write(at("a/b/file"), "").unwrap();
        symlink("a/b", at("link")).unwrap();
        symlink(at("link"), at("far")).unwrap();
        symlink("round", at("round")).unwrap();
        symlink("nowhere", at("broken")).unwrap();
        for name in [
            "",
            ".",
            "a",
            "a/../a/b",
            "a/b/file",
            "a/b/file/.",
            "a/b/c (deleted)",
            "a/ü\n\u{1}",
            "link",
            "link/file",
            "far/../b/file",
            "far/c (deleted)/..",
            "round",
            "broken",
            "absent",
            "a/b/file/below",
        ] {
            let (ours, theirs) = (real_path(&at(name)), at(name).canonicalize());
            let kind = |found: io::Result<PathBuf>| found.map_err(|error| error.kind());
            assert_eq!(kind(ours), kind(theirs), "{name:?}");
        }
        for path in ["/", "/proc/self", "/dev/null", "relative and absent", "."] {
            assert_eq!(real_path(Path::new(path)).ok(), Path::new(path).canonicalize().ok(), "{path}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn only_paths_as_real_ones_are_written_are_opened_straight() {
        for (path, expected) in [
            ("/", true),
            ("/a", true),
            ("/a/b.c/..d/é", true),
            ("", false),
            ("a", false),
            ("/a/", false),
            ("//a", false),
            ("/a//b", false),
            ("/a/./b", false),
            ("/a/..", false),
        ] {
            assert_eq!(is_normal(Path::new(path)), expected, "{path}");
        }
        let base = tempfile::tempdir().unwrap();
        let base = base.path().canonicalize().unwrap();
        fs::create_dir(base.join("a")).unwrap();
        symlink("a", base.join("link")).unwrap();
        let opens =
            |path: PathBuf| open_straight(&path, rustix::fs::OFlags::PATH).map(|opened| opened.is_ok());
        assert_eq!(opens(base.join("a")), Some(true));
        assert_eq!(opens(base.join("absent")), Some(false));
        assert_eq!(opens(base.join("link")), None);
        assert_eq!(opens(base.join("link/below")), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn what_has_no_name_any_more_has_no_path() {
        let base = tempfile::tempdir().unwrap();
        let place = base.path().join("file");
        let file = fs::File::create(&place).unwrap();
        assert_eq!(path_of(&file), Some(place.canonicalize().unwrap()));
        fs::rename(&place, base.path().join("other")).unwrap();
        assert_eq!(path_of(&file), Some(base.path().canonicalize().unwrap().join("other")));
        fs::remove_file(base.path().join("other")).unwrap();
        assert_eq!(path_of(&file), None);
    }
}

//! Directories of this process alone, within that for temporary files.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

const LOCK: &str = ".lock";
/// How many that others left are looked at.
const MAX_SWEPT: usize = 200;

/// A directory that only its owner may enter, and the lock that says that somebody has it. It goes when it is dropped; that of a process
/// that was killed, with the next [`sweep`].
#[derive(Debug)]
pub(crate) struct Scratch {
    directory: PathBuf,
    lock: PathBuf,
    _held: File,
}

impl Scratch {
    /// Makes one, whose name begins with `prefix`.
    pub(crate) fn make(within: &Path, prefix: &str) -> io::Result<Self> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("{prefix}{since:x}-{}-{number}", std::process::id());
        let lock = within.join(format!("{name}{LOCK}"));
        let held = private(&lock)?;
        held.try_lock().map_err(|_| io::Error::from(io::ErrorKind::WouldBlock))?;
        let directory = within.join(name);
        // Fails where something is there already.
        let mut builder = fs::DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        if let Err(error) = builder.create(&directory) {
            let _ = fs::remove_file(&lock);
            return Err(error);
        }
        Ok(Self { directory, lock, _held: held })
    }

    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.directory);
        let _ = fs::remove_file(&self.lock);
    }
}

fn private(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// Removes those of this prefix whose processes are gone. Others' cannot be opened, or are not removed.
pub(crate) fn sweep(within: &Path, prefix: &str) {
    let entries = fs::read_dir(within).into_iter().flatten().filter_map(Result::ok);
    let locks = entries.filter_map(|entry| {
        let name = entry.file_name().into_string().ok()?;
        (name.starts_with(prefix) && name.ends_with(LOCK)).then(|| entry.path())
    });
    for lock in locks.take(MAX_SWEPT) {
        if lock.is_symlink() {
            continue;
        }
        let Ok(held) = File::options().write(true).open(&lock) else { continue };
        if held.try_lock().is_ok() {
            let directory = lock.with_extension("");
            if fs::remove_dir_all(&directory).is_ok() || !directory.exists() {
                let _ = fs::remove_file(&lock);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_holds_is_swept() {
        let within = tempfile::tempdir().unwrap();
        let kept = Scratch::make(within.path(), "toolkit-tmp-").unwrap();
        fs::write(kept.directory.join("a"), "x").unwrap();
        let left = within.path().join("toolkit-tmp-left");
        fs::create_dir(&left).unwrap();
        fs::write(left.join("a"), "x").unwrap();
        private(&within.path().join("toolkit-tmp-left.lock")).unwrap();
        fs::create_dir(within.path().join("other")).unwrap();
        sweep(within.path(), "toolkit-tmp-");
        let mut names: Vec<_> =
            fs::read_dir(within.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        let own = kept.directory.file_name().unwrap().to_owned();
        let lock = kept.lock.file_name().unwrap().to_owned();
        assert_eq!(names, ["other".into(), own, lock]);
        drop(kept);
        assert_eq!(fs::read_dir(within.path()).unwrap().count(), 1);
    }
}

//! The directory that the commands of a session see as `/tmp`, or where nothing can be put in the place of that have as their `TMPDIR`.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, Once, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};
use toolkit_sandbox::{Feature, probe};

const PREFIX: &str = "toolkit-tmp-";
const LOCK: &str = ".lock";
/// Maximum number of directories left by other processes that are checked.
const MAX_SWEPT: usize = 200;

/// Returns true if the directory replaces `/tmp` for contained commands. Blocks the first time in a process.
pub(super) fn is_put_in_place() -> bool {
    probe().has(Feature::UserNamespace) && probe().has(Feature::Mounts)
}

/// The session's private `/tmp`. It is created on first use and removed with the session. If a host was killed, the next session that
/// creates its own removes it.
#[derive(Debug, Default)]
pub(super) struct Tmp(Mutex<Option<Own>>);

/// A directory, and the lock that marks it as in use.
#[derive(Debug)]
struct Own {
    directory: PathBuf,
    lock: PathBuf,
    _held: File,
}

impl Tmp {
    /// Returns the directory, if it exists and so may contain files.
    pub(super) fn made(&self) -> Option<PathBuf> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).as_ref().map(|own| own.directory.clone())
    }

    pub(super) fn directory(&self) -> Option<PathBuf> {
        static SWEPT: Once = Once::new();
        let mut own = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if own.is_none() {
            let within = std::env::temp_dir();
            SWEPT.call_once(|| sweep(&within));
            *own = Own::make(&within).ok();
        }
        own.as_ref().map(|own| own.directory.clone())
    }
}

impl Own {
    fn make(within: &Path) -> io::Result<Self> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("{PREFIX}{since:x}-{}-{number}", std::process::id());
        let lock = within.join(format!("{name}{LOCK}"));
        let held = private(&lock)?;
        held.try_lock().map_err(|_| io::Error::from(io::ErrorKind::WouldBlock))?;
        let directory = within.join(name);
        // Fails if the path exists already.
        let mut builder = fs::DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        if let Err(error) = builder.create(&directory) {
            let _ = fs::remove_file(&lock);
            return Err(error);
        }
        Ok(Self { directory, lock, _held: held })
    }
}

impl Drop for Own {
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

/// Removes directories whose hosts are gone. Those of other users cannot be opened, and those in use are not removed.
fn sweep(within: &Path) {
    let entries = fs::read_dir(within).into_iter().flatten().filter_map(Result::ok);
    let locks = entries.filter_map(|entry| {
        let name = entry.file_name().into_string().ok()?;
        (name.starts_with(PREFIX) && name.ends_with(LOCK)).then(|| entry.path())
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
        let kept = Own::make(within.path()).unwrap();
        fs::write(kept.directory.join("a"), "x").unwrap();
        let left = within.path().join("toolkit-tmp-left");
        fs::create_dir(&left).unwrap();
        fs::write(left.join("a"), "x").unwrap();
        private(&within.path().join("toolkit-tmp-left.lock")).unwrap();
        fs::create_dir(within.path().join("other")).unwrap();
        sweep(within.path());
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

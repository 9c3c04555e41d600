//! The store of whole outputs: `<data directory>/tool-output/<session>/<time>.txt`, readable by their owner only. Callers of a session
//! that name different agents or senders have different directories: a session here is the [`owner_name`] of a caller.

mod name;
mod room;
mod settings;
mod sweep;

use crate::cut::OutputLocation;
use name::file_name;
pub(crate) use name::{directory_name, owner_name};
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

pub use settings::OutputStoreSettings;
pub use sweep::SweepReport;

/// The store's directory within the data directory.
const DIRECTORY: &str = "tool-output";
/// The interval at which old files are removed.
pub(crate) const EVERY: Duration = Duration::from_hours(1);
/// The maximum number of attempts when another process takes a name or removes a directory.
const TRIES: usize = 100;

/// Returns the data directory of a host that names none: the platform's directory of a program called `toolkit`. On
/// Linux this is `$XDG_DATA_HOME/toolkit`, or else `~/.local/share/toolkit`.
#[cfg(feature = "runtime")]
pub(crate) fn default_data_dir() -> Option<PathBuf> {
    use etcetera::BaseStrategy as _;

    Some(etcetera::base_strategy::choose_native_strategy().ok()?.data_dir().join("toolkit"))
}

/// A store of files that hold whole outputs. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(crate) struct OutputStore {
    /// `None` if there is no data directory: nothing is saved then.
    root: Option<Arc<Path>>,
    settings: OutputStoreSettings,
    swept: Arc<Mutex<Option<Instant>>>,
    /// The last count of bytes in the store, and its time.
    counted: Arc<Mutex<Option<(Instant, u64)>>>,
}

impl OutputStore {
    /// Creates a store. Directories are created with the first file.
    pub(crate) fn new(data_dir: Option<PathBuf>) -> Self {
        Self { root: data_dir.map(|directory| directory.join(DIRECTORY).into()), ..Self::default() }
    }

    /// Sets the limits of the store.
    pub(crate) fn with_settings(mut self, settings: OutputStoreSettings) -> Self {
        self.settings = settings;
        self
    }

    /// Returns the limits of the store.
    pub(crate) fn settings(&self) -> &OutputStoreSettings {
        &self.settings
    }

    /// Returns the directory for the files of a session, which may not exist. Two sessions never share a directory;
    /// callers without a session share one.
    pub(crate) fn session_dir(&self, session: Option<&str>) -> Option<PathBuf> {
        self.root.as_ref().map(|root| root.join(directory_name(session)))
    }

    /// Removes old files if that was not done for an hour, also in a host that runs no periodic cleanup.
    fn sweep_now_and_then(&self) {
        let is_due = {
            let mut swept = self.swept.lock().unwrap_or_else(PoisonError::into_inner);
            let is_due = swept.is_none_or(|at| at.elapsed() >= EVERY);
            if is_due {
                *swept = Some(Instant::now());
            }
            is_due
        };
        if is_due {
            self.sweep(SystemTime::now());
        }
    }

    /// Returns the directory that contains the store's directory.
    pub(crate) fn data_dir(&self) -> Option<&Path> {
        self.root.as_deref()?.parent()
    }

    /// Creates an empty file for one output. Blocks.
    pub(crate) fn create(&self, session: Option<&str>) -> Result<OutputFile, String> {
        let (Some(root), Some(directory)) = (&self.root, self.session_dir(session)) else {
            return Err("there is no data directory".to_owned());
        };
        self.sweep_now_and_then();
        let limit = self.room(root, SystemTime::now());
        for _ in 0..TRIES {
            make_directory(root)?;
            make_directory(&directory)?;
            let path = directory.join(file_name());
            match create_new(&path) {
                Ok(file) => return Ok(OutputFile { file, path, bytes: 0, limit, error: None, keep: false }),
                // Another process took the name, or removed the directory.
                Err(error) if matches!(error.kind(), ErrorKind::AlreadyExists | ErrorKind::NotFound) => {}
                Err(error) => return Err(cannot("create", &path, &error)),
            }
        }
        Err(format!("cannot create a file in {}: other processes keep interfering", directory.display()))
    }
}

/// Creates a directory for its owner only, with its parents. An existing one must be a real directory: through a
/// symbolic link, outputs would be written to an unintended place.
pub(crate) fn make_directory(path: &Path) -> Result<(), String> {
    match fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_dir() => return Ok(()),
        Ok(_) => return Err(format!("{} is not a directory", path.display())),
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(error) => return Err(cannot("look at", path, &error)),
    }
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path).map_err(|error| cannot("create", path, &error))
}

fn create_new(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

fn cannot(what: &str, path: &Path, error: &io::Error) -> String {
    format!("cannot {what} {}: {error}", path.display())
}

/// A file that is being written. It is removed if it is dropped before it is kept.
#[derive(Debug)]
pub(crate) struct OutputFile {
    file: File,
    path: PathBuf,
    bytes: u64,
    /// The maximum size in bytes.
    limit: u64,
    /// The first error; nothing is written after it, so that the file is a prefix of the output.
    error: Option<io::Error>,
    keep: bool,
}

impl OutputFile {
    /// Returns the path of the file.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the maximum size in bytes.
    pub(crate) fn limit(&self) -> u64 {
        self.limit
    }

    /// Appends as many bytes as the disk and the limit allow. Blocks.
    pub(crate) fn write(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() && self.error.is_none() {
            let room = usize::try_from(self.limit.saturating_sub(self.bytes)).unwrap_or(usize::MAX);
            if room == 0 {
                let limit = self.limit;
                let why = format!("it would have more than {limit} bytes; `tools.outputs` sets the limit");
                self.error = Some(io::Error::new(ErrorKind::FileTooLarge, why));
                return;
            }
            match self.file.write(&bytes[..bytes.len().min(room)]) {
                Ok(0) => self.error = Some(ErrorKind::WriteZero.into()),
                Ok(count) => {
                    bytes = &bytes[count..];
                    self.bytes += count as u64;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => self.error = Some(error),
            }
        }
    }

    /// Keeps the file, and returns how much of the output was written.
    pub(crate) fn keep(mut self) -> OutputLocation {
        let error = self.error.take().map(|error| cannot("write", &self.path, &error));
        self.keep = error.is_none() || self.bytes > 0;
        let path = self.path.clone();
        match error {
            None => OutputLocation::Whole { path },
            Some(error) if self.keep => OutputLocation::Partly { path, bytes: self.bytes, error },
            Some(error) => OutputLocation::Not { error },
        }
    }
}

impl Drop for OutputFile {
    fn drop(&mut self) {
        if !self.keep {
            // The path of this file was not given out. If it cannot be removed now, the next sweep removes it.
            let _ = fs::remove_file(&self.path);
            if let Some(directory) = self.path.parent() {
                // Succeeds only if the directory is empty.
                let _ = fs::remove_dir(directory);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(directory: &Path) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(directory)
            .into_iter()
            .flatten()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    fn kept(store: &OutputStore, bytes: &[u8]) -> PathBuf {
        let mut file = store.create(Some("s")).unwrap();
        file.write(bytes);
        match file.keep() {
            OutputLocation::Whole { path } => path,
            other => panic!("{other:?}"),
        }
    }

    #[cfg(unix)]
    #[test]
    fn only_the_owner_can_read() {
        use std::os::unix::fs::PermissionsExt as _;
        let data = tempfile::tempdir().unwrap();
        let store = OutputStore::new(Some(data.path().join("data")));
        let file = kept(&store, b"secret");
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&file), 0o600);
        for directory in file.ancestors().skip(1).take(3) {
            assert_eq!(mode(directory), 0o700, "{}", directory.display());
        }
        assert_eq!(file.parent(), store.session_dir(Some("s")).as_deref());
        assert_eq!(fs::read(file).unwrap(), b"secret");
    }

    #[test]
    fn names_are_unique_and_in_order_of_time() {
        let data = tempfile::tempdir().unwrap();
        let store = OutputStore::new(Some(data.path().to_owned()));
        let first = kept(&store, b"");
        let threads: Vec<_> = (0..8)
            .map(|_| {
                let store = store.clone();
                std::thread::spawn(move || (0..50).map(|_| kept(&store, b"x")).collect::<Vec<_>>())
            })
            .collect();
        let mut all: Vec<PathBuf> = threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect();
        all.sort();
        all.dedup();
        assert_eq!(all.len(), 400);
        assert!(first < all[0]);
        assert!(*all.last().unwrap() < kept(&store, b""));
    }

    #[test]
    fn what_is_not_kept_leaves_nothing() {
        let data = tempfile::tempdir().unwrap();
        let store = OutputStore::new(Some(data.path().to_owned()));
        let mut one = store.create(Some("s")).unwrap();
        let two = store.create(Some("s")).unwrap();
        one.write(b"x");
        drop(one);
        assert_eq!(names(&store.session_dir(Some("s")).unwrap()).len(), 1);
        drop(two);
        assert!(names(&data.path().join(DIRECTORY)).is_empty());
    }

    #[cfg(unix)]
    #[test]
    fn nothing_is_written_through_a_link() {
        use std::os::unix::fs::symlink;
        let (data, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let store = OutputStore::new(Some(data.path().to_owned()));
        fs::create_dir(data.path().join(DIRECTORY)).unwrap();
        symlink(elsewhere.path(), store.session_dir(Some("s")).unwrap()).unwrap();
        assert!(store.create(Some("s")).unwrap_err().ends_with("is not a directory"));

        let data = tempfile::tempdir().unwrap();
        symlink(elsewhere.path(), data.path().join(DIRECTORY)).unwrap();
        let store = OutputStore::new(Some(data.path().to_owned()));
        assert!(store.create(Some("s")).unwrap_err().ends_with("is not a directory"));
        assert!(names(elsewhere.path()).is_empty());
    }

    #[test]
    fn the_default_is_a_directory_of_its_own() {
        assert!(
            default_data_dir()
                .is_none_or(|directory| directory.ends_with("toolkit") && directory.is_absolute())
        );
    }

    #[test]
    fn without_a_place_the_reason_is_told() {
        assert_eq!(OutputStore::new(None).create(Some("s")).unwrap_err(), "there is no data directory");
        let data = tempfile::tempdir().unwrap();
        let file = data.path().join("file");
        fs::write(&file, "").unwrap();
        let error = OutputStore::new(Some(file)).create(None).unwrap_err();
        assert!(error.starts_with("cannot look at "), "{error}");
    }
}

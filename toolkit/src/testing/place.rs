//! A temporary directory for each test.

use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::{fs, io};
use tempfile::TempDir;

/// The workspace of a [`TestToolbox`](super::TestToolbox): a directory that is removed with its last handle.
///
/// Paths are relative to it, with `/` as separator. Errors panic and name the file.
#[derive(Debug, Clone)]
pub struct TestWorkspace(Arc<Place>);

#[derive(Debug)]
struct Place {
    workspace: PathBuf,
    data: PathBuf,
    _removed_on_drop: TempDir,
}

impl TestWorkspace {
    #[track_caller]
    pub(super) fn new() -> Self {
        let make = || {
            let directory = tempfile::Builder::new().prefix("toolkit-test-").tempdir()?;
            // Tools return real paths.
            let root = directory.path().canonicalize()?;
            let (workspace, data) = (root.join("workspace"), root.join("data"));
            fs::create_dir(&workspace)?;
            fs::create_dir(&data)?;
            Ok::<_, io::Error>(Place { workspace, data, _removed_on_drop: directory })
        };
        match make() {
            Ok(place) => Self(Arc::new(place)),
            Err(error) => panic!("no temporary directory for the test: {error}"),
        }
    }

    /// Returns the path of the directory.
    pub fn path(&self) -> &Path {
        &self.0.workspace
    }

    /// Returns the toolkit's data directory, which is outside the workspace.
    pub fn data_dir(&self) -> &Path {
        &self.0.data
    }

    /// Returns the text of a file.
    ///
    /// # Panics
    ///
    /// Panics if there is no such file, or it is not UTF-8.
    #[track_caller]
    pub fn read(&self, path: &str) -> String {
        match String::from_utf8(self.read_bytes(path)) {
            Ok(text) => text,
            Err(error) => panic!("`{path}` of the test's workspace is not UTF-8: {}", error.utf8_error()),
        }
    }

    /// Returns the bytes of a file.
    ///
    /// # Panics
    ///
    /// Panics if there is no such file.
    #[track_caller]
    pub fn read_bytes(&self, path: &str) -> Vec<u8> {
        match fs::read(self.inside(path)) {
            Ok(bytes) => bytes,
            Err(error) => {
                panic!("`{path}` of the test's workspace: {error}; it holds {:?}", self.files())
            }
        }
    }

    /// Writes a file, and creates the directories above it.
    ///
    /// # Panics
    ///
    /// Panics if that fails, or if the path leads out of the workspace.
    #[track_caller]
    pub fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let file = self.inside(path);
        let directory = file.parent().unwrap_or(self.path());
        if let Err(error) = fs::create_dir_all(directory).and_then(|()| fs::write(&file, content)) {
            panic!("`{path}` of the test's workspace: {error}");
        }
    }

    /// Returns true if the path exists: a file, a directory, or a dangling link.
    pub fn contains(&self, path: &str) -> bool {
        self.inside(path).symlink_metadata().is_ok()
    }

    /// Returns every file, sorted. Links are listed and not followed.
    ///
    /// # Panics
    ///
    /// Panics if a directory cannot be read.
    #[track_caller]
    pub fn files(&self) -> Vec<String> {
        let mut files = Vec::new();
        if let Err(error) = self.list(self.path(), &mut files) {
            panic!("the test's workspace: {error}");
        }
        files.sort_unstable();
        files
    }

    fn list(&self, directory: &Path, files: &mut Vec<String>) -> io::Result<()> {
        for entry in fs::read_dir(directory)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                self.list(&entry.path(), files)?;
            } else if let Ok(path) = entry.path().strip_prefix(self.path()) {
                let parts: Vec<_> = path.iter().map(|part| part.to_string_lossy()).collect();
                files.push(parts.join("/"));
            }
        }
        Ok(())
    }

    #[track_caller]
    fn inside(&self, path: &str) -> PathBuf {
        let is_inside = Path::new(path).components().all(|part| matches!(part, Component::Normal(_)));
        assert!(is_inside && !path.is_empty(), "`{path}` is not a path within the test's workspace");
        self.path().join(path)
    }
}

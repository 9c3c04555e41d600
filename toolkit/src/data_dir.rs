//! The directory for data that is kept between runs.

use std::fs::DirBuilder;
use std::path::{Path, PathBuf};
use toolkit_core::error::ToolError;

/// The toolkit's data directory, as a service that every toolkit has.
///
/// It is the one that [`Builder::data_dir`](crate::Builder::data_dir) sets, or else the platform's directory for a user's
/// data. A model's tools cannot use its paths freely: access to it is asked about like access to a secret.
///
/// ```
/// use toolkit::prelude::*;
/// use toolkit::config::DataDir;
///
/// struct Diary(PathBuf);
///
/// #[toolkit::service]
/// fn diary(data: State<DataDir>) -> Result<Diary, ToolError> {
///     Ok(Diary(data.directory("diary")?.join("diary.txt")))
/// }
/// # fn main() {}
/// ```
#[derive(Debug, Clone)]
pub struct DataDir(Option<PathBuf>);

impl DataDir {
    /// Creates the service for the directory at `path`, for tests.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self(Some(path.into()))
    }

    pub(crate) fn of(path: Option<&Path>) -> Self {
        Self(path.map(Path::to_owned))
    }

    /// Returns the path, if there is one. The directory need not exist.
    pub fn path(&self) -> Option<&Path> {
        self.0.as_deref()
    }

    /// Returns the subdirectory `name`, and creates it if it is missing, readable only by its owner. Blocks briefly.
    ///
    /// # Errors
    ///
    /// `Unavailable` when there is no data directory, it cannot be created, or the name exists but is no directory;
    /// `Failed` when `name` is not one plain name.
    pub fn directory(&self, name: &str) -> Result<PathBuf, ToolError> {
        let mut parts = Path::new(name).components();
        let is_plain = matches!(parts.next(), Some(std::path::Component::Normal(part)) if part == name);
        if !is_plain || parts.next().is_some() {
            return Err(ToolError::failed(format!("`{name}` is not the name of a directory")));
        }
        let Some(root) = &self.0 else {
            return Err(ToolError::unavailable(
                "there is no data directory: the user has no home directory; set `TOOLKIT_DATA_DIR`, or \
                 `Builder::data_dir` in a host of your own",
            ));
        };
        let directory = root.join(name);
        let cannot = |error: &dyn std::fmt::Display| {
            ToolError::unavailable(format!("the directory {} cannot be used: {error}", directory.display()))
        };
        let mut builder = DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(&directory).map_err(|error| cannot(&error))?;
        let metadata = directory.symlink_metadata().map_err(|error| cannot(&error))?;
        if metadata.is_dir() { Ok(directory) } else { Err(cannot(&"it is a link")) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolkit_core::error::ToolErrorKind;

    #[test]
    fn a_directory_is_one_plain_name_below() {
        let root = tempfile::tempdir().unwrap();
        let data = DataDir::new(root.path().join("deep/data"));
        let made = data.directory("notes").unwrap();
        assert_eq!(made, root.path().join("deep/data/notes"));
        assert_eq!(data.directory("notes").unwrap(), made, "a second time");
        for name in ["", ".", "..", "a/b", "/a", "a/", "a/.", "../a"] {
            assert_eq!(data.directory(name).unwrap_err().kind(), ToolErrorKind::Failed, "{name:?}");
        }
        assert_eq!(DataDir(None).directory("notes").unwrap_err().kind(), ToolErrorKind::Unavailable);
        std::fs::write(root.path().join("deep/data/file"), "").unwrap();
        assert_eq!(data.directory("file").unwrap_err().kind(), ToolErrorKind::Unavailable);
    }

    #[cfg(unix)]
    #[test]
    fn nobody_else_looks_into_it_and_no_link_leads_away() {
        use std::os::unix::fs::{PermissionsExt as _, symlink};
        let root = tempfile::tempdir().unwrap();
        let data = DataDir::new(root.path().join("data"));
        let made = data.directory("notes").unwrap();
        for directory in [made.as_path(), &root.path().join("data")] {
            assert_eq!(directory.metadata().unwrap().permissions().mode() & 0o777, 0o700);
        }
        symlink(root.path(), root.path().join("data/link")).unwrap();
        assert!(data.directory("link").unwrap_err().message().contains("it is a link"));
    }
}

//! Writes files in place if they cannot be replaced by a new file: a file that is a mount point, or one in a directory that
//! this user may not write to.
//!
//! Readers can see such a file half written, and a process that dies leaves it so. Its old content is therefore first copied
//! to the toolkit's data directory. The copy is written back if the system refuses the new content; after a crash, the next
//! call reports the copy.

use super::fault;
use super::handle::{self, Dir, Stat};
use super::target::{Expected, Target};
use super::unfinished::{Content, PendingChange};
use super::version::{ContentHash, FileVersion};
use crate::output_store::make_directory;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read as _, Seek as _, Write as _};
use std::path::PathBuf;
use toolkit_core::error::ToolError;

/// The directory of the copies, within the data directory.
const DIRECTORY: &str = "replaced";

/// Returns true if writing in place may work after the system refused to replace a file.
pub(super) fn may_help(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::PermissionDenied | ErrorKind::ResourceBusy | ErrorKind::ReadOnlyFilesystem
    )
}

impl Target {
    /// Writes the content into the existing file, which has to be `existing` and match `expected`. Blocks.
    pub(super) fn write_in_place(
        &self,
        dir: &Dir,
        content: &[&[u8]],
        existing: &Stat,
        expected: &Expected,
        executable: Option<bool>,
    ) -> Result<FileVersion, ToolError> {
        let refused = |error: &io::Error| self.refused(error);
        fault::point("open to write in place");
        let mut file = dir.open_to_write(&self.name).map_err(|error| refused(&error))?;
        let metadata = file.metadata().map_err(|error| refused(&error))?;
        if handle::identity(&metadata) != existing.identity {
            return Err(self.changed());
        }
        let mut copy = self.copy(&mut file).map_err(|error| {
            ToolError::failed(format!(
                "cannot write {}: it can only be written in place, and its old content cannot be copied first: {error}",
                self.shown
            ))
        })?;
        let before = FileVersion::of_hashed(copy.hash.clone(), &metadata);
        if matches!(expected, Expected::Absent)
            || matches!(expected, Expected::Version(version) if !version.is_same(&before))
        {
            return Err(self.changed());
        }
        let mut hash = ContentHash::new();
        for part in content {
            hash.update(part);
        }
        let contents = (Content::of_hash(copy.hash.clone()), Content::of_hash(hash.clone()));
        let _until_written = self.begin_in_place(contents, &copy.path);
        match overwrite(&mut file, content, executable) {
            Ok(metadata) => Ok(FileVersion::of_hashed(hash, &metadata)),
            Err(error) => Err(match copy.give_back(&mut file) {
                Ok(()) => refused(&error),
                Err(second) => {
                    copy.is_needed = true;
                    ToolError::failed(format!(
                        "cannot write {}: {error}; its old content could not be put back either ({second}), and is in {}",
                        self.shown,
                        copy.path.display()
                    ))
                }
            }),
        }
    }

    /// Copies the content of a file; the copy survives a power cut.
    fn copy(&self, file: &mut File) -> io::Result<Copy> {
        let data = self.workspace.ctx.scope().toolkit.settings.outputs.data_dir();
        let directory = data.map_or_else(std::env::temp_dir, |data| data.join(DIRECTORY));
        make_directory(&directory).map_err(io::Error::other)?;
        let mut random = [0; 8];
        getrandom::fill(&mut random).map_err(|error| io::Error::other(error.to_string()))?;
        let path = directory.join(format!("toolkit-{:016x}.copy", u64::from_be_bytes(random)));
        let mut options = OpenOptions::new();
        options.read(true).write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        fault::point("copy what is written in place");
        let mut copy = Copy { file: options.open(&path)?, path, hash: ContentHash::new(), is_needed: false };
        let mut block = vec![0; ContentHash::BLOCK];
        file.rewind()?;
        loop {
            match file.read(&mut block) {
                Ok(0) => break,
                Ok(count) => {
                    copy.hash.update(&block[..count]);
                    copy.file.write_all(&block[..count])?;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        copy.file.sync_all()?;
        Ok(copy)
    }

    fn begin_in_place(&self, contents: (Content, Content), copy: &std::path::Path) -> Option<PendingChange> {
        self.workspace.begin_in_place(self, contents, copy)
    }
}

/// The copy of a file's old content while the file is written in place. Dropping it removes the copy unless it is needed.
struct Copy {
    file: File,
    path: PathBuf,
    hash: ContentHash,
    is_needed: bool,
}

impl Copy {
    fn give_back(&mut self, file: &mut File) -> io::Result<()> {
        fault::point("put back what was written in place");
        self.file.rewind()?;
        file.rewind()?;
        let length = io::copy(&mut self.file, file)?;
        file.set_len(length)?;
        file.sync_all()
    }
}

impl Drop for Copy {
    fn drop(&mut self) {
        if !self.is_needed {
            // A copy that cannot be removed does no harm.
            let _ = fs::remove_file(&self.path);
        }
    }
}

fn overwrite(file: &mut File, content: &[&[u8]], executable: Option<bool>) -> io::Result<fs::Metadata> {
    fault::point("write in place");
    file.rewind()?;
    let mut length = 0;
    for part in content {
        file.write_all(part)?;
        length += part.len() as u64;
    }
    file.set_len(length)?;
    if let Some(executable) = executable {
        handle::set_executable(file, executable)?;
    }
    fault::point("sync what was written in place");
    file.sync_all()?;
    file.metadata()
}

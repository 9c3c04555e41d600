//! Reads a file that another person may have created.

use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Read as _};
use std::path::Path;

/// Returns the text of a regular file of at most `most` bytes; `None` if there is none. Symlinks are followed; a
/// dangling symlink is an error, because its author meant a file.
///
/// # Errors
///
/// When the file cannot be read, with the reason.
pub(crate) fn read_text(path: &Path, most: u64) -> Result<Option<String>, String> {
    let mut options = OpenOptions::new();
    options.read(true);
    // Otherwise, opening a pipe without a writer would wait.
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, libc::O_NONBLOCK);
    let file = match options.open(path) {
        Ok(file) => file,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return match fs::symlink_metadata(path) {
                Ok(_) => Err("it is a symlink to a missing file".to_owned()),
                Err(_) => Ok(None),
            };
        }
        Err(error) => return Err(format!("it cannot be opened: {error}")),
    };
    let metadata = file.metadata().map_err(|error| format!("its metadata cannot be read: {error}"))?;
    if !metadata.is_file() {
        return Err("it is not a regular file".to_owned());
    }
    let mut bytes = Vec::new();
    file.take(most + 1).read_to_end(&mut bytes).map_err(|error| format!("it cannot be read: {error}"))?;
    if bytes.len() as u64 > most {
        return Err(format!("it has more than {most} bytes"));
    }
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Some(text)),
        Err(error) => {
            let before =
                String::from_utf8_lossy(&error.as_bytes()[..error.utf8_error().valid_up_to()]).into_owned();
            Err(format!("it is not UTF-8 from line {} on", before.matches('\n').count() + 1))
        }
    }
}

//! The directory of a browser's process: its profile, its downloads, its temporary files.

use crate::scratch::{Scratch, sweep};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

const PREFIX: &str = "toolkit-browser-";
/// The directories in it.
const PARTS: [&str; 5] = ["data", "downloads", "uploads", "home", TEMPORARY];
/// The one for temporary files.
const TEMPORARY: &str = "tmp";
/// The path of the socket that Chromium makes among its temporary files, and does not start without.
const SOCKET: &str = "/.org.chromium.Chromium.XXXXXX/SingletonSocket";
/// The most bytes of a socket's path, on Linux and macOS.
const MAX_SOCKET_PATH: usize = if cfg!(target_os = "linux") { 107 } else { 103 };

/// Makes the directory: in the system's directory for temporary files, or where the path of that is too long for a socket, in a usual one.
pub(super) fn scratch() -> io::Result<Scratch> {
    let usual =
        if cfg!(unix) { ["/tmp", "/var/tmp", "/dev/shm"].map(PathBuf::from).to_vec() } else { Vec::new() };
    within_first(&std::env::temp_dir(), &usual)
}

fn within_first(first: &Path, others: &[PathBuf]) -> io::Result<Scratch> {
    let scratch = within(first)?;
    let longest = longest(&scratch);
    if longest >= first.as_os_str().len() {
        return Ok(scratch);
    }
    drop(scratch);
    let other =
        others.iter().filter(|other| longest >= other.as_os_str().len()).find_map(|other| within(other).ok());
    other.ok_or_else(|| {
        let name = first.to_string_lossy();
        let name = toolkit::text::escape_line(&name);
        let message = format!(
            "the path of the directory for temporary files is too long for a socket of the browser: `{name}` has {} bytes, and at most \
             {longest} are possible; set TMPDIR to a shorter path",
            first.as_os_str().len()
        );
        io::Error::new(io::ErrorKind::InvalidFilename, message)
    })
}

/// Returns the most bytes that the path of a directory may have in which a browser like this one is placed.
fn longest(scratch: &Scratch) -> usize {
    let name = scratch.directory().file_name().map_or(0, std::ffi::OsStr::len);
    MAX_SOCKET_PATH.saturating_sub(SOCKET.len() + "/".len() + TEMPORARY.len() + "/".len() + name)
}

fn within(directory: &Path) -> io::Result<Scratch> {
    static SWEPT: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());
    {
        let mut swept = SWEPT.lock().unwrap_or_else(PoisonError::into_inner);
        if !swept.iter().any(|known| known == directory) {
            swept.push(directory.to_owned());
            sweep(directory, PREFIX);
        }
    }
    let scratch = Scratch::make(directory, PREFIX)?;
    for name in PARTS {
        fs::create_dir(scratch.directory().join(name))?;
    }
    Ok(scratch)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::net::UnixListener;

    /// Returns a directory whose path has so many bytes.
    fn of_length(within: &Path, length: usize) -> PathBuf {
        let rest = length - within.as_os_str().len() - 1;
        let directory = within.join("x".repeat(rest));
        fs::create_dir_all(&directory).expect("a directory");
        directory
    }

    #[test]
    fn the_socket_of_a_browser_fits_wherever_the_temporary_files_are() {
        let short = tempfile::tempdir_in("/tmp").unwrap();
        let others = [PathBuf::from("/no/such/place"), PathBuf::from("/tmp")];
        for length in short.path().as_os_str().len() + 2..120 {
            let first = of_length(short.path(), length);
            let scratch = within_first(&first, &others).unwrap();
            let temporary = scratch.directory().join(TEMPORARY);
            let socket = format!("{}{SOCKET}", temporary.display());
            fs::create_dir(Path::new(&socket).parent().unwrap()).unwrap();
            UnixListener::bind(&socket).unwrap();
            let is_first = scratch.directory().starts_with(&first);
            // One byte more would not fit.
            assert_eq!(is_first, length <= longest(&scratch), "{length}");
            drop(scratch);
            assert_eq!(fs::read_dir(&first).unwrap().count(), 0);
        }
    }

    #[test]
    fn a_directory_that_is_too_long_is_named_where_there_is_no_other() {
        let short = tempfile::tempdir_in("/tmp").unwrap();
        let first = of_length(short.path(), 100);
        let error = within_first(&first, &[]).unwrap_err().to_string();
        assert!(error.contains("has 100 bytes") && error.contains("set TMPDIR to a shorter path"), "{error}");
        assert_eq!(fs::read_dir(&first).unwrap().count(), 0);
    }
}

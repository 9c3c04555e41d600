//! The log of a gateway: warnings on standard error, and a file in the data directory.

use crate::utc;
use crate::warnings::{self, Printing, is_own};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;
use tracing::{Level, Metadata};

/// The file, in the data directory.
const FILE: &str = "gateway.log";
/// The file of the lines before, once the file is full.
const FILE_BEFORE: &str = "gateway.log.1";
/// The most bytes of each.
const MAX_BYTES: u64 = 8 << 20;

/// Writes what the crates of the toolkit log to the file from now on, and warnings to standard error, too.
pub(super) fn write(data_dir: &Path) -> Printing {
    let log = Mutex::new(Log { directory: data_dir.to_owned(), open: None });
    warnings::print_and(move |metadata: &Metadata<'_>, text: &str| {
        if is_own(metadata.target()) {
            // A log that cannot be written ends nothing.
            let _ = log.lock().unwrap_or_else(PoisonError::into_inner).line(*metadata.level(), text);
        }
    })
}

struct Log {
    directory: PathBuf,
    /// The file, with its size.
    open: Option<(File, u64)>,
}

impl Log {
    fn line(&mut self, level: Level, text: &str) -> io::Result<()> {
        let line = format!("{} {level:<5} {text}\n", utc::second(SystemTime::now()));
        if self.open.as_ref().is_some_and(|(_, size)| size + line.len() as u64 > MAX_BYTES) {
            self.open = None;
            fs::rename(self.directory.join(FILE), self.directory.join(FILE_BEFORE))?;
        }
        let (file, size) = match &mut self.open {
            Some(open) => open,
            None => {
                let mut options = OpenOptions::new();
                options.append(true).create(true);
                #[cfg(unix)]
                std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
                let file = options.open(self.directory.join(FILE))?;
                let size = file.metadata()?.len();
                self.open.insert((file, size))
            }
        };
        file.write_all(line.as_bytes())?;
        *size += line.len() as u64;
        Ok(())
    }
}

/// Returns the last lines of the log, and the place in the file after them.
pub(super) fn last(data_dir: &Path, lines: usize) -> io::Result<(String, u64)> {
    let mut whole = read(&data_dir.join(FILE_BEFORE), 0)?.0;
    let (now, end) = read(&data_dir.join(FILE), 0)?;
    whole.push_str(&now);
    let all: Vec<&str> = whole.lines().collect();
    let mut text = all[all.len().saturating_sub(lines)..].join("\n");
    if !text.is_empty() {
        text.push('\n');
    }
    Ok((text, end))
}

/// Returns the whole lines after a place in the file, and the place after them. A file that is shorter is a new one.
pub(super) fn after(data_dir: &Path, place: u64) -> io::Result<(String, u64)> {
    let path = data_dir.join(FILE);
    let length = fs::metadata(&path).map_or(0, |metadata| metadata.len());
    read(&path, if length < place { 0 } else { place })
}

fn read(path: &Path, from: u64) -> io::Result<(String, u64)> {
    let mut file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok((String::new(), 0)),
        Err(error) => return Err(error),
    };
    file.seek(SeekFrom::Start(from))?;
    let mut bytes = Vec::new();
    file.take(2 * MAX_BYTES).read_to_end(&mut bytes)?;
    let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    bytes.truncate(whole);
    Ok((String::from_utf8_lossy(&bytes).into_owned(), from + whole as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_file_is_kept_once_and_the_last_lines_are_read_over_both() {
        let directory = tempfile::tempdir().unwrap();
        let data_dir = directory.path();
        assert_eq!(last(data_dir, 5).unwrap(), (String::new(), 0));
        let mut log = Log { directory: data_dir.to_owned(), open: None };
        let filling = "x".repeat(1 << 20);
        for number in 0..20 {
            log.line(Level::INFO, &format!("{number} {filling}")).unwrap();
        }
        let sizes = [FILE, FILE_BEFORE].map(|name| fs::metadata(data_dir.join(name)).unwrap().len());
        assert!(sizes.iter().all(|size| *size <= MAX_BYTES), "{sizes:?}");
        let (text, end) = last(data_dir, 8).unwrap();
        let numbers: Vec<&str> = text.lines().filter_map(|line| line.split_whitespace().nth(4)).collect();
        assert_eq!(numbers, ["12", "13", "14", "15", "16", "17", "18", "19"]);
        log.line(Level::WARN, "the last").unwrap();
        let (text, _) = after(data_dir, end).unwrap();
        assert!(text.ends_with(" WARN  the last\n"), "{text}");
        assert_eq!(text.lines().count(), 1);
    }
}

//! The files: the one that is written, and older ones beside it, named `NAME.MILLISECONDS-PROCESS.jsonl` when they were
//! full.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// One of so many files is written.
const FILES: u64 = 8;
/// A file is closed when it is so many times younger than what may be kept.
const AGES: u32 = 30;
/// How often somebody else's changes are looked for, and old files.
const LOOK: Duration = Duration::from_secs(1);
const SWEEP: Duration = Duration::from_hours(1);

/// The files of one history.
pub(super) struct Segments {
    path: PathBuf,
    max_age: Duration,
    max_bytes: u64,
    current: Option<Current>,
    looked: Instant,
    swept: Instant,
}

struct Current {
    file: File,
    /// As far as is known.
    bytes: u64,
    /// When its first line was written.
    since: SystemTime,
    /// Whether it ends within a line.
    is_torn: bool,
}

impl Segments {
    pub(super) fn open(path: &Path, max_age: Duration, max_bytes: u64) -> io::Result<Self> {
        let current = Current::open(path)?;
        let now = Instant::now();
        let mut segments = Self {
            path: path.to_owned(),
            max_age,
            max_bytes,
            current: Some(current),
            looked: now,
            swept: now,
        };
        segments.tidy();
        segments.sweep();
        Ok(segments)
    }

    /// Looks whether somebody else wrote to the file, moved it away, or removed it.
    pub(super) fn look(&mut self) {
        let is_due = self.looked.elapsed() >= LOOK;
        let Some(current) = &mut self.current else { return };
        let Ok(length) = current.file.metadata().map(|metadata| metadata.len()) else { return };
        if length != current.bytes {
            current.bytes = length;
            current.is_torn = ends_within_line(&current.file, length);
        }
        if is_due {
            self.looked = Instant::now();
            if !is_same(&current.file, &self.path) {
                self.current = None;
            }
        }
    }

    /// Appends a line, by one write.
    pub(super) fn append(&mut self, mut line: Vec<u8>) -> io::Result<()> {
        if self.current.is_none() {
            self.current = Some(Current::open(&self.path)?);
        }
        let Some(current) = &mut self.current else { return Ok(()) };
        if current.is_torn {
            line.insert(0, b'\n');
        }
        if current.bytes == 0 {
            current.since = SystemTime::now();
        }
        // A disk that fills up may take a part, and then what is left, or nothing any more.
        current.is_torn = true;
        current.file.write_all(&line)?;
        current.is_torn = false;
        current.bytes += line.len() as u64;
        if current.bytes >= self.max_bytes / FILES {
            self.tidy();
        }
        Ok(())
    }

    /// Puts a file aside that is full or old, and removes what is too old or too much.
    pub(super) fn tidy(&mut self) {
        if let Some(current) = &self.current {
            let age = current.since.elapsed().unwrap_or_default();
            let is_full = current.bytes >= self.max_bytes / FILES;
            if current.bytes > 0 && (is_full || age >= self.max_age / AGES) {
                // Somebody else may have put it aside already.
                if is_same(&current.file, &self.path) {
                    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
                    let mut milliseconds = since.as_millis();
                    let mut target = self.named(milliseconds);
                    while target.symlink_metadata().is_ok() {
                        milliseconds += 1;
                        target = self.named(milliseconds);
                    }
                    if fs::rename(&self.path, target).is_err() {
                        return;
                    }
                }
                self.current = None;
                self.sweep();
            }
        }
        if self.swept.elapsed() >= SWEEP {
            self.sweep();
        }
    }

    fn named(&self, milliseconds: u128) -> PathBuf {
        self.path.with_file_name(format!("{}.{milliseconds}-{}.jsonl", stem(&self.path), std::process::id()))
    }

    fn sweep(&mut self) {
        self.swept = Instant::now();
        // The newest first.
        let Ok(mut closed) = closed(&self.path) else { return };
        closed.reverse();
        let oldest = SystemTime::now().checked_sub(self.max_age).unwrap_or(UNIX_EPOCH);
        let mut bytes = self.max_bytes / FILES;
        for Closed { path, time, length } in closed {
            bytes += length;
            if bytes > self.max_bytes || time < oldest {
                // Another process may be quicker.
                let _ = fs::remove_file(path);
            }
        }
    }
}

impl Current {
    fn open(path: &Path) -> io::Result<Self> {
        if let Some(directory) = path.parent().filter(|directory| !directory.as_os_str().is_empty()) {
            let mut builder = DirBuilder::new();
            builder.recursive(true);
            #[cfg(unix)]
            std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
            builder.create(directory)?;
        }
        let refuse = || {
            let message = format!(
                "{} is not a plain file: a history is written to no link, device or directory",
                path.display()
            );
            io::Error::new(io::ErrorKind::InvalidInput, message)
        };
        if path.symlink_metadata().is_ok_and(|metadata| !metadata.is_file()) {
            return Err(refuse());
        }
        let mut options = OpenOptions::new();
        options.read(true).append(true).create(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(path)?;
        // Somebody may have put a link there meanwhile.
        if !is_same(&file, path) {
            return Err(refuse());
        }
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            if file.metadata()?.permissions().mode() & 0o077 != 0 {
                file.set_permissions(fs::Permissions::from_mode(0o600))?;
            }
        }
        let bytes = file.metadata()?.len();
        let since = first_time(&file).unwrap_or_else(SystemTime::now);
        Ok(Self { is_torn: ends_within_line(&file, bytes), file, bytes, since })
    }
}

/// A file that is no longer written.
pub(in crate::history) struct Closed {
    pub(in crate::history) path: PathBuf,
    time: SystemTime,
    length: u64,
}

/// The files that were put aside, the oldest first.
pub(in crate::history) fn closed(path: &Path) -> io::Result<Vec<Closed>> {
    let start = format!("{}.", stem(path));
    let directory = match path.parent() {
        Some(directory) if !directory.as_os_str().is_empty() => directory,
        _ => Path::new("."),
    };
    let mut closed = Vec::new();
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let name = entry.file_name();
        let numbers =
            name.to_str().and_then(|name| name.strip_prefix(&start)?.strip_suffix(".jsonl")?.split_once('-'));
        let Some((milliseconds, process)) = numbers else { continue };
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        // That of a link is the link's.
        let Ok(metadata) = entry.metadata() else { continue };
        if is_number(milliseconds) && is_number(process) && metadata.is_file() {
            let since = Duration::from_millis(milliseconds.parse().unwrap_or(0));
            let time = UNIX_EPOCH.checked_add(since).unwrap_or(UNIX_EPOCH);
            closed.push(Closed { path: entry.path(), time, length: metadata.len() });
        }
    }
    closed.sort_by(|one, other| (one.time, &one.path).cmp(&(other.time, &other.path)));
    Ok(closed)
}

/// The name of the file, without `.jsonl`.
fn stem(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.strip_suffix(".jsonl").unwrap_or(&name).to_owned()
}

fn first_time(file: &File) -> Option<SystemTime> {
    let mut line = Vec::new();
    let mut start = BufReader::new(file.take(64));
    start.read_until(b',', &mut line).ok()?;
    let text = std::str::from_utf8(&line).ok()?;
    let milliseconds = text.strip_prefix("{\"time\":")?.strip_suffix(',')?.parse().ok()?;
    UNIX_EPOCH.checked_add(Duration::from_millis(milliseconds))
}

#[cfg(unix)]
fn ends_within_line(file: &File, length: u64) -> bool {
    let mut last = [b'\n'];
    let read = length.checked_sub(1).map(|place| std::os::unix::fs::FileExt::read_at(file, &mut last, place));
    read.is_some() && last != *b"\n"
}

#[cfg(not(unix))]
fn ends_within_line(mut file: &File, length: u64) -> bool {
    use std::io::Seek;
    let mut last = [b'\n'];
    length > 0 && file.seek(io::SeekFrom::End(-1)).is_ok() && file.read(&mut last).is_ok() && last != *b"\n"
}

/// Whether the path leads to this file, and not by a link.
#[cfg(unix)]
pub(in crate::history) fn is_same(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    match (file.metadata(), path.symlink_metadata()) {
        (Ok(open), Ok(named)) => (open.dev(), open.ino()) == (named.dev(), named.ino()) && named.is_file(),
        _ => false,
    }
}

#[cfg(not(unix))]
pub(in crate::history) fn is_same(_: &File, path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|named| named.is_file())
}

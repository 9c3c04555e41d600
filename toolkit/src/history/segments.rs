//! The files of a history: the current file, and beside it the older full ones, named
//! `NAME.MILLISECONDS-PROCESS.jsonl`.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use toolkit_core::unix_time;

/// The number of files that share the size limit; one of them is the current file.
const FILES: u64 = 8;
/// The number of files that share the age limit: a file is closed at this fraction of it.
const AGES: u32 = 30;
/// The interval at which changes by other processes, and old files, are looked for.
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
    /// The size of the file, as far as is known.
    bytes: u64,
    /// The time at which its first line was written.
    since: SystemTime,
    /// True if the file ends within a line.
    is_torn: bool,
    /// The number of lines written to it by this history.
    lines: u64,
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

    /// The path of the current file.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Checks if another process wrote to the file, moved it or removed it. Returns the number of lines of this history that are lost with a
    /// file that was removed; lines in a file that was removed because of its age or size are not lost.
    pub(super) fn look(&mut self) -> Option<u64> {
        let is_due = self.looked.elapsed() >= LOOK;
        let current = self.current.as_mut()?;
        let metadata = current.file.metadata().ok()?;
        if is_removed(&metadata) {
            let lines = current.lines;
            self.current = None;
            return (!is_swept(&metadata)).then_some(lines);
        }
        let length = metadata.len();
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
        None
    }

    /// Appends a line with one write.
    pub(super) fn append(&mut self, mut line: Vec<u8>) -> io::Result<()> {
        if self.current.is_none() {
            self.current = Some(Current::open(&self.path).map_err(|error| named(&self.path, &error))?);
        }
        let Some(current) = &mut self.current else { return Ok(()) };
        if current.is_torn {
            line.insert(0, b'\n');
        }
        if current.bytes == 0 {
            current.since = SystemTime::now();
        }
        // A disk that fills up may accept a part of the line, and later the rest or nothing more.
        current.is_torn = true;
        current.file.write_all(&line).map_err(|error| named(&self.path, &error))?;
        current.is_torn = false;
        current.lines += 1;
        current.bytes += line.len() as u64;
        if current.bytes >= self.max_bytes / FILES {
            self.tidy();
        }
        Ok(())
    }

    /// Rotates a file that is full or old, and removes files beyond the limits of age and size.
    pub(super) fn tidy(&mut self) {
        if let Some(current) = &self.current {
            let age = current.since.elapsed().unwrap_or_default();
            let is_full = current.bytes >= self.max_bytes / FILES;
            if current.bytes > 0 && (is_full || age >= self.max_age / AGES) {
                // Another process may have rotated it already.
                if is_same(&current.file, &self.path) {
                    let mut milliseconds = unix_time::now();
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

    fn named(&self, milliseconds: u64) -> PathBuf {
        self.path.with_file_name(format!("{}.{milliseconds}-{}.jsonl", stem(&self.path), std::process::id()))
    }

    fn sweep(&mut self) {
        self.swept = Instant::now();
        // Newest first.
        let Ok(mut closed) = closed(&self.path) else { return };
        closed.reverse();
        let oldest = SystemTime::now().checked_sub(self.max_age).unwrap_or(UNIX_EPOCH);
        let mut bytes = self.max_bytes / FILES;
        for Closed { path, time, length } in closed {
            bytes += length;
            if bytes > self.max_bytes || time < oldest {
                // Another process may have removed it already.
                mark_swept(&path);
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
                "{} is not a regular file: a history is never written to a symlink, device or directory",
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
        // A link may have been put at the path meanwhile.
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
        Ok(Self { is_torn: ends_within_line(&file, bytes), file, bytes, since, lines: 0 })
    }
}

/// An error that names the file.
fn named(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

/// Returns true if no path leads to the file any more.
#[cfg(unix)]
fn is_removed(metadata: &fs::Metadata) -> bool {
    std::os::unix::fs::MetadataExt::nlink(metadata) == 0
}

/// Elsewhere a file that is open is not removed.
#[cfg(not(unix))]
fn is_removed(_: &fs::Metadata) -> bool {
    false
}

/// Permissions of a file that is removed because of its age or size.
#[cfg(unix)]
const SWEPT: u32 = 0o400;

/// Marks a closed file before it is removed, for other processes that still have it open.
#[cfg(unix)]
fn mark_swept(path: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    let _ = fs::set_permissions(path, fs::Permissions::from_mode(SWEPT));
}

#[cfg(not(unix))]
fn mark_swept(_: &Path) {}

/// Returns true if a file that was removed is marked.
#[cfg(unix)]
fn is_swept(metadata: &fs::Metadata) -> bool {
    std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o777 == SWEPT
}

#[cfg(not(unix))]
fn is_swept(_: &fs::Metadata) -> bool {
    false
}

/// A closed file: no longer written.
pub(super) struct Closed {
    pub(super) path: PathBuf,
    time: SystemTime,
    length: u64,
}

/// Returns the closed files, oldest first.
pub(super) fn closed(path: &Path) -> io::Result<Vec<Closed>> {
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
        // For a symbolic link this is the metadata of the link itself.
        let Ok(metadata) = entry.metadata() else { continue };
        if is_number(milliseconds) && is_number(process) && metadata.is_file() {
            let time = milliseconds.parse().ok().and_then(unix_time::time).unwrap_or(UNIX_EPOCH);
            closed.push(Closed { path: entry.path(), time, length: metadata.len() });
        }
    }
    closed.sort_by(|one, other| (one.time, &one.path).cmp(&(other.time, &other.path)));
    Ok(closed)
}

/// Returns the name of the file, without `.jsonl`.
fn stem(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.strip_suffix(".jsonl").unwrap_or(&name).to_owned()
}

fn first_time(file: &File) -> Option<SystemTime> {
    let mut line = Vec::new();
    let mut start = BufReader::new(file.take(64));
    start.read_until(b',', &mut line).ok()?;
    let text = std::str::from_utf8(&line).ok()?;
    unix_time::time(text.strip_prefix("{\"time\":")?.strip_suffix(',')?.parse().ok()?)
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

/// Returns true if the path leads to this file without a symbolic link.
#[cfg(unix)]
pub(super) fn is_same(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    match (file.metadata(), path.symlink_metadata()) {
        (Ok(open), Ok(named)) => (open.dev(), open.ino()) == (named.dev(), named.ino()) && named.is_file(),
        _ => false,
    }
}

#[cfg(not(unix))]
pub(super) fn is_same(_: &File, path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|named| named.is_file())
}

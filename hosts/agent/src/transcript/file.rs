//! The file of a transcript: appended line by line, and read back whole whatever its last bytes are.

use super::TranscriptError;
use super::conversation::Conversation;
use super::record::{Header, Record, VERSION};
use crate::fail_points;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

/// The most bytes of a transcript that are read: 1 GiB.
const MAX_BYTES: u64 = 1 << 30;
/// The most bytes of a first line.
const MAX_HEADER_BYTES: u64 = 1 << 20;

/// A transcript that is being written. One process writes it at a time.
#[derive(Debug)]
pub(crate) struct Writer {
    file: File,
    path: PathBuf,
    /// The bytes of whole lines.
    length: u64,
    /// A line could not be written, and neither could its beginning be taken back.
    is_broken: bool,
}

/// A transcript as it was read.
#[derive(Debug)]
pub(crate) struct Loaded {
    pub(crate) header: Header,
    pub(crate) conversation: Conversation,
    pub(crate) records: Vec<Record>,
    /// The first damaged line, counted from 1, and why it cannot be read, if the lines before it were asked for.
    pub(crate) damage: Option<(usize, String)>,
    /// The bytes of whole lines.
    length: u64,
}

impl Writer {
    /// Makes the file, with its first line. A file of that name must not be there.
    pub(crate) fn create(path: &Path, header: &Header) -> Result<Self, TranscriptError> {
        let cannot = |error: io::Error| TranscriptError::io("create", path, &error);
        let mut options = OpenOptions::new();
        options.read(true).write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(path).map_err(cannot)?;
        lock(&file, path)?;
        let mut writer = Self { file, path: path.to_owned(), length: 0, is_broken: false };
        writer.append(&Record::Transcript(header.clone()))?;
        Ok(writer)
    }

    /// Opens a transcript to go on with it. A last line that is not whole is removed.
    pub(crate) fn open(path: &Path) -> Result<(Self, Loaded), TranscriptError> {
        let cannot = |error: io::Error| TranscriptError::io("open", path, &error);
        let mut file = OpenOptions::new().read(true).write(true).open(path).map_err(cannot)?;
        lock(&file, path)?;
        // A clean-up may have removed it since it was opened.
        path.metadata().map_err(cannot)?;
        let mut loaded = load(&mut file, path, Damage::Refuse)?;
        file.set_len(loaded.length).map_err(cannot)?;
        file.seek(SeekFrom::Start(loaded.length)).map_err(cannot)?;
        let mut writer = Self { file, path: path.to_owned(), length: loaded.length, is_broken: false };
        if loaded.header.version < VERSION {
            writer.append(&Record::Format { version: VERSION })?;
            loaded.header.version = VERSION;
        }
        Ok((writer, loaded))
    }

    /// Makes a transcript of lines that are there already. It is there once all of them are on the disk.
    pub(crate) fn create_whole(
        path: &Path,
        header: &Header,
        records: &[Record],
    ) -> Result<(), TranscriptError> {
        let cannot = |error: io::Error| TranscriptError::io("create", path, &error);
        let new = path.with_extension(super::NEW);
        let mut writer = Self::create(&new, header)?;
        let written = records.iter().try_for_each(|record| writer.append(record));
        let written = written.and_then(|()| {
            writer.file.sync_all().map_err(cannot)?;
            fail_points::pass("transcript_copied");
            std::fs::rename(&new, path).map_err(cannot)?;
            sync_directory(path).map_err(cannot)
        });
        if written.is_err() {
            let _ = std::fs::remove_file(&new);
        }
        written
    }

    /// Locks a transcript without reading it, until the file is dropped.
    pub(crate) fn hold(path: &Path) -> Result<File, TranscriptError> {
        let file = OpenOptions::new().read(true).write(true).open(path);
        let file = file.map_err(|error| TranscriptError::io("open", path, &error))?;
        lock(&file, path)?;
        Ok(file)
    }

    /// Appends a line. Once this returns, a kill of the process does not lose it.
    pub(crate) fn append(&mut self, record: &Record) -> Result<(), TranscriptError> {
        let cannot = |error: &io::Error| TranscriptError::io("write", &self.path, error);
        if self.is_broken {
            return Err(cannot(&io::Error::other("an earlier line could not be written")));
        }
        let mut line = serde_json::to_vec(record).map_err(|error| cannot(&error.into()))?;
        line.push(b'\n');
        if let Err(error) = self.file.write_all(&line) {
            let taken_back =
                self.file.set_len(self.length).and_then(|()| self.file.seek(SeekFrom::Start(self.length)));
            self.is_broken = taken_back.is_err();
            return Err(TranscriptError::io("write", &self.path, &error));
        }
        self.length += line.len() as u64;
        fail_points::pass("transcript_line");
        Ok(())
    }

    /// The file. It is opened anew by whoever has its lines reach the disk: a handle of the writer would keep it locked.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

/// Reads a transcript, also while another process writes it.
pub(crate) fn read(path: &Path, damage: Damage) -> Result<Loaded, TranscriptError> {
    let mut file = File::open(path).map_err(|error| TranscriptError::io("open", path, &error))?;
    load(&mut file, path, damage)
}

/// Reads the first line of a transcript.
pub(crate) fn read_header(path: &Path) -> Option<Header> {
    let mut line = Vec::new();
    BufReader::new(File::open(path).ok()?).take(MAX_HEADER_BYTES).read_until(b'\n', &mut line).ok()?;
    match serde_json::from_slice(&line).ok()? {
        Record::Transcript(header) => Some(header),
        _ => None,
    }
}

/// The handling of the lines from a damaged one on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Damage {
    /// Nothing is read.
    Refuse,
    /// The lines before are read.
    Stop,
}

/// Has the name of a file reach the disk.
#[cfg(unix)]
fn sync_directory(path: &Path) -> io::Result<()> {
    path.parent().map_or(Ok(()), |directory| File::open(directory)?.sync_all())
}

/// Does nothing: other systems have names reach the disk with the file.
#[cfg(not(unix))]
#[expect(clippy::unnecessary_wraps, reason = "the form of the one for Unix")]
fn sync_directory(_path: &Path) -> io::Result<()> {
    Ok(())
}

fn lock(file: &File, path: &Path) -> Result<(), TranscriptError> {
    match file.try_lock() {
        Ok(()) => Ok(()),
        Err(TryLockError::WouldBlock) => Err(TranscriptError::InUse { path: path.to_owned() }),
        Err(TryLockError::Error(error)) => Err(TranscriptError::io("lock", path, &error)),
    }
}

fn load(file: &mut File, path: &Path, damage: Damage) -> Result<Loaded, TranscriptError> {
    let cannot = |error: io::Error| TranscriptError::io("read", path, &error);
    let mut bytes = Vec::new();
    file.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(cannot)?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(cannot(io::Error::other(format!("it has more than {MAX_BYTES} bytes"))));
    }
    parse(&bytes, path, damage)
}

/// Why a line is not read.
enum Fault {
    Damaged(String),
    /// It is of this version of the format, which is not known here.
    Newer(u32),
}

/// Parses whole lines. The last one counts only with its end: it may be a part of what was to be written.
fn parse(bytes: &[u8], path: &Path, damage: Damage) -> Result<Loaded, TranscriptError> {
    let corrupt =
        |line: usize, reason: String| TranscriptError::Corrupt { path: path.to_owned(), line, reason };
    let length = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    let mut records = Vec::new();
    let mut conversation = Conversation::default();
    let (mut version, mut damaged) = (None, None);
    let lines = bytes[..length].split_inclusive(|byte| *byte == b'\n');
    for (line, text) in (1..).zip(lines) {
        let mut add = || -> Result<Record, Fault> {
            let record: Record =
                serde_json::from_slice(text).map_err(|error| Fault::Damaged(error.to_string()))?;
            match (&record, line) {
                (Record::Transcript(Header { version: stated, .. }), 1)
                | (Record::Format { version: stated }, 2..) => {
                    if *stated > VERSION {
                        return Err(Fault::Newer(*stated));
                    }
                    if *stated == 0 {
                        return Err(Fault::Damaged("there is no version 0".to_owned()));
                    }
                    version = Some(*stated);
                }
                (Record::Transcript(_), _) => return Err(Fault::Damaged("a second first line".to_owned())),
                (_, 1) => return Err(Fault::Damaged("the first line is missing".to_owned())),
                _ => {}
            }
            conversation.apply(&record).map_err(Fault::Damaged)?;
            Ok(record)
        };
        match (add(), damage) {
            (Ok(record), _) => records.push(record),
            // A newer program wrote it: this is no damage, before which it could go on.
            (Err(Fault::Newer(version)), _) => {
                return Err(TranscriptError::NewerVersion { path: path.to_owned(), version, known: VERSION });
            }
            (Err(Fault::Damaged(reason)), Damage::Refuse) => return Err(corrupt(line, reason)),
            (Err(Fault::Damaged(reason)), Damage::Stop) => {
                damaged = Some((line, reason));
                break;
            }
        }
    }
    let Some(Record::Transcript(header)) = records.first() else {
        let reason = damaged.map_or_else(|| "it has no whole line".to_owned(), |(_, reason)| reason);
        return Err(corrupt(1, reason));
    };
    let header = Header { version: version.unwrap_or(header.version), ..header.clone() };
    Ok(Loaded { header, conversation, records, damage: damaged, length: length as u64 })
}

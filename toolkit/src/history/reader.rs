//! Reads the files that [`JsonlHistory`](super::JsonlHistory) wrote.

use super::entry::{CallStatus, HistoryEntry};
use super::segments::{closed, is_same};
use serde::Deserialize;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use toolkit_core::unix_time;

/// The maximum length of a line in bytes; recorded calls are bounded below it. A longer line is skipped without being
/// held in memory.
const LONGEST_LINE: usize = 8 << 20;
/// The maximum number of calls whose end is awaited; beyond it, the oldest count as interrupted.
const MAX_OPEN: usize = 10_000;

/// The calls in the files of a history, in the order in which they ended; calls without an end come last.
///
/// A call that started and did not end is `interrupted`, or still running in a process that writes to the file.
#[derive(Debug)]
pub struct HistoryReader {
    files: VecDeque<PathBuf>,
    /// The file that was current when reading began; it may have been rotated since.
    newest: Option<(File, PathBuf)>,
    reading: Option<Reading>,
    /// Calls that started, by the order of their starts.
    open: BTreeMap<u64, HistoryEntry>,
    starts: HashMap<String, u64>,
    started: u64,
}

#[derive(Debug)]
struct Reading {
    lines: BufReader<File>,
    path: PathBuf,
    number: u64,
}

/// An item of a history's files.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum HistoryItem {
    /// A call.
    Call(Box<HistoryEntry>),
    /// A note that records were lost.
    #[non_exhaustive]
    Lost {
        /// The time of the note.
        time: SystemTime,
        /// The number of lost records.
        count: u64,
    },
    /// A line that cannot be read.
    Corrupt(CorruptLine),
}

/// A line that cannot be read. An incomplete last line of a file is not reported.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct CorruptLine {
    /// The file.
    pub path: PathBuf,
    /// The line number, from 1.
    pub line: u64,
    /// The problem with the line; quotes nothing of its content.
    pub why: String,
}

#[derive(Deserialize)]
struct LostLine {
    #[serde(with = "unix_time")]
    time: SystemTime,
    lost: u64,
}

impl HistoryReader {
    /// Opens the history that is written to `path`. A history that was never written is empty.
    ///
    /// # Errors
    ///
    /// Returns an error if the file or its directory cannot be read.
    pub fn open(path: impl AsRef<Path>) -> io::Result<Self> {
        let path = path.as_ref();
        // Open the current file first: a file rotated from now on is either this one or newer.
        let newest = match File::open(path) {
            Ok(file) => Some((file, path.to_owned())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        let files = match closed(path) {
            Ok(closed) => closed.into_iter().map(|closed| closed.path).collect(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => VecDeque::new(),
            Err(error) => return Err(error),
        };
        Ok(Self { files, newest, reading: None, open: BTreeMap::new(), starts: HashMap::new(), started: 0 })
    }

    /// Returns the next file, if there is one.
    fn next_file(&mut self) -> io::Result<Option<&mut Reading>> {
        let mut next = None;
        while next.is_none() {
            let Some(path) = self.files.pop_front() else { break };
            let is_newest = self.newest.as_ref().is_some_and(|(file, _)| is_same(file, &path));
            match File::open(&path) {
                Ok(_) if is_newest => {}
                Ok(file) => next = Some((file, path)),
                // Removed meanwhile because it was too old.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        let Some((file, path)) = next.or_else(|| self.newest.take()) else { return Ok(None) };
        Ok(Some(self.reading.insert(Reading { lines: BufReader::new(file), path, number: 0 })))
    }

    /// Returns the item of a line, if the line completes one.
    fn take(&mut self, line: &Line) -> Option<HistoryItem> {
        if line.bytes.trim_ascii().is_empty() && !line.is_cut {
            return None;
        }
        let read = if line.is_cut { Err("it is too long".to_owned()) } else { parse(&line.bytes) };
        match read {
            Ok(Parsed::Call(call)) => self.take_call(*call).map(|call| HistoryItem::Call(Box::new(call))),
            Ok(Parsed::Lost(LostLine { time, lost })) => Some(HistoryItem::Lost { time, count: lost }),
            Err(_) if !line.is_whole => None,
            Err(why) => {
                let reading = self.reading.as_ref()?;
                Some(HistoryItem::Corrupt(CorruptLine {
                    path: reading.path.clone(),
                    line: reading.number,
                    why,
                }))
            }
        }
    }

    fn take_call(&mut self, call: HistoryEntry) -> Option<HistoryEntry> {
        if call.status != CallStatus::Running {
            if let Some(start) = self.starts.remove(&call.key) {
                self.open.remove(&start);
            }
            return Some(call);
        }
        self.started += 1;
        self.starts.insert(call.key.clone(), self.started);
        self.open.insert(self.started, call);
        if self.open.len() > MAX_OPEN { self.take_open() } else { None }
    }

    /// Removes and returns the oldest call without an end.
    fn take_open(&mut self) -> Option<HistoryEntry> {
        let (_, mut call) = self.open.pop_first()?;
        self.starts.remove(&call.key);
        call.status = CallStatus::Interrupted;
        Some(call)
    }
}

impl Iterator for HistoryReader {
    type Item = io::Result<HistoryItem>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let reading = match &mut self.reading {
                Some(reading) => reading,
                None => match self.next_file() {
                    Ok(Some(reading)) => reading,
                    Ok(None) => return self.take_open().map(|call| Ok(HistoryItem::Call(Box::new(call)))),
                    Err(error) => return Some(Err(error)),
                },
            };
            match reading.next_line() {
                Ok(Some(line)) => {
                    if let Some(item) = self.take(&line) {
                        return Some(Ok(item));
                    }
                }
                Ok(None) => self.reading = None,
                Err(error) => {
                    self.reading = None;
                    return Some(Err(error));
                }
            }
        }
    }
}

struct Line {
    bytes: Vec<u8>,
    /// True if the line ended with a newline.
    is_whole: bool,
    is_cut: bool,
}

impl Reading {
    fn next_line(&mut self) -> io::Result<Option<Line>> {
        let mut line = Line { bytes: Vec::new(), is_whole: false, is_cut: false };
        loop {
            let buffer = self.lines.fill_buf()?;
            if buffer.is_empty() {
                let is_end = line.bytes.is_empty() && !line.is_cut;
                self.number += 1;
                return Ok((!is_end).then_some(line));
            }
            let end = buffer.iter().position(|byte| *byte == b'\n');
            let part = &buffer[..end.unwrap_or(buffer.len())];
            if line.bytes.len() + part.len() > LONGEST_LINE {
                line.is_cut = true;
                line.bytes.clear();
            }
            if !line.is_cut {
                line.bytes.extend_from_slice(part);
            }
            let used = part.len() + usize::from(end.is_some());
            self.lines.consume(used);
            if end.is_some() {
                self.number += 1;
                line.is_whole = true;
                return Ok(Some(line));
            }
        }
    }
}

enum Parsed {
    Call(Box<HistoryEntry>),
    Lost(LostLine),
}

fn parse(line: &[u8]) -> Result<Parsed, String> {
    match serde_json::from_slice(line) {
        Ok(call) => Ok(Parsed::Call(call)),
        Err(error) => match serde_json::from_slice(line) {
            Ok(lost) => Ok(Parsed::Lost(lost)),
            // The parser's own message may quote the line.
            Err(_) => Err(format!("it is {} at column {}", kind(&error), error.column())),
        },
    }
}

fn kind(error: &serde_json::Error) -> &'static str {
    match error.classify() {
        serde_json::error::Category::Eof => "not whole",
        serde_json::error::Category::Data => "JSON but not a recorded call",
        _ => "not JSON",
    }
}

//! Reads an output while it is written.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::sync::Arc;

/// An output that can be read, from its beginning on.
#[derive(Debug)]
pub struct OutputReader(Source);

#[derive(Debug)]
enum Source {
    Disk(File),
    /// The place in the file itself belongs to the writer.
    Shared(Arc<File>, u64),
    Bytes(io::Cursor<Arc<[u8]>>),
}

impl OutputReader {
    pub(super) fn disk(file: File) -> Self {
        Self(Source::Disk(file))
    }

    /// Reads an open file that the writer has, too.
    pub(super) fn shared(file: Arc<File>) -> Self {
        Self(Source::Shared(file, 0))
    }

    pub(super) fn bytes(bytes: Arc<[u8]>) -> Self {
        Self(Source::Bytes(io::Cursor::new(bytes)))
    }

    /// Returns the number of bytes that it has now.
    ///
    /// # Errors
    ///
    /// Returns the system's error.
    pub fn length(&self) -> io::Result<u64> {
        match &self.0 {
            Source::Disk(file) => file.metadata().map(|metadata| metadata.len()),
            Source::Shared(file, _) => file.metadata().map(|metadata| metadata.len()),
            Source::Bytes(bytes) => Ok(bytes.get_ref().len() as u64),
        }
    }
}

impl Read for OutputReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match &mut self.0 {
            Source::Disk(file) => file.read(buffer),
            Source::Shared(file, at) => {
                let count = read_at(file, buffer, *at)?;
                *at += count as u64;
                Ok(count)
            }
            Source::Bytes(bytes) => bytes.read(buffer),
        }
    }
}

impl Seek for OutputReader {
    fn seek(&mut self, place: SeekFrom) -> io::Result<u64> {
        let length = self.length()?;
        match &mut self.0 {
            Source::Disk(file) => file.seek(place),
            Source::Shared(_, at) => {
                let to = match place {
                    SeekFrom::Start(to) => Some(to),
                    SeekFrom::End(offset) => length.checked_add_signed(offset),
                    SeekFrom::Current(offset) => at.checked_add_signed(offset),
                };
                let before = || io::Error::new(io::ErrorKind::InvalidInput, "a place before the beginning");
                *at = to.ok_or_else(before)?;
                Ok(*at)
            }
            Source::Bytes(bytes) => bytes.seek(place),
        }
    }
}

#[cfg(unix)]
fn read_at(file: &File, buffer: &mut [u8], at: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, buffer, at)
}

#[cfg(not(unix))]
fn read_at(mut file: &File, buffer: &mut [u8], at: u64) -> io::Result<usize> {
    file.seek(SeekFrom::Start(at))?;
    file.read(buffer)
}

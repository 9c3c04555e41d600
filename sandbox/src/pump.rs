//! A job's output, on its way from the pipe or the terminal into the file.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::io::Errno;

/// Number of bytes per read: the capacity of a pipe, and small enough to stay in the processor's cache until it is counted and
/// written.
const CHUNK: usize = 256 << 10;

/// Maximum number of reads in a row before other events are handled.
const TURNS: usize = 32;

/// Free disk space that an output longer than [`STEP`] must leave.
const RESERVE: u64 = 512 << 20;

/// Number of bytes written between checks of the disk space.
const STEP: u64 = 32 << 20;

/// The most bytes that the file for the beginning gets.
pub(crate) const BEGINNING: u64 = 256 << 10;

/// Where an output is kept.
#[derive(Default)]
pub(crate) struct Kept {
    /// The file for the whole output.
    pub(crate) file: Option<OwnedFd>,
    /// The file for its first [`BEGINNING`] bytes.
    pub(crate) beginning: Option<OwnedFd>,
}

/// Reads a job's output, counts it and writes it to the files.
pub(crate) struct Pump {
    /// The pipe's end, or the terminal's master. `None` once it is closed.
    source: Option<OwnedFd>,
    kept: Kept,
    buffer: Vec<u8>,
    pub(crate) bytes: u64,
    pub(crate) newlines: u64,
    /// The number of bytes that one of the files has.
    pub(crate) written: u64,
    /// Why the file does not have the whole output.
    pub(crate) error: Option<i32>,
    /// True while the file for the beginning has all of the output.
    begins: bool,
    /// Maximum number of bytes to write.
    limit: u64,
    /// True if the output exceeded the limit.
    pub(crate) is_over: bool,
    reserve: u64,
    /// Number of bytes at which the free disk space is checked next.
    look_at: u64,
}

impl Pump {
    /// The source must not block. The file gets at most `limit` bytes.
    pub(crate) fn new(source: OwnedFd, kept: Kept, limit: Option<u64>) -> Self {
        Self {
            source: Some(source),
            begins: kept.beginning.is_some(),
            kept,
            buffer: Vec::new(),
            bytes: 0,
            newlines: 0,
            written: 0,
            error: None,
            limit: limit.unwrap_or(u64::MAX),
            is_over: false,
            reserve: RESERVE,
            look_at: STEP,
        }
    }

    /// Returns the descriptor to wait for.
    pub(crate) fn source(&self) -> Option<BorrowedFd<'_>> {
        self.source.as_ref().map(AsFd::as_fd)
    }

    /// Returns true if every process has closed the output, and all of it was read.
    pub(crate) fn closed(&self) -> bool {
        self.source.is_none()
    }

    /// Reads available output, in a bounded number of reads.
    pub(crate) fn turn(&mut self) {
        for _ in 0..TURNS {
            if !self.read() {
                return;
            }
        }
    }

    /// Reads the remaining output after the last process of the job has ended, and closes the source.
    pub(crate) fn finish(&mut self) {
        // A pipe and a terminal hold this much at most.
        for _ in 0..64 {
            if !self.read() {
                break;
            }
        }
        self.source = None;
    }

    /// Reads once. Returns true if there may be more. Blocks if the source blocks.
    pub(crate) fn read(&mut self) -> bool {
        let Some(source) = &self.source else { return false };
        if self.buffer.is_empty() {
            // Zeroed memory, of which only used pages are allocated.
            self.buffer = vec![0; CHUNK];
        }
        match rustix::io::read(source, &mut self.buffer[..]) {
            Ok(0) => {
                self.source = None;
                false
            }
            Ok(length) => {
                let chunk = &self.buffer[..length];
                let before = self.bytes;
                self.bytes += length as u64;
                self.newlines += memchr::memchr_iter(b'\n', chunk).count() as u64;
                self.keep(before, length);
                true
            }
            Err(Errno::INTR) => true,
            Err(Errno::AGAIN) => false,
            // Reading a terminal that no process has open returns EIO.
            Err(_) => {
                self.source = None;
                false
            }
        }
    }

    /// Writes what was read into the files. `before` bytes of the output came before it.
    fn keep(&mut self, before: u64, length: usize) {
        let chunk = &self.buffer[..length];
        let room =
            |limit: u64| usize::try_from(limit.saturating_sub(before)).unwrap_or(usize::MAX).min(length);
        if self.begins
            && let Some(beginning) = &self.kept.beginning
        {
            let part = &chunk[..room(self.limit.min(BEGINNING))];
            let (written, error) = write_all(beginning, part);
            self.written = before + written;
            self.begins = error.is_none() && part.len() == length;
        }
        if self.error.is_some() {
            return;
        }
        let Some(file) = &self.kept.file else {
            // The host knows why it gave none.
            self.error = self.kept.beginning.as_ref().map(|_| Errno::NOSPC.raw_os_error());
            return;
        };
        let part = &chunk[..room(self.limit)];
        self.is_over = part.len() < length;
        let (written, mut error) = write_all(file, part);
        let in_file = before + written;
        self.written = self.written.max(in_file);
        if self.is_over {
            error = error.or(Some(Errno::FBIG));
        }
        let short = || is_short(file, self.reserve).then_some(Errno::NOSPC);
        let looks = in_file >= self.look_at;
        if looks {
            self.look_at = in_file + STEP;
        }
        self.error = error.or_else(|| looks.then(short).flatten()).map(Errno::raw_os_error);
    }
}

/// Returns true if the file system of a file has less free space than this. A file system that does not report it counts as having
/// enough.
fn is_short(file: &OwnedFd, reserve: u64) -> bool {
    rustix::fs::fstatvfs(file).is_ok_and(|disk| disk.f_bavail.saturating_mul(disk.f_frsize) < reserve)
}

/// Writes all bytes, or returns the number of written bytes and the error.
fn write_all(file: &OwnedFd, mut bytes: &[u8]) -> (u64, Option<Errno>) {
    let mut written = 0;
    while !bytes.is_empty() {
        match rustix::io::write(file, bytes) {
            Ok(0) => return (written, Some(Errno::NOSPC)),
            Ok(length) => {
                written += length as u64;
                bytes = &bytes[length..];
            }
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => {
                let mut watched = [rustix::event::PollFd::new(file, rustix::event::PollFlags::OUT)];
                let _ = rustix::event::poll(&mut watched, None);
            }
            Err(error) => return (written, Some(error)),
        }
    }
    (written, None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;

    fn whole(file: File) -> Kept {
        Kept { file: Some(file.into()), beginning: None }
    }

    /// A file that cannot be written any more after this many bytes, as on a full disk.
    fn full() -> File {
        File::options().write(true).open("/dev/full").unwrap()
    }

    #[test]
    fn a_short_output_needs_no_disk() {
        const MAX: usize = 256 << 10;
        assert_eq!(MAX as u64, BEGINNING);
        for (length, limit, has_file, expected) in [
            (10, None, true, 10),
            (10, None, false, 10),
            (MAX, None, true, MAX),
            (MAX + 1, None, true, MAX),
            (MAX * 3, None, false, MAX),
            (10, Some(4), false, 4),
            (0, None, false, 0),
        ] {
            let source = tempfile::tempfile().unwrap();
            source.set_len(length as u64).unwrap();
            let beginning = tempfile::tempfile().unwrap();
            let kept = Kept {
                file: has_file.then(|| full().into()),
                beginning: Some(beginning.try_clone().unwrap().into()),
            };
            let mut pump = Pump::new(source.into(), kept, limit);
            while pump.read() {}
            let case = (length, limit, has_file);
            assert_eq!(pump.written, expected as u64, "{case:?}");
            assert_eq!(beginning.metadata().unwrap().len(), expected as u64, "{case:?}");
            assert_eq!((pump.bytes, pump.error.is_some()), (length as u64, length > 0), "{case:?}");
            assert!(!pump.is_over, "{case:?}");
        }
    }

    #[test]
    fn the_beginning_of_a_long_output_is_kept_twice() {
        let length: usize = (256 << 10) * 3 + 7;
        let source = tempfile::tempfile().unwrap();
        source.set_len(length as u64).unwrap();
        let (beginning, file) = (tempfile::tempfile().unwrap(), tempfile::tempfile().unwrap());
        let kept = Kept {
            file: Some(file.try_clone().unwrap().into()),
            beginning: Some(beginning.try_clone().unwrap().into()),
        };
        let mut pump = Pump::new(source.into(), kept, None);
        while pump.read() {}
        assert_eq!((pump.bytes, pump.written, pump.error), (length as u64, length as u64, None));
        assert_eq!(file.metadata().unwrap().len(), length as u64);
        assert_eq!(beginning.metadata().unwrap().len(), BEGINNING);
    }

    #[test]
    fn an_output_leaves_others_something_of_the_disk() {
        for (reserve, is_cut) in [(u64::MAX, true), (0, false)] {
            let source = tempfile::tempfile().unwrap();
            source.set_len(STEP + (CHUNK as u64) * 4).unwrap();
            let file = tempfile::tempfile().unwrap();
            let mut pump = Pump::new(source.into(), whole(file), None);
            pump.reserve = reserve;
            while pump.read() {}
            assert_eq!(pump.error == Some(Errno::NOSPC.raw_os_error()), is_cut);
            assert_eq!(pump.bytes, STEP + (CHUNK as u64) * 4);
            assert_eq!(pump.written, if is_cut { STEP } else { pump.bytes });
        }
    }

    #[test]
    fn an_output_is_cut_where_it_goes_beyond_its_limit() {
        for (length, limit, is_over) in
            [(10, 10, false), (11, 10, true), (CHUNK * 2 + 5, CHUNK + 3, true), (1, 0, true)]
        {
            let source = tempfile::tempfile().unwrap();
            source.set_len(length as u64).unwrap();
            let file = tempfile::tempfile().unwrap();
            let written = file.try_clone().unwrap();
            let mut pump = Pump::new(source.into(), whole(file), Some(limit as u64));
            while pump.read() {}
            let kept = written.metadata().unwrap().len();
            assert_eq!((pump.bytes, pump.is_over), (length as u64, is_over), "{length} {limit}");
            assert_eq!((pump.written, kept), (length.min(limit) as u64, length.min(limit) as u64));
            assert_eq!(pump.error, is_over.then_some(Errno::FBIG.raw_os_error()));
        }
    }
}

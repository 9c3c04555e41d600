//! Messages between a host, its spawner and its supervisors: all of one build, so there is no version in them.
//!
//! A message is its length in four bytes, and that much. Numbers are little-endian; texts and lists have their length before them.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::sandbox::Reading;
use crate::{Limits, Mode, Part};
use crate::{Process, Quarantine, Quarantined, Repositories, Sandbox};

/// No message is longer: a system takes a few megabytes of arguments.
const LONGEST: usize = 64 << 20;

/// A message in the making.
#[derive(Default)]
pub(crate) struct Writer(Vec<u8>);

impl Writer {
    pub(crate) fn new(kind: u8) -> Self {
        Self(vec![0, 0, 0, 0, kind])
    }

    pub(crate) fn byte(mut self, value: u8) -> Self {
        self.0.push(value);
        self
    }

    pub(crate) fn flag(self, value: bool) -> Self {
        self.byte(u8::from(value))
    }

    pub(crate) fn number(mut self, value: u64) -> Self {
        self.0.extend_from_slice(&value.to_le_bytes());
        self
    }

    pub(crate) fn signed(self, value: i32) -> Self {
        self.number(u64::from(value.cast_unsigned()))
    }

    pub(crate) fn duration(self, value: Duration) -> Self {
        self.number(u64::try_from(value.as_nanos()).unwrap_or(u64::MAX))
    }

    pub(crate) fn bytes(mut self, value: &[u8]) -> Self {
        self = self.number(value.len() as u64);
        self.0.extend_from_slice(value);
        self
    }

    pub(crate) fn path(self, value: &Path) -> Self {
        self.bytes(value.as_os_str().as_bytes())
    }

    pub(crate) fn list<T>(self, values: &[T], each: impl Fn(Self, &T) -> Self) -> Self {
        let this = self.number(values.len() as u64);
        values.iter().fold(this, each)
    }

    /// The message, its length before it.
    pub(crate) fn finish(mut self) -> Vec<u8> {
        let length = u32::try_from(self.0.len() - 4).unwrap_or(u32::MAX);
        self.0[..4].copy_from_slice(&length.to_le_bytes());
        self.0
    }
}

/// A message that is read. Invalid data results in `None`; the peer is our own process, so that indicates a fault.
pub(crate) struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    pub(crate) fn new(message: &'a [u8]) -> Self {
        Self(message)
    }

    pub(crate) fn byte(&mut self) -> Option<u8> {
        let (&first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(first)
    }

    pub(crate) fn flag(&mut self) -> Option<bool> {
        self.byte().map(|byte| byte != 0)
    }

    pub(crate) fn number(&mut self) -> Option<u64> {
        let (first, rest) = self.0.split_first_chunk::<8>()?;
        self.0 = rest;
        Some(u64::from_le_bytes(*first))
    }

    pub(crate) fn small(&mut self) -> Option<u32> {
        self.number().and_then(|number| u32::try_from(number).ok())
    }

    pub(crate) fn signed(&mut self) -> Option<i32> {
        self.small().map(u32::cast_signed)
    }

    pub(crate) fn duration(&mut self) -> Option<Duration> {
        self.number().map(Duration::from_nanos)
    }

    pub(crate) fn bytes(&mut self) -> Option<&'a [u8]> {
        let length = usize::try_from(self.number()?).ok()?;
        let (first, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(first)
    }

    pub(crate) fn os(&mut self) -> Option<OsString> {
        self.bytes().map(|bytes| OsString::from_vec(bytes.to_vec()))
    }

    pub(crate) fn path(&mut self) -> Option<PathBuf> {
        self.os().map(PathBuf::from)
    }

    pub(crate) fn text(&mut self) -> Option<String> {
        self.bytes().map(|bytes| String::from_utf8_lossy(bytes).into_owned())
    }

    pub(crate) fn list<T>(&mut self, mut each: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let length = self.number()?;
        (0..length).map(|_| each(self)).collect()
    }
}

/// Bytes as they come, cut into messages.
#[derive(Default)]
pub(crate) struct Incoming(Vec<u8>);

impl Incoming {
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    /// The next whole message.
    ///
    /// # Errors
    ///
    /// A message that is too long to be one.
    pub(crate) fn next(&mut self) -> Result<Option<Vec<u8>>, ()> {
        let Some(length) = self.0.first_chunk::<4>() else { return Ok(None) };
        let length = u32::from_le_bytes(*length) as usize;
        if length > LONGEST {
            return Err(());
        }
        if self.0.len() < 4 + length {
            return Ok(None);
        }
        let rest = self.0.split_off(4 + length);
        let mut message = std::mem::replace(&mut self.0, rest);
        message.drain(..4);
        Ok(Some(message))
    }
}

/// Messages to a supervisor.
pub(crate) mod to_supervisor {
    pub(crate) const RUN: u8 = 1;
    pub(crate) const PROCESSES: u8 = 2;
    pub(crate) const DRAINED: u8 = 3;
    pub(crate) const STOP: u8 = 4;
    pub(crate) const INTERRUPT: u8 = 5;
    /// Moves away the files that the job must not leave behind, now.
    pub(crate) const SWEEP: u8 = 6;
}

/// Messages to a host.
pub(crate) mod to_host {
    pub(crate) const STARTED: u8 = 1;
    pub(crate) const FAILED: u8 = 2;
    pub(crate) const PROGRESS: u8 = 3;
    pub(crate) const EXITED: u8 = 4;
    pub(crate) const REPLY: u8 = 5;
    /// From the spawner: the remaining processes of a killed supervisor are gone.
    pub(crate) const CLEANED: u8 = 6;
    pub(crate) const STRENGTH: u8 = 7;
    /// A file that was moved away.
    pub(crate) const QUARANTINED: u8 = 8;
}

/// Destination of the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OutputKind {
    Null,
    File,
    Pipes,
    Beginning,
    FileAndBeginning,
}

/// The data that a supervisor needs to run a command. The descriptors come with it, in this order: standard input if it is a pipe,
/// then the file and that for the beginning, or both pipes of the output, then the further descriptors of the command.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) program: OsString,
    pub(crate) arguments: Vec<OsString>,
    /// Each `name=value`.
    pub(crate) environment: Vec<OsString>,
    pub(crate) directory: PathBuf,
    pub(crate) stdin: bool,
    pub(crate) output: OutputKind,
    pub(crate) terminal: Option<(u16, u16)>,
    pub(crate) sandbox: Option<Sandbox>,
    /// The features found on this system, as [`crate::probe::offered`] returns them.
    pub(crate) offered: u64,
    pub(crate) missing: Vec<String>,
    pub(crate) limits: Limits,
    /// Below which directory control groups can be made.
    pub(crate) cgroup: Option<PathBuf>,
}

impl Run {
    pub(crate) fn write(&self) -> Vec<u8> {
        let os = |writer: Writer, text: &OsString| writer.bytes(text.as_bytes());
        let mut writer = Writer::new(to_supervisor::RUN)
            .bytes(self.program.as_bytes())
            .list(&self.arguments, os)
            .list(&self.environment, os)
            .path(&self.directory)
            .flag(self.stdin)
            .byte(match self.output {
                OutputKind::Null => 0,
                OutputKind::File => 1,
                OutputKind::Pipes => 2,
                OutputKind::Beginning => 3,
                OutputKind::FileAndBeginning => 4,
            })
            .flag(self.terminal.is_some());
        if let Some((rows, columns)) = self.terminal {
            writer = writer.number(u64::from(rows)).number(u64::from(columns));
        }
        writer = writer.flag(self.sandbox.is_some());
        if let Some(sandbox) = &self.sandbox {
            let path = |writer: Writer, path: &PathBuf| writer.path(path);
            writer = mode(writer, sandbox.mode)
                .flag(sandbox.network)
                .path(&sandbox.workspace)
                .list(&sandbox.writable, path)
                .list(&sandbox.protected, path)
                .list(&sandbox.hidden, path)
                .list(&sandbox.visible, path)
                .flag(sandbox.private_tmp)
                .list(sandbox.tmp.as_slice(), path)
                .flag(sandbox.required)
                .list(sandbox.quarantine.as_slice(), quarantine)
                .list(sandbox.reading.as_slice(), reading);
        }
        let optional = |number: Option<u64>| number.unwrap_or(u64::MAX);
        writer
            .number(self.offered)
            .list(&self.missing, |writer, why| writer.bytes(why.as_bytes()))
            .number(optional(self.limits.output))
            .number(optional(self.limits.processes.map(u64::from)))
            .number(optional(self.limits.memory))
            .number(optional(self.limits.file_size))
            .list(self.cgroup.as_slice(), |writer, path| writer.path(path))
            .finish()
    }

    /// Reads the output of [`write`](Self::write), without its kind.
    pub(crate) fn read(reader: &mut Reader<'_>) -> Option<Self> {
        Some(Self {
            program: reader.os()?,
            arguments: reader.list(Reader::os)?,
            environment: reader.list(Reader::os)?,
            directory: reader.path()?,
            stdin: reader.flag()?,
            output: match reader.byte()? {
                0 => OutputKind::Null,
                1 => OutputKind::File,
                2 => OutputKind::Pipes,
                3 => OutputKind::Beginning,
                4 => OutputKind::FileAndBeginning,
                _ => return None,
            },
            terminal: if reader.flag()? {
                Some((u16::try_from(reader.number()?).ok()?, u16::try_from(reader.number()?).ok()?))
            } else {
                None
            },
            sandbox: if reader.flag()? {
                Some(Sandbox {
                    mode: read_mode(reader)?,
                    network: reader.flag()?,
                    workspace: reader.path()?,
                    writable: reader.list(Reader::path)?,
                    protected: reader.list(Reader::path)?,
                    hidden: reader.list(Reader::path)?,
                    visible: reader.list(Reader::path)?,
                    private_tmp: reader.flag()?,
                    tmp: reader.list(Reader::path)?.pop(),
                    required: reader.flag()?,
                    quarantine: reader.list(read_quarantine)?.pop(),
                    reading: reader.list(read_reading)?.pop(),
                })
            } else {
                None
            },
            offered: reader.number()?,
            missing: reader.list(Reader::text)?,
            limits: Limits {
                output: optional(reader.number()?),
                processes: optional(reader.number()?).and_then(|count| u32::try_from(count).ok()),
                memory: optional(reader.number()?),
                file_size: optional(reader.number()?),
            },
            cgroup: reader.list(Reader::path)?.pop(),
        })
    }
}

/// The largest number means none.
fn optional(number: u64) -> Option<u64> {
    (number != u64::MAX).then_some(number)
}

fn reading(writer: Writer, reading: &Reading) -> Writer {
    let path = |writer: Writer, path: &PathBuf| writer.path(path);
    writer.list(&reading.readable, path).list(&reading.executable, path).flag(reading.network_tables)
}

fn read_reading(reader: &mut Reader<'_>) -> Option<Reading> {
    Some(Reading {
        readable: reader.list(Reader::path)?,
        executable: reader.list(Reader::path)?,
        network_tables: reader.flag()?,
    })
}

fn quarantine(writer: Writer, quarantine: &Quarantine) -> Writer {
    let path = |writer: Writer, path: &PathBuf| writer.path(path);
    let text = |writer: Writer, text: &String| writer.bytes(text.as_bytes());
    writer
        .list(&quarantine.directories, path)
        .list(&quarantine.names, text)
        .list(&quarantine.exceptions, text)
        .list(&quarantine.ruled, text)
        .list(&quarantine.ruled_exceptions, text)
        .list(&quarantine.tool_directories, text)
        .list(&quarantine.named, path)
        .byte(match quarantine.repositories {
            Repositories::Protected => 0,
            Repositories::Watched => 1,
            Repositories::Open => 2,
        })
        .list(quarantine.store.as_slice(), path)
}

fn read_quarantine(reader: &mut Reader<'_>) -> Option<Quarantine> {
    Some(Quarantine {
        directories: reader.list(Reader::path)?,
        names: reader.list(Reader::text)?,
        exceptions: reader.list(Reader::text)?,
        ruled: reader.list(Reader::text)?,
        ruled_exceptions: reader.list(Reader::text)?,
        tool_directories: reader.list(Reader::text)?,
        named: reader.list(Reader::path)?,
        repositories: match reader.byte()? {
            0 => Repositories::Protected,
            1 => Repositories::Watched,
            2 => Repositories::Open,
            _ => return None,
        },
        store: reader.list(Reader::path)?.pop(),
    })
}

pub(crate) fn quarantined(writer: Writer, moved: &[Quarantined]) -> Writer {
    writer.list(moved, |writer, moved| {
        writer.path(&moved.from).list(moved.to.as_slice(), |writer, to| writer.path(to))
    })
}

pub(crate) fn read_quarantined(reader: &mut Reader<'_>) -> Option<Vec<Quarantined>> {
    reader.list(|reader| Some(Quarantined { from: reader.path()?, to: reader.list(Reader::path)?.pop() }))
}

pub(crate) fn mode(writer: Writer, mode: Mode) -> Writer {
    writer.byte(match mode {
        Mode::ReadOnly => 0,
        Mode::WorkspaceWrite => 1,
        Mode::Full => 2,
    })
}

pub(crate) fn read_mode(reader: &mut Reader<'_>) -> Option<Mode> {
    Some(match reader.byte()? {
        0 => Mode::ReadOnly,
        1 => Mode::WorkspaceWrite,
        2 => Mode::Full,
        _ => return None,
    })
}

/// Writes the part of a containment that only the supervisor knows.
pub(crate) fn containment(writer: Writer, containment: &crate::Containment) -> Writer {
    let writer = writer.flag(containment.mode.is_some());
    let writer = mode(writer, containment.mode.unwrap_or_default());
    writer
        .list(&containment.held, |writer, part| writer.byte(part.number()))
        .list(&containment.missing, |writer, (part, why)| writer.byte(part.number()).bytes(why.as_bytes()))
        .list(&containment.notes, |writer, note| writer.bytes(note.as_bytes()))
        .list(&containment.writable, |writer, path| writer.path(path))
        .list(containment.tmp.as_slice(), |writer, path| writer.path(path))
        .flag(containment.loopback)
}

pub(crate) fn read_containment(reader: &mut Reader<'_>) -> Option<crate::Containment> {
    let some = reader.flag()?;
    let mode = read_mode(reader)?;
    Some(crate::Containment {
        mode: some.then_some(mode),
        held: reader.list(|reader| Part::from_number(reader.byte()?))?,
        missing: reader.list(|reader| Some((Part::from_number(reader.byte()?)?, reader.text()?)))?,
        notes: reader.list(Reader::text)?,
        writable: reader.list(Reader::path)?,
        tmp: reader.list(Reader::path)?.pop(),
        loopback: reader.flag()?,
    })
}

pub(crate) fn processes(writer: Writer, processes: &[Process]) -> Writer {
    writer.list(processes, |writer, process| {
        writer
            .number(u64::from(process.pid))
            .number(u64::from(process.parent))
            .bytes(process.command.as_bytes())
            .number(u64::from(u32::from(process.state)))
    })
}

pub(crate) fn read_processes(reader: &mut Reader<'_>) -> Option<Vec<Process>> {
    reader.list(|reader| {
        Some(Process {
            pid: reader.small()?,
            parent: reader.small()?,
            command: reader.text()?,
            state: char::from_u32(reader.small()?)?,
        })
    })
}

//! An output that another component writes into a file of the session, for example a command that runs as a child
//! process.

mod reader;

use crate::cut::{Cut, Ends, OutputLimits, OutputLocation};
use crate::cutter::Cutter;
use crate::output_store::{OutputFile, OutputStore, OutputStoreSettings};
use crate::tool::context::ToolContext;
use memchr::{memchr, memchr_iter, memrchr};
pub use reader::OutputReader;
use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use toolkit_core::content::Content;
use toolkit_core::error::ToolError;
use toolkit_core::output::ToolOutput;
use toolkit_core::truncate::Keep;

/// The maximum size, in bytes, of an output that is cleaned as a whole before its size is compared with the limits.
const WHOLE: u64 = 1 << 20;
/// The number of bytes read at once.
const BLOCK: usize = 256 << 10;
/// The maximum distance, in bytes, over which the beginning of a line is searched backwards.
const FARTHEST: u64 = 64 << 20;

/// An output that another component writes: a file among the session's saved outputs, readable by its owner only and kept as long as other
/// outputs, and, on Linux, a file in memory for the beginning of the output, so that a short output needs no disk. The file is removed if this
/// value is dropped before [`keep`](Self::keep) is called.
#[derive(Debug)]
pub struct KeptOutput {
    file: Mutex<Option<OutputFile>>,
    /// The file, or the reason why there is none.
    path: Result<PathBuf, String>,
    beginning: Mutex<Beginning>,
    limit: u64,
}

/// The beginning of an output in memory.
#[derive(Debug, Clone)]
enum Beginning {
    None,
    /// A file that the writer has, too.
    Open(Arc<File>),
    /// The writer is done.
    Closed(Arc<[u8]>),
}

/// The size of an output.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OutputCount {
    /// The number of bytes that were written.
    pub bytes: u64,
    /// The number of line feeds in them; `None` if they have to be counted.
    pub newlines: Option<u64>,
    /// The number of further bytes of the output, which could not be written.
    pub lost: u64,
    /// The reason why the file does not have the whole output.
    pub error: Option<String>,
}

/// An output as the model gets it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ShownOutput {
    /// The text, including the note about truncation.
    pub text: String,
    /// The truncation, if the text was truncated.
    pub cut: Option<Cut>,
    /// True if the text differs from the bytes in the file.
    pub differs: bool,
}

impl ToolContext {
    /// Returns the limits of saved outputs on disk.
    pub fn output_store(&self) -> OutputStoreSettings {
        self.scope().toolkit.settings.outputs.settings().clone()
    }

    /// Returns a place for an output that another component writes: an empty file among the outputs of the session that this agent and sender
    /// have, and a file in memory. If the file cannot be created, there is the one in memory alone.
    ///
    /// [`KeptOutput::show`] truncates the output for the model, to the same limits and with the same notes as output
    /// written to [`output`](Self::output).
    ///
    /// # Errors
    ///
    /// Returns `Unavailable` with the reason if there is neither.
    pub async fn kept_output(&self) -> Result<KeptOutput, ToolError> {
        let (store, session) = (self.scope().toolkit.settings.outputs.clone(), self.output_owner());
        self.blocking(move |_| {
            KeptOutput::create(&store, &session, in_memory())
                .map_err(|error| ToolError::unavailable(format!("the output cannot be stored: {error}")))
        })
        .await
    }

    /// Leaves out the pictures, sounds and binary documents of an output for which `keeps` returns false. They are saved among the outputs of
    /// the session, up to 50 of them, and a first text says `why` and names their files;
    /// [`LeftOutMedia::of`](crate::output::LeftOutMedia::of) returns them.
    pub async fn leave_out_media(
        &self,
        output: &mut ToolOutput,
        why: &str,
        keeps: impl FnMut(&Content) -> bool + Send,
    ) {
        let settings = &self.scope().toolkit.settings;
        let cutter = Cutter {
            limits: settings.limits,
            store: &settings.outputs,
            session: self.gated_session_id(),
            caller: self.caller(),
            hint: settings.hint.as_ref(),
        };
        cutter.leave_out_media(output, why, keeps).await;
    }
}

impl KeptOutput {
    fn create(store: &OutputStore, session: &str, beginning: Option<File>) -> Result<Self, String> {
        match store.create(Some(session)) {
            Ok(file) => {
                let (path, limit) = (Ok(file.path().to_owned()), file.limit());
                Ok(Self { file: Mutex::new(Some(file)), path, beginning: opened(beginning), limit })
            }
            Err(error) if beginning.is_some() => {
                let limit = store.settings().max_bytes();
                Ok(Self { file: Mutex::new(None), path: Err(error), beginning: opened(beginning), limit })
            }
            Err(error) => Err(error),
        }
    }

    /// Returns the path of the file; `None` if it could not be created.
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref().ok()
    }

    /// Returns the reason why there is no file.
    pub fn no_file(&self) -> Option<&str> {
        self.path.as_ref().err().map(String::as_str)
    }

    /// Returns the maximum size of the output in bytes; the writer must stop there. It is the configured limit of one
    /// output (`tools.outputs.maxBytes`), or less if the outputs together are close to their limit.
    pub fn limit(&self) -> u64 {
        self.limit
    }

    /// Opens the file for appending, for the component that writes it. Blocks.
    ///
    /// # Errors
    ///
    /// Returns the system's error, or the reason why there is no file.
    pub fn appending(&self) -> io::Result<File> {
        match &self.path {
            Ok(path) => OpenOptions::new().append(true).open(path),
            Err(why) => Err(io::Error::other(why.clone())),
        }
    }

    /// Returns the file in memory, for the component that writes the output: it writes the beginning of the output there too, as many bytes as
    /// it likes to keep in memory. `None` on systems other than Linux, or if it cannot be created.
    pub fn beginning(&self) -> Option<File> {
        match &*self.memory() {
            Beginning::Open(file) => file.try_clone().ok(),
            _ => None,
        }
    }

    /// Says that the component that writes the output is done, so that no descriptor is held for it any more. Blocks.
    ///
    /// # Errors
    ///
    /// Returns the system's error; nothing has changed then.
    pub fn close(&self) -> io::Result<()> {
        let mut memory = self.memory();
        let Beginning::Open(file) = &*memory else { return Ok(()) };
        let bytes = length(file)?;
        let on_disk = self.path().and_then(|path| length(&File::open(path).ok()?).ok());
        *memory = if on_disk.is_some_and(|on_disk| on_disk >= bytes) {
            Beginning::None
        } else {
            let mut reader = OutputReader::shared(Arc::clone(file));
            Beginning::Closed(read(&mut reader, 0, bytes)?.into())
        };
        Ok(())
    }

    /// Opens the output for reading: the file, or the one in memory if it has more. Blocks.
    ///
    /// # Errors
    ///
    /// Returns the system's error, or the reason why there is nothing to read.
    pub fn reader(&self) -> io::Result<OutputReader> {
        let disk = match &self.path {
            Ok(path) => File::open(path),
            Err(why) => Err(io::Error::other(why.clone())),
        };
        let on_disk = disk.as_ref().ok().map(length).transpose()?;
        let memory = match self.memory().clone() {
            Beginning::None => return Ok(OutputReader::disk(disk?)),
            Beginning::Open(file) => OutputReader::shared(file),
            Beginning::Closed(bytes) => OutputReader::bytes(bytes),
        };
        if on_disk.is_some_and(|bytes| memory.length().is_ok_and(|there| there <= bytes)) {
            return Ok(OutputReader::disk(disk?));
        }
        Ok(memory)
    }

    fn memory(&self) -> MutexGuard<'_, Beginning> {
        self.beginning.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps the file when this value is dropped, because its path was given out.
    pub fn keep(&self) {
        if let Some(file) = self.file.lock().unwrap_or_else(PoisonError::into_inner).take() {
            file.keep();
        }
    }

    /// Returns the model's view of the first `count.bytes` bytes, truncated to the limits of the called tool, or to the
    /// host's limits if the tool has none; `keep` selects the part that stays. Invalid UTF-8 becomes `U+FFFD`, and
    /// `clean` removes text that is useless to a model. `clean` must neither make a text longer nor insert line feeds.
    /// The numbers of lines and bytes in the note refer to the file.
    ///
    /// Blocks. Of a large output only the two ends are read, and all of it only if the lines were not counted. Keeps
    /// the file if the text is truncated.
    ///
    /// # Errors
    ///
    /// Returns the system's error.
    pub fn show(
        &self,
        ctx: &ToolContext,
        count: &OutputCount,
        keep: Keep,
        clean: &dyn Fn(&str) -> String,
    ) -> io::Result<ShownOutput> {
        let settings = &ctx.scope().toolkit.settings;
        let limits = settings.limits.of(ctx.tool().truncate()).unwrap_or(settings.limits);
        let cutter = Cutter {
            limits: OutputLimits { keep, ..limits },
            store: &settings.outputs,
            session: ctx.gated_session_id(),
            caller: ctx.caller(),
            hint: settings.hint.as_ref(),
        };
        self.show_by(cutter, count, clean, WHOLE)
    }

    fn show_by(
        &self,
        cutter: Cutter<'_>,
        count: &OutputCount,
        clean: &dyn Fn(&str) -> String,
        most_whole: u64,
    ) -> io::Result<ShownOutput> {
        let mut file = self.reader()?;
        // The writer only appends, but a sweep or a person may have truncated or removed the file.
        let bytes = count.bytes.min(file.length()?);
        let missing = count.bytes - bytes;
        let shorter = OutputCount {
            bytes,
            newlines: None,
            lost: count.lost + missing,
            error: count.error.clone().or_else(|| Some("the file became shorter, or was removed".to_owned())),
        };
        let count = if missing > 0 { &shorter } else { count };
        let kept = || self.location(bytes, count);
        if bytes <= most_whole {
            let whole = read(&mut file, 0, bytes)?;
            let text = String::from_utf8_lossy(&whole);
            let cleaned = clean(&text);
            let differs = cleaned.as_bytes() != whole;
            if cutter.text_fits(&cleaned) {
                return Ok(match (count.lost, &count.error) {
                    (1.., Some(error)) => {
                        let end = if cleaned.is_empty() || cleaned.ends_with('\n') { "" } else { "\n" };
                        let text =
                            format!("{cleaned}{end}[The output went on; the rest was not kept: {error}.]");
                        ShownOutput { text, cut: None, differs: true }
                    }
                    _ => ShownOutput { text: cleaned, cut: None, differs },
                });
            }
            let newlines = memchr_iter(b'\n', &whole).count() as u64;
            let ends = Ends::of(&whole, newlines, &cutter.limits);
            return Ok(self.cut(cutter, ends, kept(), clean));
        }
        let newlines = match count.newlines {
            Some(newlines) if bytes == count.bytes => newlines,
            _ => newlines(&mut file, bytes)?,
        };
        let held = Held::read(&mut file, bytes, newlines, &cutter.limits)?;
        Ok(self.cut(cutter, held.ends(), kept(), clean))
    }

    /// Where the first `bytes` bytes of the output can be read.
    fn location(&self, bytes: u64, count: &OutputCount) -> OutputLocation {
        let more = match count.lost {
            0 => String::new(),
            lost => format!("; what came after them ({lost} bytes) is lost"),
        };
        let path = match &self.path {
            Ok(path) => path.clone(),
            Err(error) => return OutputLocation::Not { error: format!("{error}{more}") },
        };
        let on_disk = File::open(&path).and_then(|file| length(&file)).unwrap_or(0);
        let error = match &count.error {
            None if on_disk >= bytes => return OutputLocation::Whole { path },
            None => "the file became shorter".to_owned(),
            Some(error) => format!("{error}{more}"),
        };
        match on_disk.min(bytes) {
            0 => OutputLocation::Not { error },
            bytes => OutputLocation::Partly { path, bytes, error },
        }
    }

    fn cut(
        &self,
        cutter: Cutter<'_>,
        ends: Ends<'_>,
        kept: OutputLocation,
        clean: &dyn Fn(&str) -> String,
    ) -> ShownOutput {
        self.keep();
        let (text, cut) = cutter.ends(ends, kept, clean);
        ShownOutput { text, cut, differs: true }
    }
}

/// The two ends of a file, and the facts needed about the middle.
struct Held {
    head: Vec<u8>,
    tail: Vec<u8>,
    bytes: u64,
    newlines: u64,
    head_line_end: Option<u64>,
    tail_line_start: u64,
}

impl Held {
    fn read(file: &mut OutputReader, bytes: u64, newlines: u64, limits: &OutputLimits) -> io::Result<Self> {
        let (first, last) = limits.budgets();
        let head = read(file, 0, first.bytes.min(bytes))?;
        // A line that ends after this block is longer than the budget in any case.
        let behind = read(file, head.len() as u64, first.bytes.min(bytes - head.len() as u64))?;
        let head_line_end = memchr(b'\n', &behind).map(|at| (head.len() + at + 1) as u64);
        let from = bytes.saturating_sub(last.bytes);
        let tail = read(file, from, bytes - from)?;
        let before = newlines.saturating_sub(memchr_iter(b'\n', &tail).count() as u64);
        let tail_line_start = if before == 0 { 0 } else { line_start(file, from)? };
        Ok(Self { head, tail, bytes, newlines, head_line_end, tail_line_start })
    }

    fn ends(&self) -> Ends<'_> {
        Ends {
            head: &self.head,
            tail: &self.tail,
            bytes: self.bytes,
            newlines: self.newlines,
            head_line_end: self.head_line_end,
            tail_line_start: self.tail_line_start,
        }
    }
}

/// Reads up to `bytes` bytes from an offset on.
fn read(file: &mut OutputReader, from: u64, bytes: u64) -> io::Result<Vec<u8>> {
    file.seek(SeekFrom::Start(from))?;
    let mut read = Vec::new();
    file.take(bytes).read_to_end(&mut read)?;
    if (read.len() as u64) < bytes {
        return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the output file became shorter"));
    }
    Ok(read)
}

/// Returns the offset after the last line feed before `before`. For a line of more than 64 MiB, returns an offset
/// within the line.
fn line_start(file: &mut OutputReader, before: u64) -> io::Result<u64> {
    let farthest = before.saturating_sub(FARTHEST);
    let mut end = before;
    while end > farthest {
        let start = end.saturating_sub(BLOCK as u64).max(farthest);
        let block = read(file, start, end - start)?;
        if let Some(at) = memrchr(b'\n', &block) {
            return Ok(start + at as u64 + 1);
        }
        end = start;
    }
    Ok(farthest)
}

/// Counts the line feeds in the first `bytes` bytes.
fn newlines(file: &mut OutputReader, bytes: u64) -> io::Result<u64> {
    file.seek(SeekFrom::Start(0))?;
    let (mut rest, mut block, mut count) = (file.take(bytes), vec![0; BLOCK], 0_u64);
    loop {
        match rest.read(&mut block) {
            Ok(0) => return Ok(count),
            Ok(length) => count += memchr_iter(b'\n', &block[..length]).count() as u64,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

fn length(file: &File) -> io::Result<u64> {
    file.metadata().map(|metadata| metadata.len())
}

fn opened(beginning: Option<File>) -> Mutex<Beginning> {
    Mutex::new(beginning.map_or(Beginning::None, |file| Beginning::Open(Arc::new(file))))
}

/// Creates a file in memory.
#[cfg(target_os = "linux")]
fn in_memory() -> Option<File> {
    rustix::fs::memfd_create("toolkit-output", rustix::fs::MemfdFlags::CLOEXEC).ok().map(File::from)
}

#[cfg(not(target_os = "linux"))]
fn in_memory() -> Option<File> {
    None
}

#[cfg(test)]
mod tests;

//! An output that something else writes into a file of the session: a command, say, while this process looks on.

use crate::context::ToolContext;
use crate::cut::{Cut, Ends, Kept, OutputLimits};
use crate::cutter::Cutter;
use crate::error::ToolError;
use crate::output_store::{OutputFile, OutputStoreSettings};
use crate::truncate::Keep;
use memchr::{memchr, memchr_iter, memrchr};
use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Up to this size, in bytes, an output is looked at whole: what is taken out of it for the model may make it fit.
const WHOLE: u64 = 1 << 20;
/// How much is read at once, in bytes.
const BLOCK: usize = 256 << 10;
/// How far back it is looked for the beginning of a line, in bytes.
const FARTHEST: u64 = 64 << 20;

/// A file of the session's outputs that something else writes: readable by its owner alone, kept as long as other outputs
/// are. Dropped before [`keep`](Self::keep) was called, it is removed.
#[derive(Debug)]
pub struct KeptOutput {
    file: Mutex<Option<OutputFile>>,
    path: PathBuf,
    limit: u64,
}

/// How much of an output there is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OutputCount {
    /// How many bytes were written to the file.
    pub bytes: u64,
    /// How many line feeds are in them; `None` where they have to be counted.
    pub newlines: Option<u64>,
    /// Why the rest is not in the file, where something is missing.
    pub error: Option<String>,
}

/// What a model gets of an output.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ShownOutput {
    /// The text, with what is told of what was cut.
    pub text: String,
    /// What was cut, if something was.
    pub cut: Option<Cut>,
    /// Whether the text is not what is in the file, byte by byte.
    pub differs: bool,
}

impl ToolContext {
    /// How much of whole outputs is kept on disk.
    pub fn output_store(&self) -> OutputStoreSettings {
        self.scope().toolkit.settings.outputs.settings().clone()
    }

    /// A new, empty file for an output that something else writes, among those of the session.
    ///
    /// What the model gets of it is cut by [`KeptOutput::show`], to the same limits and in the same words as what is written to
    /// [`output`](Self::output).
    ///
    /// # Errors
    ///
    /// `Unavailable` where no file can be made, saying why.
    pub async fn kept_output(&self) -> Result<KeptOutput, ToolError> {
        let (store, session) =
            (self.scope().toolkit.settings.outputs.clone(), self.gated_session_id().to_owned());
        self.blocking(move |_| {
            let file = store.create(Some(&session)).map_err(|error| {
                ToolError::unavailable(format!("there is no place for the output: {error}"))
            })?;
            let (path, limit) = (file.path().to_owned(), file.limit());
            Ok(KeptOutput { file: Mutex::new(Some(file)), path, limit })
        })
        .await
    }
}

impl KeptOutput {
    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// How many bytes it may have: whoever writes to it stops there. It is what is configured for one output (`tools.outputs.maxBytes`), or less
    /// where outputs together take up what they may.
    pub fn limit(&self) -> u64 {
        self.limit
    }

    /// The file, for whoever writes to it: open for appending. Blocks.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub fn appending(&self) -> io::Result<File> {
        OpenOptions::new().append(true).open(&self.path)
    }

    /// Keeps the file when this is dropped: somebody was told of it.
    pub fn keep(&self) {
        if let Some(file) = self.file.lock().unwrap_or_else(PoisonError::into_inner).take() {
            file.keep();
        }
    }

    /// What a model gets of the first `count.bytes` bytes, cut to the limits of the tool that is called, where it has none to the
    /// host's; `keep` says which part stays. Bytes that are no UTF-8
    /// become `U+FFFD`, and `clean` takes out what a model has no use for. It must not make a text longer, nor put line feeds
    /// in. Lines and bytes that are told of are those of the file.
    ///
    /// Blocks; of a large output the two ends are read alone, and all of it only if nobody counted the lines. Keeps the file
    /// where something is cut.
    ///
    /// # Errors
    ///
    /// What the system says.
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
        let mut file = File::open(&self.path)?;
        // Nothing takes away from it, but a sweep or a person may.
        let bytes = count.bytes.min(file.metadata()?.len());
        let kept = || match &count.error {
            None => Kept::Whole { path: self.path.clone() },
            Some(error) => Kept::Partly { path: self.path.clone(), bytes, error: error.clone() },
        };
        if bytes <= most_whole {
            let whole = read(&mut file, 0, bytes)?;
            let text = String::from_utf8_lossy(&whole);
            let cleaned = clean(&text);
            let differs = cleaned.as_bytes() != whole;
            if cutter.text_fits(&cleaned) {
                return Ok(match &count.error {
                    None => ShownOutput { text: cleaned, cut: None, differs },
                    Some(error) => {
                        let end = if cleaned.is_empty() || cleaned.ends_with('\n') { "" } else { "\n" };
                        let text =
                            format!("{cleaned}{end}[The output went on; the rest was not kept: {error}.]");
                        ShownOutput { text, cut: None, differs: true }
                    }
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

    fn cut(
        &self,
        cutter: Cutter<'_>,
        ends: Ends<'_>,
        kept: Kept,
        clean: &dyn Fn(&str) -> String,
    ) -> ShownOutput {
        self.keep();
        let (text, cut) = cutter.ends(ends, kept, clean);
        ShownOutput { text, cut, differs: true }
    }
}

/// The two ends of a file, and what has to be known of the middle.
struct Held {
    head: Vec<u8>,
    tail: Vec<u8>,
    bytes: u64,
    newlines: u64,
    head_line_end: Option<u64>,
    tail_line_start: u64,
}

impl Held {
    fn read(file: &mut File, bytes: u64, newlines: u64, limits: &OutputLimits) -> io::Result<Self> {
        let (first, last) = limits.budgets();
        let head = read(file, 0, first.bytes.min(bytes))?;
        // A line that ends further behind is longer than the budget in any case.
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

/// So many bytes from a place on.
fn read(file: &mut File, from: u64, bytes: u64) -> io::Result<Vec<u8>> {
    file.seek(SeekFrom::Start(from))?;
    let mut read = Vec::new();
    file.take(bytes).read_to_end(&mut read)?;
    if (read.len() as u64) < bytes {
        return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the file of the output became shorter"));
    }
    Ok(read)
}

/// After the last line feed before a place. Of a line of more than 64 MiB it is a place in it.
fn line_start(file: &mut File, before: u64) -> io::Result<u64> {
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

/// How many line feeds the first bytes have.
fn newlines(file: &mut File, bytes: u64) -> io::Result<u64> {
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

#[cfg(test)]
mod tests;

//! `read`: the lines of a text file, numbered; a picture; the names of a directory.

mod details;
mod lines;
mod listing;
mod page;
mod source;

use super::interrupted::{self, Look};
use super::progress::Meter;
use super::text::{self, Form, Kind};
use crate::picture::{self, Picture};
use crate::titles;
pub use details::{DirectoryDetails, PictureDetails, ReadDetails, TextDetails};
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) use page::{MAX_BYTES, MAX_LINE_CHARACTERS};
use page::{MAX_LINES, Page, page};
use source::{BUFFER_BYTES, Source};
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _};
use std::ops::Range;
use toolkit::prelude::*;
use toolkit::{
    CancellationToken, Content, ToolErrorKind,
    events::Progress,
    files::{FileVersion, OpenedFile, OpenedPath, PathRepair, Workspace},
    output::Detailed,
};

/// Maximum size of a file whose whole content is used to detect the encoding.
const MAX_DECIDED_BYTES: u64 = 64 << 20;
/// Maximum size of a file whose version is determined by its content, which takes some hundredths of a second. For a larger
/// one, its size, its times and its identity are used.
const MAX_KNOWN_BYTES: u64 = 64 << 20;

/// The shown lines, counted from 1, and the total number if it is known; `None` if the whole of a file without lines is shown.
type Shown = Option<(Range<u64>, Option<u64>)>;

/// Reads a text file and returns its lines, numbered from 1, as `     1→text`. Also shows images (PNG, JPEG, GIF,
/// WebP) and lists directories.
///
/// One call returns at most 2,000 lines and 50 KiB; its last line names the next `offset`. Lines longer than 2,000
/// characters are truncated, with a note. Encodings other than UTF-8 are detected and named.
///
/// # Errors
///
/// If the path does not exist, is neither text nor an image, or reading it is not allowed.
#[tool(name = "read", group = ["fs", "coding"], title = "Read a file", read_only, asks, truncate = "off")]
pub async fn read(
    ctx: &ToolContext,
    /// Path of the file or directory, absolute or relative to the workspace.
    #[arg(alias = "path", length(1..), example = "src/main.rs")]
    file_path: &Path,
    /// First line to return, counted from 1.
    #[arg(default = 1, range(1..))]
    offset: u64,
    /// Maximum number of lines to return, up to 2,000.
    #[arg(range(1..=MAX_LINES))]
    limit: Option<u64>,
) -> Result<Detailed<ReadDetails>, ToolError> {
    titles::begin(ctx, "Read", &file_path.to_string_lossy());
    // In direct calls, these values are unchecked.
    let (offset, limit) = (offset.max(1), limit.unwrap_or(MAX_LINES).clamp(1, MAX_LINES));
    let (workspace, look) = (ctx.workspace(), Look::default());
    let read = read_path(ctx, &workspace, &look, file_path, offset, limit);
    interrupted::tell_looking(ctx, &workspace, look.clone(), read).await
}

async fn read_path(
    ctx: &ToolContext,
    workspace: &Workspace,
    look: &Look,
    file_path: &Path,
    offset: u64,
    limit: u64,
) -> Result<Detailed<ReadDetails>, ToolError> {
    let look = look.clone();
    let meter = Meter::new(ctx);
    let seen = workspace.clone();
    let read = move |opened: OpenedPath, cancel: &CancellationToken| {
        let workspace = seen;
        look.now(&workspace, cancel);
        let repaired = opened.repaired().cloned();
        let check = || if cancel.is_cancelled() { Err(io::ErrorKind::Interrupted.into()) } else { Ok(()) };
        let output = match opened {
            OpenedPath::Directory(directory) => listing::list(&directory, offset, Some(limit), cancel)
                .map(|listed| listed.map(ReadDetails::Directory)),
            OpenedPath::File(file) => {
                let (path, metadata) = (file.path().to_owned(), file.metadata().clone());
                let mut seen = None;
                let (output, lines) = read_file(file, &mut seen, offset, limit, meter, check)?;
                // A refused file was not seen.
                let goes_on = || !cancel.is_cancelled();
                let version = match seen {
                    Some(SeenFile::Whole(version)) => version,
                    Some(SeenFile::Part(file)) => {
                        FileVersion::of_file(&file, &metadata, MAX_KNOWN_BYTES, goes_on)
                    }
                    None => return Err(ToolError::failed("the file was not read")),
                };
                match lines {
                    Some((lines, total)) => workspace.saw_lines(&path, version, lines, total),
                    None => workspace.saw(&path, version),
                }
                Ok(output)
            }
            _ => Err(ToolError::failed("this is neither a file nor a directory")),
        };
        Ok(with_note(output?, repaired.as_ref()))
    };
    workspace.open_with(file_path, read).await
}

/// Prepends a note on the path that was read, if it differs from the given one.
fn with_note(mut read: Detailed<ReadDetails>, repaired: Option<&PathRepair>) -> Detailed<ReadDetails> {
    if let Some(repaired) = repaired {
        let note = format!("({})\n", repaired.note());
        match read.output.content.first_mut() {
            Some(Content::Text { text, .. }) => text.insert_str(0, &note),
            _ => read.output.content.insert(0, Content::text(note)),
        }
    }
    read
}

/// The data from which the version of a read file is determined.
enum SeenFile {
    /// The whole file was read at once.
    Whole(FileVersion),
    /// The file is read again to determine its version.
    Part(File),
}

fn read_file(
    opened: OpenedFile,
    seen: &mut Option<SeenFile>,
    offset: u64,
    limit: u64,
    mut meter: Meter,
    check: impl Fn() -> io::Result<()>,
) -> Result<(Detailed<ReadDetails>, Shown), ToolError> {
    let shown = opened.shown().to_owned();
    let (size, metadata) = (opened.metadata().len(), opened.metadata().clone());
    let mut file = BufReader::with_capacity(BUFFER_BYTES, opened.into_file());
    file.fill_buf().map_err(|error| cannot_read(&shown, &error))?;
    *seen = Some(match FileVersion::of_read(file.buffer(), file.get_ref(), &metadata) {
        Some(version) => SeenFile::Whole(version),
        None => SeenFile::Part(file.get_ref().try_clone().map_err(|error| cannot_read(&shown, &error))?),
    });
    let buffered = file.buffer();
    let sample = &buffered[..buffered.len().min(text::SAMPLE_BYTES)];
    let is_whole = sample.len() as u64 == size;
    let sample_is_ascii = sample.is_ascii();
    let kind = text::kind(sample, is_whole);
    let form = match kind {
        // Valid UTF-8 is text, even if it begins like another format.
        Kind::Text(form) if form.encoding == encoding_rs::UTF_8 || form.has_mark => form,
        _ => {
            let found = if kind == Kind::Binary { infer::get(sample) } else { format(sample) };
            if let Some(format) = found.and_then(picture::format) {
                let picture = picture::read(&shown, file.into_inner(), format, &check)?;
                return Ok((picture_output(&shown, format, picture), None));
            }
            match (kind, found) {
                (Kind::Text(form), None) => form,
                (Kind::Damaged, None) => {
                    Form { has_mark: sample.starts_with(b"\xEF\xBB\xBF"), ..Form::PLAIN }
                }
                (_, found) => return Err(binary(&shown, size, found)),
            }
        }
    };
    let mut source = Source::new(file, form);
    let mut counted = 0;
    let mut check = || {
        counted += 1;
        meter.tell(|| Progress::new(f64::from(counted)).with_message(format!("reading {shown}")));
        check()
    };
    let read = page(&mut source, offset, limit, &mut check).map_err(|error| cannot_read(&shown, &error))?;
    if read.invalid > 0
        && sample_is_ascii
        && let Source::Plain(file) = source
    {
        // The evidence for the encoding came after the beginning. An edit examines the whole file, and must see the same text.
        let mut file = file.into_inner();
        let form = form_of_all(&mut file, size).map_err(|error| cannot_read(&shown, &error))?;
        let form = form.unwrap_or(Form::PLAIN);
        let mut source = Source::new(BufReader::with_capacity(BUFFER_BYTES, file), form);
        let read =
            page(&mut source, offset, limit, &mut check).map_err(|error| cannot_read(&shown, &error))?;
        let lines = read.lines(offset);
        return Ok((read.into_output(&shown, offset, form, source.has_errors())?, Some(lines)));
    }
    let lines = read.lines(offset);
    Ok((read.into_output(&shown, offset, form, source.has_errors())?, Some(lines)))
}

/// Detects the encoding of a file by all of its content, and leaves the file at its beginning; `None` for UTF-8, or if the file
/// is too large.
fn form_of_all(file: &mut File, size: u64) -> io::Result<Option<Form>> {
    let mut form = None;
    if size <= MAX_DECIDED_BYTES {
        let mut content = Vec::new();
        file.rewind()?;
        (&mut *file).take(MAX_DECIDED_BYTES).read_to_end(&mut content)?;
        if let Kind::Text(found) = text::kind(&content, true) {
            form = Some(found);
        }
    }
    file.rewind()?;
    Ok(form)
}

/// Reads a page of a content in memory, with the given read size.
///
/// # Panics
///
/// Never: reading from memory cannot fail.
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) fn read_page(file: &[u8], form: Form, buffer: usize, offset: u64, limit: u64) -> Page {
    let mut file = BufReader::with_capacity(buffer.max(form.mark().len()), file);
    // The same first read as in the detection.
    file.fill_buf().expect("memory can be read");
    let mut source = Source::new(file, form);
    page(&mut source, offset, limit, &mut || Ok(())).expect("memory can be read")
}

/// Returns the binary format of a file that could be text by its bytes. A format's magic bytes alone are not enough: texts may
/// begin with them (`BMW`, `#!/bin/sh`, `<?xml`), and the rest of a binary file is not text. A PDF can look like text for long.
fn format(sample: &[u8]) -> Option<infer::Type> {
    let found = infer::get(sample)?;
    let begin = &sample[..sample.len().min(4)];
    let is_letter = |byte: &u8| matches!(byte, b'\t'..=b'\r' | b' '..=b'~');
    let others: Vec<u8> = begin.iter().copied().filter(|byte| !is_letter(byte)).collect();
    // One of them may be a letter of another encoding.
    let is_of_letters = matches!(others[..], [] | [0x80..=0xFF]);
    (!is_of_letters || found.mime_type() == "application/pdf").then_some(found)
}

fn binary(shown: &str, size: u64, found: Option<infer::Type>) -> ToolError {
    let kind = found.map_or_else(|| "of no known kind".to_owned(), |kind| kind.mime_type().to_owned());
    ToolError::failed(format!(
        "{shown} is a binary file ({kind}, {size} bytes), and this tool reads text and pictures (PNG, JPEG, GIF, WebP)"
    ))
}

fn cannot_read(shown: &str, error: &io::Error) -> ToolError {
    let message = format!("cannot read {shown}: {error}");
    match error.kind() {
        io::ErrorKind::NotFound => ToolError::not_found(message),
        io::ErrorKind::PermissionDenied => ToolError::new(ToolErrorKind::Unavailable, message),
        _ => ToolError::failed(message),
    }
}

fn picture_output(shown: &str, format: image::ImageFormat, picture: Picture) -> Detailed<ReadDetails> {
    let Picture { data, mime_type, original: (width, height), size, is_changed } = picture;
    let mut text = format!("{shown}: a {} picture of {width} × {height} pixels", picture::name(format));
    if size != (width, height) {
        let _ = write!(text, ", shown at {} × {}", size.0, size.1);
    } else if is_changed {
        text.push_str(", compressed more strongly to be shown");
    }
    let details = PictureDetails {
        path: shown.to_owned(),
        file_path: shown.to_owned(),
        width,
        height,
        shown_width: size.0,
        shown_height: size.1,
        mime_type: mime_type.to_owned(),
        bytes: data.len(),
    };
    let output = ToolOutput::text(text)
        .with_content(Content::image(data, mime_type))
        .with_title(shown)
        .with_metadata("truncated", false)
        .with_metadata("kind", "picture");
    Detailed::new(output, ReadDetails::Picture(details))
}

impl Page {
    /// The lines that are shown from `offset` on. One that is cut counts, since no call shows more of it.
    fn lines(&self, offset: u64) -> (Range<u64>, Option<u64>) {
        (offset..offset + self.count, self.total)
    }

    fn into_output(
        self,
        shown: &str,
        offset: u64,
        form: Form,
        has_errors: bool,
    ) -> Result<Detailed<ReadDetails>, ToolError> {
        let endings = self.endings();
        let Self { mut text, count, total, cut, invalid, .. } = self;
        let last = offset + (count.max(1) - 1);
        let mut notes = Vec::new();
        match total {
            Some(0) => notes.push("the file is empty".to_owned()),
            Some(total) if count == 0 => {
                let lines = if total == 1 { "line" } else { "lines" };
                return Err(ToolError::failed(format!(
                    "line {offset} is past the end of {shown}, which has {total} {lines}"
                )));
            }
            Some(total) if offset > 1 || last < total => {
                notes.push(format!("lines {offset} to {last} of {total}: the end of the file"));
            }
            Some(_) => {}
            None => {
                let next = last + 1;
                notes.push(format!("lines {offset} to {last}; there are more: continue with offset {next}"));
            }
        }
        if form.encoding != encoding_rs::UTF_8 {
            notes.push(format!("the file is in the encoding {}", form.name()));
        }
        if invalid > 0 {
            let lines = if invalid == 1 { "1 line is" } else { &format!("{invalid} lines are") };
            notes.push(format!("{lines} not valid UTF-8; invalid bytes are shown as \u{FFFD}"));
        }
        if has_errors {
            notes.push(format!("bytes that are not valid {} are shown as \u{FFFD}", form.name()));
        }
        let notes: Vec<String> = notes.into_iter().map(|note| format!("({note})")).collect();
        text.push_str(&notes.join("\n"));
        let goes_on = total.is_none();
        let truncated = goes_on || cut > 0;
        let output = ToolOutput::text(text)
            .with_title(shown)
            .with_metadata("truncated", truncated)
            .with_metadata("kind", "text")
            .with_metadata("encoding", form.name())
            .with_metadata("byteOrderMark", form.has_mark)
            .with_metadata("lineEndings", endings);
        let details = TextDetails {
            file_path: shown.to_owned(),
            first_line: offset,
            line_count: count,
            total_lines: total,
            cut_lines: cut,
            invalid_utf8_lines: invalid,
            encoding: form.name().to_owned(),
            byte_order_mark: form.has_mark,
            line_endings: endings.to_owned(),
            truncated,
            next_offset: goes_on.then_some(last + 1),
        };
        Ok(Detailed::new(output, ReadDetails::Text(details)))
    }
}

#[cfg(test)]
mod tests;

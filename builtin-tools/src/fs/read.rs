//! `read`: the lines of a text file, numbered.

use super::lines::{self, Line};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use toolkit::prelude::*;
use toolkit::{Access, ToolErrorKind};

/// The most lines that one call returns.
const MAX_LINES: u64 = 2_000;
/// The most bytes that one call returns, line numbers included.
const MAX_BYTES: usize = 50 * 1024;
/// The most characters of one line.
const MAX_LINE_CHARACTERS: usize = 2_000;
/// No character takes more bytes in UTF-8.
const BYTES_A_CHARACTER: usize = 4;
/// How much is read at once.
const BUFFER_BYTES: usize = 64 * 1024;

/// Reads a text file and returns its lines, numbered from 1, as `     1→text`.
///
/// One call returns at most 2,000 lines and 50 KiB; its last line says at which `offset` to go on. Lines of more than
/// 2,000 characters are cut, and say so.
///
/// # Errors
///
/// When nothing is there, it is no text file, or reading it is not allowed.
#[tool(name = "read", group = ["fs", "coding"], title = "Read a file", read_only, asks, truncate = "off")]
pub async fn read(
    ctx: &ToolContext,
    /// Path of the file, absolute or relative to the workspace.
    #[arg(alias = "path", length(1..), example = "src/main.rs")]
    file_path: &Path,
    /// First line to return, counted from 1.
    #[arg(default = 1, range(1..))]
    offset: u64,
    /// How many lines to return, at most 2,000.
    #[arg(range(1..))]
    limit: Option<u64>,
) -> Result<ToolOutput, ToolError> {
    // Called directly, nobody has checked these.
    let (offset, limit) = (offset.max(1), limit.unwrap_or(MAX_LINES).clamp(1, MAX_LINES));
    let real = ctx.check_file_access(file_path, Access::Read).await?;
    let path = file_path.to_owned();
    let page = ctx.blocking(move |cancel| {
        let mut reader = open(&path, &real)?;
        let mut check =
            || if cancel.is_cancelled() { Err(io::ErrorKind::Interrupted.into()) } else { Ok(()) };
        page(&mut reader, offset, limit, &mut check).map_err(|error| cannot_read(&path, &error))
    });
    page.await?.into_output(file_path, offset)
}

/// Opens a regular file that holds text, past its byte order mark.
fn open(path: &Path, real: &Path) -> Result<BufReader<File>, ToolError> {
    // Looked at first: opening a pipe would wait for somebody to write into it.
    let kind = std::fs::metadata(real).map_err(|error| cannot_read(path, &error))?;
    if kind.is_dir() {
        return Err(ToolError::failed(format!("{} is a directory; name a file in it", path.display())));
    }
    if !kind.is_file() {
        return Err(ToolError::failed(format!(
            "{} is not a regular file but a pipe, a socket or a device",
            path.display()
        )));
    }
    let file = File::open(real).map_err(|error| cannot_read(path, &error))?;
    let mut reader = BufReader::with_capacity(BUFFER_BYTES, file);
    let start = reader.fill_buf().map_err(|error| cannot_read(path, &error))?;
    if memchr::memchr(0, &start[..start.len().min(8 * 1024)]).is_some() {
        return Err(ToolError::failed(format!(
            "{} is a binary file of {} bytes, and this tool reads text",
            path.display(),
            kind.len()
        )));
    }
    let mark = if start.starts_with(b"\xEF\xBB\xBF") { 3 } else { 0 };
    reader.consume(mark);
    Ok(reader)
}

fn cannot_read(path: &Path, error: &io::Error) -> ToolError {
    let message = format!("cannot read {}: {error}", path.display());
    match error.kind() {
        io::ErrorKind::NotFound => ToolError::not_found(message),
        io::ErrorKind::PermissionDenied => ToolError::new(ToolErrorKind::Unavailable, message),
        _ => ToolError::failed(message),
    }
}

/// What one call returns.
struct Page {
    text: String,
    /// How many lines are in `text`.
    count: u64,
    /// How many lines the file has, where the end was seen.
    total: Option<u64>,
    /// How many lines were cut.
    cut: u64,
    /// How many lines are not valid UTF-8.
    replaced: u64,
}

fn page(
    reader: &mut impl BufRead,
    offset: u64,
    limit: u64,
    check: &mut impl FnMut() -> io::Result<()>,
) -> io::Result<Page> {
    let skipped = lines::skip(reader, offset - 1, check)?;
    let mut page = Page { text: String::new(), count: 0, total: None, cut: 0, replaced: 0 };
    loop {
        if page.count == limit {
            if reader.fill_buf()?.is_empty() {
                page.total = Some(skipped + page.count);
            }
            return Ok(page);
        }
        let Some(line) = lines::next(reader, MAX_LINE_CHARACTERS * BYTES_A_CHARACTER, check)? else {
            page.total = Some(skipped + page.count);
            return Ok(page);
        };
        let (text, was_cut) = render(offset + page.count, &line);
        // The first line always fits: a line is at most 2,000 characters.
        if page.text.len() + text.len() > MAX_BYTES && page.count > 0 {
            return Ok(page);
        }
        page.text.push_str(&text);
        page.count += 1;
        page.cut += u64::from(was_cut);
        page.replaced += u64::from(!line.is_utf8());
    }
}

fn render(number: u64, line: &Line) -> (String, bool) {
    let (text, missing) = line.text(MAX_LINE_CHARACTERS);
    let mut rendered = format!("{number:>6}→{text}");
    if missing > 0 {
        let _ = write!(rendered, "… [{missing} more bytes in this line]");
    }
    rendered.push('\n');
    (rendered, missing > 0)
}

impl Page {
    fn into_output(self, path: &Path, offset: u64) -> Result<ToolOutput, ToolError> {
        let shown = path.display();
        let Self { mut text, count, total, cut, replaced } = self;
        let last = offset + (count.max(1) - 1);
        match total {
            Some(0) => text.push_str("(the file is empty)"),
            Some(total) if count == 0 => {
                return Err(ToolError::failed(format!(
                    "line {offset} is past the end of {shown}, which has {total} lines"
                )));
            }
            Some(total) if offset > 1 || last < total => {
                let _ = write!(text, "(lines {offset} to {last} of {total}: the end of the file)");
            }
            Some(_) => {}
            None => {
                let next = last + 1;
                let _ =
                    write!(text, "(lines {offset} to {last}; the file goes on: continue with offset {next})");
            }
        }
        if replaced > 0 {
            if !text.ends_with('\n') {
                text.push('\n');
            }
            let _ = write!(
                text,
                "({replaced} lines are not valid UTF-8; their other bytes are shown as \u{FFFD})"
            );
        }
        let truncated = total.is_none();
        let details: Value = json!({
            "filePath": path,
            "firstLine": offset,
            "lineCount": count,
            "totalLines": total,
            "cutLines": cut,
            "invalidUtf8Lines": replaced,
            "truncated": truncated,
            "nextOffset": truncated.then_some(last + 1),
        });
        Ok(ToolOutput::text(text)
            .with_title(format!("{shown}"))
            .with_metadata("truncated", truncated)
            .with_details(details))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tempfile::TempDir;
    use toolkit::testing::TestToolbox;
    use toolkit::{Answer, PendingAsk, Question, ScriptedApprover};

    struct Fixture {
        workspace: TempDir,
    }

    impl Fixture {
        fn new() -> Self {
            Self { workspace: tempfile::tempdir().unwrap() }
        }

        fn file(&self, name: &str, content: impl AsRef<[u8]>) -> &Self {
            std::fs::write(self.workspace.path().join(name), content).unwrap();
            self
        }

        async fn read(&self, path: &str, offset: u64, limit: Option<u64>) -> Result<ToolOutput, ToolError> {
            let ctx = ToolContext::detached(Caller::new().with_workspace(self.workspace.path()));
            read(&ctx, Path::new(path), offset, limit).await
        }

        async fn text(&self, path: &str, offset: u64, limit: Option<u64>) -> String {
            match self.read(path, offset, limit).await {
                Ok(output) => output.to_text(),
                Err(error) => format!("error: {error}"),
            }
        }
    }

    #[tokio::test]
    async fn texts() {
        let fixture = Fixture::new();
        fixture
            .file("three", "one\r\ntwo\nthree")
            .file("empty", "")
            .file("mark", b"\xEF\xBB\xBFone\n")
            .file("binary", b"a\0b")
            .file("latin", b"caf\xE9\n");
        for (path, offset, limit, expected) in [
            ("three", 1, None, "     1→one\n     2→two\n     3→three\n"),
            (
                "three",
                1,
                Some(2),
                "     1→one\n     2→two\n(lines 1 to 2; the file goes on: continue with offset 3)",
            ),
            ("three", 3, Some(5), "     3→three\n(lines 3 to 3 of 3: the end of the file)"),
            ("three", 1, Some(3), "     1→one\n     2→two\n     3→three\n"),
            ("three", 4, None, "error: line 4 is past the end of three, which has 3 lines"),
            ("three", 99, None, "error: line 99 is past the end of three, which has 3 lines"),
            ("three", 0, Some(0), "     1→one\n(lines 1 to 1; the file goes on: continue with offset 2)"),
            (
                "three",
                u64::MAX,
                None,
                "error: line 18446744073709551615 is past the end of three, which has 3 lines",
            ),
            ("empty", 1, None, "(the file is empty)"),
            ("mark", 1, None, "     1→one\n"),
            ("binary", 1, None, "error: binary is a binary file of 3 bytes, and this tool reads text"),
            (
                "latin",
                1,
                None,
                "     1→caf\u{FFFD}\n(1 lines are not valid UTF-8; their other bytes are shown as \u{FFFD})",
            ),
            ("absent", 1, None, "error: absent does not exist"),
            (".", 1, None, "error: . is a directory; name a file in it"),
        ] {
            assert_eq!(fixture.text(path, offset, limit).await, expected, "{path} {offset} {limit:?}");
        }
    }

    #[tokio::test]
    async fn following_the_offset_gives_every_line_once() {
        let fixture = Fixture::new();
        let lines: Vec<String> =
            (0..5_000).map(|number| format!("line {number} {}", "x".repeat(number % 97))).collect();
        fixture.file("long", lines.join("\n"));
        let mut seen = Vec::new();
        let mut offset = 1;
        loop {
            let output = fixture.read("long", offset, None).await.unwrap();
            let text = output.to_text();
            assert!(text.len() <= MAX_BYTES + 200, "{}", text.len());
            seen.extend(
                text.lines().filter_map(|line| line.split_once('→')).map(|(_, line)| line.to_owned()),
            );
            match output.details.unwrap()["nextOffset"].as_u64() {
                Some(next) => offset = next,
                None => break,
            }
        }
        assert_eq!(seen, lines);
    }

    #[tokio::test]
    async fn a_long_line_is_cut_and_says_so() {
        let fixture = Fixture::new();
        fixture.file("long", format!("{}\nnext\n", "ä".repeat(100_000)));
        let text = fixture.text("long", 1, None).await;
        let expected =
            format!("     1→{}… [196000 more bytes in this line]\n     2→next\n", "ä".repeat(2_000));
        assert_eq!(text, expected);
    }

    #[tokio::test]
    async fn outside_the_workspace_is_denied_whether_or_not_it_exists() {
        let fixture = Fixture::new();
        std::os::unix::fs::symlink("/etc/passwd", fixture.workspace.path().join("link")).unwrap();
        for path in ["/etc/passwd", "/etc/no-such-file", "../../../etc/passwd", "link"] {
            let error = fixture.read(path, 1, None).await.unwrap_err();
            assert_eq!(error.kind(), ToolErrorKind::Denied, "{path}: {error}");
        }
    }

    #[tokio::test]
    async fn a_pipe_is_refused_without_waiting() {
        let fixture = Fixture::new();
        let pipe = fixture.workspace.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        assert_eq!(
            fixture.text("pipe", 1, None).await,
            "error: pipe is not a regular file but a pipe, a socket or a device"
        );
    }

    #[tokio::test]
    async fn secrets_and_what_is_outside_are_asked_for() {
        let outside = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(outside.path(), "far away").unwrap();
        let there = outside.path().canonicalize().unwrap();
        let there = there.to_str().unwrap();
        let answers = [Answer::allow(), Answer::allow(), Answer::allow(), Answer::deny()];
        let toolbox = TestToolbox::new(toolkit::tool_ref!(read))
            .file(".env", "KEY=1")
            .file("a", "text")
            .approve(ScriptedApprover::new(answers));
        for (path, kind, expected) in [
            ("a", None, "     1→text\n"),
            (".env", Some("sensitive"), "     1→KEY=1\n"),
            (there, Some("external_directory"), "     1→far away\n"),
            ("/no/such/file", Some("external_directory"), "/no/such/file does not exist"),
            (".env", Some("sensitive"), "not allowed: read .env, which may hold secrets of an environment"),
        ] {
            let call = toolbox.call(json!({ "file_path": path })).await;
            assert!(call.text().contains(expected), "{path}: {}", call.text());
            let kinds: Vec<&str> = call.asks.iter().map(kind_of).collect();
            assert_eq!(kinds, Vec::from_iter(kind), "{path}");
        }
    }

    fn kind_of(asked: &PendingAsk) -> &str {
        match asked.question() {
            Question::Approve(ask) => &ask.kind,
            _ => "no permission",
        }
    }
}

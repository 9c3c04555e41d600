//! Streams the output of a running command to its watchers, in whole lines.

use super::clean::clean;
use super::job::Running;
use super::told;
use std::fmt::Write as _;
use std::io::{self, Read, Seek, SeekFrom};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;
use toolkit::events::Progress;
use toolkit::prelude::*;

/// Interval between checks for new output.
pub(super) const TICK: Duration = Duration::from_millis(150);
/// Interval between progress reports.
const PROGRESS: Duration = Duration::from_millis(500);
/// Maximum number of bytes reported at once; of more, the last ones.
const MAX_BYTES: u64 = 32 << 10;
/// Maximum number of bytes that are held back because they may be a part of a private key.
const MAX_HELD: usize = 16 << 10;
/// Minimum length of a line that may belong to a private key whose beginning was not seen.
const KEY_LINE: usize = 40;

/// State of the output stream of a running command.
#[derive(Debug)]
pub(super) struct Stream {
    lines: Lines,
    /// Size of the output at the last progress report, and time of that report.
    told: (u64, Instant),
}

impl Stream {
    pub(super) fn new(running: &Running) -> Self {
        Self { lines: Lines::default(), told: (0, running.started) }
    }

    /// Reports new output, if there are watchers.
    pub(super) async fn tell(&mut self, ctx: &ToolContext, running: &Arc<Running>) {
        let written = running.job.progress().written;
        if !ctx.is_watched() {
            return;
        }
        self.tell_lines(ctx, running, written, Until::Line).await;
        let (bytes, at) = self.told;
        if written != bytes && at.elapsed() >= PROGRESS {
            self.told = (written, Instant::now());
            let its = Arc::clone(running);
            let last =
                tokio::task::spawn_blocking(move || told::last_line(&its.output).unwrap_or_default()).await;
            let progress = Progress::new(running.started.elapsed().as_secs_f64());
            ctx.progress(progress.with_message(last.unwrap_or_default()));
        }
    }

    /// Reports the rest once the command has ended.
    pub(super) async fn finish(&mut self, ctx: &ToolContext, running: &Arc<Running>) {
        if ctx.is_watched() {
            self.tell_lines(ctx, running, running.job.progress().written, Until::End).await;
        }
    }

    async fn tell_lines(&mut self, ctx: &ToolContext, running: &Arc<Running>, written: u64, until: Until) {
        if written == self.lines.at && until == Until::Line {
            return;
        }
        let (mut lines, its) = (std::mem::take(&mut self.lines), Arc::clone(running));
        let read = tokio::task::spawn_blocking(move || {
            // If the output cannot be read, the result says so.
            let text = its.output.reader().and_then(|output| lines.read(output, written, until));
            let text = text.unwrap_or_default();
            (lines, text)
        });
        let Ok((lines, text)) = read.await else { return };
        self.lines = lines;
        if !text.is_empty() {
            ctx.partial(text);
        }
    }
}

/// End of the part of the output to report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Until {
    /// The end of the last whole line. A secret is only recognised in whole lines.
    Line,
    /// The end of the output.
    End,
}

/// The lines of a file that grows.
#[derive(Debug, Default)]
struct Lines {
    /// Up to where the file was read.
    at: u64,
    /// The line that has not ended, as it was written.
    line: Vec<u8>,
    /// True if the beginning of that line was skipped, and so the whole line is.
    is_left_out: bool,
    /// Lines that may be part of a private key, which is only recognised as a whole.
    held: String,
}

impl Lines {
    /// Returns the new output up to `written`, as a terminal would show it. Blocks.
    fn read(&mut self, mut file: impl Read + Seek, written: u64, until: Until) -> io::Result<String> {
        let mut left_out = 0;
        if written.saturating_sub(self.at) > MAX_BYTES {
            let from = written - MAX_BYTES;
            left_out = (from - self.at) + self.line.len() as u64 + self.held.len() as u64;
            self.line.clear();
            self.held.clear();
            (self.at, self.is_left_out) = (from, true);
        }
        file.seek(SeekFrom::Start(self.at))?;
        let read = file.take(written.saturating_sub(self.at)).read_to_end(&mut self.line)?;
        self.at += read as u64;
        let end = match until {
            Until::End => self.line.len(),
            Until::Line => self.line.iter().rposition(|byte| *byte == b'\n').map_or(0, |newline| newline + 1),
        };
        let rest = self.line.split_off(end);
        let mut whole = std::mem::replace(&mut self.line, rest);
        if self.is_left_out {
            let newline = whole.iter().position(|byte| *byte == b'\n');
            let end = newline.map_or(whole.len(), |newline| newline + 1);
            left_out += whole.drain(..end).count() as u64;
            self.is_left_out = newline.is_none();
        }
        if self.line.len() as u64 > MAX_BYTES {
            left_out += self.line.len() as u64;
            self.line.clear();
            self.is_left_out = true;
        }
        let mut text =
            if left_out > 0 { format!("[… {left_out} bytes left out …]\n") } else { String::new() };
        self.held.push_str(&clean(&String::from_utf8_lossy(&whole)));
        let end = if until == Until::End { self.held.len() } else { key_start(&self.held) };
        let held = self.held.split_off(end);
        text.push_str(&std::mem::replace(&mut self.held, held));
        if self.held.len() > MAX_HELD {
            let _ = writeln!(text, "[… {} bytes left out …]", self.held.len());
            self.held.clear();
        }
        Ok(text)
    }
}

/// Returns the start of the lines at the end of a text that may be part of a private key, which the next lines decide.
fn key_start(text: &str) -> usize {
    let begin = text.rfind("-----BEGIN ").filter(|at| {
        let key = &text[*at..];
        key.lines().next().is_some_and(|line| line.contains("PRIVATE KEY")) && !key.contains("-----END ")
    });
    if let Some(begin) = begin {
        return text[..begin].rfind('\n').map_or(0, |newline| newline + 1);
    }
    let (mut start, mut is_key) = (text.len(), false);
    for line in text.lines().rev() {
        let line = line.trim_end_matches('\r');
        let body =
            line.rsplit(|c: char| !c.is_ascii_alphanumeric() && !"+/=".contains(c)).next().unwrap_or("");
        // Each line may have a prefix: a number, a mark of a diff.
        if body.len() < 4 || line.len() - body.len() > 16 {
            break;
        }
        is_key |= body.len() >= KEY_LINE;
        let length = text[..start].trim_end_matches('\n').len();
        start = text[..length].rfind('\n').map_or(0, |newline| newline + 1);
    }
    if is_key { start } else { text.len() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{self, File};

    /// Returns the reported text after each of these parts is written.
    fn told(parts: &[&[u8]]) -> Vec<String> {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("output");
        let (mut lines, mut whole, mut told) = (Lines::default(), Vec::new(), Vec::new());
        for part in parts {
            whole.extend_from_slice(part);
            fs::write(&path, &whole).unwrap();
            told.push(lines.read(File::open(&path).unwrap(), whole.len() as u64, Until::Line).unwrap());
        }
        told.push(lines.read(File::open(&path).unwrap(), whole.len() as u64, Until::End).unwrap());
        told
    }

    #[test]
    fn whole_lines_are_told_and_the_rest_at_the_end() {
        for (parts, expected) in [
            (&["one\ntw", "o\nthree", ""][..], &["one\n", "two\n", "", "three"][..]),
            (&["10%\r20%\r", "30%\n"], &["", "30%\n", ""]),
            (&["\u{1b}[31mre", "d\u{1b}[0m\n"], &["", "red\n", ""]),
            (&["gr\u{c3}", ""], &["", "", "gr\u{c3}"]),
        ] {
            let parts: Vec<&[u8]> = parts.iter().map(|part| part.as_bytes()).collect();
            assert_eq!(told(&parts), expected, "{parts:?}");
        }
        // A character in two parts.
        assert_eq!(told(&[b"gr\xc3", b"\xb6\n"]), ["", "grö\n", ""]);
    }

    #[test]
    fn what_comes_too_fast_is_left_out_in_whole_lines() {
        let many: String = (0..20_000).flat_map(|number| [number.to_string(), "\n".to_owned()]).collect();
        let all = told(&[b"first\n", many.as_bytes(), b"last\n"]);
        assert_eq!((all[0].as_str(), all[2].as_str()), ("first\n", "last\n"));
        let mut lines = all[1].lines();
        assert!(
            lines.next().is_some_and(|line| line.starts_with("[… ") && line.ends_with(" bytes left out …]"))
        );
        let numbers: Vec<u32> = lines.map(|line| line.parse().unwrap()).collect();
        assert!(numbers.windows(2).all(|pair| pair[1] == pair[0] + 1) && numbers.last() == Some(&19_999));
        assert!(all[1].len() as u64 <= MAX_BYTES + 100);

        let long = "x".repeat(50_000);
        let all = told(&[long.as_bytes(), long.as_bytes(), b"\nnext\n"]);
        assert!(all[0].contains("bytes left out") && !all.concat().contains("xx"), "{all:?}");
        assert!(all.concat().ends_with("\nnext\n"), "{all:?}");
    }

    #[test]
    fn a_private_key_is_told_whole() {
        let body = "MIIEowIBAAKCAQEAxyz0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJ\n";
        let (begin, end) = ("-----BEGIN RSA PRIVATE KEY-----\n", "-----END RSA PRIVATE KEY-----\n");
        let key = [begin, body, body, end].concat();
        let parts = ["before\n", begin, body, body, end, "after\n"].map(str::as_bytes);
        assert_eq!(told(&parts), ["before\n", "", "", "", &key, "after\n", ""]);
        // Without its beginning.
        let parts = ["before it\n", body, "shortend==\n", end].map(str::as_bytes);
        assert_eq!(told(&parts), ["before it\n", "", "", &[body, "shortend==\n", end].concat(), ""]);
        // Text that only looks like a key is reported as soon as that is known.
        let parts = [body, "no key\n"].map(str::as_bytes);
        assert_eq!(told(&parts), ["", &[body, "no key\n"].concat(), ""]);
        assert_eq!(told(&["words\n".as_bytes()]), ["words\n", ""]);
        let endless: String = std::iter::repeat_n(body, 500).collect();
        let all = told(&[begin.as_bytes(), &endless.as_bytes()[..30_000 / 66 * 66], b"no key\n"]);
        assert!(all[1].contains("bytes left out"), "{all:?}");
    }
}

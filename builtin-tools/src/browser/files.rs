//! Files: what is written to the workspace by the rules of `write`, and long texts that are kept.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use toolkit::prelude::*;
use toolkit::{
    ToolErrorKind,
    files::{Expected, PriorContent, ReadState},
    text::escape_line,
};

/// The largest file that is looked at before it is replaced.
const MAX_BYTES: u64 = 256 << 20;
/// The most names that are tried for a download.
const MAX_NAMES: usize = 1_000;
/// The most bytes of a download's name.
const MAX_NAME_BYTES: usize = 150;

/// A file that was written.
pub(super) struct WrittenFile {
    pub(super) path: PathBuf,
    /// As it is shown.
    pub(super) shown: String,
}

/// Writes a file, once that is allowed. One that is there is replaced only if the session itself wrote it, or has read it.
pub(super) async fn write(
    ctx: &ToolContext,
    path: &str,
    content: Vec<u8>,
    what: &str,
) -> Result<WrittenFile, ToolError> {
    let workspace = ctx.workspace();
    let proposal = workspace.propose(path).await?;
    let shown = proposal.shown();
    let expected = match proposal.before(MAX_BYTES).await? {
        PriorContent::Absent | PriorContent::Unknown => Expected::Absent,
        PriorContent::File(old) if workspace.seen(proposal.path(), &old.version) == ReadState::Same => {
            Expected::Version(old.version)
        }
        _ => {
            return Err(ToolError::new(
                ToolErrorKind::InvalidArguments,
                format!("{shown} exists, and the session has not read it; choose another `path`"),
            ));
        }
    };
    let size = content.len();
    let target = proposal.ask(|ask| ask.with_text("content", format!("{what}, {size} bytes"))).await?;
    let lock = target.lock().await;
    let written = ctx.blocking(move |_| {
        let _until_written = lock;
        target.write(&content, &expected)?;
        Ok(WrittenFile { path: target.path().to_owned(), shown: target.shown().to_owned() })
    });
    written.await
}

/// Moves a download to a directory, under a name that is free there.
pub(super) async fn save_download(
    ctx: &ToolContext,
    directory: &str,
    name: &str,
    url: &str,
    from: PathBuf,
) -> Result<WrittenFile, ToolError> {
    let content = ctx.blocking({
        let from = from.clone();
        move |_| {
            let content = std::fs::read(&from)
                .map_err(|error| ToolError::failed(format!("the downloaded file cannot be read: {error}")));
            let _ = std::fs::remove_file(&from);
            content
        }
    });
    let content = content.await?;
    let workspace = ctx.workspace();
    let name = file_name(name);
    for number in 0..MAX_NAMES {
        let path = Path::new(directory).join(numbered(&name, number));
        let proposal = workspace.propose(&path).await?;
        let expected = match proposal.before(MAX_BYTES).await {
            Ok(PriorContent::Absent | PriorContent::Unknown) => Expected::Absent,
            // There is something of this name.
            Ok(_) | Err(_) => continue,
        };
        let size = content.len();
        let what = format!("a download of {size} bytes from {}", escape_line(url));
        let target = proposal.ask(|ask| ask.with_text("content", what.clone())).await?;
        let lock = target.lock().await;
        let written = ctx.blocking(move |_| {
            let _until_written = lock;
            target.write(&content, &expected)?;
            Ok(WrittenFile { path: target.path().to_owned(), shown: target.shown().to_owned() })
        });
        return written.await;
    }
    Err(ToolError::failed("all names are taken"))
}

/// A name for a file of what a page suggests: no directory, nothing hidden, not too long.
fn file_name(suggested: &str) -> String {
    let last = suggested.rsplit(['/', '\\']).next().unwrap_or_default();
    let plain: String = last.chars().map(|char| if char.is_control() { '_' } else { char }).collect();
    let plain = plain.trim().trim_start_matches('.').trim_end_matches(['.', ' ']);
    if plain.is_empty() {
        return "download".to_owned();
    }
    if plain.len() <= MAX_NAME_BYTES {
        return plain.to_owned();
    }
    let (stem, end) = parts(plain);
    let end = if end.len() > 20 { "" } else { end };
    let mut most = MAX_NAME_BYTES - end.len();
    while !stem.is_char_boundary(most) {
        most -= 1;
    }
    format!("{}{end}", &stem[..most.min(stem.len())])
}

/// The name with a number before its extension; the first has none.
fn numbered(name: &str, number: usize) -> String {
    if number == 0 {
        return name.to_owned();
    }
    let (stem, end) = parts(name);
    format!("{stem} ({number}){end}")
}

/// A name, and its extension with the dot.
fn parts(name: &str) -> (&str, &str) {
    match name.rfind('.') {
        Some(dot) if dot > 0 => name.split_at(dot),
        _ => (name, ""),
    }
}

/// A text that is shown in part.
pub(super) struct Shown {
    pub(super) text: String,
    /// Where the whole is, and how much of it is shown.
    pub(super) note: Option<String>,
}

/// A text of at most so many characters, cut after a line. The whole of a longer one is kept in a file.
pub(super) async fn shown(ctx: &ToolContext, text: String, max_chars: usize) -> Shown {
    let Some((end, _)) = text.char_indices().nth(max_chars) else { return Shown { text, note: None } };
    // A single long line is cut where the limit is.
    let end = text[..end].rfind('\n').filter(|line| *line > end / 2).map_or(end, |line| line + 1);
    let part = text[..end].to_owned();
    let (shown, total) = (part.chars().count(), text.chars().count());
    let kept = keep(ctx, text).await;
    let place = match kept {
        Ok(path) => format!("all of it is in {}; `read` shows it in parts", path.display()),
        Err(error) => format!("the rest cannot be kept: {}", error.message()),
    };
    Shown {
        text: part,
        note: Some(format!("Only the first {shown} of {total} characters are shown; {place}.")),
    }
}

async fn keep(ctx: &ToolContext, text: String) -> Result<PathBuf, ToolError> {
    let output = ctx.kept_output().await?;
    ctx.blocking(move |_| {
        let limit = usize::try_from(output.limit()).unwrap_or(usize::MAX);
        let bytes = &text.as_bytes()[..text.len().min(limit)];
        output.appending()?.write_all(bytes)?;
        output.keep();
        let path = output.path().map(Path::to_owned);
        path.ok_or_else(|| ToolError::unavailable("the text cannot be stored: there is no file for it"))
    })
    .await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_downloads_are_plain() {
        for (suggested, expected) in [
            ("report.csv", "report.csv"),
            ("../../etc/passwd", "passwd"),
            ("a\\b\\c.exe", "c.exe"),
            (".bashrc", "bashrc"),
            ("...", "download"),
            ("", "download"),
            ("a/", "download"),
            ("a\nb\u{1b}.txt", "a_b_.txt"),
            ("trailing. ", "trailing"),
        ] {
            assert_eq!(file_name(suggested), expected, "{suggested:?}");
        }
        let long = file_name(&format!("{}.tar", "ä".repeat(200)));
        assert!(long.len() <= MAX_NAME_BYTES && long.strip_suffix(".tar").is_some(), "{long}");
        assert!(file_name(&format!("a.{}", "x".repeat(300))).len() <= MAX_NAME_BYTES);
    }

    #[test]
    fn a_taken_name_gets_a_number() {
        assert_eq!(numbered("a.csv", 0), "a.csv");
        assert_eq!(numbered("a.csv", 2), "a (2).csv");
        assert_eq!(numbered("plain", 1), "plain (1)");
    }
}

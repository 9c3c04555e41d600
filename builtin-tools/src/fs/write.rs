//! `write`: a whole file, made or replaced.

mod keep;

use super::diff::{Diff, diff};
use keep::Kept;
use serde_json::json;
use std::fmt::Write as _;
use toolkit::prelude::*;
use toolkit::{Before, Expected, Proposal, Seen, Target};

/// The largest file that is replaced, in bytes.
const MAX_BYTES: u64 = 256 << 20;

/// Writes a whole file: makes it, with the directories above it, or replaces what is in it.
///
/// A file that is replaced keeps its byte order mark, its encoding and its line endings, unless `content` brings its own.
/// To change a part of a file, edit it instead.
///
/// # Errors
///
/// When it is a directory, writing it is not allowed, or something else changed the file since it was read.
#[tool(
    name = "write",
    group = ["fs", "coding"],
    title = "Write a file",
    permission = "edit",
    destructive,
    idempotent,
    asks
)]
pub async fn write(
    ctx: &ToolContext,
    /// Path of the file, absolute or relative to the workspace.
    #[arg(alias = "path", length(1..), example = "notes/today.md")]
    file_path: &Path,
    /// What the file is to hold, whole.
    content: &str,
) -> Result<ToolOutput, ToolError> {
    let workspace = ctx.workspace();
    let proposal = workspace.propose(file_path).await?;
    let before = proposal.before(MAX_BYTES).await?;
    if let Before::File(old) = &before
        && workspace.seen(proposal.path(), &old.version) == Seen::Changed
    {
        return Err(changed_since_read(&proposal.shown()));
    }
    let (old, expected) = match before {
        Before::Absent => (Some(None), Some(Expected::Absent)),
        Before::File(old) => (Some(Some(old.bytes)), Some(Expected::Version(old.version))),
        _ => (None, None),
    };
    let content = content.to_owned();
    let draft = ctx.blocking({
        let (shown, content) = (proposal.shown(), content.clone());
        move |_| Ok(old.map(|old| Draft::new(&shown, old.as_deref(), &content)))
    });
    let draft = draft.await?;
    let repaired = proposal.repaired().cloned();
    let target = ask(proposal, draft.as_ref(), &content).await?;
    let lock = target.lock().await;
    let written = ctx.blocking(move |_| {
        let _until_written = lock;
        write_to(&target, &content, draft, expected.as_ref())
    });
    let output = written.await?;
    Ok(match repaired {
        Some(repaired) => output.with_content(format!("({})", repaired.note())),
        None => output,
    })
}

/// Asks with all that will change; where it may not be known yet what is there, with all that will be.
async fn ask(proposal: Proposal, draft: Option<&Draft>, content: &str) -> Result<Target, ToolError> {
    let path = proposal.path().to_owned();
    proposal
        .ask(|ask| match draft {
            Some(draft) => ask.with_diff(&path, &draft.diff.text),
            None => ask.with_text("the whole new content", content),
        })
        .await
}

/// What is to be written.
struct Draft {
    kept: Kept,
    diff: Diff,
    is_new: bool,
}

impl Draft {
    fn new(shown: &str, old: Option<&[u8]>, content: &str) -> Self {
        let kept = Kept::new(old, content);
        let diff = diff(shown, old, Some(&kept.bytes));
        Self { kept, diff, is_new: old.is_none() }
    }
}

fn write_to(
    target: &Target,
    content: &str,
    draft: Option<Draft>,
    expected: Option<&Expected>,
) -> Result<ToolOutput, ToolError> {
    let shown = target.shown();
    let (draft, expected) = match (draft, expected) {
        (Some(draft), Some(expected)) => (draft, expected.clone()),
        // Now that it may be known.
        _ => {
            let old = target.read(MAX_BYTES)?;
            let expected = match &old {
                Some(old) => Expected::Version(old.version.clone()),
                None => Expected::Absent,
            };
            (Draft::new(shown, old.as_ref().map(|old| &*old.bytes), content), expected)
        }
    };
    target.write(&draft.kept.bytes, &expected)?;
    Ok(output(target, &draft))
}

fn output(target: &Target, draft: &Draft) -> ToolOutput {
    let Draft { kept, diff, is_new } = draft;
    let shown = target.shown();
    let bytes = kept.bytes.len();
    let lines = kept.lines;
    let counted = |count: usize, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
    let mut text = format!(
        "{} {shown}: {}, {}",
        if *is_new { "made" } else { "replaced" },
        counted(lines, "line"),
        counted(bytes, "byte")
    );
    if !is_new {
        let _ = write!(text, " ({} added, {} removed)", diff.added, diff.removed);
    }
    for note in &kept.notes {
        let _ = write!(text, "\n({note})");
    }
    ToolOutput::text(text)
        .with_title(shown)
        .with_metadata("additions", diff.added)
        .with_metadata("deletions", diff.removed)
        .with_details(json!({
            "filePath": shown,
            "created": is_new,
            "bytes": bytes,
            "lines": lines,
            "diff": diff.text,
            "diffTruncated": diff.is_cut,
            "additions": diff.added,
            "deletions": diff.removed,
            "encoding": kept.form.name(),
            "byteOrderMark": kept.form.has_mark,
            "lineEndings": kept.endings,
        }))
        .with_file_modified(target.path())
}

fn changed_since_read(shown: &str) -> ToolError {
    ToolError::failed(format!(
        "{shown} was changed by another hand since it was last read here, and nothing was written; read it again, then \
         decide anew what to write"
    ))
}

#[cfg(test)]
mod tests;

//! `write`: a whole file, made or replaced.

mod details;
mod keep;

use super::diff::{Diff, diff};
use super::hard_links;
use super::interrupted;
use super::leave::may_tell;
use super::unread;
use super::written;
use crate::titles;
pub use details::WrittenFile;
use keep::NewContent;
use std::fmt::Write as _;
use toolkit::prelude::*;
use toolkit::{
    files::{
        Expected, Extent, FileContent, PriorContent, Proposal, ReadState, Target, Workspace, WriteOutcome,
    },
    output::Detailed,
};

/// The largest file that is replaced, in bytes.
const MAX_BYTES: u64 = 256 << 20;

/// Writes a whole file: creates it, with its parent directories, or replaces its content.
///
/// A replaced file keeps its byte order mark, encoding and line endings, unless `content` has its own. To change part of
/// a file, use `edit`. An existing file must be read completely first.
///
/// # Errors
///
/// If the path is a directory, writing is not allowed, the session has not read the whole existing file, or the file was changed
/// since it was read.
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
    /// The whole new content of the file.
    content: &str,
) -> Result<Detailed<WrittenFile>, ToolError> {
    titles::begin(ctx, "Write", &file_path.to_string_lossy());
    interrupted::tell(ctx, write_file(ctx, file_path, content)).await
}

async fn write_file(
    ctx: &ToolContext,
    file_path: &Path,
    content: &str,
) -> Result<Detailed<WrittenFile>, ToolError> {
    let workspace = ctx.workspace();
    let proposal = workspace.propose(file_path).await?;
    let before = proposal.before(MAX_BYTES).await?;
    if let PriorContent::File(old) = &before {
        check_known(&workspace, proposal.path(), &proposal.shown(), old)?;
    }
    let (old, expected, other_names) = match before {
        PriorContent::Absent => (Some(None), Some(Expected::Absent), 0),
        PriorContent::File(old) => {
            (Some(Some(old.bytes)), Some(Expected::Version(old.version)), old.other_names)
        }
        _ => (None, None, 0),
    };
    let content = content.to_owned();
    let draft = ctx.blocking({
        let (shown, content) = (proposal.shown(), content.clone());
        move |_| Ok(old.map(|old| Draft::new(&shown, old.as_deref(), &content)))
    });
    let draft = draft.await?;
    let repaired = proposal.repaired().cloned();
    let target = ask(proposal, draft.as_ref(), &content, other_names).await?;
    let lock = target.lock().await;
    let written = ctx.blocking(move |_| {
        let _until_written = lock;
        write_to(&workspace, &target, &content, draft, expected)
    });
    let output = written.await?;
    Ok(match repaired {
        Some(repaired) => output.with_content(format!("({})", repaired.note())),
        None => output,
    })
}

/// Prompts with a diff, or with the new content alone if the old file may not be read.
async fn ask(
    proposal: Proposal,
    draft: Option<&Draft>,
    content: &str,
    other_names: u64,
) -> Result<Target, ToolError> {
    let (path, shown) = (proposal.path().to_owned(), proposal.shown());
    proposal
        .ask(|ask| match draft {
            Some(draft) => {
                let ask = ask.with_diff(&path, &draft.diff.text).before_acting();
                hard_links::with_warning(ask, &shown, other_names)
            }
            None => ask.with_text("the whole new content", content).before_acting(),
        })
        .await
}

/// The content to write.
struct Draft {
    kept: NewContent,
    diff: Diff,
    is_new: bool,
}

impl Draft {
    fn new(shown: &str, old: Option<&[u8]>, content: &str) -> Self {
        let kept = NewContent::new(old, content);
        let old_text = old.map(|old| keep::readable(old, None));
        let diff = diff(shown, old_text.as_deref(), Some(&kept.readable()));
        Self { kept, diff, is_new: old.is_none() }
    }
}

/// Writes the file, while no other code in this process can change it.
fn write_to(
    workspace: &Workspace,
    target: &Target,
    content: &str,
    draft: Option<Draft>,
    expected: Option<Expected>,
) -> Result<Detailed<WrittenFile>, ToolError> {
    let now = target.read(MAX_BYTES)?;
    // Permission to write does not include reading: the old content is not shown then.
    let is_hidden = now.is_some() && !may_tell(workspace, target.path());
    // If the file could not be read before the prompt, it is checked now.
    if let (None, Some(now)) = (&expected, &now) {
        check_known(workspace, target.path(), target.shown(), now)?;
    }
    // Content that was unknown before the prompt, or that the session itself has written since.
    let is_own = |now: &Option<FileContent>| {
        now.as_ref().is_some_and(|now| workspace.seen(target.path(), &now.version) == ReadState::Same)
    };
    let (draft, expected) = match (draft, expected) {
        (Some(draft), Some(expected)) if is_as(&expected, now.as_ref()) || !is_own(&now) => (draft, expected),
        _ => {
            let draft = Draft::new(target.shown(), now.as_ref().map(|now| &*now.bytes), content);
            (draft, now.map_or(Expected::Absent, |now| Expected::Version(now.version)))
        }
    };
    let written = target.write(&draft.kept.bytes, &expected)?;
    Ok(output(target, &draft, &written, is_hidden))
}

/// Refuses a file that was changed since the session has seen it, or of which the session does not know everything.
fn check_known(
    workspace: &Workspace,
    path: &Path,
    shown: &str,
    content: &FileContent,
) -> Result<(), ToolError> {
    if workspace.seen(path, &content.version) == ReadState::Changed {
        return Err(changed_since_read(shown));
    }
    check_read(workspace, path, shown, content)
}

fn is_as(expected: &Expected, now: Option<&FileContent>) -> bool {
    match (expected, now) {
        (Expected::Absent, None) => true,
        (Expected::Version(version), Some(now)) => version.is_same(&now.version),
        _ => false,
    }
}

fn output(target: &Target, draft: &Draft, written: &WriteOutcome, is_hidden: bool) -> Detailed<WrittenFile> {
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
    if !is_new && !is_hidden {
        let _ = write!(text, " ({} added, {} removed)", diff.added, diff.removed);
    }
    for note in kept.notes.iter().cloned().chain(written::notes(shown, written)) {
        let _ = write!(text, "\n({note})");
    }
    let mut output = ToolOutput::text(text).with_title(shown).with_file_modified(target.path());
    if !is_hidden {
        output = output.with_metadata("additions", diff.added).with_metadata("deletions", diff.removed);
    }
    let told = (!is_hidden).then_some(diff);
    let details = WrittenFile {
        file_path: shown.to_owned(),
        created: *is_new,
        bytes,
        lines,
        encoding: kept.form.name().to_owned(),
        byte_order_mark: kept.form.has_mark,
        line_endings: kept.endings.to_owned(),
        other_names: (written.other_names > 0).then_some(written.other_names),
        additions: told.map(|diff| diff.added),
        deletions: told.map(|diff| diff.removed),
        diff: told.map(|diff| diff.text.clone()),
        diff_truncated: told.map(|diff| diff.is_cut),
    };
    Detailed::new(output, details)
}

fn changed_since_read(shown: &str) -> ToolError {
    ToolError::failed(format!(
        "{shown} was changed since it was last read here, so nothing was written; read it again, then decide what to \
         write"
    ))
}

/// Refuses to replace a file of which the session does not know everything.
fn check_read(
    workspace: &Workspace,
    path: &Path,
    shown: &str,
    content: &FileContent,
) -> Result<(), ToolError> {
    if unread::is_read(workspace, path, content) {
        return Ok(());
    }
    let why = match workspace.extent(path, &content.version) {
        Extent::Part => "only a part of it was read in this session",
        _ => "it was not read in this session",
    };
    Err(ToolError::failed(format!(
        "{shown} exists, and {why}; nothing was written. Read all of it first, or use `edit` to change a part of it"
    )))
}

#[cfg(test)]
mod tests;

//! `apply_patch`: changes several files in one call.

mod begin;
mod command;
mod details;
mod files;
mod hunks;
mod indent;
mod lines;
mod make;
mod marks;
mod outcome;
mod parse;
mod patch;
mod place;
mod question;
mod unified;

pub use details::{PatchStatus, PatchedFile, PatchedFiles};
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) use hunks::apply;
pub(crate) use parse::parse;
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) use patch::Action;
pub(crate) use patch::Patch;

use super::content::Content;
use super::diff::{Diff, diff_within};
use super::hard_links;
use super::interrupted;
use super::progress::Meter;
use super::written;
use crate::titles;
use files::{Directory, Files, names, propose};
use outcome::{Fate, Known, Outcome, work_out};
use question::{Look, Question, question};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;
use toolkit::prelude::*;
use toolkit::{
    events::Progress,
    files::{Proposal, Target, WriteOutcome},
    output::Detailed,
};

/// Maximum number of bytes in the diffs of all files.
const MAX_DIFF_BYTES: usize = 1 << 20;
/// Minimum number of bytes available for the diff of each file, however many files there are.
const LEAST_DIFF_BYTES: usize = 2 << 10;
/// Maximum number of notes to the model about looser matches.
const MAX_NOTES: usize = 20;

/// Applies a patch: changes, creates, moves and deletes files, all or none.
///
/// The patch has this form:
///
/// ```text
/// *** Begin Patch
/// *** Update File: path/to/file.py
/// @@ class Shop
///      def total(self):
/// -        return 0
/// +        return sum(self.prices)
/// *** Add File: path/to/new.txt
/// +Each line of the new file.
/// *** Delete File: path/to/old.txt
/// *** End Patch
/// ```
///
/// or is a unified diff. Context lines begin with a space, removed lines with `-`, added lines with `+`. Include about three
/// context lines before and after a change to locate it; if they occur several times, name the enclosing function or class in
/// a line `@@`. `*** Move to: path` after `*** Update File` moves a file, `*** End of File` ends a hunk at its end.
///
/// # How hunks are placed
///
/// Lines named after `@@` must occur in the file in this order, before the hunk's changes or among its lines. The old lines of a
/// hunk must match in exactly one place: exactly, or else ignoring line endings, trailing white space, white space at both ends, and
/// last typographic quotes, dashes and spaces. Context lines keep all of their bytes. New lines take the line endings of those that
/// they replace, and the last line keeps or lacks its ending as before, unless a unified diff says otherwise or the old lines match
/// byte for byte.
///
/// All changes are computed before the first file is written. Each file is written atomically; if one fails, the earlier ones are
/// restored.
///
/// # What else a patch may say
///
/// `cd directory && apply_patch <<EOF` before a patch makes its paths relative to that directory; any other command is refused. The
/// modes of a git diff set or clear the executable bit, if the system has one; a moved or copied file keeps its mode. Moving or
/// copying a file needs read permission for it. The target of a symlink is changed through the link, but not moved or deleted.
///
/// # Errors
///
/// - The patch cannot be parsed; the message names the line.
/// - A hunk matches nowhere or in several places; the message shows similar text.
/// - A file exists or is missing contrary to the patch, or would be added or moved over another.
/// - A deleted file was not read in the session, and the patch does not contain its lines.
/// - A file was changed since the session last read it, or since the approval prompt.
/// - A file may not be written.
#[tool(name = "apply_patch", group = ["fs", "coding"], title = "Apply a patch", permission = "edit", destructive, asks)]
pub async fn apply_patch(
    ctx: &ToolContext,
    /// The patch, from `*** Begin Patch` to `*** End Patch`, or a unified diff.
    #[arg(alias = "patch", length(1..))]
    input: String,
) -> Result<Detailed<PatchedFiles>, ToolError> {
    titles::begin(ctx, "Apply a patch", "");
    interrupted::tell(ctx, patch_files(ctx, input.into())).await
}

async fn patch_files(ctx: &ToolContext, input: Arc<str>) -> Result<Detailed<PatchedFiles>, ToolError> {
    let named = ctx.blocking({
        let input = Arc::clone(&input);
        move |_| read(&input).map(|patch| (names(&patch), patch.directory.map(|path| Directory(path.into()))))
    });
    let workspace = ctx.workspace();
    let (named, directory) = named.await?;
    if let Some(directory) = &directory {
        directory.check(&workspace).await?;
    }
    let Files { proposals, places, notes, taken } = propose(ctx, &workspace, named).await?;
    let places = Arc::new(places);
    let question = if proposals.iter().any(Proposal::is_asked) {
        question(ctx, &workspace, &proposals, &input, &places).await?
    } else {
        Question::default()
    };
    let targets = workspace.ask_all(proposals, |ask| match &question.diffs {
        Some(diffs) => {
            let ask = diffs.iter().fold(ask.before_acting(), |ask, (path, diff)| ask.with_diff(path, diff));
            let links = question.other_names.iter();
            links.fold(ask, |ask, (shown, names)| hard_links::with_warning(ask, shown, *names))
        }
        None => ask.with_text("the patch", &*input).before_acting(),
    });
    let targets = targets.await?;
    if let Some(directory) = &directory {
        directory.check_targets(&targets, &places)?;
    }
    taken.check(ctx, &targets).await?;
    let lock = Target::lock_all(&targets).await;
    let meter = Meter::new(ctx);
    let made = ctx.blocking(move |cancel| {
        let _until_written = lock;
        let seen = Look::now(&workspace, &targets)?;
        question.check(&seen, &workspace, &targets)?;
        let outcome = work_out(&read(&input)?, &seen.known, |name| places.get(name).copied())
            .map_err(|error| question.changed_since(&seen, error))?;
        let changes = changes(&outcome, &seen.known);
        question.check_changes(&seen, &changes)?;
        if cancel.is_cancelled() {
            return Err(ToolError::aborted("the call was cancelled"));
        }
        let (mut meter, total) = (meter, outcome.files.len());
        let _until_made = workspace
            .begin_together(outcome.contents(&seen.known).map(|(at, old, new)| (&targets[at], old, new)));
        let written = make::make(&targets, &seen.known, &seen.versions, &outcome, |done, path| {
            #[expect(clippy::cast_precision_loss, reason = "there are hundreds of files at most")]
            meter.tell(|| Progress::new(done as f64).with_total(total as f64).with_message(path));
        })?;
        Ok(output(&outcome, &changes, &seen.known, &targets, &written))
    });
    let output = made.await?;
    Ok(notes.into_iter().fold(output, |output, note| output.with_content(format!("({note})"))))
}

fn read(input: &str) -> Result<Patch<'_>, ToolError> {
    parse(input).map_err(|error| ToolError::failed(format!("patch line {}: {}", error.line, error.problem)))
}

/// Returns the diff of each file.
fn changes(outcome: &Outcome, known: &[Known]) -> Vec<Diff> {
    let mut left = MAX_DIFF_BYTES;
    let mut changes = Vec::with_capacity(outcome.files.len());
    for (at, fate) in &outcome.files {
        let before = |at: usize| known[at].content.as_deref();
        let (old, new) = match fate {
            Fate::Added(new) => (None, Some(new)),
            Fate::Changed(new) => (before(*at), Some(new)),
            Fate::Deleted => (before(*at), None),
            Fate::Moved { from, content } => (before(*from), Some(content)),
        };
        let old = old.map(|old| Content::of(old, "").unwrap_or_else(|_| Content::verbatim(old)));
        let like = old.clone().unwrap_or_else(|| Content::verbatim(&[][..]));
        let (old, new) = (old.map(|old| old.bytes), new.map(|new| like.decode_alike(new)));
        let mut diff =
            diff_within(&known[*at].shown, old.as_deref(), new.as_deref(), left.max(LEAST_DIFF_BYTES));
        if let Some(executable) = outcome.becomes_executable(known, *at, fate) {
            diff.text.insert_str(0, mode_lines(executable, matches!(fate, Fate::Added(_))));
        }
        left = left.saturating_sub(diff.text.len());
        changes.push(diff);
    }
    changes
}

/// Returns the lines of a diff about a mode, in the words of git.
fn mode_lines(executable: bool, is_new: bool) -> &'static str {
    match (executable, is_new) {
        (true, true) => "new file mode 100755\n",
        (false, true) => "new file mode 100644\n",
        (true, false) => "old mode 100644\nnew mode 100755\n",
        (false, false) => "old mode 100755\nnew mode 100644\n",
    }
}

fn output(
    outcome: &Outcome,
    changes: &[Diff],
    known: &[Known],
    targets: &[Target],
    written: &BTreeMap<usize, WriteOutcome>,
) -> Detailed<PatchedFiles> {
    let count = outcome.files.len();
    let mut text = format!("patched {count} {}:", if count == 1 { "file" } else { "files" });
    let (mut files, mut modes, mut additions, mut deletions) = (Vec::new(), Vec::new(), 0, 0);
    let mut output = ToolOutput::default();
    for ((at, fate), change) in outcome.files.iter().zip(changes) {
        let shown = targets[*at].shown();
        let (status, from) = match fate {
            Fate::Added(_) => (PatchStatus::Added, None),
            Fate::Changed(_) => (PatchStatus::Modified, None),
            Fate::Deleted => (PatchStatus::Deleted, None),
            Fate::Moved { from, .. } => (PatchStatus::Renamed, Some(*from)),
        };
        let letter = status.letter();
        let _ = match from {
            Some(from) => write!(text, "\n{letter} {} -> {shown}", targets[from].shown()),
            None => write!(text, "\n{letter} {shown}"),
        };
        if let Some(from) = from {
            output.files_modified.push(targets[from].path().to_owned());
        }
        // A diff quotes lines beyond the request, and the number of removed lines discloses something about them.
        let is_readable = known[*at].is_readable && from.is_none_or(|from| known[from].is_readable);
        let told = is_readable.then_some(change);
        if let Some(change) = told {
            (additions, deletions) = (additions + change.added, deletions + change.removed);
        }
        let executable = outcome.becomes_executable(known, *at, fate);
        if let Some(executable) = executable {
            let now = if executable { "is executable now" } else { "is not executable any more" };
            modes.push(format!("{shown} {now}"));
        }
        files.push(PatchedFile {
            status,
            file_path: shown.to_owned(),
            from: from.map(|from| targets[from].shown().to_owned()),
            additions: told.map(|change| change.added),
            deletions: told.map(|change| change.removed),
            diff: told.map(|change| change.text.clone()),
            diff_truncated: told.map(|change| change.is_cut),
            other_names: written.get(at).map(|written| written.other_names).filter(|names| *names > 0),
            executable,
        });
        output.files_modified.push(targets[*at].path().to_owned());
    }
    let of_files = written.iter().flat_map(|(at, written)| written::notes(targets[*at].shown(), written));
    for note in
        modes.into_iter().chain(of_files.take(MAX_NOTES)).chain(outcome.notes.iter().take(MAX_NOTES).cloned())
    {
        let _ = write!(text, "\n({note})");
    }
    if outcome.notes.len() > MAX_NOTES {
        let _ =
            write!(text, "\n({} more hunks were found in a looser form)", outcome.notes.len() - MAX_NOTES);
    }
    let output = output
        .with_content(text)
        .with_title(format!(
            "Patched {count} {} (+{additions} -{deletions})",
            if count == 1 { "file" } else { "files" }
        ))
        .with_metadata("files", count)
        .with_metadata("additions", additions)
        .with_metadata("deletions", deletions);
    Detailed::new(output, PatchedFiles { files, additions, deletions })
}

#[cfg(test)]
mod tests;

//! Notes on the files of a patch whose process ended before it was done, told with the next call of `read`, `write`, `edit` or
//! `apply_patch`.

use std::fmt::Write as _;
use std::path::PathBuf;
use toolkit::prelude::*;
use toolkit::{CancellationToken, Interrupted, Left};

/// The most patches that are told of at once; the next call tells of more.
const MAX_TOLD: usize = 5;
/// The most files that are named of a patch.
const MAX_NAMED: usize = 20;

/// Does the work of a call, and tells with its answer what is interrupted in the workspace: of each patch once.
pub(super) async fn tell(
    ctx: &ToolContext,
    work: impl Future<Output = Result<ToolOutput, ToolError>>,
) -> Result<ToolOutput, ToolError> {
    let workspace = ctx.workspace();
    let look = move |cancel: &CancellationToken| Ok(workspace.interrupted(|| !cancel.is_cancelled()));
    let mut interrupted = ctx.blocking(look).await?;
    interrupted.truncate(MAX_TOLD);
    if interrupted.is_empty() {
        return work.await;
    }
    let notes: Vec<String> = interrupted.iter().map(note).collect();
    let answer = match work.await {
        Ok(output) => {
            Ok(notes.into_iter().fold(output, |output, note| output.with_content(format!("({note})"))))
        }
        Err(error) => {
            let text = format!("{error}\n({})", notes.join(")\n("));
            Err(error.with_message(text))
        }
    };
    // A call that was cancelled before has told nobody; whatever becomes of this, the answer is there.
    let forget = move |_: &CancellationToken| {
        interrupted.into_iter().for_each(Interrupted::told);
        Ok(())
    };
    let _ = ctx.blocking(forget).await;
    answer
}

fn note(interrupted: &Interrupted) -> String {
    if !interrupted.copies.is_empty() {
        return copies(&interrupted.copies);
    }
    let mut text = "an earlier patch was interrupted when its process ended; before this call its files were so, read them \
                    before going on:"
        .to_owned();
    let mut files: Vec<&(String, Left)> = interrupted.files.iter().collect();
    let count = |left: Left| interrupted.files.iter().filter(|(_, of)| *of == left).count();
    let (old, new) = (count(Left::Old), count(Left::New));
    let unknown = files.len() - old - new;
    // Those of which there are few first, where there are many.
    files.sort_by_key(|(_, left)| match left {
        Left::Old => old,
        Left::New => new,
        _ => unknown,
    });
    for (path, left) in files.iter().take(MAX_NAMED) {
        let what = match left {
            Left::Old => "was as it was before that patch",
            Left::New => "was as that patch makes it",
            _ => "was neither as before nor as that patch makes it, or must not be looked at",
        };
        let _ = write!(text, "\n{path} {what}");
    }
    if let more @ 1.. = files.len().saturating_sub(MAX_NAMED) {
        let _ = write!(text, "\nand {more} more; of all {old} were as before it, {new} as it makes them");
    }
    text
}

/// Returns the note on files that were being written in place.
fn copies(copies: &[(String, PathBuf)]) -> String {
    let mut text = "writing a file in place was interrupted when its process ended; it may have a part of the new content only, and \
                    a copy of what it had before is outside the workspace, for the person to put back:"
        .to_owned();
    for (path, copy) in copies {
        let _ = write!(text, "\n{path}: {}", toolkit::escape_line(&copy.to_string_lossy()));
    }
    text
}

//! Notes on the files of a patch whose process ended early, shown with the next call of `read`, `write`, `edit` or
//! `apply_patch`.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use toolkit::prelude::*;
use toolkit::{
    CancellationToken,
    files::{FileState, InterruptedChange, Workspace},
    output::Detailed,
};

/// Maximum number of patches mentioned at once; the next call mentions further ones.
const MAX_TOLD: usize = 5;
/// Maximum number of files that are named of a patch.
const MAX_NAMED: usize = 20;

/// Runs a call, and adds to its answer the notes on interrupted patches in the workspace: for each patch once.
pub(super) async fn tell<T>(
    ctx: &ToolContext,
    work: impl Future<Output = Result<Detailed<T>, ToolError>>,
) -> Result<Detailed<T>, ToolError> {
    let look = Look::default();
    look.elsewhere(ctx, &ctx.workspace()).await?;
    let notes = look.notes();
    let outcome = work.await;
    look.add(ctx, notes, outcome).await
}

/// Does the same for a call that changes nothing, whose `work` does the lookup itself, on its blocking thread.
pub(super) async fn tell_looking<T>(
    ctx: &ToolContext,
    workspace: &Workspace,
    look: Look,
    work: impl Future<Output = Result<Detailed<T>, ToolError>>,
) -> Result<Detailed<T>, ToolError> {
    let outcome = work.await;
    // A call that fails early has not done the lookup.
    look.elsewhere(ctx, workspace).await?;
    let notes = look.notes();
    look.add(ctx, notes, outcome).await
}

/// The interrupted operations of a workspace, once they were looked up. Clones share one lookup.
#[derive(Clone, Default)]
pub(super) struct Look(Arc<Mutex<Option<Vec<InterruptedChange>>>>);

impl Look {
    fn lock(&self) -> MutexGuard<'_, Option<Vec<InterruptedChange>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Looks, unless that was done. Blocks.
    pub(super) fn now(&self, workspace: &Workspace, cancel: &CancellationToken) {
        self.lock().get_or_insert_with(|| {
            let mut interrupted = workspace.interrupted(|| !cancel.is_cancelled());
            interrupted.truncate(MAX_TOLD);
            interrupted
        });
    }

    /// The same, where blocking is allowed.
    async fn elsewhere(&self, ctx: &ToolContext, workspace: &Workspace) -> Result<(), ToolError> {
        if self.lock().is_some() {
            return Ok(());
        }
        let (look, workspace) = (self.clone(), workspace.clone());
        ctx.blocking(move |cancel| {
            look.now(&workspace, cancel);
            Ok(())
        })
        .await
    }

    fn notes(&self) -> Vec<String> {
        self.lock().iter().flatten().map(note).collect()
    }

    /// Adds the notes to the answer of a call.
    async fn add<T>(
        self,
        ctx: &ToolContext,
        notes: Vec<String>,
        outcome: Result<Detailed<T>, ToolError>,
    ) -> Result<Detailed<T>, ToolError> {
        let interrupted = self.lock().take().unwrap_or_default();
        if interrupted.is_empty() {
            return outcome;
        }
        let answer = match outcome {
            Ok(output) => {
                Ok(notes.into_iter().fold(output, |output, note| output.with_content(format!("({note})"))))
            }
            Err(error) => {
                let text = format!("{error}\n({})", notes.join(")\n("));
                Err(error.with_message(text))
            }
        };
        // A call that was cancelled before has shown nothing; from here on the answer exists, even if this task fails.
        let forget = move |_: &CancellationToken| {
            interrupted.into_iter().for_each(InterruptedChange::told);
            Ok(())
        };
        let _ = ctx.blocking(forget).await;
        answer
    }
}

fn note(interrupted: &InterruptedChange) -> String {
    if !interrupted.copies.is_empty() {
        return copies(&interrupted.copies);
    }
    let mut text =
        "an earlier patch was interrupted when its process ended; read its files before you continue. \
                    Before this call:"
            .to_owned();
    let mut files: Vec<&(String, FileState)> = interrupted.files.iter().collect();
    let count = |left: FileState| interrupted.files.iter().filter(|(_, of)| *of == left).count();
    let (old, new) = (count(FileState::Old), count(FileState::New));
    let unknown = files.len() - old - new;
    // Rare kinds come first, if there are many files.
    files.sort_by_key(|(_, left)| match left {
        FileState::Old => old,
        FileState::New => new,
        _ => unknown,
    });
    for (path, left) in files.iter().take(MAX_NAMED) {
        let what = match left {
            FileState::Old => "was as before that patch",
            FileState::New => "was as that patch makes it",
            _ => "was neither as before nor as that patch makes it, or must not be read",
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
    let mut text = "writing a file in place was interrupted when its process ended; the file may have only a part of \
                    the new content. A copy of the old content is outside the workspace, for the person to restore:"
        .to_owned();
    for (path, copy) in copies {
        let _ = write!(text, "\n{path}: {}", toolkit::text::escape_line(&copy.to_string_lossy()));
    }
    text
}

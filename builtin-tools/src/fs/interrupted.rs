//! What a patch left whose process ended before it was done, told with the next call that reads or changes a file.

use std::fmt::Write as _;
use toolkit::prelude::*;
use toolkit::{Interrupted, Left};

/// Does the work of a call, and tells with its answer what is interrupted in the workspace: of each patch once.
pub(super) async fn tell(
    ctx: &ToolContext,
    work: impl Future<Output = Result<ToolOutput, ToolError>>,
) -> Result<ToolOutput, ToolError> {
    let workspace = ctx.workspace();
    let interrupted = ctx.blocking(move |_| Ok(workspace.interrupted())).await?;
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
    // A call that was cancelled before has told nobody.
    ctx.blocking(move |_| {
        interrupted.into_iter().for_each(Interrupted::told);
        Ok(())
    })
    .await?;
    answer
}

fn note(interrupted: &Interrupted) -> String {
    let mut text =
        "an earlier patch was interrupted when its process ended; read these files before going on:"
            .to_owned();
    for (path, left) in &interrupted.files {
        let what = match left {
            Left::Old => "is as it was before that patch",
            Left::New => "is as that patch makes it",
            _ => "is neither as it was nor as that patch makes it, or must not be looked at",
        };
        let _ = write!(text, "\n{path} {what}");
    }
    text
}

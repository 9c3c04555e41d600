//! Input written to a running command.

use super::news::poll;
use super::{ProcessDetails, wrong};
use crate::runtime::job::{Running, how};
use crate::runtime::judged::KIND;
use crate::runtime::keys::keys;
use crate::runtime::told;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;
use toolkit::prelude::*;
use toolkit::{Ask, approval::AllowScope, output::Detailed};

/// Time limit for a program to read its input.
const WRITE: Duration = Duration::from_secs(10);
/// Time to wait for output after the input was written.
const ANSWER: Duration = Duration::from_millis(500);

/// Writes a text to a job, and returns the news.
pub(super) async fn write(
    ctx: &ToolContext,
    running: &Arc<Running>,
    data: &str,
    eof: bool,
) -> Result<Detailed<ProcessDetails>, ToolError> {
    if running.job.stdin().is_none() {
        return Err(wrong(&format!(
            "{} has no open input: it was started without a terminal and without `keep_stdin`",
            running.id
        )));
    }
    if !data.is_empty() {
        ask(ctx, running, "write to", "text", data).await?;
    }
    send(running, data.as_bytes(), eof).await?;
    poll(ctx, running, ANSWER, ANSWER).await
}

/// Sends keys to a job's terminal, and returns the news.
pub(super) async fn press(
    ctx: &ToolContext,
    running: &Arc<Running>,
    names: &str,
) -> Result<Detailed<ProcessDetails>, ToolError> {
    let pressed = keys(names)?;
    if !running.job.stdin().is_some_and(|input| input.is_terminal()) {
        return Err(wrong(&format!(
            "{} has no terminal to press keys on; it was started without `pty`",
            running.id
        )));
    }
    if pressed.may_run {
        ask(ctx, running, "press keys in", "keys", names).await?;
    }
    send(running, &pressed.bytes, false).await?;
    poll(ctx, running, ANSWER, ANSWER).await
}

/// Requests approval before text is typed, since a shell or an interpreter runs it. The approval covers exactly this text.
async fn ask(
    ctx: &ToolContext,
    running: &Running,
    does: &str,
    label: &str,
    data: &str,
) -> Result<(), ToolError> {
    if running.is_harmless {
        return Ok(());
    }
    let title = format!("{does} {}, which runs {}", running.id, told::title(&running.command));
    let ask = Ask::new(KIND, title)
        .with_text(label, data)
        .with_command(&*running.command, &running.cwd)
        .with_pattern(format!("{does} `{}` as {}: `{data}`", running.command, running.id))
        // No rule can allow text that is typed later.
        .with_hint("")
        .raised()
        .at_most(AllowScope::Session);
    ctx.ask_in_person(ask).await
}

async fn send(running: &Running, bytes: &[u8], eof: bool) -> Result<(), ToolError> {
    let gone = || {
        ToolError::failed(format!(
            "{} takes no more input: {}",
            running.id,
            running.has_ended().map_or_else(|| "its input is closed".to_owned(), |ended| how(&ended.exit))
        ))
    };
    let Some(input) = running.job.stdin() else { return Err(gone()) };
    match timeout(WRITE, input.write(bytes)).await {
        Ok(Ok(())) => {}
        Ok(Err(_)) => return Err(gone()),
        Err(_) => {
            return Err(ToolError::failed(format!(
                "{} does not read its input; a part may have been written",
                running.id
            )));
        }
    }
    if eof { input.close().await.map_err(|_| gone()) } else { Ok(()) }
}

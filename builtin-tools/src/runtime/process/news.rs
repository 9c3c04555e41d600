//! The new output of a command since the last report.

use super::pages::MAX_BYTES;
use super::{ProcessDetails, state, with_facts, without_details};
use crate::runtime::clean::clean;
use crate::runtime::job::{ReportedPart, Running};
use crate::runtime::run::held;
use crate::runtime::told::{self as words};
use std::fmt::Write as _;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, timeout};
use toolkit::output::{Detailed, KeptOutput};
use toolkit::prelude::*;

/// After such a silence nothing more is expected of an answer.
const QUIET: Duration = Duration::from_millis(120);

/// Waits for news of a job, and returns them.
pub(super) async fn poll(
    ctx: &ToolContext,
    running: &Arc<Running>,
    wait: Duration,
    settling: Duration,
) -> Result<Detailed<ProcessDetails>, ToolError> {
    let told = running.told();
    let has_news = |now: ReportedPart| now != told;
    let now = || {
        let ended = running.has_ended().is_some();
        let quarantined = running.job.quarantined().len();
        ReportedPart {
            bytes: running.job.progress().written,
            ended,
            gone: ended && running.is_gone(),
            quarantined,
        }
    };
    let news = async {
        let mut progress = running.job.progress();
        while !has_news(now()) {
            tokio::select! {
                changed = running.job.changed(&progress) => progress = changed,
                _ = running.ended(), if !told.ended => {}
            }
        }
    };
    let waiting = async {
        if told.ended && told.gone {
            // No more output can arrive.
            return;
        }
        let _ = timeout(wait, news).await;
        let until = Instant::now() + settling;
        let mut progress = running.job.progress();
        // More may follow right away: output comes after the echo of the typed text.
        while running.has_ended().is_none() && Instant::now() < until {
            match timeout(QUIET, running.job.changed(&progress)).await {
                Ok(changed) => progress = changed,
                Err(_) => return,
            }
        }
    };
    tokio::select! {
        () = waiting => {}
        () = ctx.cancellation_token().cancelled() => return Err(ToolError::aborted("the call was cancelled")),
    }
    // The last output may still be pending.
    if running.has_ended().is_some() && !told.ended {
        held(running).await;
    }
    let ended = running.has_ended();
    // An end after this check is reported with the next news.
    let mut now =
        ReportedPart { ended: ended.is_some(), gone: ended.is_some() && running.is_gone(), ..now() };
    if now.ended && !now.gone {
        // If no process is left, the remaining clean-up is of no interest to the model.
        now.gone = running.job.processes().await.is_empty();
    }
    let its = Arc::clone(running);
    let fresh = ctx.blocking(move |_| {
        since(&its.output, told.bytes, now.bytes)
            .map_err(|error| ToolError::failed(format!("the output cannot be read: {error}")))
    });
    let (mut text, left_out) = fresh.await?;
    running.set_told(now);
    if left_out > 0 {
        text = format!("[{left_out} bytes left out; {}]\n{text}", words::whole_output(running));
    }
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    let moved = running.job.quarantined();
    if let Some(note) = moved.get(told.quarantined..).and_then(words::quarantined) {
        let _ = writeln!(text, "[{note}]");
    }
    let news = if has_news(now) { "" } else { "no news; " };
    let state = match &ended {
        Some(ended) if ended.why.is_some() => words::end(running, ended),
        ended => state(running, ended.as_ref()).await,
    };
    let _ = write!(text, "[{news}{state}]");
    let output = ToolOutput::text(text).with_title(format!("News of {}", running.id));
    Ok(without_details(with_facts(running, output).with_metadata("truncated", left_out > 0)))
}

/// Returns the output between two offsets, limited to its end, and the number of omitted bytes.
fn since(output: &KeptOutput, from: u64, to: u64) -> io::Result<(String, u64)> {
    let start = from.max(to.saturating_sub(MAX_BYTES));
    let mut file = output.reader()?;
    file.seek(SeekFrom::Start(start))?;
    let mut bytes = Vec::new();
    file.take(to.saturating_sub(start)).read_to_end(&mut bytes)?;
    Ok((clean(&String::from_utf8_lossy(&bytes)), start.saturating_sub(from)))
}

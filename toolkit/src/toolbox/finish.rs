//! Completes a tool's result for its caller, and truncates it.

use super::invalid::complete;
use super::{Scope, Toolbox};
use crate::cut::OutputLimits;
use crate::cutter::{Cutter, fits};
use crate::result_hook::review;
use crate::sink::OutputSink;
use crate::tool::Tool;
use crate::tool::context::ToolContext;
use std::mem;
use std::pin::Pin;
use toolkit_core::arguments::Repair;
use toolkit_core::content::Content;
use toolkit_core::error::ToolError;
use toolkit_core::output::ToolOutput;

type Outcome = Result<ToolOutput, ToolError>;

/// A future that truncates and saves an output. It takes the outcome and returns the new one.
pub(super) type Finishing<'a> = Pin<Box<dyn Future<Output = Outcome> + Send + 'a>>;

/// Completes a result with the facts collected during the call, and truncates it: at once, or with the returned future.
pub(super) fn finish<'a>(
    context: &'a ToolContext,
    scope: &'a Scope,
    tool: &Tool,
    outcome: &mut Outcome,
    repairs: &[Repair],
) -> Option<Finishing<'a>> {
    let stream = context.live_if_made().and_then(|live| live.stream());
    let limits = scope.toolkit.settings.limits.of(tool.truncate());
    complete_outcome(context, outcome, repairs);
    let is_reviewed = !scope.toolkit.settings.hooks.results.is_empty();
    if is_reviewed && stream.is_none() {
        review(context, outcome);
    }
    let finishing: Finishing<'a> = match outcome {
        Ok(output) => match (stream, limits) {
            (Some(stream), limits) => {
                let cutter = cutter(context, limits.unwrap_or(scope.toolkit.settings.limits));
                let ended = cutter.streamed_output(stream, mem::take(output));
                Box::pin(async move {
                    let mut output = ended.await;
                    add_content(&mut output);
                    Ok(output)
                })
            }
            (None, Some(limits)) if !fits(output, &limits) => {
                let cut = cutter(context, limits).output(mem::take(output));
                Box::pin(async move { Ok(cut.await) })
            }
            (None, _) => {
                add_content(output);
                return None;
            }
        },
        Err(error) => {
            let limits = limits.unwrap_or(scope.toolkit.settings.limits);
            // Shorter than any sensible limit.
            if stream.is_none() && (error.message().len() <= 256 || error.is_cut()) {
                return None;
            }
            let error = mem::replace(error, ToolError::failed(""));
            match stream {
                Some(stream) => Box::pin(error_with_stream(context, error, stream, limits)),
                None => {
                    let cut = cutter(context, limits).text(error.message().to_owned());
                    Box::pin(async move { Err(error.with_message(cut.await.0)) })
                }
            }
        }
    };
    // Streamed output is only complete in its file.
    let is_reviewed_now = is_reviewed && stream.is_some();
    Some(if is_reviewed_now { Box::pin(reviewed(context, finishing)) } else { finishing })
}

async fn reviewed(context: &ToolContext, finishing: Finishing<'_>) -> Outcome {
    let mut outcome = finishing.await;
    review(context, &mut outcome);
    outcome
}

/// Completes a result with the facts known outside of it.
fn complete_outcome(context: &ToolContext, outcome: &mut Outcome, repairs: &[Repair]) {
    refuse_base64(outcome);
    match outcome {
        Ok(output) => {
            add_what_was_told(context, output);
            if !repairs.is_empty() {
                output.metadata.insert("repairs".to_owned(), serde_json::json!(repairs));
            }
        }
        Err(error) => {
            let taken = mem::replace(error, ToolError::failed(""));
            *error = complete(context.tool(), taken);
            if let Some(live) = context.live_if_made() {
                let told = live.told();
                error.add_told(told.title, told.metadata);
            }
            let taken = mem::replace(error, ToolError::failed(""));
            *error = taken.redacted(context.redactor());
        }
    }
}

/// Fails for a picture or a sound that no reader could open.
fn refuse_base64(outcome: &mut Outcome) {
    if outcome.as_ref().is_ok_and(|output| output.content.iter().any(Content::is_base64)) {
        *outcome = Err(ToolError::failed(
            "a picture or a sound that the tool returned is Base64 text; the tool has to return the bytes of the file: decode the text before `Image::new` or `Content::image`",
        ));
    }
}

/// Adds the output that a tool wrote before it failed to the error.
async fn error_with_stream(
    context: &ToolContext,
    error: ToolError,
    stream: &OutputSink,
    limits: OutputLimits,
) -> Outcome {
    let (message, _) = cutter(context, limits).text(error.message().to_owned()).await;
    let (text, _) = cutter(context, limits).streamed(stream, String::new()).await;
    let message =
        if text.is_empty() { message } else { format!("{message}\n\nIts output until then:\n{text}") };
    Err(error.with_message(message))
}

fn cutter(context: &ToolContext, limits: OutputLimits) -> Cutter<'_> {
    let settings = &context.scope().toolkit.settings;
    Cutter {
        limits,
        store: &settings.outputs,
        session: context.gated_session_id(),
        caller: context.caller(),
        hint: settings.hint.as_ref(),
    }
}

impl Toolbox {
    /// Leaves out the pictures, sounds and binary documents of a call's output for which `keeps` returns false, as
    /// [`ToolContext::leave_out_media`] does: for hosts whose messages have limits of their own.
    pub async fn leave_out_media(
        &self,
        output: &mut ToolOutput,
        why: &str,
        keeps: impl FnMut(&Content) -> bool + Send,
    ) {
        let scope = &self.0;
        let settings = &scope.toolkit.settings;
        let cutter = Cutter {
            limits: settings.limits,
            store: &settings.outputs,
            session: scope.session.id(),
            caller: &scope.caller,
            hint: settings.hint.as_ref(),
        };
        cutter.leave_out_media(output, why, keeps).await;
    }
}

/// Adds content to an empty result, because some providers reject it.
fn add_content(output: &mut ToolOutput) {
    if output.content.is_empty() {
        output.content.push(Content::text("Done."));
    }
}

fn add_what_was_told(context: &ToolContext, output: &mut ToolOutput) {
    let Some(live) = context.live_if_made() else { return };
    let told = live.told();
    output.title = output.title.take().or(told.title);
    for (key, value) in told.metadata {
        output.metadata.entry(key).or_insert(value);
    }
}

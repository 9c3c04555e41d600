//! What a tool answered, made ready for whoever called: complete, and cut to size.

use super::begin::complete;
use crate::arguments::Repair;
use crate::content::Content;
use crate::context::ToolContext;
use crate::cut::{Cutter, OutputLimits, fits};
use crate::error::ToolError;
use crate::output::ToolOutput;
use crate::sink::OutputSink;
use std::pin::Pin;

type Outcome = Result<ToolOutput, ToolError>;

/// What a call ends with: at once, or after its output is cut and kept.
#[expect(
    clippy::large_enum_variant,
    reason = "lives for one match; a box would cost every call an allocation"
)]
pub(super) enum Finish<'a> {
    Now(Outcome),
    Later(Pin<Box<dyn Future<Output = Outcome> + Send + 'a>>),
}

/// Adds to an answer what was said of it while it came about, and cuts it to size.
pub(super) fn finish<'a>(context: &'a ToolContext, outcome: Outcome, repairs: &[Repair]) -> Finish<'a> {
    let stream = context.live_if_made().and_then(|live| live.stream());
    let limits = limits_of(context);
    match outcome {
        Ok(mut output) => {
            add_what_was_told(context, &mut output);
            if !repairs.is_empty() {
                output.metadata.insert("repairs".to_owned(), serde_json::json!(repairs));
            }
            match (stream, limits) {
                (Some(stream), limits) => {
                    let cutter = cutter(context, limits.unwrap_or(context.scope().toolkit.settings.limits));
                    let ended = cutter.streamed_output(stream, output);
                    Finish::Later(Box::pin(async move { Ok(with_content(ended.await)) }))
                }
                (None, Some(limits)) if !fits(&output, &limits) => {
                    let cut = cutter(context, limits).output(output);
                    Finish::Later(Box::pin(async move { Ok(cut.await) }))
                }
                (None, _) => Finish::Now(Ok(with_content(output))),
            }
        }
        Err(error) => {
            let error = complete(context.tool(), error).redacted(context.redactor());
            let limits = limits.unwrap_or(context.scope().toolkit.settings.limits);
            match stream {
                Some(stream) => Finish::Later(Box::pin(error_with_stream(context, error, stream, limits))),
                // Shorter than any limit that makes sense.
                None if error.message().len() <= 256 => Finish::Now(Err(error)),
                None => {
                    let cut = cutter(context, limits).text(error.message().to_owned());
                    Finish::Later(Box::pin(async move { Err(error.with_message(cut.await.0)) }))
                }
            }
        }
    }
}

/// What a tool wrote before it failed is a part of the answer.
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

fn limits_of(context: &ToolContext) -> Option<OutputLimits> {
    context.scope().toolkit.settings.limits.of(context.tool().def().truncate)
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

/// Some providers refuse a result without content.
fn with_content(mut output: ToolOutput) -> ToolOutput {
    if output.content.is_empty() {
        output.content.push(Content::text("Done."));
    }
    output
}

fn add_what_was_told(context: &ToolContext, output: &mut ToolOutput) {
    let Some(live) = context.live_if_made() else { return };
    let told = live.told();
    output.title = output.title.take().or(told.title);
    for (key, value) in told.metadata {
        output.metadata.entry(key).or_insert(value);
    }
}

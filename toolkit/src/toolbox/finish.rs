//! What a tool answered, made ready for whoever called.

use super::begin::complete;
use crate::content::Content;
use crate::context::ToolContext;
use crate::error::ToolError;
use crate::output::ToolOutput;

/// Adds to an answer what was said of it while it came about.
pub(super) fn finish(
    context: &ToolContext,
    outcome: Result<ToolOutput, ToolError>,
) -> Result<ToolOutput, ToolError> {
    match outcome {
        Ok(mut output) => {
            if output.content.is_empty() {
                output.content.push(Content::text("Done."));
            }
            if let Some(live) = context.live_if_made() {
                let told = live.told();
                output.title = output.title.or(told.title);
                for (key, value) in told.metadata {
                    output.metadata.entry(key).or_insert(value);
                }
            }
            Ok(output)
        }
        Err(error) => Err(complete(context.tool(), error)),
    }
}

//! A call's span, by the OpenTelemetry conventions for generative AI (`execute_tool`).
//!
//! Fields: `otel.name`, `otel.kind`, `gen_ai.operation.name`, `gen_ai.tool.name`, `gen_ai.tool.type`,
//! `gen_ai.tool.call.id`, `gen_ai.tool.description`, `gen_ai.agent.name`, `gen_ai.conversation.id`, and at the end of
//! a call that failed `error.type` with `otel.status_code`. Arguments and answers are not in it.

use crate::tool::context::ToolContext;
use toolkit_core::error::ToolError;
use toolkit_core::output::ToolOutput;
use tracing::field::{Empty, display};
use tracing::{Level, Span, span_enabled};

/// Creates the span of a call; disabled if there is no subscriber.
pub(super) fn of(context: &ToolContext) -> Span {
    if !span_enabled!(target: "toolkit", Level::INFO) {
        return Span::none();
    }
    let tool = context.tool();
    let span = tracing::info_span!(
        target: "toolkit",
        "execute_tool",
        otel.name = %format_args!("execute_tool {}", tool.name()),
        otel.kind = "internal",
        otel.status_code = Empty,
        gen_ai.operation.name = "execute_tool",
        gen_ai.tool.name = tool.name(),
        gen_ai.tool.r#type = "function",
        gen_ai.tool.call.id = context.call_id(),
        gen_ai.tool.description = tool.description(),
        gen_ai.agent.name = Empty,
        gen_ai.conversation.id = Empty,
        error.r#type = Empty,
    );
    if let Some(agent) = context.agent() {
        span.record("gen_ai.agent.name", agent);
    }
    if let Some(session) = context.session_id() {
        span.record("gen_ai.conversation.id", session);
    }
    span
}

/// Records the outcome of the call.
pub(super) fn end(span: &Span, outcome: &Result<ToolOutput, ToolError>) {
    if let Err(error) = outcome
        && !span.is_disabled()
    {
        span.record("error.type", display(error.kind()));
        span.record("otel.status_code", "ERROR");
    }
}

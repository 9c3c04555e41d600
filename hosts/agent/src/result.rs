//! The account of a run.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::path::PathBuf;
use std::pin::Pin;
use std::time::Duration;
use toolkit::{
    arguments::CallArguments,
    views::{Step, StepStatus},
};
use toolkit_models::TotalUsage;

/// The most characters of a call's result in a [`ToolAgentStep`]; the transcript has the whole.
const MAX_STEP_CHARS: usize = 4_000;

/// The future of a run. Its type does not name that of the observer, so that a wrong observer is one error.
pub type RunFuture<'a> = Pin<Box<dyn Future<Output = ToolAgentResult> + Send + 'a>>;

/// The account of a run: what the agent states, and what was counted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ToolAgentResult {
    /// True if the model's final answer states that the expected outcome is reached. A run that ends in any other way failed, also
    /// without an error.
    pub success: bool,
    /// The model's summary, or why the run ended.
    pub summary: String,
    /// Further statements of the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<String>,
    /// The files that tool calls reported as changed, in the order of their first change.
    pub files_modified: Vec<PathBuf>,
    /// The failures of the run itself, and the error messages of the calls that failed.
    pub errors: Vec<String>,
    /// How many tool calls were made, those of sub-agents included. `finish` is none.
    pub tool_call_count: u32,
    /// How long the run took.
    #[serde(rename = "executionTimeMs", with = "milliseconds")]
    pub execution_time: Duration,
    /// The tool calls, in order.
    #[serde(default)]
    pub steps: Vec<ToolAgentStep>,
    /// The tokens and the cost of the run, those of sub-agents included.
    pub usage: RunUsage,
    /// Why the run ended.
    pub stop_reason: StopReason,
}

/// Why a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum StopReason {
    /// The model gave its final answer.
    Finished,
    /// The model answered in words, in a conversation with a person ([`FinalAnswer::Text`](crate::FinalAnswer::Text)).
    Answered,
    /// The model stopped without a final answer, also after it was asked for one.
    NoFinalAnswer,
    /// The run was cancelled.
    Cancelled,
    /// The limit of turns was reached.
    MaxTurns,
    /// The limit of tool calls was reached.
    MaxToolCalls,
    /// The limit of time was reached.
    Timeout,
    /// The limit of tokens was reached.
    MaxTokens,
    /// The limit of cost was reached.
    MaxCost,
    /// A budget of the host does not allow the next request ([`Budget`](toolkit_models::Budget)).
    Budget,
    /// The model repeated itself although it was told that this leads nowhere.
    Loop,
    /// The conversation no longer fits the context window, and could not be shortened.
    ContextFull,
    /// The model refused, or the provider withheld its answer.
    Refused,
    /// The model failed.
    ModelError,
    /// The transcript could not be written. Nothing is done that is not recorded.
    TranscriptError,
}

/// The tokens and the cost of a run.
pub type RunUsage = TotalUsage;

/// One tool call of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ToolAgentStep {
    /// The tool.
    pub tool_name: String,
    /// The arguments, without those that are secret.
    pub arguments: Value,
    /// The result, cut to 4,000 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
    /// How it ended.
    pub status: StepStatus,
    /// When the model asked for it, in milliseconds since 1970.
    pub timestamp: u64,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The model's reasoning before the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thinking: Option<String>,
    /// The result in a line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
}

impl From<&Step> for ToolAgentStep {
    fn from(step: &Step) -> Self {
        let cut = |text: &String| text.chars().take(MAX_STEP_CHARS).collect::<String>();
        let arguments = match step.tool_call.as_ref().map(|call| &call.arguments) {
            Some(CallArguments::Json(value)) => value.clone(),
            Some(CallArguments::Text(text)) => Value::String(text.clone()),
            _ => Value::Null,
        };
        Self {
            tool_name: step.tool_call.as_ref().map_or_else(|| step.title.clone(), |call| call.name.clone()),
            arguments,
            result: step.result.as_ref().map(cut),
            status: step.status,
            timestamp: step.timestamp,
            error: step.error.as_ref().map(cut),
            thinking: step.thinking.as_ref().map(cut),
            summary: step.summary.clone(),
        }
    }
}

mod milliseconds {
    use serde::{Deserialize, Deserializer, Serializer};
    use std::time::Duration;

    pub(super) fn serialize<S: Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u64(u64::try_from(duration.as_millis()).unwrap_or(u64::MAX))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
        u64::deserialize(deserializer).map(Duration::from_millis)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_names() {
        let result = ToolAgentResult {
            success: true,
            summary: "done".into(),
            details: None,
            files_modified: vec!["a".into()],
            errors: vec![],
            tool_call_count: 2,
            execution_time: Duration::from_millis(1500),
            steps: vec![],
            usage: RunUsage::default(),
            stop_reason: StopReason::MaxToolCalls,
        };
        let json = serde_json::to_value(&result).unwrap();
        assert_eq!(json["executionTimeMs"], 1500);
        assert_eq!(json["filesModified"], serde_json::json!(["a"]));
        assert_eq!(json["toolCallCount"], 2);
        assert_eq!(json["stopReason"], "max_tool_calls");
        assert_eq!(json["usage"]["inputTokens"], 0);
        assert_eq!(serde_json::from_value::<ToolAgentResult>(json).unwrap(), result);
    }
}

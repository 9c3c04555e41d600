//! The account of a run.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::path::PathBuf;
use std::time::Duration;
use toolkit::{
    arguments::CallArguments,
    views::{Step, StepStatus},
};
use toolkit_models::{Price, Usage};

/// The most characters of a call's result in a [`ToolAgentStep`]; the transcript has the whole.
const MAX_STEP_CHARS: usize = 4_000;

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
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct RunUsage {
    /// The tokens of all answers that report them.
    #[serde(flatten)]
    pub tokens: Usage,
    /// How many requests were sent.
    pub requests: u32,
    /// How many of them took an unknown number of tokens: the answer broke off, or the provider does not report it. `tokens` and
    /// `cost` are without them.
    pub unknown_requests: u32,
    /// The tokens of these requests and their answers, as an estimate. They count against the limits.
    pub estimated_tokens: u64,
    /// The cost, if the price of the model is configured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
    /// The cost of the requests of unknown usage, as an estimate. It counts against the limits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub estimated_cost: Option<f64>,
}

impl RunUsage {
    /// Counts one request. Without `usage`, the usage is unknown, and `estimate` counts in its place.
    pub(crate) fn count(&mut self, usage: Option<&Usage>, estimate: &Usage, price: Option<&Price>) {
        self.requests += 1;
        match usage {
            None => {
                self.unknown_requests += 1;
                let tokens = estimate.input_tokens.saturating_add(estimate.output_tokens);
                self.estimated_tokens = self.estimated_tokens.saturating_add(tokens);
                if let Some(price) = price {
                    *self.estimated_cost.get_or_insert(0.0) += price.cost(estimate);
                }
            }
            Some(usage) => {
                self.tokens += *usage;
                if let Some(price) = price {
                    *self.cost.get_or_insert(0.0) += price.cost(usage);
                }
            }
        }
    }

    /// Returns the tokens of requests and answers together, without those that are only estimated.
    pub const fn total_tokens(&self) -> u64 {
        self.tokens.input_tokens.saturating_add(self.tokens.output_tokens)
    }
}

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
    fn unknown_usage_is_counted_apart_and_never_as_zero_tokens() {
        let mut usage = RunUsage::default();
        let price = Price::new(1_000_000.0, 2_000_000.0);
        usage.count(Some(&Usage::new(100, 10)), &Usage::new(1, 1), Some(&price));
        usage.count(None, &Usage::new(7, 1), Some(&price));
        assert_eq!((usage.requests, usage.unknown_requests, usage.total_tokens()), (2, 1, 110));
        assert_eq!((usage.cost, usage.estimated_tokens, usage.estimated_cost), (Some(120.0), 8, Some(9.0)));
    }

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

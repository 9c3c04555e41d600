//! Steps of an agent: tool calls, from beginning to end.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use toolkit_core::call::{ToolCall, ToolResult};

/// A step of an agent, for user interfaces.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Step {
    /// The id of the step: the call's id.
    pub id: String,
    /// The type of the step.
    #[serde(rename = "type")]
    pub kind: StepType,
    /// The headline.
    pub title: String,
    /// A description in one line.
    pub description: String,
    /// The status of the step.
    pub status: StepStatus,
    /// The start time, in milliseconds since 1970.
    pub timestamp: u64,
    /// The turn of the conversation that it belongs to, counted from 0.
    pub turn_index: u32,
    /// The call's id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
    /// The call, with secrets redacted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call: Option<ToolCall>,
    /// The model's reasoning before the step, if the host knows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thinking: Option<String>,
    /// The result, as text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
    /// A summary of the result, in one line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// The error, if it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The result of an agent to which the step was delegated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_agent_result: Option<Value>,
}

/// The status of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum StepStatus {
    /// The model requested it.
    Pending,
    /// The call is running.
    Running,
    /// The call succeeded.
    Completed,
    /// The call failed.
    Failed,
    /// The call waits for a person's answer.
    AwaitingConfirmation,
}

/// The type of a step, which determines how a user interface draws it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub enum StepType {
    /// A command.
    #[serde(rename = "bash")]
    Bash,
    /// A command that waits for a person's approval.
    #[serde(rename = "bash-confirm")]
    BashConfirm,
    /// Reading a file.
    #[serde(rename = "read")]
    Read,
    /// Writing a file.
    #[serde(rename = "write")]
    Write,
    /// Changing a file.
    #[serde(rename = "edit")]
    Edit,
    /// Listing files.
    #[serde(rename = "glob")]
    Glob,
    /// Searching files.
    #[serde(rename = "grep")]
    Grep,
    /// Using a skill.
    #[serde(rename = "skill")]
    Skill,
    /// Delegating a task to another agent.
    #[serde(rename = "delegate")]
    Delegate,
    /// Any other call.
    #[default]
    #[serde(rename = "tool_call")]
    ToolCall,
}

impl Step {
    /// Creates the step of a call that is not running yet.
    pub fn pending(call: ToolCall, kind: StepType, timestamp: u64, turn_index: u32) -> Self {
        Self {
            id: call.id.clone(),
            kind,
            title: call.name.clone(),
            description: String::new(),
            status: StepStatus::Pending,
            timestamp,
            turn_index,
            tool_call_id: Some(call.id.clone()),
            tool_call: Some(call),
            thinking: None,
            result: None,
            summary: None,
            error: None,
            tool_agent_result: None,
        }
    }

    /// Adds the result of the call.
    pub fn finish(&mut self, result: &ToolResult) {
        match &result.outcome {
            Ok(output) => {
                self.status = StepStatus::Completed;
                self.result = Some(output.to_text());
                self.summary.clone_from(&output.title);
                if let Some(title) = &output.title {
                    self.title.clone_from(title);
                }
            }
            Err(error) => {
                self.status = StepStatus::Failed;
                self.error = Some(error.message().to_owned());
            }
        }
    }
}

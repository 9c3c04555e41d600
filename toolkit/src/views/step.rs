//! A step of an agent: a call of a tool, from its beginning to its end.

use crate::call::{ToolCall, ToolResult};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One step of what an agent does, as a user interface shows it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Step {
    /// What identifies it: the call's id.
    pub id: String,
    /// What kind of step it is.
    #[serde(rename = "type")]
    pub kind: StepType,
    /// The headline.
    pub title: String,
    /// More of it, in one line.
    pub description: String,
    /// How far it is.
    pub status: StepStatus,
    /// When it began, in milliseconds since 1970.
    pub timestamp: u64,
    /// The turn of the conversation that it belongs to, counted from 0.
    pub turn_index: u32,
    /// The call's id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
    /// The call, without what is secret in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call: Option<ToolCall>,
    /// What the model thought before, where the host knows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thinking: Option<String>,
    /// What came of it, in text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
    /// What came of it, in a line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// What an agent that it was delegated to answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_agent_result: Option<Value>,
}

/// How far a step is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum StepStatus {
    /// The model asked for it.
    Pending,
    /// It runs.
    Running,
    /// It is over.
    Completed,
    /// It is over, and went wrong.
    Failed,
    /// A person is asked.
    AwaitingConfirmation,
}

/// What kind of step it is: what a user interface draws it as.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub enum StepType {
    /// A command.
    #[serde(rename = "bash")]
    Bash,
    /// A command about which a person is asked.
    #[serde(rename = "bash-confirm")]
    BashConfirm,
    /// A file is read.
    #[serde(rename = "read")]
    Read,
    /// A file is written.
    #[serde(rename = "write")]
    Write,
    /// A file is changed.
    #[serde(rename = "edit")]
    Edit,
    /// Files are listed.
    #[serde(rename = "glob")]
    Glob,
    /// Files are searched.
    #[serde(rename = "grep")]
    Grep,
    /// A skill is used.
    #[serde(rename = "skill")]
    Skill,
    /// A task is given to another agent.
    #[serde(rename = "delegate")]
    Delegate,
    /// Any other call.
    #[default]
    #[serde(rename = "tool_call")]
    ToolCall,
}

impl Step {
    /// The step that a call is, before it runs.
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

    /// Takes what came of the call.
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

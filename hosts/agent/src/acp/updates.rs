//! The events of a run, as updates of a session.

use super::content::{chunk, kind, plain, status, verbatim};
use super::diff::changes;
use crate::events::{AgentEvent, Compaction};
use serde_json::{Map, Value, json};
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use toolkit::{
    arguments::CallArguments,
    views::{Step, StepStatus, StepType},
};

/// The least time between two updates with more output of a call. Each replaces the content of the call.
const OUTPUT_INTERVAL: Duration = Duration::from_millis(200);
/// The most bytes of output that a running call shows: the latest.
const MAX_OUTPUT_BYTES: usize = 16 << 10;

/// The tool calls of a session, as far as they are not over.
#[derive(Debug)]
pub(super) struct Updates {
    workspace: PathBuf,
    /// The ids of the protocol of calls that began.
    begun: HashSet<String>,
    /// The ids of the protocol of calls, by the prefix of their agent and their own id.
    ids: HashMap<(String, String), String>,
    /// The output of each, by its id of the protocol.
    outputs: HashMap<String, Output>,
}

#[derive(Debug)]
struct Output {
    text: String,
    sent: Instant,
}

impl Updates {
    pub(super) fn new(workspace: PathBuf) -> Self {
        Self { workspace, begun: HashSet::new(), ids: HashMap::new(), outputs: HashMap::new() }
    }

    pub(super) fn workspace(&self) -> &Path {
        &self.workspace
    }

    /// The id of the protocol of a call that is not over.
    pub(super) fn id_of(&self, call: &str) -> Option<&str> {
        // The innermost agent is the one that works.
        let found = self.ids.iter().filter(|((_, id), _)| id == call);
        found.max_by_key(|((prefix, _), _)| prefix.len()).map(|(_, id)| id.as_str())
    }

    fn id_within(&self, prefix: &str, call: &str) -> Option<&String> {
        self.ids.get(&(prefix.to_owned(), call.to_owned()))
    }

    /// The updates for an event.
    pub(super) fn event(&mut self, event: &AgentEvent) -> Option<Value> {
        self.event_of(event, "")
    }

    /// The update for an event of the agent, or of a sub-agent, whose ids begin with `prefix`.
    fn event_of(&mut self, event: &AgentEvent, prefix: &str) -> Option<Value> {
        let is_main = prefix.is_empty();
        match event {
            AgentEvent::Text { text } if is_main => Some(chunk("agent_message_chunk", text)),
            AgentEvent::Reasoning { text } if is_main => Some(chunk("agent_thought_chunk", text)),
            AgentEvent::Step { step, diff } => Some(self.step(step, diff.as_deref(), prefix)),
            AgentEvent::Output { call_id, text } => self.output(prefix, call_id, text),
            AgentEvent::Delegated { call_id, event } => {
                let prefix = format!("{}/", self.id_within(prefix, call_id).unwrap_or(call_id));
                self.event_of(event, &prefix)
            }
            AgentEvent::Discarded { reason } if is_main => {
                let text = format!("\n\n[The answer broke off and is asked for again: {reason}]\n\n");
                Some(chunk("agent_message_chunk", &text))
            }
            AgentEvent::Retrying { attempt, after_ms, reason } if is_main => {
                let seconds = after_ms.div_ceil(1000);
                let text = format!("[Attempt {attempt} in {seconds} s: {reason}]\n");
                Some(chunk("agent_thought_chunk", &text))
            }
            AgentEvent::Fallback { from, to, reason } if is_main => {
                let text = format!("[`{to}` is used instead of `{from}`: {reason}]\n");
                Some(chunk("agent_thought_chunk", &text))
            }
            AgentEvent::Compacted { how, before, after } if is_main => {
                let how = match how {
                    Compaction::Shortened => "Older results were shortened",
                    Compaction::Summarised => "Older messages were summarised",
                };
                let text = format!("[{how}: about {before} tokens before, {after} after]\n");
                Some(chunk("agent_thought_chunk", &text))
            }
            AgentEvent::Usage { context_tokens, context_limit: Some(size), .. } if is_main => {
                Some(json!({"sessionUpdate": "usage_update", "used": context_tokens, "size": size}))
            }
            _ => None,
        }
    }

    fn step(&mut self, step: &Step, diff: Option<&str>, prefix: &str) -> Value {
        let id = format!("{prefix}{}.{}", step.turn_index, step.id);
        let mut update = Map::new();
        let is_new = self.begun.insert(id.clone());
        update.insert("toolCallId".into(), id.clone().into());
        update.insert("title".into(), step.title.clone().into());
        update.insert("status".into(), status(step.status).into());
        let tool = step.tool_call.as_ref().map_or("", |call| &call.name);
        update.insert("kind".into(), kind(step.kind, tool).into());
        let changes = diff.map(|diff| changes(diff, &self.workspace, None)).unwrap_or_default();
        let mut content: Vec<Value> = changes.iter().map(super::diff::Change::to_content).collect();
        let mut locations: Vec<Value> = changes.iter().map(super::diff::Change::to_location).collect();
        if locations.is_empty() {
            locations.extend(location(step, &self.workspace));
        }
        if !locations.is_empty() {
            update.insert("locations".into(), locations.into());
        }
        let is_over = matches!(step.status, StepStatus::Completed | StepStatus::Failed);
        if is_over {
            if let Some(error) = &step.error {
                content.push(verbatim(error));
            } else if content.is_empty()
                && let Some(result) = step.result.as_deref().filter(|result| !result.trim().is_empty())
            {
                content.push(verbatim(result));
            }
            self.begun.remove(&id);
            self.outputs.remove(&id);
            self.ids.remove(&(prefix.to_owned(), step.id.clone()));
        } else {
            self.ids.insert((prefix.to_owned(), step.id.clone()), id);
        }
        if !content.is_empty() {
            update.insert("content".into(), content.into());
        }
        if is_new && let Some(arguments) = arguments(step) {
            update.insert("rawInput".into(), arguments);
        }
        let event = if is_new { "tool_call" } else { "tool_call_update" };
        update.insert("sessionUpdate".into(), event.into());
        update.into()
    }

    /// More output of a call that runs.
    fn output(&mut self, prefix: &str, call: &str, text: &str) -> Option<Value> {
        let id = self.id_within(prefix, call)?.clone();
        let now = Instant::now();
        let is_first = !self.outputs.contains_key(&id);
        let output =
            self.outputs.entry(id.clone()).or_insert_with(|| Output { text: String::new(), sent: now });
        output.text.push_str(text);
        if output.text.len() > 2 * MAX_OUTPUT_BYTES {
            let at = output.text.ceil_char_boundary(output.text.len() - MAX_OUTPUT_BYTES);
            output.text.drain(..at);
        }
        if !is_first && now.duration_since(output.sent) < OUTPUT_INTERVAL {
            return None;
        }
        output.sent = now;
        let content = [verbatim(&output.text)];
        Some(json!({"sessionUpdate": "tool_call_update", "toolCallId": id, "content": content}))
    }
}

/// The arguments of a call, without secrets.
fn arguments(step: &Step) -> Option<Value> {
    match &step.tool_call.as_ref()?.arguments {
        CallArguments::Json(value) => Some(value.clone()),
        _ => None,
    }
}

/// The file that a call is about.
fn location(step: &Step, workspace: &Path) -> Option<Value> {
    if !matches!(
        step.kind,
        StepType::Read | StepType::Write | StepType::Edit | StepType::Grep | StepType::Glob
    ) {
        return None;
    }
    let arguments = arguments(step)?;
    let path = ["file_path", "path"].iter().find_map(|key| arguments.get(key)?.as_str())?;
    let path = workspace.join(path);
    let line = arguments.get("offset").and_then(Value::as_u64).filter(|_| step.kind == StepType::Read);
    Some(match line {
        Some(line) => json!({"path": path, "line": line}),
        None => json!({"path": path}),
    })
}

/// The update for a call of a transcript. Its arguments may be secret, and are left out.
pub(super) fn past_call(id: &str, title: &str, kind: &str, result: Option<(&str, bool)>) -> Value {
    let (status, content) = match result {
        Some((text, is_error)) => {
            let content = if text.trim().is_empty() { Vec::new() } else { vec![verbatim(text)] };
            (if is_error { "failed" } else { "completed" }, content)
        }
        None => ("failed", vec![plain("The call has no result.")]),
    };
    json!({
        "sessionUpdate": "tool_call", "toolCallId": id, "title": title, "kind": kind, "status": status,
        "content": content,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolkit::ToolCall;

    fn step(status: StepStatus) -> Box<Step> {
        let call = ToolCall::new("1", "edit", json!({"file_path": "src/a.rs"}));
        let mut step = Step::pending(call, StepType::Edit, 0, 3);
        step.status = status;
        Box::new(step)
    }

    #[test]
    fn a_call_begins_goes_on_and_ends_with_its_change() {
        let mut updates = Updates::new("/w".into());
        let mut event = |step: Box<Step>, diff: Option<&str>| {
            updates.event(&AgentEvent::Step { step, diff: diff.map(str::to_owned) }).unwrap()
        };
        let begun = event(step(StepStatus::Pending), None);
        assert_eq!(
            begun,
            json!({
                "sessionUpdate": "tool_call", "toolCallId": "3.1", "title": "edit", "status": "pending", "kind": "edit",
                "locations": [{"path": "/w/src/a.rs"}], "rawInput": {"file_path": "src/a.rs"},
            })
        );
        assert_eq!(event(step(StepStatus::Running), None)["sessionUpdate"], "tool_call_update");
        let diff = "--- a/src/a.rs\n+++ b/src/a.rs\n@@ -1 +1 @@\n-a\n+b\n";
        let ended = event(step(StepStatus::Completed), Some(diff));
        assert_eq!(ended["status"], "completed");
        let content = json!([{"type": "diff", "path": "/w/src/a.rs", "oldText": "a\n", "newText": "b\n"}]);
        assert_eq!(ended["content"], content);
        assert_eq!(ended["locations"], json!([{"path": "/w/src/a.rs", "line": 1}]));
        // The same id in the same turn of another run is another call.
        assert_eq!(event(step(StepStatus::Pending), None)["sessionUpdate"], "tool_call");
    }

    #[test]
    fn calls_of_a_sub_agent_have_ids_of_their_own() {
        let mut updates = Updates::new("/w".into());
        let outer = AgentEvent::Step { step: step(StepStatus::Running), diff: None };
        let inner = AgentEvent::Delegated { call_id: "1".into(), event: Box::new(outer.clone()) };
        assert_eq!(updates.event(&outer).unwrap()["toolCallId"], "3.1");
        assert_eq!(updates.event(&inner).unwrap()["toolCallId"], "3.1/3.1");
        let text = AgentEvent::Delegated {
            call_id: "1".into(),
            event: Box::new(AgentEvent::Text { text: "x".into() }),
        };
        assert_eq!(updates.event(&text), None);
    }

    #[test]
    fn output_is_sent_at_intervals_and_bounded() {
        let mut updates = Updates::new("/w".into());
        updates.event(&AgentEvent::Step { step: step(StepStatus::Running), diff: None });
        let mut output =
            |text: &str| updates.event(&AgentEvent::Output { call_id: "1".into(), text: text.into() });
        assert!(output("a\n").unwrap()["content"][0].to_string().contains('a'));
        assert_eq!(output("b\n"), None);
        for _ in 0..100 {
            output(&"ä".repeat(1_000));
        }
        assert!(updates.outputs["3.1"].text.len() <= 2 * MAX_OUTPUT_BYTES);
    }
}

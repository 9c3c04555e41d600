//! The steps of a run, as user interfaces and the account show them.

use super::Run;
use crate::events::AgentEvent;
use crate::redaction::StreamRedaction;
use crate::result::ToolAgentStep;
use crate::session::queue;
use serde_json::Value;
use std::collections::HashMap;
use toolkit::{
    Content, ToolCall, Toolbox,
    events::{CallEvent, Event, Events},
    views::{Step, StepStatus, StepTypes, Steps},
};

/// The steps of a run, in the order of their calls.
pub(crate) struct StepLog {
    follow: Steps,
    /// The steps that are not over, and their places in `done`.
    open: HashMap<String, (Step, usize)>,
    done: Vec<ToolAgentStep>,
    /// The questions that wait, by the call that asked.
    asked: HashMap<String, Vec<String>>,
    /// The output of the calls that are not over, on its way to the observer.
    outputs: HashMap<String, StreamRedaction>,
}

impl StepLog {
    pub(super) fn new(types: StepTypes) -> Self {
        Self {
            follow: Steps::new(types),
            open: HashMap::new(),
            done: Vec::new(),
            asked: HashMap::new(),
            outputs: HashMap::new(),
        }
    }

    pub(super) fn take(&mut self) -> Vec<ToolAgentStep> {
        std::mem::take(&mut self.done)
    }
}

impl Run<'_> {
    /// Begins the step of a call.
    pub(super) fn begin_step(&mut self, toolbox: &Toolbox, call: &ToolCall, thinking: Option<&str>) {
        let turn = self.session.journal.conversation.turns.saturating_sub(1);
        let mut step = self.steps.follow.call(toolbox, call, turn);
        step.thinking = thinking.map(str::to_owned);
        let place = self.steps.done.len();
        self.steps.done.push(ToolAgentStep::from(&step));
        self.steps.open.insert(step.id.clone(), (step.clone(), place));
        self.show(step, None);
    }

    /// Takes all events that are there.
    pub(crate) fn drain_events(&mut self) {
        while let Some(event) = self.session.events.as_mut().and_then(Events::try_next) {
            self.event(&event);
        }
    }

    /// Takes an event of the toolkit's session.
    pub(super) fn event(&mut self, event: &CallEvent) {
        queue(&self.session.steering, &event.event);
        self.count_questions(event);
        if let Event::Partial { content: Content::Text { text } } = &event.event
            && self.steps.open.contains_key(&event.call_id)
        {
            let output = self.steps.outputs.entry(event.call_id.clone()).or_default();
            let text = output.push(self.agent.toolkit.redactor(), text.clone());
            self.send_output(&event.call_id, text);
        }
        let Some(mut step) = self.steps.follow.event(event) else { return };
        let Some((open, place)) = self.steps.open.get_mut(&step.id) else { return };
        step.thinking.clone_from(&open.thinking);
        *open = step.clone();
        let place = *place;
        if !matches!(step.status, StepStatus::Completed | StepStatus::Failed) {
            return self.show(step, None);
        }
        self.steps.open.remove(&step.id);
        self.end_output(&step.id);
        self.steps.done[place] = ToolAgentStep::from(&step);
        let diff = match &event.event {
            Event::Finished { result, .. } => {
                result.output().and_then(|output| diff_of(output.details.as_ref()?))
            }
            _ => None,
        };
        self.finished(step, diff);
    }

    /// Ends the step of a call whose end no event told, or that is no call of the toolkit.
    pub(super) fn end_step(&mut self, call_id: &str, outcome: Result<String, String>, result: Option<Value>) {
        let Some((mut step, place)) = self.steps.open.remove(call_id) else { return };
        self.end_output(call_id);
        match outcome {
            Ok(text) => (step.status, step.result) = (StepStatus::Completed, Some(text)),
            Err(text) => (step.status, step.error) = (StepStatus::Failed, Some(text)),
        }
        step.tool_agent_result = result;
        self.steps.done[place] = ToolAgentStep::from(&step);
        self.finished(step, None);
    }

    /// Sends what was held back of the output of a call.
    fn end_output(&mut self, call_id: &str) {
        if let Some(mut output) = self.steps.outputs.remove(call_id) {
            self.send_output(call_id, output.end());
        }
    }

    fn send_output(&self, call_id: &str, text: String) {
        if !text.is_empty() {
            self.observer.send(AgentEvent::Output { call_id: call_id.to_owned(), text });
        }
    }

    fn finished(&mut self, step: Step, diff: Option<String>) {
        if let Some(error) = &step.error {
            let tool = step.tool_call.as_ref().map_or("", |call| &call.name);
            self.errors.push(format!("{tool}: {error}"));
        }
        self.show(step, diff);
    }

    /// Ends all steps that are open.
    pub(super) fn abandon_steps(&mut self, why: &str) {
        let open: Vec<String> = self.steps.open.keys().cloned().collect();
        for call in open {
            self.end_step(&call, Err(format!("interrupted: {why}")), None);
        }
        let waiting = self.steps.asked.drain().map(|(_, asks)| asks.len()).sum();
        self.clock.questions().closed(waiting);
    }

    fn show(&self, step: Step, diff: Option<String>) {
        self.observer.send(AgentEvent::Step { step: Box::new(step), diff });
    }

    /// Counts the questions that wait: the clock stands still meanwhile.
    fn count_questions(&mut self, event: &CallEvent) {
        let questions = self.clock.questions().clone();
        match &event.event {
            Event::Asked { ask } => {
                self.steps.asked.entry(event.call_id.clone()).or_default().push(ask.id().to_owned());
                questions.opened();
            }
            Event::Answered { ask_id, .. } => {
                let Some(asks) = self.steps.asked.get_mut(&event.call_id) else { return };
                let before = asks.len();
                asks.retain(|id| id != ask_id);
                questions.closed(before - asks.len());
            }
            // A question that is withdrawn is not answered.
            Event::Finished { .. } | Event::Interrupted => {
                if let Some(asks) = self.steps.asked.remove(&event.call_id) {
                    questions.closed(asks.len());
                }
            }
            _ => {}
        }
    }
}

/// The change of files that a tool reports.
fn diff_of(details: &Value) -> Option<String> {
    if let Some(diff) = details.get("diff").and_then(Value::as_str) {
        return Some(diff.to_owned()).filter(|diff| !diff.is_empty());
    }
    let files = details.get("files")?.as_array()?;
    let diffs: Vec<&str> = files.iter().filter_map(|file| file.get("diff")?.as_str()).collect();
    (!diffs.is_empty()).then(|| diffs.join(""))
}

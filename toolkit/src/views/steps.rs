//! Derives the steps of a session from its calls and events.

use super::step::{Step, StepStatus, StepType};
use crate::events::{CallEvent, Event, Progress};
use crate::history;
use crate::tool::Tool;
use crate::toolbox::Toolbox;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use toolkit_core::call::{CallArguments, ToolCall};
use toolkit_core::unix_time;

/// The maximum number of steps that are tracked at once. Beyond it, the oldest is dropped, and stays in the state last
/// shown.
pub const MAX_OPEN_STEPS: usize = 10_000;

/// Maps tools to step types: by name, or else by group; any other tool is a [`StepType::ToolCall`].
///
/// The core knows no tool; the crate that defines tools provides the mapping, `builtin_tools::step_types()` for
/// example.
#[derive(Debug, Clone, Default)]
pub struct StepTypes {
    names: BTreeMap<String, StepType>,
    groups: BTreeMap<String, StepType>,
}

impl StepTypes {
    /// Creates an empty mapping.
    pub fn new() -> Self {
        Self::default()
    }

    /// Maps the tool of this name to a type. A later mapping replaces an earlier one.
    #[must_use]
    pub fn tool(mut self, name: impl Into<String>, kind: StepType) -> Self {
        self.names.insert(name.into(), kind);
        self
    }

    /// Maps all tools of this group to a type, except those mapped by name.
    #[must_use]
    pub fn group(mut self, group: impl Into<String>, kind: StepType) -> Self {
        self.groups.insert(group.into(), kind);
        self
    }

    /// Returns the step type of a call of the tool.
    pub fn of(&self, tool: &Tool) -> StepType {
        // A remote tool may have any name.
        if tool.source().is_remote() {
            return StepType::ToolCall;
        }
        let named = self.names.get(tool.name()).copied();
        named.or_else(|| tool.groups().find_map(|group| self.groups.get(group)).copied()).unwrap_or_default()
    }
}

/// Tracks the calls of a session, and returns changed steps.
///
/// ```
/// use serde_json::json;
/// use toolkit::prelude::*;
/// use toolkit::{ToolCall, views::{StepStatus, StepType, StepTypes, Steps}};
///
/// /// Greets.
/// #[tool(read_only)]
/// async fn greet(name: String) -> String {
///     format!("Hello, {name}!")
/// }
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), toolkit::BuildError> {
/// let toolkit = Toolkit::empty().tool(toolkit::tool_ref!(greet)).build()?;
/// let toolbox = toolkit.toolbox(&Caller::new().with_session("s")).await;
/// let mut events = toolbox.events();
/// let mut steps = Steps::new(StepTypes::new().tool("greet", StepType::Read));
///
/// let call = ToolCall::new("1", "greet", json!({ "name": "Ada" }));
/// assert_eq!(steps.call(&toolbox, &call, 0).status, StepStatus::Pending);
/// toolbox.call(call).await;
/// let mut seen = Vec::new();
/// while let Some(event) = events.try_next() {
///     seen.extend(steps.event(&event));
/// }
/// let last = seen.last().expect("it ended");
/// assert_eq!((last.status, last.result.as_deref()), (StepStatus::Completed, Some("Hello, Ada!")));
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, Default)]
pub struct Steps {
    types: StepTypes,
    open: HashMap<String, Open>,
    /// The steps in the order in which they began.
    order: VecDeque<String>,
}

/// A step that has not finished.
#[derive(Debug, Clone)]
struct Open {
    step: Step,
    /// The ids of unanswered questions of its call.
    asked: BTreeSet<String>,
}

impl Open {
    /// Marks the step as running, unless another question of its call is unanswered.
    fn go_on(&mut self) {
        if self.asked.is_empty() {
            self.step.status = StepStatus::Running;
        }
    }
}

impl Steps {
    /// Creates a tracker without steps.
    pub fn new(types: StepTypes) -> Self {
        Self { types, ..Self::default() }
    }

    /// Adds a call that a model requested, before it runs. Secret arguments are left out; if secrets cannot be
    /// identified, because the arguments are not JSON or the tool does not exist, all arguments are left out.
    pub fn call(&mut self, toolbox: &Toolbox, call: &ToolCall, turn_index: u32) -> Step {
        let tool = toolbox.tool(&call.name);
        let kind = tool.map_or(StepType::ToolCall, |tool| self.types.of(tool));
        let arguments = tool.and_then(|tool| shown(tool, &call.arguments)).unwrap_or_default();
        let call = ToolCall::new(call.id.clone(), call.name.clone(), arguments);
        let mut step = Step::pending(call, kind, unix_time::now(), turn_index);
        if let Some(tool) = tool {
            tool.title().clone_into(&mut step.title);
        }
        if self.open.insert(step.id.clone(), Open { step: step.clone(), asked: BTreeSet::new() }).is_none() {
            self.order.push_back(step.id.clone());
        }
        while self.order.len() > MAX_OPEN_STEPS {
            if let Some(oldest) = self.order.pop_front() {
                self.open.remove(&oldest);
            }
        }
        step
    }

    /// Applies an event of a call; returns the step if it changed. A finished step is no longer tracked.
    pub fn event(&mut self, event: &CallEvent) -> Option<Step> {
        let open = self.open.get_mut(&event.call_id)?;
        match &event.event {
            Event::Started | Event::Allowed { .. } | Event::Progress(Progress { message: Some(_), .. }) => {
                open.go_on();
            }
            Event::Answered { ask_id, .. } => {
                open.asked.remove(ask_id);
                open.go_on();
            }
            _ => {}
        }
        let Open { step, asked } = open;
        match &event.event {
            Event::Started | Event::Allowed { .. } | Event::Answered { .. } => {}
            Event::Asked { ask } => {
                asked.insert(ask.id().to_owned());
                step.status = StepStatus::AwaitingConfirmation;
                ask.question().headline().clone_into(&mut step.description);
                if step.kind == StepType::Bash {
                    step.kind = StepType::BashConfirm;
                }
            }
            Event::Progress(Progress { message: Some(message), .. }) => {
                step.description.clone_from(message);
            }
            Event::Metadata { title: Some(title), .. } => step.title.clone_from(title),
            Event::Finished { result, .. } => step.finish(result),
            Event::Interrupted => {
                step.status = StepStatus::Failed;
                step.error = Some("it was interrupted".to_owned());
            }
            _ => return None,
        }
        let step = step.clone();
        if matches!(step.status, StepStatus::Completed | StepStatus::Failed) {
            self.open.remove(&step.id);
            self.order.retain(|id| *id != step.id);
        }
        Some(step)
    }
}

/// Returns the arguments without secrets.
fn shown(tool: &Tool, arguments: &CallArguments) -> Option<CallArguments> {
    let mut value = match arguments.as_text() {
        Ok(text) if text.trim().is_empty() => Value::Object(Map::new()),
        Ok(text) => serde_json::from_str(text).ok()?,
        Err(value) => value.clone(),
    };
    history::secrets::strip(tool.compiled().ok()?, &mut value);
    Some(CallArguments::Json(value))
}

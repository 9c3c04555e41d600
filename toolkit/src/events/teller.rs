//! Events about tasks that a call left running.

use super::{CallEvent, CallOrigin, Event, Hub};
use serde_json::{Map, Value};
use std::sync::{Arc, Weak};
use toolkit_core::redact::Redactor;

/// A sender of events about a task, which also works long after the end of the call. It keeps neither the toolkit nor the
/// session alive: once the toolkit is dropped, its events are discarded.
#[derive(Debug, Clone)]
pub struct EventSender {
    hub: Weak<Hub>,
    session: String,
    call_id: String,
    tool: String,
    session_id: Option<String>,
    agent: Option<String>,
    message_id: Option<String>,
    redactor: Redactor,
}

impl EventSender {
    /// Tells of a call, as long as its toolkit is there.
    pub(crate) fn new(hub: &Arc<Hub>, call: &CallOrigin<'_>) -> Self {
        Self {
            hub: Arc::downgrade(hub),
            session: call.session.to_owned(),
            call_id: call.id.to_owned(),
            tool: call.tool.to_owned(),
            session_id: call.session_id.map(str::to_owned),
            agent: call.agent.map(str::to_owned),
            message_id: call.message_id.map(str::to_owned),
            redactor: call.redactor.clone(),
        }
    }

    /// Sends [`Event::Ended`] for a task.
    pub fn ended(&self, task_id: &str, title: impl Into<String>, metadata: Map<String, Value>) {
        let Some(hub) = self.hub.upgrade() else { return };
        hub.send_made(&self.session, || {
            let mut event = Event::Ended { task_id: task_id.to_owned(), title: title.into(), metadata };
            event.redact(&self.redactor);
            CallEvent {
                seq: 0,
                at: 0,
                call_id: self.call_id.clone(),
                tool: self.tool.clone(),
                session_id: self.session_id.clone(),
                agent: self.agent.clone(),
                message_id: self.message_id.clone(),
                event,
            }
        });
    }
}

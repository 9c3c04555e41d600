//! The events of a call.

use super::ToolContext;
use crate::events::{CallOrigin, Event, EventSender, Hub, LogMessage};
use std::sync::Arc;

impl ToolContext {
    /// Returns a sender of events about a task that the call leaves running.
    pub fn teller(&self) -> EventSender {
        EventSender::new(self.hub(), &self.call_origin())
    }

    /// Sends a log message to listening hosts, for debugging. A model never sees it, and the call does not wait for
    /// it. A text is a message of the level [`Info`](crate::events::LogLevel::Info).
    ///
    /// ```
    /// use toolkit::prelude::*;
    /// use toolkit::events::{LogLevel, LogMessage};
    ///
    /// /// Looks a word up.
    /// #[tool(read_only)]
    /// async fn look_up(ctx: &ToolContext, /** The word. */ word: String) -> String {
    ///     ctx.log(LogMessage::new(LogLevel::Debug, "the index is 3 days old").with_logger("index"));
    ///     format!("{word}: unknown")
    /// }
    /// ```
    pub fn log(&self, message: impl Into<LogMessage>) {
        self.send_notice(|| Event::Log(message.into()));
    }

    /// Sends an event that has no meaning after the end of the call: a helper of the function may hold the context longer.
    pub(crate) fn send_under_way(&self, event: impl FnOnce() -> Event) {
        if self.hub().is_watched() && !self.live.get().is_some_and(|live| live.is_over()) {
            self.send(event);
        }
    }

    /// Sends progress or a log message, unless the call is over.
    pub(crate) fn send_notice(&self, event: impl FnOnce() -> Event) {
        let hub = self.hub();
        if hub.is_listened_to() && !self.live.get().is_some_and(|live| live.is_over()) {
            hub.send_notice(|| self.call_origin(), event);
        }
    }

    pub(crate) fn send(&self, event: impl FnOnce() -> Event) {
        self.hub().send(|| self.call_origin(), event);
    }

    fn hub(&self) -> &Arc<Hub> {
        self.host().events()
    }

    fn call_origin(&self) -> CallOrigin<'_> {
        CallOrigin {
            id: self.call_id(),
            tool: self.tool_name(),
            session: self.gated_session_id(),
            session_id: self.session_id(),
            agent: self.agent(),
            message_id: self.message_id(),
            redactor: self.redactor(),
        }
    }
}

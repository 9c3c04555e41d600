//! The tools that a client is shown, depending on whether its user can be asked.

use super::approver::{RELY_ON_CLIENT, shows_forms};
use super::served::Served;
use super::{Answerers, Shared, ToolServer};
use rmcp::RoleServer;
use rmcp::service::RequestContext;
use std::sync::{MutexGuard, PoisonError};
use toolkit::{Toolbox, registry::ToolWatch};

/// The tools that a client was last shown.
///
/// Without a session of the protocol, each request states whether its client shows questions, so a session may have both.
#[derive(Debug, Default)]
pub(super) struct Shown {
    /// Tools for requests whose client supports elicitation.
    attended: Option<Toolbox>,
    /// Tools for requests whose client does not.
    unattended: Option<Toolbox>,
    /// Receives changes since then.
    changes: Option<ToolWatch>,
}

impl Shown {
    fn of(&mut self, attended: bool) -> &mut Option<Toolbox> {
        if attended { &mut self.attended } else { &mut self.unattended }
    }
}

/// The reason why no question can be asked of a client that does not support elicitation, and the remedy for its user.
fn unattended() -> String {
    format!(
        "the client cannot show questions, since it does not support elicitation; use a client that does, or {RELY_ON_CLIENT}"
    )
}

impl Shared {
    /// Returns true if calls of the request can be approved.
    fn is_attended(&self, context: &RequestContext<RoleServer>) -> bool {
        self.options.client_approves
            || self.options.answerers != Answerers::Client
            || shows_forms(context.client_capabilities().as_ref())
    }
}

impl ToolServer {
    /// Creates a new toolbox for the client of a request.
    pub(super) async fn renew(&self, context: &RequestContext<RoleServer>) -> Toolbox {
        let attended = self.0.is_attended(context);
        loop {
            let changes = self.0.toolkit.watch_tools();
            let mut caller = self.0.roots.bound(&self.0.toolkit, &self.0.caller).await;
            if !attended {
                caller.unattended.get_or_insert_with(unattended);
            }
            let toolbox = Served::toolbox(self.0.options.served.as_ref(), &self.0.toolkit, &caller).await;
            let mut shown = self.lock();
            // Not if the client has changed its roots meanwhile.
            if !self.0.roots.is_stale() {
                *shown.of(attended) = Some(toolbox.clone());
                shown.changes = Some(changes);
                return toolbox;
            }
        }
    }

    /// The tools that the client of a request was last shown.
    pub(super) async fn toolbox(&self, context: &RequestContext<RoleServer>) -> Toolbox {
        let shown = self.lock().of(self.0.is_attended(context)).clone();
        match shown {
            Some(toolbox) if toolbox.has_current_configuration() => toolbox,
            _ => self.renew(context).await,
        }
    }

    /// Returns the tools last shown to any client of this session, for uses that do not depend on the client.
    pub(super) fn last_shown(&self) -> Option<Toolbox> {
        let Shown { attended, unattended, .. } = &*self.lock();
        attended.as_ref().or(unattended.as_ref()).cloned()
    }

    /// Returns a watch for changes since the client was last shown the tools.
    pub(super) fn changes(&self) -> ToolWatch {
        let changes = self.lock().changes.clone();
        changes.unwrap_or_else(|| self.0.toolkit.watch_tools())
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Shown> {
        self.0.shown.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

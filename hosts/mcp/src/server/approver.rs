//! Asking the client while the call runs, by a request of its own: the protocol up to 2025-11-25.

use super::{Shared, answered};
use rmcp::RoleServer;
use rmcp::model::{
    CancelledNotificationParam, ClientCapabilities, ClientResult, ElicitRequest, ElicitRequestParams,
    ElicitResult, RequestId, ServerRequest,
};
use rmcp::service::{Peer, PeerRequestOptions, ServiceError};
use tokio::runtime::Handle;
use toolkit::{Answer, Answering, Approver, DeniedBy, PendingAsk, Question};

impl Shared {
    /// The approver of a call: the client's own approval of the call where the server relies on that, else `approver`.
    pub(super) fn approver<A: Approver>(&self, approver: A) -> Relying<A> {
        Relying { client_approves: self.options.client_approves, approver }
    }
}

/// Relies on the client's own approval of a call for what is asked in it, if the server does.
pub(super) struct Relying<A> {
    client_approves: bool,
    /// Answers everything else.
    approver: A,
}

impl<A: Approver> Approver for Relying<A> {
    fn ask<'a>(&'a self, ask: &'a PendingAsk) -> Answering<'a> {
        match ask.question() {
            // The client's user saw the call's arguments, and not which of their paths hold secrets or run commands.
            Question::Approve(question) if self.client_approves && !question.is_guarded() => {
                Box::pin(std::future::ready(Some(Answer::allow())))
            }
            _ => self.approver.ask(ask),
        }
    }
}

/// Asks the client of one call.
pub(super) struct Eliciting {
    pub(super) peer: Peer<RoleServer>,
}

impl Approver for Eliciting {
    fn ask<'a>(&'a self, ask: &'a PendingAsk) -> Answering<'a> {
        Box::pin(async move {
            let params = match answered::params(ask) {
                Ok(params) => params,
                Err(denial) => return Some(denial),
            };
            Some(match self.peer.create_elicitation(params).await {
                Ok(result) => answered::answer(ask, result),
                Err(error) => {
                    Answer::denied_by(DeniedBy::Fault, format!("the client could not be asked: {error}"))
                }
            })
        })
    }
}

/// Nobody can be asked: the client has no form to show.
pub(super) struct Mute;

impl Approver for Mute {
    fn ask<'a>(&'a self, ask: &'a PendingAsk) -> Answering<'a> {
        let mut denial =
            "the client cannot show questions: it does not have the protocol's elicitation".to_owned();
        if let Some(setting) = ask.question().setting() {
            denial.push_str("; its user can take another client, or allow it with ");
            denial.push_str(&setting);
        }
        Box::pin(std::future::ready(Some(Answer::denied_by(DeniedBy::NobodyThere, denial))))
    }
}

/// Whether a client shows forms. One that says nothing of kinds of elicitation has this one.
pub(super) fn shows_forms(capabilities: Option<&ClientCapabilities>) -> bool {
    let elicitation = capabilities.and_then(|capabilities| capabilities.elicitation.as_ref());
    elicitation.is_some_and(|elicitation| elicitation.form.is_some() || elicitation.url.is_none())
}

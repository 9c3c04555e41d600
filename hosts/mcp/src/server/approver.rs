//! Asking the client while the call runs, by a request of its own: the protocol up to 2025-11-25.

use super::answered;
use rmcp::RoleServer;
use rmcp::model::ClientCapabilities;
use rmcp::service::Peer;
use toolkit::{Answer, Answering, Approver, DeniedBy, PendingAsk};

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

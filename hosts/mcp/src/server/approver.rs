//! Approval by the client during the call, through a separate request: the protocol up to 2025-11-25.

use super::{Answerers, Shared, answered};
use rmcp::RoleServer;
use rmcp::model::{
    CancelledNotificationParam, ClientCapabilities, ClientResult, ElicitRequest, ElicitRequestParams,
    ElicitResult, RequestId, ServerRequest,
};
use rmcp::service::{Peer, PeerRequestOptions, RequestContext, ServiceError};
use tokio::runtime::Handle;
use toolkit::{
    Approver, CallOptions,
    approval::{Answer, Answering, DeniedBy, PendingAsk, Question, Reply},
};
use toolkit_serve::Principal;

impl Shared {
    /// Returns the person behind the client.
    pub(super) fn user(&self) -> User {
        User(self.principal().cloned())
    }

    /// Returns true if the client's user is asked the questions of a call.
    pub(super) fn asks_client(&self, context: &RequestContext<RoleServer>) -> bool {
        self.options.answerers != Answerers::Host && shows_forms(context.client_capabilities().as_ref())
    }

    /// Returns the options of a call with its approver: the client's user by `client`, if they are asked, or else the approver of the toolkit, if the
    /// server lets it answer.
    pub(super) fn with_approver(
        &self,
        options: CallOptions,
        client: Option<&Peer<RoleServer>>,
    ) -> CallOptions {
        match (client, self.options.answerers) {
            (Some(peer), _) => {
                options.approver(self.approver(Eliciting { peer: peer.clone(), user: self.user() }))
            }
            (None, Answerers::Client) => options.approver(self.approver(Mute)),
            (None, _) => options,
        }
    }

    /// Returns the approver of a call: the client's own approval if the server relies on it, else `approver`.
    pub(super) fn approver<A: Approver>(&self, approver: A) -> Relying<A> {
        let user = self.user();
        Relying { client_approves: self.options.client_approves, user, approver }
    }
}

/// The person behind a client, by the principal of its token. Without one nobody is named: whatever the client says of itself is its claim.
#[derive(Debug, Clone)]
pub(super) struct User(Option<Principal>);

impl User {
    /// Returns the answer as one of this person.
    pub(super) fn gives(&self, answer: Answer) -> Reply {
        match &self.0 {
            Some(Principal(name)) => Reply::new(answer).by(name),
            None => answer.into(),
        }
    }
}

/// An approver that relies on the client's own approval of a call, if the server does.
pub(super) struct Relying<A> {
    client_approves: bool,
    user: User,
    /// Answers all other questions.
    approver: A,
}

impl<A: Approver> Approver for Relying<A> {
    fn ask<'a>(&'a self, ask: &'a PendingAsk) -> Answering<'a> {
        match ask.question() {
            // The client's user saw the call's arguments, and not which of their paths hold secrets or run commands.
            Question::Approve(question) if self.client_approves && !question.is_guarded() => {
                Box::pin(std::future::ready(Some(self.user.gives(Answer::allow()))))
            }
            _ => self.approver.ask(ask),
        }
    }
}

/// An approver that asks the client of one call.
pub(super) struct Eliciting {
    pub(super) peer: Peer<RoleServer>,
    pub(super) user: User,
}

impl Approver for Eliciting {
    fn ask<'a>(&'a self, ask: &'a PendingAsk) -> Answering<'a> {
        Box::pin(async move {
            let params = match answered::params(ask) {
                Ok(params) => params,
                Err(denial) => return Some(denial.into()),
            };
            Some(match self.elicit(params).await {
                Ok(result) => self.user.gives(answered::answer(ask, result)),
                Err(error) => {
                    Answer::denied_by(DeniedBy::Fault, format!("the client could not be asked: {error}"))
                        .into()
                }
            })
        })
    }
}

impl Eliciting {
    /// Sends the request. If the future is dropped before the answer arrives, the request is cancelled at the client.
    async fn elicit(&self, params: ElicitRequestParams) -> Result<ElicitResult, ServiceError> {
        let request = ServerRequest::ElicitRequest(ElicitRequest::new(params));
        let sent = self.peer.send_cancellable_request(request, PeerRequestOptions::no_options()).await?;
        let mut asked = Asked { peer: &self.peer, id: Some(sent.id) };
        let answer = sent.rx.await;
        asked.id = None;
        match answer {
            Ok(Ok(ClientResult::ElicitResult(result))) => Ok(result),
            Ok(Ok(_)) => Err(ServiceError::UnexpectedResponse),
            Ok(Err(error)) => Err(error),
            Err(_) => Err(ServiceError::TransportClosed),
        }
    }
}

/// A question that the client shows.
struct Asked<'a> {
    peer: &'a Peer<RoleServer>,
    /// ID of the elicitation request, as long as its answer is needed.
    id: Option<RequestId>,
}

/// Cancels the request when the call was cancelled or is over, or was answered elsewhere, so that the client can remove
/// the prompt.
impl Drop for Asked<'_> {
    fn drop(&mut self) {
        let (Some(id), Ok(runtime)) = (self.id.take(), Handle::try_current()) else { return };
        let peer = self.peer.clone();
        // It ends as soon as the message is on its way, or the connection is gone.
        runtime.spawn(async move {
            let reason = "the answer is no longer needed".to_owned();
            let _ = peer.notify_cancelled(CancelledNotificationParam::new(Some(id), Some(reason))).await;
        });
    }
}

/// The remedy of whoever runs the server: the command has an option, a program of its own sets the same in code.
pub(super) const RELY_ON_CLIENT: &str = "let the server rely on the client's own approval of calls (`toolkit mcp serve \
                                         --client-approves`, or `ServerOptions::client_approves` in a server of your own)";

/// An approver for a client without elicitation, which denies everything.
pub(super) struct Mute;

impl Approver for Mute {
    fn ask<'a>(&'a self, ask: &'a PendingAsk) -> Answering<'a> {
        let mut denial =
            "the client cannot show questions: it does not have the protocol's elicitation".to_owned();
        if let Some(setting) = ask.question().setting() {
            denial.push_str("; its user can take another client, or allow it with ");
            denial.push_str(&setting);
        }
        if matches!(ask.question(), Question::Approve(question) if !question.is_guarded()) {
            denial.push_str("; or ");
            denial.push_str(RELY_ON_CLIENT);
        }
        Box::pin(std::future::ready(Some(Answer::denied_by(DeniedBy::NobodyThere, denial).into())))
    }
}

/// Returns true if a client supports form elicitation. A client that names no mode of elicitation supports forms.
pub(super) fn shows_forms(capabilities: Option<&ClientCapabilities>) -> bool {
    let elicitation = capabilities.and_then(|capabilities| capabilities.elicitation.as_ref());
    elicitation.is_some_and(|elicitation| elicitation.form.is_some() || elicitation.url.is_none())
}

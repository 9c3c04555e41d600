//! Suspended calls, which ask by their result: from 2026-07-28 on the client receives the questions, and repeats the call with the
//! answers.
//!
//! ```text
//! tools/call                  Running::start: the call runs in a task of its own
//!   └─ it asks                its question comes here, and waits
//!        └─ InputRequired     the call is kept under a state that only this answer names
//! tools/call, with the state  taken out, once; the answers go to the questions, and it runs on
//! ```
//!
//! The state is shared by all sessions of a service, because the client may return by another connection. The client gets only a
//! random name, no data, so nothing can be forged. The name is valid once, for the same tool with the same arguments, at the same
//! server, for a limited time. A call that no client returns for is cancelled.

use super::watched::Owned;
use super::{ToolServer, answered};
use crate::sorted::sorted;
use crate::turns::Turn;
use rmcp::RoleServer;
use rmcp::model::{
    CallToolResponse, ElicitRequest, ElicitResult, ErrorData, InputRequest, InputRequests,
    InputRequiredResult, InputResponses,
};
use rmcp::service::Peer;
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use toolkit::{
    Approver, CallOptions, CancellationToken, ToolCall, ToolResult, Toolbox,
    approval::{Answer, Answering, DeniedBy, PendingAsk, Question, Reply},
};
use toolkit_serve::Principal;

/// Maximum number of questions of one call at once; further ones wait.
const AT_ONCE: usize = 16;

/// Digest of a call: a client that returns with an answer must send the same call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fingerprint([u8; 32]);

impl Fingerprint {
    pub(super) fn of(name: &str, arguments: &Value) -> Self {
        let mut hash = Sha256::new();
        hash.update((name.len() as u64).to_le_bytes());
        hash.update(name);
        // The order of members does not matter.
        hash.update(sorted(arguments).to_string());
        Self(hash.finalize().into())
    }
}

/// The calls that wait for a client to come back.
#[derive(Debug)]
pub(super) struct Suspended {
    within: Duration,
    most: usize,
    waiting: Arc<Mutex<HashMap<String, Waiting>>>,
}

#[derive(Debug)]
struct Waiting {
    running: Running,
    fingerprint: Fingerprint,
    /// The task that removes the entry after the time limit.
    _expiry: Owned,
}

fn lock(waiting: &Mutex<HashMap<String, Waiting>>) -> MutexGuard<'_, HashMap<String, Waiting>> {
    waiting.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Suspended {
    pub(super) fn new(within: Duration, most: usize) -> Self {
        Self { within, most, waiting: Arc::default() }
    }

    /// The call that waits under this state, which counts no more. Only its principal gets it.
    pub(super) fn take(
        &self,
        state: &str,
        fingerprint: &Fingerprint,
        principal: Option<&Principal>,
    ) -> Result<Running, ErrorData> {
        let found = {
            let mut waiting = lock(&self.waiting);
            let is_same = waiting.get(state).is_some_and(|found| {
                found.fingerprint == *fingerprint && found.running.server.0.principal() == principal
            });
            if is_same { waiting.remove(state) } else { None }
        };
        // One message for all cases, so that guessing discloses nothing.
        found.map(|found| found.running).ok_or_else(|| {
            ErrorData::invalid_params(
                "no call waits for this `requestState`: it is valid once, for the same tool and arguments, and only for some \
                 minutes; call the tool again without it",
                None,
            )
        })
    }

    /// Returns the reason if no further call of a session can be kept.
    pub(super) fn full(&self, session: &str) -> Option<String> {
        let waiting = lock(&self.waiting);
        let own = waiting.values().filter(|waiting| waiting.running.server.0.session() == session).count();
        (own >= self.most).then(|| format!("{} calls wait for an answer of this client already", self.most))
    }

    /// Cancels the calls of a principal that wait.
    pub(super) fn end(&self, principal: &Principal) {
        let is_own = |waiting: &mut Waiting| waiting.running.server.0.principal() == Some(principal);
        let ended: Vec<Waiting> = lock(&self.waiting)
            .extract_if(|_, waiting| is_own(waiting))
            .map(|(_, waiting)| waiting)
            .collect();
        // A call ends when it is dropped here, without the lock.
        drop(ended);
    }

    /// Stores a call that asks questions, and returns the questions.
    pub(super) fn keep(&self, running: Running, fingerprint: Fingerprint) -> CallToolResponse {
        let (requests, state) = (running.requests(), super::random::<20>());
        let expiry = Owned::new(expire(Arc::downgrade(&self.waiting), state.clone(), self.within));
        lock(&self.waiting).insert(state.clone(), Waiting { running, fingerprint, _expiry: expiry });
        InputRequiredResult::new(Some(requests), Some(state)).into()
    }
}

async fn expire(waiting: Weak<Mutex<HashMap<String, Waiting>>>, state: String, within: Duration) {
    tokio::time::sleep(within).await;
    if let Some(waiting) = waiting.upgrade() {
        let late = lock(&waiting).remove(&state);
        drop(late);
    }
}

/// A call that runs in its own task, with its questions. Dropping it cancels the call.
#[derive(Debug)]
pub(super) struct Running {
    /// The session of the call, which lives until the call is over.
    pub(super) server: ToolServer,
    pub(super) toolbox: Toolbox,
    pub(super) call_id: String,
    task: JoinHandle<ToolResult>,
    news: mpsc::Receiver<Asked>,
    /// The open questions, by the names that the client sees.
    open: BTreeMap<String, Asked>,
    cancel: CancellationToken,
}

#[derive(Debug)]
struct Asked {
    ask: PendingAsk,
    answer: oneshot::Sender<Reply>,
}

/// Next state of a suspended call.
pub(super) enum Next {
    Done(Box<ToolResult>),
    Asks,
    /// The task is gone without a result, as when the process ends.
    Lost,
}

impl Running {
    pub(super) fn start(
        server: ToolServer,
        toolbox: Toolbox,
        call: ToolCall,
        peer: Peer<RoleServer>,
        turn: Option<Turn>,
    ) -> Self {
        let (sender, news) = mpsc::channel(AT_ONCE);
        let cancel = CancellationToken::new();
        let approver = server.0.approver(Forwarding(sender));
        let options = CallOptions::new().reads_beside_changes().never_begins_again().cancel(cancel.clone());
        let options = options.approver(approver).attach(Arc::new(peer));
        let call_id = call.id.clone();
        let calling = toolbox.clone();
        let task = tokio::spawn(async move { Turn::begin(turn, calling.call_with(call, options)).await });
        Self { server, toolbox, call_id, task, news, open: BTreeMap::new(), cancel }
    }

    /// Waits until the call is done or asks a question.
    pub(super) async fn next(&mut self, cancelled: &CancellationToken) -> Next {
        loop {
            while let Ok(asked) = self.news.try_recv() {
                self.open(asked);
            }
            // Answered elsewhere, or given up.
            self.open.retain(|_, asked| !asked.answer.is_closed());
            if !self.open.is_empty() {
                return Next::Asks;
            }
            let is_cancelled = self.cancel.is_cancelled();
            tokio::select! {
                biased;
                Some(asked) = self.news.recv() => self.open(asked),
                done = &mut self.task => return done.map_or(Next::Lost, |done| Next::Done(Box::new(done))),
                () = cancelled.cancelled(), if !is_cancelled => self.cancel.cancel(),
            }
        }
    }

    /// Adds a question to the open ones, under the name from the tool, or else under its ID.
    fn open(&mut self, asked: Asked) {
        let name = match asked.ask.question() {
            Question::Elicit(elicitation) => elicitation.name.clone(),
            _ => None,
        };
        let name = name.filter(|name| !self.open.contains_key(name));
        self.open.insert(name.unwrap_or_else(|| asked.ask.id().to_owned()), asked);
    }

    /// Returns the requests for the client. Questions that the protocol has no form for are left out; `deny_formless` denies them.
    fn requests(&self) -> InputRequests {
        let request = |(name, asked): (&String, &Asked)| {
            let params = answered::params(&asked.ask).ok()?;
            Some((name.clone(), InputRequest::Elicitation(ElicitRequest::new(params))))
        };
        self.open.iter().filter_map(request).collect()
    }

    /// Denies the questions that the protocol has no form for. Returns true if any others are left.
    pub(super) fn deny_formless(&mut self) -> bool {
        let formless = self.open.extract_if(.., |_, asked| answered::params(&asked.ask).is_err());
        for (_, asked) in formless {
            if let Err(denial) = answered::params(&asked.ask) {
                let _ = asked.answer.send(denial.into());
            }
        }
        !self.open.is_empty()
    }

    /// Denies all open questions.
    pub(super) fn deny(&mut self, why: &str) {
        for asked in std::mem::take(&mut self.open).into_values() {
            // The receiver is gone if the call is over.
            let _ = asked.answer.send(Answer::denied_by(DeniedBy::Limit, why).into());
        }
    }

    /// Passes on the answers. Questions without an answer are asked again.
    pub(super) fn answered(mut self, responses: InputResponses) -> Self {
        for (name, response) in responses {
            let Some(Asked { ask, answer }) = self.open.remove(&name) else { continue };
            let given = match serde_json::from_value::<ElicitResult>(response) {
                Ok(result) => self.server.0.user().gives(answered::answer(&ask, result)),
                Err(error) => {
                    Answer::denied_by(DeniedBy::Fault, format!("the client's answer is invalid: {error}"))
                        .into()
                }
            };
            let _ = answer.send(given);
        }
        self
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.cancel.cancel();
    }
}

/// Forwards the questions of a call to the code that answers its client.
struct Forwarding(mpsc::Sender<Asked>);

impl Approver for Forwarding {
    fn ask<'a>(&'a self, ask: &'a PendingAsk) -> Answering<'a> {
        Box::pin(async move {
            let gone =
                || Answer::denied_by(DeniedBy::NobodyThere, "the client did not come back with an answer");
            let (answer, answered) = oneshot::channel();
            if self.0.send(Asked { ask: ask.clone(), answer }).await.is_err() {
                return Some(gone().into());
            }
            Some(answered.await.unwrap_or_else(|_| gone().into()))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_same_call_is_the_same_in_any_order() {
        let of = |name, arguments: Value| Fingerprint::of(name, &arguments);
        let one = of("a", json!({"x": 1, "y": [{"p": 1, "q": 2}]}));
        assert_eq!(one, of("a", json!({"y": [{"q": 2, "p": 1}], "x": 1})));
        for other in [
            of("b", json!({"x": 1, "y": [{"p": 1, "q": 2}]})),
            of("a", json!({"x": "1", "y": [{"p": 1, "q": 2}]})),
            of("a", json!({"x": 1, "y": [{"p": 1, "q": 2}], "z": null})),
        ] {
            assert_ne!(one, other);
        }
        assert_ne!(of("a", json!("bc")), of("ab", json!("c")));
    }
}

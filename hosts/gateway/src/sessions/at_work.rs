//! One run, from the message that begins it to its end in the store.

use std::sync::Arc;

use serde_json::json;
use toolkit_agent::{
    Agent, Conversation, DelegationRequest, IncomingMessage, Session, StopReason, ToolAgentResult,
    TranscriptError,
};

use super::Inner;
use super::agents::{AgentError, request};
use crate::RunId;
use crate::store::{Message, MessageId, MessageState, NewDelivery, RunEnd, SessionRecord, StoreError};

/// Why a run has no account.
pub(super) enum Failure {
    /// The conversation cannot be opened, or the message says nothing.
    Agent(AgentError),
    /// The store failed.
    Store(StoreError),
    /// The gateway stops: the run goes on at the next start.
    Interrupted,
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<AgentError> for Failure {
    fn from(error: AgentError) -> Self {
        Self::Agent(error)
    }
}

/// Does a run, and stores its end. Where the store fails, it is tried again until it works or the gateway stops.
pub(super) async fn run(inner: Arc<Inner>, run: RunId, message: Message) {
    loop {
        let end = match converse(&inner, &run, &message).await {
            Ok(result) => finish(&inner, &run, &message, &result).await,
            Err(Failure::Agent(error)) => fail(&inner, &run, &message, &error.0).await,
            Err(Failure::Store(error)) => Err(error),
            Err(Failure::Interrupted) => break,
        };
        match end {
            Ok(()) => break,
            Err(error) => {
                tracing::error!(%error, %run, "the end of a run cannot be stored; the store is tried again");
            }
        }
        inner.rest().await;
        if inner.interrupting.is_cancelled() {
            break;
        }
    }
    inner.conversations.release(&message.session).await;
    inner.cancelled().remove(&run);
    inner.changed.notify_waiters();
}

/// Has the conversation answer the message under the id of the run. If the transcript has it already, nothing is asked anew.
async fn converse(inner: &Inner, run: &RunId, message: &Message) -> Result<ToolAgentResult, Failure> {
    let conversation = open(inner, message).await?;
    if let Some(result) = conversation.end_of(run.as_str()) {
        return Ok(result);
    }
    let id = message.id.0.to_string();
    let incoming = IncomingMessage::of(id.clone(), request(message)?).in_run(run.as_str());
    let receipt = match conversation.send(incoming) {
        Ok(receipt) => receipt,
        // It ended by itself meanwhile.
        Err(error) => return Err(not_sent(inner, &error.to_string())),
    };
    // It may have been cancelled before the conversation was open.
    if inner.is_cancelled(run) {
        conversation.cancel_message(&id);
    }
    let ended = receipt.ended().await;
    // The store hears of it before the run ends there.
    consume(inner, run, &conversation).await?;
    match ended {
        Some(ended) if ended.run == run.as_str() => Ok(ToolAgentResult::clone(&ended.result)),
        _ if inner.interrupting.is_cancelled() => Err(Failure::Interrupted),
        _ => Err(AgentError(
            "the run did not end: a later one of the same conversation took its place".to_owned(),
        )
        .into()),
    }
}

fn not_sent(inner: &Inner, reason: &str) -> Failure {
    if inner.interrupting.is_cancelled() {
        Failure::Interrupted
    } else {
        AgentError(format!("the conversation did not take the message: {reason}")).into()
    }
}

/// Marks the messages of a run as consumed that its transcript holds.
async fn consume(inner: &Inner, run: &RunId, conversation: &Conversation) -> Result<(), StoreError> {
    let of_run = inner.store.messages_of(run).await?;
    let is_in_transcript =
        |id: MessageId| conversation.consumer(&id.0.to_string()).as_deref() == Some(run.as_str());
    let consumed: Vec<MessageId> = of_run
        .into_iter()
        .filter(|message| message.state == MessageState::Claimed && is_in_transcript(message.id))
        .map(|message| message.id)
        .collect();
    if consumed.is_empty() { Ok(()) } else { inner.store.consume(run, consumed).await }
}

/// Stores the end of a run with its answer.
pub(super) async fn finish(
    inner: &Inner,
    run: &RunId,
    message: &Message,
    result: &ToolAgentResult,
) -> Result<(), StoreError> {
    let end = match result.stop_reason {
        StopReason::Finished | StopReason::Answered => RunEnd::Answered,
        StopReason::Cancelled => RunEnd::Cancelled,
        _ => RunEnd::Failed(result.summary.clone()),
    };
    let outcome = match &end {
        RunEnd::Answered => "answered",
        RunEnd::Cancelled => "cancelled",
        RunEnd::Failed(_) => "failed",
    };
    let answer = answer(message, &result.summary, outcome);
    inner.store.finish(run, end, answer).await.map(drop)
}

/// Stores that a run failed before or after its agent was asked.
pub(super) async fn fail(
    inner: &Inner,
    run: &RunId,
    message: &Message,
    reason: &str,
) -> Result<(), StoreError> {
    let answer = answer(message, reason, "failed");
    inner.store.finish(run, RunEnd::Failed(reason.to_owned()), answer).await.map(drop)
}

fn answer(message: &Message, text: &str, outcome: &str) -> Vec<NewDelivery> {
    let target = message.reply_to.clone();
    let body = json!({ "text": text, "outcome": outcome });
    target.map(|target| NewDelivery::new(target, body)).into_iter().collect()
}

/// Returns the account of a run, if its transcript has one.
pub(super) async fn end_in_transcript(
    inner: &Inner,
    run: &RunId,
    message: &Message,
) -> Option<ToolAgentResult> {
    let conversation = open(inner, message).await.ok();
    let end = conversation.and_then(|conversation| conversation.end_of(run.as_str()));
    inner.conversations.release(&message.session).await;
    end
}

/// Opens the conversation of a session, or returns the one that is open.
async fn open(inner: &Inner, message: &Message) -> Result<Conversation, Failure> {
    let key = &message.session;
    if let Some(conversation) = inner.conversations.hold(key).await {
        return Ok(conversation);
    }
    let record = inner.store.session(key.clone()).await?;
    let record = record.ok_or_else(|| AgentError(format!("the session `{key}` was removed")))?;
    let agent = inner.agents.agent(&record)?;
    let opened = tokio::task::spawn_blocking({
        let record = record.clone();
        move || transcript(&agent, &record)
    });
    let session = opened.await.map_err(|_| AgentError("the transcript cannot be opened".to_owned()))??;
    if record.transcript.as_deref() != Some(session.id()) {
        inner.store.set_transcript(key.clone(), session.id().to_owned()).await?;
        if let Some(before) = &record.transcript {
            let reason = session.damage().map_or("it is gone", |damage| &damage.reason);
            let data = json!({ "before": before, "now": session.id(), "reason": reason });
            inner.store.note(key.clone(), "transcript.replaced", data).await?;
        }
    }
    inner.conversations.open(key, session).map_err(|error| AgentError(error).into())
}

/// Opens the transcript of a session, or begins one.
fn transcript(agent: &Agent, record: &SessionRecord) -> Result<Session, AgentError> {
    let begin = || agent.session(&DelegationRequest::default());
    let opened = match &record.transcript {
        None => begin(),
        Some(id) => match agent.resume_or_fork(id) {
            Err(error @ TranscriptError::Unknown { .. }) => {
                tracing::warn!(%error, session = %record.key, "a session goes on without its transcript");
                begin()
            }
            opened => opened,
        },
    };
    opened.map_err(|error| AgentError(error.to_string()))
}

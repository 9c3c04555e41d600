//! One run, from the message that begins it to its end in the store.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use toolkit_agent::{
    Agent, Conversation, DelegationRequest, IncomingMessage, Session, StopReason, ToolAgentResult,
    TranscriptError,
};

use super::Inner;
use super::agents::{AgentError, request};
use super::open::Held;
use crate::RunId;
use crate::people::is_owners;
use crate::store::{
    Message, MessageId, MessageState, NewDelivery, Problem, RunEnd, SessionRecord, StoreError,
};

/// Times that a transcript which cannot be read is tried again.
const MAX_TRIES: u32 = 30;
/// The longest reason of a failure that is stored and sent, in characters.
const MAX_REASON_CHARS: usize = 4_000;

/// Why a run has no account.
pub(super) enum Failure {
    /// It has to end as failed. The reason is for the owner alone: it may name files, models and addresses.
    Agent(AgentError),
    /// It has to end as failed, and its sender is told why.
    Told(String),
    /// It may work when it is tried again.
    Passing(String),
    /// The store failed.
    Store(StoreError),
    /// An earlier run of the conversation consumed its message, and has answered it.
    AnsweredBefore,
    /// The gateway stops: the run goes on at the next start.
    Interrupted,
    /// It took longer than it may, and has consumed these messages.
    Late { limit: Duration, consumed: Vec<MessageId> },
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

/// The end of a run, as its transcript has it.
pub(super) struct End {
    pub(super) result: Option<ToolAgentResult>,
    /// The messages that it has consumed.
    pub(super) consumed: Vec<MessageId>,
}

/// Begins a task that does a run.
pub(super) fn begin(inner: &Arc<Inner>, run_id: RunId, message: Message) {
    inner.at_work().insert(run_id.clone());
    inner.runs.spawn(run(Arc::clone(inner), run_id, message));
}

/// Does a run, and stores its end. Where the store fails, it is tried again until it works or the gateway stops.
async fn run(inner: Arc<Inner>, run: RunId, message: Message) {
    let mut tries = 0;
    while !inner.interrupting.is_cancelled() {
        let done = match converse(&inner, &run, &message).await {
            Err(Failure::Interrupted) => break,
            Err(Failure::Passing(reason)) if tries < MAX_TRIES => {
                tries += 1;
                tracing::warn!(%reason, %run, "a run cannot begin; it is tried again");
                inner.rest().await;
                continue;
            }
            ended => end(&inner, &run, &message, ended).await,
        };
        match done {
            Ok(()) => break,
            Err(error) => {
                tracing::error!(%error, %run, "the end of a run cannot be stored; the store is tried again");
            }
        }
        inner.rest().await;
    }
    inner.cancelled().remove(&run);
    inner.at_work().remove(&run);
    inner.undrained().remove(&run);
    inner.changed.notify_waiters();
}

/// Stores the end of a run.
pub(super) async fn end(
    inner: &Inner,
    run: &RunId,
    message: &Message,
    ended: Result<End, Failure>,
) -> Result<(), StoreError> {
    let failed = |reason: &str, consumed| {
        let reason: String = reason.chars().take(MAX_REASON_CHARS).collect();
        let answer = NewDelivery::answer(message, &reason, "failed");
        (RunEnd::Failed(reason), consumed, answer)
    };
    let mut for_session = None;
    let (end, consumed, answer) = match ended {
        Ok(End { result: Some(result), consumed }) => match result.stop_reason {
            StopReason::Finished | StopReason::Answered => {
                for_session = Some(result.summary.clone());
                (RunEnd::Answered, consumed, NewDelivery::answer(message, &result.summary, "answered"))
            }
            StopReason::Cancelled => {
                (RunEnd::Cancelled, consumed, NewDelivery::answer(message, &result.summary, "cancelled"))
            }
            StopReason::Budget => match failed(&result.summary, consumed) {
                (RunEnd::Failed(reason), consumed, answer) => (RunEnd::Refused(reason), consumed, answer),
                other => other,
            },
            _ => failed(&result.summary, consumed),
        },
        Ok(End { result: None, consumed }) if inner.is_cancelled(run) => {
            (RunEnd::Cancelled, consumed, Vec::new())
        }
        Ok(End { result: None, consumed }) => {
            failed("the run did not end: a later one of the same conversation took its place", consumed)
        }
        Err(Failure::Told(reason)) => failed(&reason, Vec::new()),
        Err(Failure::Agent(AgentError(reason)) | Failure::Passing(reason)) => {
            let session = inner.store.session(message.session.clone()).await?;
            if session.is_some_and(|session| is_owners(&session)) {
                failed(&reason, Vec::new())
            } else {
                tracing::error!(%run, session = %message.session, %reason, "a run failed");
                let reason = format!(
                    "the agent cannot work at present; the owner finds the reason in the log of the gateway, under the run {run}"
                );
                failed(&reason, Vec::new())
            }
        }
        Err(Failure::Interrupted) => (RunEnd::Cancelled, Vec::new(), Vec::new()),
        Err(Failure::Late { limit, consumed }) => {
            let seconds = limit.as_secs_f64();
            failed(&format!("the run took longer than its limit of {seconds} s, and was cancelled"), consumed)
        }
        Err(Failure::AnsweredBefore) => (RunEnd::Answered, Vec::new(), Vec::new()),
        Err(Failure::Store(error)) => return Err(error),
    };
    match inner.store.finish_with(run, end, consumed.clone(), answer, for_session).await {
        // It would be refused again.
        Err(StoreError { problem: Problem::Refused(reason), .. }) => {
            let reason = format!("the answer cannot be delivered: {reason}");
            let (end, consumed, answer) = failed(&reason, consumed);
            inner.store.finish(run, end, consumed, answer).await.map(drop)
        }
        finished => finished.map(drop),
    }
}

/// Has the conversation answer the message under the id of the run. If the transcript has it already, nothing is asked anew.
async fn converse(inner: &Inner, run: &RunId, message: &Message) -> Result<End, Failure> {
    let held = open(inner, message).await?;
    let conversation = &held.conversation;
    if inner.interrupting.is_cancelled() {
        return Err(Failure::Interrupted);
    }
    let limit = time_limit(inner, run, message).await?;
    if let Some(result) = conversation.end_of(run.as_str()) {
        let consumed = consumed(inner, run, conversation).await?;
        return match limit {
            // The process ended before it could say why it had cancelled the run.
            Some((limit, rest))
                if rest.is_zero()
                    && result.stop_reason == StopReason::Cancelled
                    && !inner.is_cancelled(run) =>
            {
                inner.cancel_sub_agents(&message.session, run).await;
                Err(Failure::Late { limit, consumed })
            }
            _ => Ok(End { result: Some(result), consumed }),
        };
    }
    let key = message.key();
    if let Some(other) = conversation.consumer(&key).filter(|other| other != run.as_str()) {
        let before = format!("the run {other} has taken the message, and did not end; send it again");
        return Err(conversation.end_of(&other).map_or(Failure::Told(before), |_| Failure::AnsweredBefore));
    }
    give_back(inner, run, message, conversation).await?;
    // From here on the conversation is at work, and nothing may fail before its end is known.
    let incoming = IncomingMessage::of(key.clone(), request(message)?).in_run(run.as_str());
    let receipt = match conversation.send(incoming) {
        Ok(receipt) => receipt,
        // It ended by itself meanwhile.
        Err(error) => {
            return Err(Failure::Passing(format!("the conversation did not take the message: {error}")));
        }
    };
    // It may have been cancelled before the conversation was open.
    if inner.is_cancelled(run) {
        conversation.cancel_message(&key);
    }
    let mut is_late = false;
    let ended = receipt.ended();
    tokio::pin!(ended);
    let ended = tokio::select! {
        biased;
        ended = &mut ended => ended,
        () = run_out(limit) => {
            is_late = true;
            // First, so that a crash in between leaves none of them.
            inner.cancel_sub_agents(&message.session, run).await;
            conversation.cancel_message(&key);
            tokio::select! {
                ended = &mut ended => ended,
                () = inner.interrupting.cancelled() => {
                    conversation.interrupt();
                    ended.await
                }
            }
        }
        () = inner.interrupting.cancelled() => {
            conversation.interrupt();
            ended.await
        }
    };
    let result =
        ended.filter(|ended| ended.run == run.as_str()).map(|ended| ToolAgentResult::clone(&ended.result));
    let consumed = consumed(inner, run, conversation).await?;
    if result.is_none() && inner.interrupting.is_cancelled() {
        inner.store.consume(run, consumed).await?;
        return Err(Failure::Interrupted);
    }
    let is_cancelled = |result: &ToolAgentResult| result.stop_reason == StopReason::Cancelled;
    match limit {
        Some((limit, _)) if is_late && result.as_ref().is_none_or(is_cancelled) => {
            Err(Failure::Late { limit, consumed })
        }
        _ => Ok(End { result, consumed }),
    }
}

/// Returns the limit of the time of a run, and the rest of it. A restart does not prolong it.
async fn time_limit(
    inner: &Inner,
    run: &RunId,
    message: &Message,
) -> Result<Option<(Duration, Duration)>, StoreError> {
    let session = inner.store.session(message.session.clone()).await?;
    let Some(limit) = session.and_then(|session| session.run_timeout_ms) else { return Ok(None) };
    let limit = Duration::from_millis(limit);
    let record = inner.store.run(run).await?;
    let taken = record.map_or(Duration::ZERO, |record| inner.store.clock().now().since(record.started_at));
    Ok(Some((limit, limit.saturating_sub(taken))))
}

async fn run_out(limit: Option<(Duration, Duration)>) {
    match limit {
        Some((_, rest)) => tokio::time::sleep(rest).await,
        None => std::future::pending().await,
    }
}

/// Returns the messages of a run that its transcript holds, and the store does not know to be consumed.
async fn consumed(
    inner: &Inner,
    run: &RunId,
    conversation: &Conversation,
) -> Result<Vec<MessageId>, StoreError> {
    let of_run = inner.store.messages_of(run).await?;
    let is_in_transcript =
        |message: &Message| conversation.consumer(&message.key()).as_deref() == Some(run.as_str());
    let claimed = of_run.into_iter().filter(|message| message.state == MessageState::Claimed);
    Ok(claimed.filter(is_in_transcript).map(|message| message.id).collect())
}

/// Lets messages wait again that an ended process had given to the run, and that are not in its transcript: no later one may reach the run before
/// them.
async fn give_back(
    inner: &Inner,
    run: &RunId,
    first: &Message,
    conversation: &Conversation,
) -> Result<(), StoreError> {
    let of_run = inner.store.messages_of(run).await?.into_iter();
    let given = of_run.filter(|message| message.id != first.id && message.state == MessageState::Claimed);
    let given = given.filter(|message| conversation.consumer(&message.key()).is_none());
    let given: Vec<MessageId> = given.map(|message| message.id).collect();
    if given.is_empty() { Ok(()) } else { inner.store.give_back(run, given).await }
}

/// Returns the end of a run as its transcript has it, without asking anything. A transcript that cannot be read is tried again.
pub(super) async fn end_in_transcript(inner: &Inner, run: &RunId, message: &Message) -> Result<End, Failure> {
    let mut tries = 0;
    let held = loop {
        match open(inner, message).await {
            Err(Failure::Passing(_)) if inner.interrupting.is_cancelled() => {
                return Err(Failure::Interrupted);
            }
            Err(Failure::Passing(reason)) if tries < MAX_TRIES => {
                tries += 1;
                tracing::warn!(%reason, %run, "the end of a run cannot be read; it is tried again");
                inner.rest().await;
            }
            opened => break opened?,
        }
    };
    let consumed = consumed(inner, run, &held.conversation).await?;
    Ok(End { result: held.conversation.end_of(run.as_str()), consumed })
}

/// Opens the conversation of a session, or returns the one that is open; it stays open until the returned value is dropped.
async fn open<'a>(inner: &'a Inner, message: &Message) -> Result<Held<'a>, Failure> {
    let key = &message.session;
    let place = inner.conversations.hold(key).await;
    let record = inner.store.session(key.clone()).await?;
    let record = record.ok_or_else(|| Failure::Told(format!("the session `{key}` was removed")))?;
    if record.transcript.is_none() && place.is_open() {
        // The session was asked to begin anew.
        inner.conversations.end(key).await;
    }
    let (agents, of_session, is_open) = (Arc::clone(&inner.agents), record.clone(), place.is_open());
    let made = tokio::task::spawn_blocking(move || -> Result<_, Failure> {
        let agent = agents.agent(&of_session)?;
        let opened = if is_open { None } else { Some(transcript(&agent, &of_session)?) };
        Ok((agent, opened))
    });
    let made = made.await;
    let (agent, opened) =
        made.unwrap_or_else(|_| Err(AgentError("the agent cannot be made: it panicked".to_owned()).into()))?;
    let mut lost = None;
    let held = match opened {
        Some(opened) => {
            lost = opened.lost;
            place.open(opened.session).map_err(Failure::Passing)?
        }
        None => {
            let held =
                place.held().ok_or_else(|| Failure::Passing("the conversation was closed".to_owned()))?;
            // The configuration may have changed since it was opened.
            held.conversation.set_agent(agent);
            held
        }
    };
    // Before anything is sent to it: the transcript is found again then.
    let now = held.conversation.id();
    if record.transcript.as_deref() != Some(now) {
        inner.store.set_transcript(key.clone(), now.to_owned()).await?;
        if let Some(before) = &record.transcript {
            let damage = held.conversation.damage().map(|damage| damage.reason.clone());
            let reason = damage.or(lost).unwrap_or_else(|| "it is gone".to_owned());
            let data = json!({ "before": before, "now": now, "reason": reason });
            inner.store.note(key.clone(), "transcript.replaced", data).await?;
        }
    }
    Ok(held)
}

/// A transcript that is open.
struct Opened {
    session: Session,
    /// Why it does not go on with the one that was there.
    lost: Option<String>,
}

/// Opens the transcript of a session, or begins one.
fn transcript(agent: &Agent, record: &SessionRecord) -> Result<Opened, Failure> {
    let begin = |lost| {
        let begun = agent.session(&DelegationRequest::default());
        begun.map(|session| Opened { session, lost })
    };
    let opened = match &record.transcript {
        None => begin(None),
        Some(id) => match agent.resume_or_fork(id) {
            // Nothing of it can be read: a loss of power may come before its first line has reached the disk.
            Err(error @ (TranscriptError::Unknown { .. } | TranscriptError::Corrupt { .. })) => {
                tracing::warn!(%error, session = %record.key, "a session goes on without its transcript");
                begin(Some(error.to_string()))
            }
            opened => opened.map(|session| Opened { session, lost: None }),
        },
    };
    opened.map_err(|error| match error {
        TranscriptError::Io { .. } | TranscriptError::InUse { .. } | TranscriptError::Unrecovered { .. } => {
            Failure::Passing(error.to_string())
        }
        _ => AgentError(error.to_string()).into(),
    })
}

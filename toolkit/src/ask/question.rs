//! A question, who asks it, and since when it waits.

use super::{Ask, Elicitation};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::sync::Arc;
use std::time::SystemTime;

/// What a person is asked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Question {
    /// May this be done?
    Approve(Ask),
    /// What is the answer to this?
    Elicit(Elicitation),
}

/// The call in which something is asked.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct Origin {
    /// The call's id.
    pub call_id: String,
    /// The tool.
    pub tool: String,
    /// The session of the call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// The agent that called.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
}

impl Origin {
    /// A call of a tool, outside any session.
    pub fn new(call_id: impl Into<String>, tool: impl Into<String>) -> Self {
        Self { call_id: call_id.into(), tool: tool.into(), session_id: None, agent: None }
    }

    /// Says in which session.
    #[must_use]
    pub fn with_session(mut self, session_id: impl Into<String>) -> Self {
        self.session_id = Some(session_id.into());
        self
    }

    /// Says which agent calls.
    #[must_use]
    pub fn with_agent(mut self, agent: impl Into<String>) -> Self {
        self.agent = Some(agent.into());
        self
    }
}

/// A question that waits for its answer: what an [`Approver`](crate::Approver) gets, and a host's list shows.
///
/// Cloning is cheap. In JSON its times are milliseconds since 1970.
#[derive(Debug, Clone, PartialEq)]
pub struct PendingAsk(Arc<Pending>);

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Pending {
    id: String,
    #[serde(flatten)]
    origin: Origin,
    #[serde(with = "milliseconds")]
    asked_at: SystemTime,
    #[serde(with = "milliseconds")]
    expires_at: SystemTime,
    question: Question,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
}

impl PendingAsk {
    /// A question that nobody waits for, to try an approver with.
    pub fn detached(origin: Origin, question: Question) -> Self {
        let now = SystemTime::now();
        Self::new("detached".to_owned(), origin, (now, now), question)
    }

    pub(super) fn new(
        id: String,
        origin: Origin,
        (asked_at, expires_at): (SystemTime, SystemTime),
        question: Question,
    ) -> Self {
        Self(Arc::new(Pending { id, origin, asked_at, expires_at, question, problem: None }))
    }

    /// The same question again, with what was wrong with the answer.
    pub(super) fn with_problem(&self, problem: String) -> Self {
        Self(Arc::new(Pending { problem: Some(problem), ..(*self.0).clone() }))
    }

    /// Its id, by which it is answered: unique, in the order of asking, and not to be guessed.
    pub fn id(&self) -> &str {
        &self.0.id
    }

    /// The call in which it is asked.
    pub fn origin(&self) -> &Origin {
        &self.0.origin
    }

    /// What is asked.
    pub fn question(&self) -> &Question {
        &self.0.question
    }

    /// Since when it waits.
    pub fn asked_at(&self) -> SystemTime {
        self.0.asked_at
    }

    /// When it will be denied if nobody answered.
    pub fn expires_at(&self) -> SystemTime {
        self.0.expires_at
    }

    /// What was wrong with the last answer, where it is asked again.
    pub fn problem(&self) -> Option<&str> {
        self.0.problem.as_deref()
    }
}

impl Serialize for PendingAsk {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for PendingAsk {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Pending::deserialize(deserializer).map(|pending| Self(Arc::new(pending)))
    }
}

mod milliseconds {
    use serde::{Deserialize, Deserializer, Serializer};
    use std::time::{Duration, SystemTime, UNIX_EPOCH};

    pub(super) fn serialize<S: Serializer>(time: &SystemTime, serializer: S) -> Result<S::Ok, S::Error> {
        let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
        serializer.serialize_u64(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<SystemTime, D::Error> {
        let since = Duration::from_millis(u64::deserialize(deserializer)?);
        UNIX_EPOCH.checked_add(since).ok_or_else(|| serde::de::Error::custom("a time too far ahead"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn json_is_flat_and_comes_back() {
        let origin = Origin::new("call-1", "write").with_session("s").with_agent("ada");
        let ask = PendingAsk::detached(origin, Question::Approve(Ask::new("edit", "write a file")));
        let mut json = serde_json::to_value(ask.with_problem("no".to_owned())).unwrap();
        let (asked, expires) = (json["askedAt"].take(), json["expiresAt"].take());
        assert!(asked.as_u64().unwrap() > 1_700_000_000_000 && asked == expires);
        assert_eq!(
            json,
            json!({
                "id": "detached", "callId": "call-1", "tool": "write", "sessionId": "s", "agent": "ada",
                "askedAt": null, "expiresAt": null,
                "question": {"type": "approve", "kind": "edit", "title": "write a file"},
                "problem": "no",
            })
        );
        let again = serde_json::to_value(&ask).unwrap();
        let back: PendingAsk = serde_json::from_value(again.clone()).unwrap();
        assert_eq!(serde_json::to_value(&back).unwrap(), again);
        assert_eq!((back.id(), back.origin(), back.question()), (ask.id(), ask.origin(), ask.question()));
    }
}

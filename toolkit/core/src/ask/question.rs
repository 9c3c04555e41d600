//! A question, who asks it, and since when it waits.

use super::{AllowScope, Answer, Ask, Elicitation};
use crate::escape::escape_line;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

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

impl Question {
    /// The setting that would allow it without a person, as it goes on after "allow it with", escaped; nothing does where a
    /// value is asked for.
    pub fn setting(&self) -> Option<String> {
        let Self::Approve(ask) = self else { return None };
        if let Some(hint) = &ask.hint {
            return (!hint.is_empty()).then(|| escape_line(hint).into_owned());
        }
        let kind = escape_line(&ask.kind);
        // To allow these as a whole allows nothing: what they are about has to be named.
        if matches!(&*ask.kind, "sensitive" | "protected")
            && let Some(path) = ask.patterns.first()
        {
            return Some(format!("an entry for `{}` in the setting `permission.{kind}`", escape_line(path)));
        }
        Some(format!("the setting `permission.{kind}`"))
    }
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
    /// The message that the call belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message_id: Option<String>,
    /// The real path of the workspace, where what is always allowed can be remembered for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
}

impl Origin {
    /// A call of a tool, outside any session.
    pub fn new(call_id: impl Into<String>, tool: impl Into<String>) -> Self {
        Self { call_id: call_id.into(), tool: tool.into(), ..Self::default() }
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

    /// Names the message that the call belongs to.
    #[must_use]
    pub fn with_message(mut self, message_id: impl Into<String>) -> Self {
        self.message_id = Some(message_id.into());
        self
    }

    /// Says in which workspace, where what is always allowed can be remembered for it.
    #[must_use]
    pub fn with_workspace(mut self, workspace: impl Into<String>) -> Self {
        self.workspace = Some(workspace.into());
        self
    }
}

/// A question as it is put, and what can be remembered of its answer.
#[derive(Debug, Clone)]
#[doc(hidden)]
pub struct Put {
    pub origin: Origin,
    pub question: Question,
    at_most: AllowScope,
    note: Option<String>,
    session_lifetime: Option<Duration>,
}

impl Put {
    /// Nothing of the answer is remembered.
    #[doc(hidden)]
    pub fn once(origin: Origin, question: Question) -> Self {
        Self { origin, question, at_most: AllowScope::Once, note: None, session_lifetime: None }
    }

    /// The answer is remembered for as long as the question lets it; in a workspace if the origin names one.
    #[doc(hidden)]
    pub fn remembered(origin: Origin, question: Question, note: Option<String>) -> Self {
        let at_most = match (&question, &origin.workspace) {
            (Question::Elicit(_), _) => AllowScope::Once,
            (Question::Approve(ask), None) => ask.longest().min(AllowScope::Session),
            (Question::Approve(ask), Some(_)) => ask.longest(),
        };
        Self { origin, question, at_most, note, session_lifetime: None }
    }

    /// Says how long an answer for the session lasts at most.
    #[must_use]
    #[doc(hidden)]
    pub fn with_session_lifetime(self, session_lifetime: Option<Duration>) -> Self {
        Self { session_lifetime, ..self }
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
    /// The longest that it can be allowed for.
    #[serde(default)]
    at_most: AllowScope,
    /// What keeps answers from being remembered, or those of before from counting.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    note: Option<String>,
    /// How many seconds an answer for the session lasts at most; `None` where it ends with the process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    session_seconds: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
}

impl PendingAsk {
    /// A question that nobody waits for, to try an approver with.
    pub fn detached(origin: Origin, question: Question) -> Self {
        let now = SystemTime::now();
        Self::new("detached".to_owned(), (now, now), Put::remembered(origin, question, None))
    }

    #[doc(hidden)]
    pub fn new(id: String, (asked_at, expires_at): (SystemTime, SystemTime), put: Put) -> Self {
        let Put { origin, question, at_most, note, session_lifetime } = put;
        let session_seconds = session_lifetime.map(|lifetime| lifetime.as_secs());
        let problem = None;
        Self(Arc::new(Pending {
            id,
            origin,
            asked_at,
            expires_at,
            question,
            at_most,
            note,
            session_seconds,
            problem,
        }))
    }

    /// The same question again, with what was wrong with the answer.
    #[doc(hidden)]
    pub fn with_problem(&self, problem: String) -> Self {
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

    /// For how long it can be allowed, shortest first; nothing where a value is asked for.
    ///
    /// An answer that allows it for longer is cut to the longest of them. `Always` is among them only where the
    /// [origin](Self::origin) names a workspace, and what is remembered then are the question's patterns, exactly as they
    /// are.
    pub fn scopes(&self) -> &'static [AllowScope] {
        const ALL: &[AllowScope] = &[AllowScope::Once, AllowScope::Session, AllowScope::Always];
        match (self.question(), self.0.at_most) {
            (Question::Elicit(_), _) => &[],
            (Question::Approve(_), AllowScope::Once) => &ALL[..1],
            (Question::Approve(_), AllowScope::Session) => &ALL[..2],
            (Question::Approve(_), AllowScope::Always) => ALL,
        }
    }

    /// What keeps answers from being remembered here, or what was remembered from counting.
    pub fn note(&self) -> Option<&str> {
        self.0.note.as_deref()
    }

    /// How long an answer for the session lasts at most, where the host keeps such answers beyond the end of its process. Without it,
    /// the answer ends with the session or the process.
    pub fn session_lifetime(&self) -> Option<Duration> {
        self.0.session_seconds.map(Duration::from_secs)
    }

    /// The answer, allowing no more than the question offers.
    #[doc(hidden)]
    pub fn narrow(&self, answer: Answer) -> Answer {
        match answer {
            Answer::Allow { scope } => Answer::Allow { scope: scope.min(self.0.at_most) },
            answer => answer,
        }
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
                "question": {"type": "approve", "kind": "edit", "title": "write a file"}, "atMost": "session",
                "problem": "no",
            })
        );
        let again = serde_json::to_value(&ask).unwrap();
        let back: PendingAsk = serde_json::from_value(again.clone()).unwrap();
        assert_eq!(serde_json::to_value(&back).unwrap(), again);
        assert_eq!((back.id(), back.origin(), back.question()), (ask.id(), ask.origin(), ask.question()));
    }

    #[test]
    fn an_answer_allows_no_more_than_is_offered() {
        let elicitation = Elicitation::new("x", json!({"type": "object", "properties": {}})).unwrap();
        let ask = || Ask::new("edit", "t").with_pattern("a");
        let here = || Origin::new("1", "t").with_workspace("/srv");
        let approve = Question::Approve;
        for (origin, question, scopes) in [
            (here(), approve(ask()), &[AllowScope::Once, AllowScope::Session, AllowScope::Always][..]),
            (Origin::default(), approve(ask()), &[AllowScope::Once, AllowScope::Session]),
            (here(), approve(ask().raised()), &[AllowScope::Once, AllowScope::Session]),
            (here(), approve(ask().once_only()), &[AllowScope::Once]),
            (here(), Question::Elicit(elicitation), &[]),
        ] {
            let pending = PendingAsk::detached(origin, question);
            assert_eq!(pending.scopes(), scopes, "{pending:?}");
            for scope in [AllowScope::Once, AllowScope::Session, AllowScope::Always] {
                let Answer::Allow { scope: given } = pending.narrow(Answer::Allow { scope }) else {
                    panic!()
                };
                assert_eq!(given, scope.min(scopes.last().copied().unwrap_or_default()));
            }
            assert_eq!(pending.narrow(Answer::deny()), Answer::deny());
        }
        let now = SystemTime::now();
        let once = PendingAsk::new("x".to_owned(), (now, now), Put::once(here(), approve(ask())));
        assert_eq!(once.scopes(), [AllowScope::Once]);
    }
}

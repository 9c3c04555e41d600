//! A question, its origin, and the time since which it is pending.

use super::{AllowScope, Answer, Ask, Elicitation};
use crate::caller::Caller;
use crate::escape::escape_line;
use crate::unix_time;
#[cfg(feature = "runtime")]
use data_encoding::HEXLOWER;
#[cfg(feature = "runtime")]
use hmac_sha256::Hash;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// A question to a person.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Question {
    /// A question for permission.
    Approve(Ask),
    /// A request for a value.
    Elicit(Elicitation),
}

impl Question {
    /// Returns the title, or the message, of the question.
    #[doc(hidden)]
    pub fn headline(&self) -> &str {
        match self {
            Self::Approve(ask) => &ask.title,
            Self::Elicit(elicitation) => &elicitation.message,
        }
    }

    /// Returns the number of bytes of its texts.
    #[doc(hidden)]
    pub fn size(&self) -> usize {
        match self {
            Self::Approve(ask) => ask.size(),
            Self::Elicit(elicitation) => elicitation.size(),
        }
    }

    /// Returns the SHA-256, as hexadecimal digits, of the parts of the question that an answer relies on: of a question for permission its
    /// kind, title, patterns, conditions and details, and what the answer may be remembered for; of a request for a value all of it. It is the
    /// same in every process.
    #[cfg(feature = "runtime")]
    pub fn digest(&self) -> String {
        let text = match self {
            Self::Approve(ask) => serde_json::to_string(&ask.relied_on()),
            Self::Elicit(_) => serde_json::to_string(self),
        };
        HEXLOWER.encode(&Hash::hash(text.unwrap_or_default().as_bytes()))
    }

    /// Returns the setting that would allow it without a person, escaped, as the text after "allow it with"; `None` if no setting
    /// does, and for a request for a value.
    pub fn setting(&self) -> Option<String> {
        let Self::Approve(ask) = self else { return None };
        if let Some(hint) = &ask.hint {
            return (!hint.is_empty()).then(|| escape_line(hint).into_owned());
        }
        let kind = escape_line(&ask.kind);
        // Allowing these kinds as a whole has no effect: a rule has to name the path.
        if matches!(&*ask.kind, "sensitive" | "protected")
            && let Some(path) = ask.patterns.first()
        {
            return Some(format!("an entry for `{}` in the setting `permission.{kind}`", escape_line(path)));
        }
        Some(format!("the setting `permission.{kind}`"))
    }
}

/// The call that asks a question.
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
    /// The turn of the conversation in which the model made the call, if the host has named it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<String>,
    /// The agent that called.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The agents that delegated the task of the call, beginning with the nearest.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub delegated_by: Vec<String>,
    /// The channel that the call is for, with its conversation and sender: `irc, conversation 5, sender ada`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_channel: Option<String>,
    /// The message that the call belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message_id: Option<String>,
    /// The real path of the workspace, if approvals can be remembered for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
}

impl Origin {
    /// Creates the origin of a tool call outside any session.
    pub fn new(call_id: impl Into<String>, tool: impl Into<String>) -> Self {
        Self { call_id: call_id.into(), tool: tool.into(), ..Self::default() }
    }

    /// Sets the session.
    #[must_use]
    pub fn with_session(mut self, session_id: impl Into<String>) -> Self {
        self.session_id = Some(session_id.into());
        self
    }

    /// Sets the agent that calls.
    #[must_use]
    pub fn with_agent(mut self, agent: impl Into<String>) -> Self {
        self.agent = Some(agent.into());
        self
    }

    /// Sets what an answer is bound to besides the agent: the agents that delegated the task, the channel, the conversation and the sender.
    #[must_use]
    pub fn with_caller(mut self, caller: &Caller) -> Self {
        let unnamed = || "an agent without a name".to_owned();
        let above =
            caller.chain().skip(1).map(|caller| caller.agent.as_deref().map_or_else(unnamed, delimited));
        self.delegated_by = above.collect();
        let conversation =
            caller.conversation_id.as_ref().map(|id| format!("conversation {}", delimited(id)));
        let sender = caller.sender_id.as_ref().map(|id| format!("sender {}", delimited(id)));
        let parts: Vec<String> =
            caller.channel.as_deref().map(delimited).into_iter().chain(conversation).chain(sender).collect();
        self.on_channel = (!parts.is_empty()).then(|| parts.join(", "));
        self
    }

    /// Returns the facts about the caller that a person is shown, each with its label.
    pub(super) fn facts(&self) -> Vec<(&'static str, String)> {
        let above = (!self.delegated_by.is_empty()).then(|| self.delegated_by.join(", for "));
        let facts = [
            ("agent: ", self.agent.as_deref().map(delimited)),
            ("for: ", above),
            ("channel: ", self.on_channel.clone()),
            ("session: ", self.session_id.clone()),
        ];
        facts.into_iter().filter_map(|(label, fact)| Some((label, fact?))).collect()
    }

    /// Sets the message that the call belongs to.
    #[must_use]
    pub fn with_message(mut self, message_id: impl Into<String>) -> Self {
        self.message_id = Some(message_id.into());
        self
    }

    /// Sets the workspace, if approvals can be remembered for it.
    #[must_use]
    pub fn with_workspace(mut self, workspace: impl Into<String>) -> Self {
        self.workspace = Some(workspace.into());
        self
    }
}

/// Returns a name, in quotes if its end could be taken for something else.
fn delimited(name: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_.@:+/#~=".contains(c);
    if !name.is_empty() && name.chars().all(is_plain) {
        return name.to_owned();
    }
    format!("\"{}\"", name.replace('\\', "\\\\").replace('"', "\\\""))
}

/// A question to be added to the list, with the longest scope of its answer.
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
    /// Creates a question whose answer is not remembered.
    #[doc(hidden)]
    pub fn once(origin: Origin, question: Question) -> Self {
        Self { origin, question, at_most: AllowScope::Once, note: None, session_lifetime: None }
    }

    /// Creates a question whose answer is remembered for as long as the question permits; always only if the origin names a
    /// workspace.
    #[doc(hidden)]
    pub fn remembered(origin: Origin, question: Question, note: Option<String>) -> Self {
        let at_most = match (&question, &origin.workspace) {
            (Question::Elicit(_), _) => AllowScope::Once,
            (Question::Approve(ask), None) => ask.longest().min(AllowScope::Session),
            (Question::Approve(ask), Some(_)) => ask.longest(),
        };
        Self { origin, question, at_most, note, session_lifetime: None }
    }

    /// Sets the longest time for which an answer for the session is valid.
    #[must_use]
    #[doc(hidden)]
    pub fn with_session_lifetime(self, session_lifetime: Option<Duration>) -> Self {
        Self { session_lifetime, ..self }
    }
}

/// A pending question: passed to an `Approver`, and shown in a host's list.
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
    #[serde(with = "unix_time")]
    asked_at: SystemTime,
    #[serde(with = "unix_time")]
    expires_at: SystemTime,
    question: Question,
    /// The longest scope in which it can be allowed.
    #[serde(default)]
    at_most: AllowScope,
    /// The reason why answers are not remembered, or why earlier ones are not used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    note: Option<String>,
    /// The most seconds for which an answer for the session is valid; `None` if it ends with the process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    session_seconds: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
}

impl PendingAsk {
    /// Creates a question for which no call waits, to test an approver.
    pub fn detached(origin: Origin, question: Question) -> Self {
        let now = SystemTime::now();
        Self::new("detached".to_owned(), (now, now), Put::remembered(origin, question, None))
    }

    #[doc(hidden)]
    pub fn new(id: String, (asked_at, expires_at): (SystemTime, SystemTime), put: Put) -> Self {
        // As in JSON, so that a question that was read is equal to the one that was written.
        let [asked_at, expires_at] = [asked_at, expires_at].map(unix_time::whole);
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

    /// Returns the same question with what was wrong with the answer.
    #[doc(hidden)]
    #[must_use]
    pub fn with_problem(&self, problem: String) -> Self {
        Self(Arc::new(Pending { problem: Some(problem), ..(*self.0).clone() }))
    }

    /// Returns the same question, with the times of an earlier one that it asks again.
    #[doc(hidden)]
    #[must_use]
    pub fn asked_since(&self, earlier: &Self) -> Self {
        let Pending { asked_at, expires_at, .. } = *earlier.0;
        Self(Arc::new(Pending { asked_at, expires_at, ..(*self.0).clone() }))
    }

    /// Returns the same question, asked later than another one of its call: times are compared in milliseconds, and a clock can be set back.
    #[doc(hidden)]
    #[must_use]
    pub fn asked_after(&self, earlier: &Self) -> Self {
        let least = earlier.0.asked_at.checked_add(Duration::from_millis(1));
        let asked_at = least.map_or(self.0.asked_at, |least| least.max(self.0.asked_at));
        Self(Arc::new(Pending { asked_at, ..(*self.0).clone() }))
    }

    /// Returns the same question, which expires as late as another one at least.
    #[doc(hidden)]
    #[must_use]
    pub fn expiring_with(&self, other: &Self) -> Self {
        let expires_at = self.0.expires_at.max(other.0.expires_at);
        Self(Arc::new(Pending { expires_at, ..(*self.0).clone() }))
    }

    /// Returns the same question with the id of another one that stands for it.
    #[doc(hidden)]
    #[must_use]
    pub fn with_id(&self, id: &str) -> Self {
        Self(Arc::new(Pending { id: id.to_owned(), ..(*self.0).clone() }))
    }

    /// Returns the id with which it is answered: unique, in the order of asking, and unguessable.
    pub fn id(&self) -> &str {
        &self.0.id
    }

    /// Returns the call that asks it.
    pub fn origin(&self) -> &Origin {
        &self.0.origin
    }

    /// Returns the question itself.
    pub fn question(&self) -> &Question {
        &self.0.question
    }

    /// Returns the scopes in which it can be allowed, shortest first; empty for a request for a value.
    ///
    /// An answer with a longer scope is reduced to the longest of them. `Always` is among them only if the [origin](Self::origin)
    /// names a workspace; the question's patterns are then remembered, exactly as they are.
    pub fn scopes(&self) -> &'static [AllowScope] {
        const ALL: &[AllowScope] = &[AllowScope::Once, AllowScope::Session, AllowScope::Always];
        match (self.question(), self.0.at_most) {
            (Question::Elicit(_), _) => &[],
            (Question::Approve(_), AllowScope::Once) => &ALL[..1],
            (Question::Approve(_), AllowScope::Session) => &ALL[..2],
            (Question::Approve(_), AllowScope::Always) => ALL,
        }
    }

    /// Returns true if a lasting answer covers every call of the tool, with any arguments: the only pattern is the tool's name, as in the
    /// question before a call of a tool that does not ask by itself.
    pub fn is_for_every_call(&self) -> bool {
        matches!(self.question(), Question::Approve(Ask { patterns, .. }) if *patterns == [self.origin().tool.as_str()])
    }

    /// Returns the reason why answers are not remembered here, or why earlier ones are not used.
    pub fn note(&self) -> Option<&str> {
        self.0.note.as_deref()
    }

    /// Returns the longest time for which an answer for the session is valid, if the host keeps such answers after its process ends.
    /// If `None`, the answer ends with the session or the process.
    pub fn session_lifetime(&self) -> Option<Duration> {
        self.0.session_seconds.map(Duration::from_secs)
    }

    /// Reduces the answer to the longest scope that the question offers.
    #[doc(hidden)]
    pub fn narrow(&self, answer: Answer) -> Answer {
        match answer {
            Answer::Allow { scope } => Answer::Allow { scope: scope.min(self.0.at_most) },
            answer => answer,
        }
    }

    /// Returns the time since which it is pending.
    pub fn asked_at(&self) -> SystemTime {
        self.0.asked_at
    }

    /// Returns the time at which it is denied if there is no answer.
    pub fn expires_at(&self) -> SystemTime {
        self.0.expires_at
    }

    /// Returns what was wrong with the last answer, if it is asked again.
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

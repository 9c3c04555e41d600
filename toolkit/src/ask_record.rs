//! The questions of a call: approvals and values that it asked for, and the answers.

use crate::events::AllowedBy;
use serde::{Deserialize, Serialize};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use toolkit_core::ask::{AllowScope, Answer, Ask, AskAnswer, DeniedBy, Reply};
use toolkit_core::redact::Redactor;

/// The maximum number of bytes of one string in arguments that exceed the limit.
pub(crate) const LONGEST_PART: usize = 4 << 10;
/// The number of bytes copied beyond the end of the recorded text, so that a secret there is recognised.
pub(crate) const BEYOND: usize = 4 << 10;
/// The maximum number of questions recorded of one call.
const MAX_QUESTIONS: usize = 20;
/// The maximum number of patterns recorded of one question.
const MAX_PATTERNS: usize = 20;

/// A permission that a call needed or a question that it asked, and the outcome. Its JSON is described at
/// [`JsonlHistory`](crate::history::JsonlHistory).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct RecordedAsk {
    /// The kind of permission, or `elicit` if a value was asked for.
    pub kind: String,
    /// The action to approve, in one line, or the question.
    pub title: String,
    /// The patterns that rules matched it by, at most 20.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub patterns: Vec<String>,
    /// The component that asked: `tool`, `core`, `loop guard` or the name of an inspector.
    pub asker: String,
    /// The answer.
    pub answer: AskAnswer,
    /// The duration of a person's approval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<AllowScope>,
    /// The source of the answer: `person`, `rule`, `session`, or `approval` for an earlier approval by a person;
    /// without an answer by a person `nobody_there`, `time_out`, `limit` or `fault`. Absent if there is no answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// The name of the person who answered, if the host knows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answered_by: Option<String>,
    /// The rule that decided, or the reason of a denial: the person's message to the model, if there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The time until the answer; in JSON, microseconds.
    #[serde(default, rename = "durationUs", with = "microseconds")]
    pub duration: Option<Duration>,
}

/// The index of a question within its call.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AskNumber(usize, Instant);

/// The questions of one call, while it runs.
#[derive(Debug, Default)]
pub(crate) struct AskLog(Mutex<Vec<RecordedAsk>>);

impl AskLog {
    /// Records that an approval is asked for. Questions beyond 20 are not recorded.
    pub(crate) fn begin(&self, asker: &str, ask: &Ask) -> AskNumber {
        let patterns = ask.patterns.iter().take(MAX_PATTERNS).map(|pattern| copy(pattern)).collect();
        self.push(asker, &ask.kind, &ask.title, patterns)
    }

    /// Records that a value is asked for.
    pub(crate) fn begin_elicitation(&self, message: &str) -> AskNumber {
        self.push("tool", "elicit", message, Vec::new())
    }

    fn push(&self, asker: &str, kind: &str, title: &str, patterns: Vec<String>) -> AskNumber {
        let mut asks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let number = asks.len();
        if number < MAX_QUESTIONS {
            asks.push(RecordedAsk {
                kind: copy(kind),
                title: copy(title),
                patterns,
                asker: copy(asker),
                answer: AskAnswer::None,
                scope: None,
                by: None,
                answered_by: None,
                reason: None,
                duration: None,
            });
        }
        AskNumber(number, Instant::now())
    }

    fn end(&self, AskNumber(number, since): AskNumber, end: impl FnOnce(&mut RecordedAsk)) {
        if let Some(ask) = self.0.lock().unwrap_or_else(PoisonError::into_inner).get_mut(number) {
            end(ask);
            ask.duration = Some(since.elapsed());
        }
    }

    /// Records the answer.
    pub(crate) fn answered(&self, number: AskNumber, reply: &Reply) {
        self.end(number, |ask| {
            let by = match &reply.answer {
                Answer::Allow { scope, .. } => {
                    ask.scope = Some(*scope);
                    DeniedBy::Person
                }
                Answer::Deny { message, by, .. } => {
                    ask.reason = message.as_deref().map(copy);
                    *by
                }
                _ => DeniedBy::Person,
            };
            (ask.answer, ask.by) = (reply.answer.outcome(), Some(by.name().to_owned()));
            ask.answered_by = reply.answered_by.as_deref().map(copy);
        });
    }

    /// Records that the action was allowed without asking a person.
    pub(crate) fn allowed(&self, number: AskNumber, by: &AllowedBy) {
        self.end(number, |ask| {
            if let AllowedBy::Answer { answered_by } = by {
                ask.answered_by = answered_by.as_deref().map(copy);
            }
            let (by, reason) = match by {
                AllowedBy::Rule { rule } => ("rule", Some(copy(rule))),
                AllowedBy::Session => ("session", None),
                AllowedBy::Answer { .. } => (DeniedBy::Person.name(), None),
                AllowedBy::Approval { ids } => ("approval", Some(copy(&ids.join(", ")))),
            };
            (ask.answer, ask.by, ask.reason) = (AskAnswer::Allowed, Some(by.to_owned()), reason);
        });
    }

    /// Records that a rule denied the action.
    pub(crate) fn denied_by_rule(&self, number: AskNumber, rule: &str) {
        self.end(number, |ask| {
            (ask.answer, ask.by) = (AskAnswer::Denied, Some("rule".to_owned()));
            ask.reason = Some(copy(rule));
        });
    }

    /// Takes all questions, in order.
    pub(crate) fn take(&self) -> Vec<RecordedAsk> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl RecordedAsk {
    /// Redacts secrets. Nothing is truncated yet, because another redactor could then miss a secret at the end.
    pub(crate) fn redact(&mut self, redactor: &Redactor) {
        self.redact_to(redactor, usize::MAX);
    }

    /// Redacts secrets and truncates long texts.
    pub(crate) fn cut(&mut self, redactor: &Redactor) {
        self.redact_to(redactor, LONGEST_PART);
    }

    fn redact_to(&mut self, redactor: &Redactor, longest: usize) {
        let texts = [&mut self.kind, &mut self.title, &mut self.asker];
        let optional = [&mut self.reason, &mut self.answered_by].into_iter().flatten();
        for text in texts.into_iter().chain(&mut self.patterns).chain(optional) {
            redactor.redact_string(text, longest);
        }
    }

    /// Returns the approximate memory of the question, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        let texts = [&self.kind, &self.title, &self.asker];
        let texts = texts
            .into_iter()
            .chain(&self.patterns)
            .chain(&self.by)
            .chain(&self.answered_by)
            .chain(&self.reason);
        size_of::<Self>() + texts.map(|text| size_of::<String>() + text.len()).sum::<usize>()
    }
}

/// Copies more than will be recorded, so that a secret at the end of the recorded part is recognised.
fn copy(text: &str) -> String {
    beginning(text, LONGEST_PART + BEYOND).to_owned()
}

/// Returns the beginning of a text, at most `longest` bytes, in whole characters.
pub(crate) fn beginning(text: &str, longest: usize) -> &str {
    &text[..text.floor_char_boundary(longest)]
}

pub(crate) mod microseconds {
    use serde::{Deserialize, Deserializer, Serializer};
    use std::time::Duration;

    #[expect(clippy::ref_option, reason = "serde's form")]
    pub(crate) fn serialize<S: Serializer>(
        duration: &Option<Duration>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let duration = duration.unwrap_or_default();
        serializer.serialize_u64(u64::try_from(duration.as_micros()).unwrap_or(u64::MAX))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Duration>, D::Error> {
        Ok(Option::<u64>::deserialize(deserializer)?.map(Duration::from_micros))
    }
}

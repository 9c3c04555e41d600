//! The answer of a person, and its text for the model.

use crate::error::ToolError;
use crate::escape::escape_line;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The answer to a question.
///
/// In JSON `{"type": "allow"}`, `{"type": "allow", "scope": "session"}`, `{"type": "deny", "message": "…"}`, `{"type": "value", "value": …}`,
/// `{"type": "declined"}`, `{"type": "cancelled"}`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Answer {
    /// The operation is allowed.
    #[non_exhaustive]
    Allow {
        /// The scope. A scope longer than the question [offers](crate::PendingAsk::scopes) is reduced to the longest one offered.
        #[serde(default, skip_serializing_if = "AllowScope::is_once")]
        scope: AllowScope,
    },
    /// The operation is denied.
    #[non_exhaustive]
    Deny {
        /// A person's message to the model; otherwise the reason.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<String>,
        /// The source of the denial.
        #[serde(default)]
        by: DeniedBy,
    },
    /// The requested value.
    #[non_exhaustive]
    Value {
        /// An object that matches the schema of the question.
        value: Value,
    },
    /// The person declines to answer. For a question for permission, this denies it.
    Declined,
    /// The person dismissed the question without choosing. For a question for permission, this denies it.
    Cancelled,
}

/// The scope of an approval. A longer scope is greater.
///
/// Only what was shown is remembered: see `Approvals`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum AllowScope {
    /// For this call only.
    #[default]
    Once,
    /// Until the session ends, or the process.
    Session,
    /// Until it is revoked, in this workspace.
    Always,
}

impl AllowScope {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's form")]
    fn is_once(&self) -> bool {
        *self == Self::Once
    }
}

/// The source of a denial.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum DeniedBy {
    /// A person.
    #[default]
    Person,
    /// No person can be asked.
    NobodyThere,
    /// No answer came in time.
    TimeOut,
    /// Too many questions were already pending.
    Limit,
    /// The approver failed, or gave invalid answers.
    Fault,
}

impl DeniedBy {
    /// Returns the name that records have.
    #[doc(hidden)]
    pub fn name(self) -> &'static str {
        match self {
            Self::Person => "person",
            Self::NobodyThere => "nobody_there",
            Self::TimeOut => "time_out",
            Self::Limit => "limit",
            Self::Fault => "fault",
        }
    }
}

impl Answer {
    /// Returns what came of the question.
    #[doc(hidden)]
    pub fn outcome(&self) -> AskAnswer {
        match self {
            Self::Allow { .. } => AskAnswer::Allowed,
            Self::Deny { .. } => AskAnswer::Denied,
            Self::Value { .. } => AskAnswer::Given,
            Self::Declined => AskAnswer::Declined,
            Self::Cancelled => AskAnswer::Cancelled,
        }
    }

    /// Allows the operation once.
    pub fn allow() -> Self {
        Self::Allow { scope: AllowScope::Once }
    }

    /// Allows the operation, and exactly the same again until the session ends.
    pub fn allow_for_session() -> Self {
        Self::Allow { scope: AllowScope::Session }
    }

    /// Allows the operation, and exactly the same again in this workspace until the approval is revoked.
    pub fn allow_always() -> Self {
        Self::Allow { scope: AllowScope::Always }
    }

    /// Denies the operation, on behalf of a person, without a message.
    pub fn deny() -> Self {
        Self::Deny { message: None, by: DeniedBy::Person }
    }

    /// Denies the operation, with a person's message to the model.
    pub fn deny_saying(message: impl Into<String>) -> Self {
        Self::denied_by(DeniedBy::Person, message)
    }

    /// Denies the operation for another reason than a person's answer.
    pub fn denied_by(by: DeniedBy, message: impl Into<String>) -> Self {
        Self::Deny { message: Some(message.into()), by }
    }

    /// Answers with the requested value.
    pub fn value(value: impl Into<Value>) -> Self {
        Self::Value { value: value.into() }
    }

    /// Returns the result for a tool that asked for permission.
    #[doc(hidden)]
    pub fn into_permission(self, title: &str) -> Result<(), ToolError> {
        let title = escape_line(title);
        let (by, message) = match self {
            Self::Allow { .. } => return Ok(()),
            Self::Deny { message, by } => (by, message),
            Self::Declined => (DeniedBy::Person, None),
            Self::Cancelled => {
                return Err(ToolError::denied(format!(
                    "not allowed: {title}. The person dismissed the question. Nothing was done; do not \
                     try it in another way, ask them what they want"
                )));
            }
            Self::Value { .. } => {
                (DeniedBy::Fault, Some("the approver gave a value instead of a decision".to_owned()))
            }
        };
        Err(ToolError::denied(format!(
            "not allowed: {title}. {}",
            reason(by, message.as_deref(), Need::Permission)
        )))
    }

    /// Returns the result for a tool that asked for a value.
    #[doc(hidden)]
    pub fn into_value(self) -> Result<Option<Value>, ToolError> {
        let (by, message) = match self {
            Self::Value { value } => return Ok(Some(value)),
            Self::Declined => return Ok(None),
            Self::Cancelled => {
                return Err(ToolError::aborted(
                    "the person dismissed the question; do not ask it again unless they say so",
                ));
            }
            Self::Deny { message, by } => (by, message),
            Self::Allow { .. } => {
                (DeniedBy::Fault, Some("the approver gave a decision instead of a value".to_owned()))
            }
        };
        Err(ToolError::denied(format!("no answer. {}", reason(by, message.as_deref(), Need::Value))))
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Need {
    Permission,
    Value,
}

/// Returns who denied it, and what the model should do next.
fn reason(by: DeniedBy, message: Option<&str>, need: Need) -> String {
    let why = message.map(|message| format!(": {message}")).unwrap_or_default();
    let next = match need {
        Need::Permission => "Nothing was done; go on without it, and say what was not allowed and why",
        Need::Value => "Go on without it, and say what is missing and why",
    };
    match (by, message) {
        (DeniedBy::Person, Some(word)) => {
            format!("The person denied it and replied: {word}\nNothing was done; follow the reply")
        }
        (DeniedBy::Person, None) => "The person denied it. Nothing was done; do not try it in another \
                                     way, ask them what they want instead or go on without it"
            .to_owned(),
        (DeniedBy::NobodyThere, _) => {
            format!("It needs a person's answer, but no approver is available{why}. {next}")
        }
        (DeniedBy::TimeOut, _) => format!("The person did not answer{why}. {next}"),
        (DeniedBy::Limit, _) => format!("The question could not be asked{why}. {next}"),
        (DeniedBy::Fault, _) => format!("The question failed{why}. {next}"),
    }
}

/// The answer to a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum AskAnswer {
    /// There was no answer before the call was cancelled, dropped or finished.
    None,
    /// The action was allowed.
    Allowed,
    /// The action was denied.
    Denied,
    /// A value was given; the value is not recorded.
    Given,
    /// The person declined to answer.
    Declined,
    /// The person cancelled the question.
    Cancelled,
    /// An answer that a later version recorded.
    #[serde(other)]
    Other,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ToolErrorKind;
    use serde_json::json;

    #[test]
    fn the_model_reads_who_said_no_and_what_to_do() {
        for (answer, expected) in [
            (
                Answer::deny(),
                "not allowed: push to main. The person denied it. Nothing was done; do not try it in \
                 another way, ask them what they want instead or go on without it",
            ),
            (
                Answer::deny_saying("use a branch"),
                "not allowed: push to main. The person denied it and replied: use a branch\nNothing was done; follow the reply",
            ),
            (
                Answer::denied_by(DeniedBy::NobodyThere, "no terminal"),
                "not allowed: push to main. It needs a person's answer, but no approver is available: no terminal. Nothing was \
                 done; go on without it, and say what was not allowed and why",
            ),
            (
                Answer::denied_by(DeniedBy::TimeOut, "within 24 h"),
                "not allowed: push to main. The person did not answer: within 24 h. Nothing was done; go on without \
                 it, and say what was not allowed and why",
            ),
            (
                Answer::Cancelled,
                "not allowed: push to main. The person dismissed the question. Nothing was done; do \
                 not try it in another way, ask them what they want",
            ),
            (
                Answer::value(1),
                "not allowed: push to main. The question failed: the approver gave a value instead of a decision. Nothing \
                 was done; go on without it, and say what was not allowed and why",
            ),
        ] {
            let error = answer.into_permission("push to main").unwrap_err();
            assert_eq!((error.kind(), error.message()), (ToolErrorKind::Denied, expected));
        }
        assert_eq!(Answer::Declined.into_permission("x").unwrap_err().kind(), ToolErrorKind::Denied);
        assert_eq!(Answer::allow().into_permission("x"), Ok(()));
    }

    #[test]
    fn a_value_is_given_declined_dismissed_or_denied() {
        assert_eq!(Answer::value(json!({"a": 1})).into_value(), Ok(Some(json!({"a": 1}))));
        assert_eq!(Answer::Declined.into_value(), Ok(None));
        for (answer, kind) in [
            (Answer::Cancelled, ToolErrorKind::Aborted),
            (Answer::deny(), ToolErrorKind::Denied),
            (Answer::allow(), ToolErrorKind::Denied),
        ] {
            assert_eq!(answer.into_value().unwrap_err().kind(), kind);
        }
    }

    #[test]
    fn json_of_answers() {
        for (json, answer) in [
            (json!({"type": "allow"}), Answer::allow()),
            (json!({"type": "allow", "scope": "once"}), Answer::allow()),
            (json!({"type": "allow", "scope": "session"}), Answer::allow_for_session()),
            (json!({"type": "allow", "scope": "always"}), Answer::allow_always()),
            (json!({"type": "deny"}), Answer::deny()),
            (json!({"type": "deny", "message": "no"}), Answer::deny_saying("no")),
            (json!({"type": "value", "value": {"a": 1}}), Answer::value(json!({"a": 1}))),
            (json!({"type": "declined"}), Answer::Declined),
            (json!({"type": "cancelled"}), Answer::Cancelled),
        ] {
            assert_eq!(serde_json::from_value::<Answer>(json).unwrap(), answer);
            let again = serde_json::to_value(&answer).unwrap();
            assert_eq!(serde_json::from_value::<Answer>(again).unwrap(), answer);
        }
        assert_eq!(serde_json::to_value(Answer::allow()).unwrap(), json!({"type": "allow"}));
        for wrong in [json!({"type": "allow_always"}), json!({"type": "allow", "scope": "for_ever"})] {
            assert!(serde_json::from_value::<Answer>(wrong.clone()).is_err(), "{wrong}");
        }
    }
}

//! What a person answered, and what the model reads of it.

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
    /// It may be done.
    #[non_exhaustive]
    Allow {
        /// For how long. What a question does not [offer](crate::PendingAsk::scopes) is cut to what it does.
        #[serde(default, skip_serializing_if = "AllowScope::is_once")]
        scope: AllowScope,
    },
    /// It must not be done.
    #[non_exhaustive]
    Deny {
        /// A person's word to the model; from anyone else, the reason.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<String>,
        /// Who denied it.
        #[serde(default)]
        by: DeniedBy,
    },
    /// What was asked for.
    #[non_exhaustive]
    Value {
        /// An object that fits the schema of the question.
        value: Value,
    },
    /// The person does not want to answer. Where permission was asked, this denies it.
    Declined,
    /// The person dismissed the question without choosing. Where permission was asked, this denies it.
    Cancelled,
}

/// For how long something is allowed. The longer is the greater.
///
/// What is remembered is exactly what was shown: see [`Approvals`](crate::Approvals).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum AllowScope {
    /// This once.
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

/// Who denied.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum DeniedBy {
    /// A person.
    #[default]
    Person,
    /// Nobody is there to be asked.
    NobodyThere,
    /// Nobody answered in time.
    TimeOut,
    /// Too much was being asked already.
    Limit,
    /// The approver failed, or gave answers that are none.
    Fault,
}

impl Answer {
    /// It may be done, this once.
    pub fn allow() -> Self {
        Self::Allow { scope: AllowScope::Once }
    }

    /// It may be done, and exactly this again until the session ends.
    pub fn allow_for_session() -> Self {
        Self::Allow { scope: AllowScope::Session }
    }

    /// It may be done, and exactly this again in this workspace until it is revoked.
    pub fn allow_always() -> Self {
        Self::Allow { scope: AllowScope::Always }
    }

    /// It must not be done; a person said so without a word.
    pub fn deny() -> Self {
        Self::Deny { message: None, by: DeniedBy::Person }
    }

    /// It must not be done, with a person's word to the model.
    pub fn deny_saying(message: impl Into<String>) -> Self {
        Self::denied_by(DeniedBy::Person, message)
    }

    /// It must not be done, though no person said so; with the reason.
    pub fn denied_by(by: DeniedBy, message: impl Into<String>) -> Self {
        Self::Deny { message: Some(message.into()), by }
    }

    /// What was asked for.
    pub fn value(value: impl Into<Value>) -> Self {
        Self::Value { value: value.into() }
    }

    /// What a tool that asked for permission gets.
    #[doc(hidden)]
    pub fn into_permission(self, title: &str) -> Result<(), ToolError> {
        let title = escape_line(title);
        let (by, message) = match self {
            Self::Allow { .. } => return Ok(()),
            Self::Deny { message, by } => (by, message),
            Self::Declined => (DeniedBy::Person, None),
            Self::Cancelled => {
                return Err(ToolError::denied(format!(
                    "not allowed: {title}. The person who was asked dismissed the question. Nothing was done; do not \
                     try it in another way, ask them what they want"
                )));
            }
            Self::Value { .. } => {
                (DeniedBy::Fault, Some("a value came where permission was asked".to_owned()))
            }
        };
        Err(ToolError::denied(format!(
            "not allowed: {title}. {}",
            reason(by, message.as_deref(), Need::Permission)
        )))
    }

    /// What a tool that asked for a value gets.
    #[doc(hidden)]
    pub fn into_value(self) -> Result<Option<Value>, ToolError> {
        let (by, message) = match self {
            Self::Value { value } => return Ok(Some(value)),
            Self::Declined => return Ok(None),
            Self::Cancelled => {
                return Err(ToolError::aborted(
                    "the person who was asked dismissed the question; do not ask it again unless they say so",
                ));
            }
            Self::Deny { message, by } => (by, message),
            Self::Allow { .. } => {
                (DeniedBy::Fault, Some("permission came where a value was asked for".to_owned()))
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

/// Who said no, and what a model does next.
fn reason(by: DeniedBy, message: Option<&str>, need: Need) -> String {
    let why = message.map(|message| format!(": {message}")).unwrap_or_default();
    let next = match need {
        Need::Permission => "Nothing was done; go on without it, and say what was not allowed and why",
        Need::Value => "Go on without it, and say what is missing and why",
    };
    match (by, message) {
        (DeniedBy::Person, Some(word)) => {
            format!(
                "The person who was asked said no, and this to you: {word}\nNothing was done; follow their word"
            )
        }
        (DeniedBy::Person, None) => {
            "The person who was asked said no. Nothing was done; do not try it in another \
                                     way, ask them what they want instead or go on without it"
                .to_owned()
        }
        (DeniedBy::NobodyThere, _) => format!("It needs a person, and there is nobody to ask{why}. {next}"),
        (DeniedBy::TimeOut, _) => format!("The person did not answer{why}. {next}"),
        (DeniedBy::Limit, _) => format!("It could not be asked{why}. {next}"),
        (DeniedBy::Fault, _) => format!("Asking for it failed{why}. {next}"),
    }
}

/// What came of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum AskAnswer {
    /// There was no answer before the call was cancelled, dropped or over.
    None,
    /// It was allowed.
    Allowed,
    /// It was denied.
    Denied,
    /// A value was given, which is not recorded.
    Given,
    /// The person did not want to answer.
    Declined,
    /// The person dismissed the question.
    Cancelled,
    /// What a later version recorded.
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
                "not allowed: push to main. The person who was asked said no. Nothing was done; do not try it in \
                 another way, ask them what they want instead or go on without it",
            ),
            (
                Answer::deny_saying("use a branch"),
                "not allowed: push to main. The person who was asked said no, and this to you: use a branch\nNothing \
                 was done; follow their word",
            ),
            (
                Answer::denied_by(DeniedBy::NobodyThere, "no terminal"),
                "not allowed: push to main. It needs a person, and there is nobody to ask: no terminal. Nothing was \
                 done; go on without it, and say what was not allowed and why",
            ),
            (
                Answer::denied_by(DeniedBy::TimeOut, "within 24 h"),
                "not allowed: push to main. The person did not answer: within 24 h. Nothing was done; go on without \
                 it, and say what was not allowed and why",
            ),
            (
                Answer::Cancelled,
                "not allowed: push to main. The person who was asked dismissed the question. Nothing was done; do \
                 not try it in another way, ask them what they want",
            ),
            (
                Answer::value(1),
                "not allowed: push to main. Asking for it failed: a value came where permission was asked. Nothing \
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

//! An answer, with the name of the person who gave it.

use super::Answer;

/// An answer to a question, and who gave it.
///
/// The name is the host's: a principal that it authenticated, or a person that it knows. Never take it from the message of a client. For this
/// reason it is no part of an [`Answer`], which a client may send as JSON, and this type has no `Deserialize`.
///
/// ```
/// use toolkit_core::{Answer, Reply};
///
/// let reply = Reply::new(Answer::allow()).by("ada");
/// assert_eq!(reply.answered_by.as_deref(), Some("ada"));
/// assert_eq!(Reply::from(Answer::deny()).answered_by, None);
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Reply {
    /// The answer.
    pub answer: Answer,
    /// The name of the person who answered, if the host knows it.
    pub answered_by: Option<String>,
}

impl Reply {
    /// Creates a reply of an unknown person.
    pub fn new(answer: Answer) -> Self {
        Self { answer, answered_by: None }
    }

    /// Sets the name of the person who answered.
    #[must_use]
    pub fn by(self, name: impl Into<String>) -> Self {
        Self { answered_by: Some(name.into()), ..self }
    }

    /// Replaces the answer; the person stays.
    #[doc(hidden)]
    #[must_use]
    pub fn with_answer(self, answer: Answer) -> Self {
        Self { answer, ..self }
    }
}

impl From<Answer> for Reply {
    fn from(answer: Answer) -> Self {
        Self::new(answer)
    }
}

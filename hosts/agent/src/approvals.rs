//! The approver of a run's calls.

use std::sync::Arc;
use toolkit::{
    Approver,
    approval::{Answer, Answering, DeniedBy, PendingAsk, Question},
};

/// The permission kind of the loop guard's question: an agent that repeats itself is never confirmed automatically.
const REPEAT: &str = "repeat";

/// Allows what a person would be asked to approve, because the user's configuration says so in advance.
///
/// It never sees what a policy, a rule or a tool denies: that is decided before anybody is asked. What it leaves to the approver behind
/// it are questions about paths that hold secrets, run commands or lift bounds ([`Ask::is_guarded`](toolkit::Ask::is_guarded)), those of
/// the loop guard, and questions for anything other than a permission.
pub(crate) struct AutoConfirm {
    pub(crate) person: Option<Arc<dyn Approver>>,
}

impl Approver for AutoConfirm {
    fn ask<'a>(&'a self, ask: &'a PendingAsk) -> Answering<'a> {
        let is_confirmed = match ask.question() {
            Question::Approve(ask) => !ask.is_guarded() && ask.kind.trim() != REPEAT,
            _ => false,
        };
        if is_confirmed {
            return Box::pin(std::future::ready(Some(Answer::allow().into())));
        }
        match &self.person {
            Some(person) => person.ask(ask),
            None => {
                let why =
                    "automatic confirmation does not cover this, and no approver is available; do without it";
                Box::pin(std::future::ready(Some(Answer::denied_by(DeniedBy::NobodyThere, why).into())))
            }
        }
    }
}

//! The approver of a test, with the questions that it was asked.

use crate::approver::{Answering, Approver};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use toolkit_core::ask::PendingAsk;

/// An approver that answers in a test: each one does.
// A trait of its own, so that an answer or a closure is one compile error that says what to write.
#[diagnostic::on_unimplemented(
    message = "a test answers with an approver, and this is none",
    label = "not an `Approver`",
    note = "always the same answer: `.approve(ScriptedApprover::always(Answer::allow()))`; one for each question: `ScriptedApprover::new([Answer::allow(), Answer::deny()])`",
    note = "of a closure: `.approve(CallbackApprover::new(|ask| Answer::allow()))`; these names are in `toolkit::approval`"
)]
pub trait AsAnswers {
    #[doc(hidden)]
    fn into_approver(self) -> impl Approver;
}

#[diagnostic::do_not_recommend]
impl<A: Approver> AsAnswers for A {
    fn into_approver(self) -> impl Approver {
        self
    }
}

/// An approver that remembers the questions that it was asked.
#[derive(Clone)]
pub(super) struct Recorded {
    approver: Arc<dyn Approver>,
    asked: Arc<Mutex<Vec<PendingAsk>>>,
}

impl Recorded {
    pub(super) fn new(approver: impl Approver) -> Self {
        Self { approver: Arc::new(approver), asked: Arc::default() }
    }

    /// Returns the questions asked so far, in order.
    pub(super) fn asked(&self) -> Vec<PendingAsk> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Approver for Recorded {
    fn ask<'a>(&'a self, ask: &'a PendingAsk) -> Answering<'a> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).push(ask.clone());
        self.approver.ask(ask)
    }
}

impl fmt::Debug for Recorded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recorded").field("asked", &self.asked().len()).finish_non_exhaustive()
    }
}

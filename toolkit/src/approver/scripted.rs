//! An approver with prepared answers, for tests.

use super::{Answering, Approver};
use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use toolkit_core::ask::{Answer, DeniedBy, PendingAsk, Reply};

/// Answers from a script, and records the questions; for tests. Clones are cheap and share their state.
///
/// A question that was allowed for the session or always is not asked again, and then uses up no answer of the script.
///
/// The first matching rule answers, otherwise the next answer in order. When no answer is left it denies, and says so.
///
/// ```
/// use toolkit::approval::{Answer, Question, ScriptedApprover};
///
/// let approver = ScriptedApprover::new([Answer::allow(), Answer::deny_saying("enough")])
///     .with_rule(|ask| ask.origin().tool == "read", Answer::allow());
/// assert_eq!(approver.asked().len(), 0);
/// assert_eq!(approver.remaining(), 2);
/// ```
#[derive(Clone)]
pub struct ScriptedApprover {
    rules: Vec<Rule>,
    state: Arc<Mutex<State>>,
}

type Rule = (Arc<dyn Fn(&PendingAsk) -> bool + Send + Sync>, Reply);

#[derive(Default)]
struct State {
    answers: VecDeque<Reply>,
    asked: Vec<PendingAsk>,
}

/// The answers of a script: a list of [`Answer`]s, or another iterator over them.
// A trait of its own, so that an answer alone, or a list of `bool`, is one compile error that says what to write.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "a script is a list of answers",
    label = "not a list of `Answer`",
    note = "write `ScriptedApprover::new([Answer::allow(), Answer::deny()])`; always the same answer: `ScriptedApprover::always(Answer::allow())`"
)]
pub trait Answers {
    #[doc(hidden)]
    fn into_answers(self) -> impl Iterator<Item = Answer>;
}

#[diagnostic::do_not_recommend]
impl<I: IntoIterator<Item = Answer>> Answers for I {
    fn into_answers(self) -> impl Iterator<Item = Answer> {
        self.into_iter()
    }
}

impl ScriptedApprover {
    /// Gives these answers, in order.
    pub fn new(answers: impl Answers) -> Self {
        let answers = answers.into_answers().map(Reply::from).collect();
        Self { rules: Vec::new(), state: Arc::new(Mutex::new(State { answers, asked: Vec::new() })) }
    }

    /// Always gives the same answer.
    pub fn always(answer: impl Into<Reply>) -> Self {
        Self::new([]).with_rule(|_| true, answer)
    }

    /// Gives `answer` to questions for which `applies` returns true.
    #[must_use]
    pub fn with_rule(
        mut self,
        applies: impl Fn(&PendingAsk) -> bool + Send + Sync + 'static,
        answer: impl Into<Reply>,
    ) -> Self {
        self.rules.push((Arc::new(applies), answer.into()));
        self
    }

    /// Returns the questions asked so far, in order.
    pub fn asked(&self) -> Vec<PendingAsk> {
        self.lock().asked.clone()
    }

    /// Returns the number of answers of the script that are not used yet.
    pub fn remaining(&self) -> usize {
        self.lock().answers.len()
    }

    fn answer(&self, ask: &PendingAsk) -> Reply {
        let rule = self.rules.iter().find(|(applies, _)| applies(ask));
        let mut state = self.lock();
        state.asked.push(ask.clone());
        let scripted = rule.map(|(_, answer)| answer.clone()).or_else(|| state.answers.pop_front());
        scripted.unwrap_or_else(|| {
            let count = state.asked.len();
            Answer::denied_by(
                DeniedBy::NobodyThere,
                format!("the script of answers ended before question {count}"),
            )
            .into()
        })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[diagnostic::do_not_recommend]
impl Approver for ScriptedApprover {
    fn ask<'a>(&'a self, ask: &'a PendingAsk) -> Answering<'a> {
        Box::pin(std::future::ready(Some(self.answer(ask))))
    }
}

impl fmt::Debug for ScriptedApprover {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.lock();
        f.debug_struct("ScriptedApprover")
            .field("asked", &state.asked)
            .field("answers", &state.answers)
            .finish()
    }
}

//! Waits for the answer to a question: from the approver, from elsewhere, or until the timeout.

use super::{AnswerError, Asks, Waiting};
use crate::approver::{Answering, Approver};
use serde_json::Value;
use std::any::Any;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::time::{Sleep, sleep};
use toolkit_core::ask::{Answer, Ask, DeniedBy, Elicitation, Origin, PendingAsk, Put, Question, Reply};
use toolkit_core::error::ToolError;

/// The most times that a question is asked because of invalid answers.
const MAX_ATTEMPTS: u32 = 3;

type Asked<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

impl Asks {
    /// Asks for permission, once: rules and remembered approvals are applied by
    /// [`ToolContext::ask`](crate::ToolContext) instead.
    ///
    /// # Errors
    ///
    /// `Denied` unless it is allowed, with who denied it and what to do next.
    pub fn approve<'a>(
        &'a self,
        approver: &'a dyn Approver,
        origin: Origin,
        ask: Ask,
    ) -> Asked<'a, Result<(), ToolError>> {
        Box::pin(async move {
            let title = ask.title.clone();
            self.ask(approver, origin, Question::Approve(ask)).await.into_permission(&title)
        })
    }

    /// Asks for a value that matches the schema of `elicitation`; returns `None` if the person declines.
    ///
    /// # Errors
    ///
    /// `Denied` when no person can be asked or no answer comes in time, `Aborted` when the person dismisses the
    /// question.
    pub fn elicit<'a>(
        &'a self,
        approver: &'a dyn Approver,
        origin: Origin,
        elicitation: Elicitation,
    ) -> Asked<'a, Result<Option<Value>, ToolError>> {
        Box::pin(async move { self.ask(approver, origin, Question::Elicit(elicitation)).await.into_value() })
    }

    /// Asks, and waits for the first answer: the approver's, or one given through [`answer`](Self::answer).
    ///
    /// The result is always a valid answer to the question. An approver whose value is invalid is asked again, with
    /// the validation error, up to three times in all; one that panics, or answers another kind of question, denies.
    /// If it returns no answer, this waits for an answer from elsewhere, until the question times out.
    ///
    /// Dropping the future removes the question from the list. A question that has to wait needs a tokio runtime with
    /// its timer; without a runtime it is denied.
    pub fn ask<'a>(
        &'a self,
        approver: &'a dyn Approver,
        origin: Origin,
        question: Question,
    ) -> Asked<'a, Answer> {
        Box::pin(async move { self.ask_telling(approver, Put::once(origin, question), |_| {}).await.answer })
    }

    /// Asks, and calls a function with the question once it is on the list.
    pub(crate) fn ask_telling<'a>(
        &'a self,
        approver: &'a dyn Approver,
        put: Put,
        tell: impl FnOnce(&PendingAsk) + Send + 'a,
    ) -> Asked<'a, Reply> {
        Box::pin(async move {
            let mut waiting = match self.register(put) {
                Ok(waiting) => waiting,
                Err(refusal) => return refusal.into(),
            };
            tell(&waiting.ask);
            let mut deadline = Deadline::new(self, self.limits().age);
            waiting.hear_out(approver, Some(&mut deadline)).await
        })
    }
}

impl Asks {
    /// Returns the answer to a question that nobody answered in time.
    pub(crate) fn too_late(&self) -> Answer {
        Answer::denied_by(DeniedBy::TimeOut, format!("no answer within {}", in_words(self.limits().age)))
    }
}

impl Waiting {
    /// Waits for the answer, from the approver or from elsewhere, until the deadline.
    pub(super) async fn hear_out(
        &mut self,
        approver: &dyn Approver,
        mut deadline: Option<&mut Deadline>,
    ) -> Reply {
        let asks = self.asks.clone();
        let mut attempt = 1;
        loop {
            let ask = self.ask.clone();
            let mut consulted = Consulted::begin(approver, &ask);
            match poll_fn(|task| hear(self, &mut consulted, deadline.as_deref_mut(), task)).await {
                Heard::Elsewhere(reply) => return reply,
                Heard::TooLate(denial) => return settle(self, denial),
                Heard::Approver(reply) => match asks.answer(ask.id(), reply) {
                    Err(AnswerError::Unfit { problem }) if attempt < MAX_ATTEMPTS => {
                        self.ask_again(problem);
                    }
                    outcome => return settle(self, fault(outcome)),
                },
            }
            attempt += 1;
        }
    }
}

/// Returns the answer that was given, or else `otherwise`; afterwards no answer is accepted.
fn settle(waiting: &mut Waiting, otherwise: Answer) -> Reply {
    waiting.answer.close();
    waiting.answer.try_recv().unwrap_or_else(|_| otherwise.into())
}

/// Returns the answer to use instead of an approver's rejected one, if no other answer was given.
pub(super) fn fault(outcome: Result<(), AnswerError>) -> Answer {
    let problem = match outcome {
        Err(AnswerError::Unfit { problem }) => {
            format!("{MAX_ATTEMPTS} answers in a row did not fit, the last one: {problem}")
        }
        Err(AnswerError::WrongKind { problem }) => {
            format!("the approver gave an invalid answer; {problem}")
        }
        _ => "the question was lost".to_owned(),
    };
    Answer::denied_by(DeniedBy::Fault, problem)
}

enum Heard {
    Elsewhere(Reply),
    Approver(Reply),
    TooLate(Answer),
}

fn hear(
    waiting: &mut Waiting,
    consulted: &mut Consulted<'_>,
    deadline: Option<&mut Deadline>,
    task: &mut Context<'_>,
) -> Poll<Heard> {
    if let Poll::Ready(reply) = Pin::new(&mut waiting.answer).poll(task) {
        return Poll::Ready(Heard::Elsewhere(reply.unwrap_or_else(|_| fault(Ok(())).into())));
    }
    if let Poll::Ready(reply) = consulted.poll(task) {
        return Poll::Ready(Heard::Approver(reply));
    }
    deadline.map_or(Poll::Pending, |deadline| deadline.poll(task).map(Heard::TooLate))
}

/// The running future of an approver; `None` once it said that the answer comes from elsewhere.
struct Consulted<'a>(Option<Answering<'a>>, Option<Reply>);

impl<'a> Consulted<'a> {
    fn begin(approver: &'a dyn Approver, ask: &'a PendingAsk) -> Self {
        match catch_unwind(AssertUnwindSafe(|| approver.ask(ask))) {
            Ok(answering) => Self(Some(answering), None),
            Err(panic) => Self(None, Some(panicked(panic).into())),
        }
    }

    fn poll(&mut self, task: &mut Context<'_>) -> Poll<Reply> {
        if let Some(denial) = self.1.take() {
            return Poll::Ready(denial);
        }
        let Some(answering) = &mut self.0 else { return Poll::Pending };
        let answer = match catch_unwind(AssertUnwindSafe(|| answering.as_mut().poll(task))) {
            Ok(Poll::Pending) => return Poll::Pending,
            Ok(Poll::Ready(answer)) => answer,
            Err(panic) => Some(panicked(panic).into()),
        };
        self.end();
        answer.map_or(Poll::Pending, Poll::Ready)
    }

    /// Drops the future, which may panic. Its answer is still used.
    fn end(&mut self) {
        let answering = self.0.take();
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| drop(answering))) {
            std::mem::forget(panic);
        }
    }
}

impl Drop for Consulted<'_> {
    fn drop(&mut self) {
        self.end();
    }
}

fn panicked(panic: Box<dyn Any + Send>) -> Answer {
    // The person also reads this message, and a panic's text is for developers: the panic hook has printed it. The
    // payload is leaked, because dropping it runs the approver's code, which may panic again.
    std::mem::forget(panic);
    Answer::denied_by(DeniedBy::Fault, "the approver stopped on an internal error")
}

/// The time at which a question expires. The timer is created at the first wait.
pub(super) struct Deadline {
    left: Duration,
    /// The answer when it is over.
    denial: Answer,
    sleep: Option<Pin<Box<Sleep>>>,
}

impl Deadline {
    /// Creates the deadline of a question with so much time left.
    pub(super) fn new(asks: &Asks, left: Duration) -> Self {
        Self { left: left.min(asks.limits().age), denial: asks.too_late(), sleep: None }
    }

    pub(super) fn poll(&mut self, task: &mut Context<'_>) -> Poll<Answer> {
        if self.sleep.is_none() && Handle::try_current().is_err() {
            let problem = "waiting for an answer needs a tokio runtime, and none is running here";
            return Poll::Ready(Answer::denied_by(DeniedBy::Fault, problem));
        }
        if self.sleep.is_none() {
            let left = self.left;
            // Tokio panics in a runtime without timers, and there is no way to check beforehand.
            self.sleep = catch_unwind(|| Box::pin(sleep(left))).ok();
        }
        let Some(sleep) = &mut self.sleep else {
            let problem = "waiting for a person needs a tokio runtime with timers, and this one has none";
            return Poll::Ready(Answer::denied_by(DeniedBy::Fault, problem));
        };
        // A later poll may run in another runtime than the first, which may have ended.
        match catch_unwind(AssertUnwindSafe(|| sleep.as_mut().poll(task))) {
            Ok(slept) => slept.map(|()| self.denial.clone()),
            Err(panic) => {
                std::mem::forget(panic);
                let problem = "the tokio runtime that it was first asked in has ended";
                Poll::Ready(Answer::denied_by(DeniedBy::Fault, problem))
            }
        }
    }
}

fn in_words(age: Duration) -> String {
    match age.as_secs() {
        0 => format!("{} ms", age.as_millis()),
        seconds if seconds % 3600 == 0 => format!("{} h", seconds / 3600),
        seconds if seconds % 60 == 0 => format!("{} min", seconds / 60),
        seconds => format!("{seconds} s"),
    }
}

//! Equal questions of several simultaneous calls: a person answers once, for all of them.

mod flight;

use super::wait::{Deadline, fault};
use super::{Asks, State, fitting};
use crate::approvals::Memory;
use crate::approver::Approver;
use flight::{Flight, Passenger};
use std::pin::Pin;
use std::sync::{Arc, Weak};
use std::task::{Context, Poll};
use std::time::Duration;
use toolkit_core::ask::{Answer, PendingAsk, Question, Reply};

/// The handle with which further calls can wait for the answer to a question.
pub(super) struct Joinable {
    memory: Memory,
    flight: Weak<Flight>,
    /// The number of calls that wait.
    waiting: usize,
}

/// A question that one call waits for, possibly together with others, each until its own deadline. Dropping it leaves the question to the others;
/// dropping the last one removes the question from the list.
pub(crate) struct Joined {
    asks: Asks,
    ask: PendingAsk,
    passenger: Passenger,
    deadline: Deadline,
    /// True if another call asked it first.
    is_later: bool,
    /// True while it is counted among the calls that wait.
    waits: bool,
}

impl Asks {
    /// Asks for permission, or waits together with calls that already ask the same. An earlier approval answers it; a new approval
    /// is remembered for the scope of the answer. `left` is the time for an answer, if it is not the whole.
    pub(crate) fn ask_together(
        &self,
        approver: Arc<dyn Approver>,
        ask: PendingAsk,
        left: Option<Duration>,
        memory: &Memory,
    ) -> Result<Joined, Answer> {
        let deadline = Deadline::new(self, left.unwrap_or(self.limits().age));
        let joined = |ask, flight, is_later| {
            let (asks, passenger) = (self.clone(), Passenger::of(flight));
            Joined { asks, ask, passenger, deadline, is_later, waits: true }
        };
        let mut state = self.lock();
        let open = state.pending.iter().filter(|(_, entry)| entry.is_open()).find_map(|(id, entry)| {
            let Joinable { memory: other, flight, .. } = entry.joinable.as_ref()?;
            let is_same = other.is_same(memory) && asks_the_same(entry.ask.question(), ask.question());
            // `None` if its last waiter is gone and about to remove it from the list.
            let flight = is_same.then(|| flight.upgrade()).flatten()?;
            Some((id.clone(), flight))
        });
        if let Some((id, flight)) = open {
            // The upgraded reference must not be the last one, because it would then be dropped under the lock.
            let room = self.check_count(&state);
            let shown = room.map(|()| {
                state.joined += 1;
                state.join(&id, &ask).unwrap_or(ask)
            });
            drop(state);
            return shown.map(|shown| joined(shown, flight, true));
        }
        let mut waiting = self.register_in(&mut state, ask)?;
        let ask = waiting.ask.clone();
        let flight = Flight::new(Box::pin({
            let memory = memory.clone();
            async move {
                let Question::Approve(ask) = waiting.ask.question().clone() else {
                    return waiting.hear_out(&*approver, None).await;
                };
                // Another call may have been approved since this call checked the memory.
                if let Ok(Some(_)) = memory.recall(&ask) {
                    return Answer::allow().into();
                }
                let reply = waiting.hear_out(&*approver, None).await;
                if let Answer::Allow { scope, .. } = reply.answer {
                    // The question stays on the list until it is remembered, so that an equal question in the meantime need not be
                    // asked.
                    memory.keep(&ask, scope).await;
                }
                reply
            }
        }));
        if let Some(entry) = state.pending.get_mut(ask.id()) {
            let (memory, flight) = (memory.clone(), Arc::downgrade(&flight));
            entry.joinable = Some(Joinable { memory, flight, waiting: 1 });
        }
        drop(state);
        Ok(joined(ask, flight, false))
    }
}

impl State {
    /// Counts one more call that waits for the answer to a question, and returns the question, which is listed until the last of their deadlines.
    fn join(&mut self, id: &str, ask: &PendingAsk) -> Option<PendingAsk> {
        let entry = self.pending.get_mut(id)?;
        entry.joinable.as_mut()?.waiting += 1;
        entry.ask = entry.ask.expiring_with(ask);
        Some(entry.ask.clone())
    }

    /// Counts one call less. Returns the number of those that still wait; `None` if the question is not on the list any more.
    fn leave(&mut self, id: &str) -> Option<usize> {
        let joinable = self.pending.get_mut(id)?.joinable.as_mut()?;
        joinable.waiting -= 1;
        Some(joinable.waiting)
    }
}

impl Asks {
    /// Takes an answer that was given while no call waited, as [`answer`](Self::answer) takes others: one of another kind denies, and a
    /// longer scope than the question offers is reduced to it. An approval is remembered for its scope.
    pub(crate) async fn accept(ask: &PendingAsk, memory: &Memory, reply: Reply) -> Reply {
        let answer = match fitting(ask.question(), reply.answer.clone()) {
            Ok(answer) => ask.narrow(answer),
            Err(error) => fault(Err(error)),
        };
        if let (Question::Approve(question), Answer::Allow { scope, .. }) = (ask.question(), &answer) {
            memory.keep(question, *scope).await;
        }
        reply.with_answer(answer)
    }
}

/// Returns true if a person would be asked the same.
fn asks_the_same(one: &Question, other: &Question) -> bool {
    let (Question::Approve(one), Question::Approve(other)) = (one, other) else { return false };
    one.asks_the_same(other)
}

impl Joined {
    /// Returns the question; the first caller's question if this one joined later.
    pub(crate) fn ask(&self) -> &PendingAsk {
        &self.ask
    }
}

impl Joined {
    /// Ends the wait at the deadline. Returns false if an answer has been accepted, which is about to be heard.
    fn expire(&mut self) -> bool {
        let mut state = self.asks.lock();
        let id = self.ask.id();
        if state.pending.get(id).is_none_or(|entry| entry.answer.is_none()) {
            return false;
        }
        self.waits = false;
        // Nobody is told that an answer was accepted that nobody hears.
        let entry = if state.leave(id) == Some(0) { state.take(id) } else { None };
        drop(state);
        drop(entry);
        true
    }
}

impl Future for Joined {
    type Output = Reply;

    fn poll(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Reply> {
        if let Poll::Ready(reply) = self.passenger.poll(task) {
            return Poll::Ready(reply);
        }
        match self.deadline.poll(task) {
            Poll::Ready(denial) if self.waits && self.expire() => Poll::Ready(denial.into()),
            _ => Poll::Pending,
        }
    }
}

impl Drop for Joined {
    fn drop(&mut self) {
        let mut state = self.asks.lock();
        if self.is_later {
            state.joined -= 1;
        }
        if self.waits {
            state.leave(self.ask.id());
        }
    }
}

#[cfg(test)]
mod tests;

//! Equal questions of several simultaneous calls: a person answers once, for all of them.

mod flight;

use super::Asks;
use super::fitting;
use super::wait::fault;
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
}

/// A question that one call waits for, possibly together with others. Dropping it leaves the question to the others; dropping the
/// last one removes the question from the list.
pub(crate) struct Joined {
    asks: Asks,
    ask: PendingAsk,
    passenger: Passenger,
    /// True if another call asked it first.
    is_later: bool,
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
        let mut state = self.lock();
        let open = state.pending.values().filter(|entry| entry.is_open()).find_map(|entry| {
            let Joinable { memory: other, flight } = entry.joinable.as_ref()?;
            let is_same = other.is_same(memory) && asks_the_same(entry.ask.question(), ask.question());
            // `None` if its last waiter is gone and about to remove it from the list.
            let flight = is_same.then(|| flight.upgrade()).flatten()?;
            Some((entry.ask.clone(), flight))
        });
        if let Some((ask, flight)) = open {
            // The upgraded reference must not be the last one, because it would then be dropped under the lock.
            let room = self.check_count(&state);
            state.joined += usize::from(room.is_ok());
            drop(state);
            let asks = self.clone();
            return room.map(|()| Joined { asks, ask, passenger: Passenger::of(flight), is_later: true });
        }
        let mut waiting = self.register_in(&mut state, ask, left)?;
        let ask = waiting.ask.clone();
        let flight = Flight::new(Box::pin({
            let memory = memory.clone();
            async move {
                let Question::Approve(ask) = waiting.ask.question().clone() else {
                    return waiting.hear_out(&*approver).await;
                };
                // Another call may have been approved since this call checked the memory.
                if let Ok(Some(_)) = memory.recall(&ask) {
                    return Answer::allow().into();
                }
                let reply = waiting.hear_out(&*approver).await;
                if let Answer::Allow { scope, .. } = reply.answer {
                    // The question stays on the list until it is remembered, so that an equal question in the meantime need not be
                    // asked.
                    memory.keep(&ask, scope).await;
                }
                reply
            }
        }));
        if let Some(entry) = state.pending.get_mut(ask.id()) {
            entry.joinable = Some(Joinable { memory: memory.clone(), flight: Arc::downgrade(&flight) });
        }
        drop(state);
        Ok(Joined { asks: self.clone(), ask, passenger: Passenger::of(flight), is_later: false })
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

impl Future for Joined {
    type Output = Reply;

    fn poll(self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Reply> {
        self.passenger.poll(task)
    }
}

impl Drop for Joined {
    fn drop(&mut self) {
        if self.is_later {
            self.asks.lock().joined -= 1;
        }
    }
}

#[cfg(test)]
mod tests;

//! One future that several tasks wait for. Any of them brings it on, whenever it is woken, so it does not matter which of
//! them is dropped or is not polled any more.

use crate::ask::{Answer, DeniedBy};
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

type Answering = Pin<Box<dyn Future<Output = Answer> + Send>>;

/// What brings the answer, and those who wait for it. It is dropped with the last of them.
pub(super) struct Flight {
    state: Mutex<State>,
    /// Apart from the future: that holds wakers, and must not hold itself.
    wakers: Arc<Wakers>,
}

struct State {
    /// Away while somebody polls it, and gone once it is done.
    answering: Option<Answering>,
    answer: Option<Answer>,
    /// Whether somebody came to poll it while it was away.
    was_wanted: bool,
}

/// Those to wake, by a number of their own.
#[derive(Default)]
struct Wakers(Mutex<(u64, BTreeMap<u64, Waker>)>);

/// One who waits.
pub(super) struct Passenger {
    flight: Arc<Flight>,
    number: u64,
}

impl Flight {
    pub(super) fn new(answering: Answering) -> Arc<Self> {
        let state = State { answering: Some(answering), answer: None, was_wanted: false };
        Arc::new(Self { state: Mutex::new(state), wakers: Arc::default() })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing that runs under the lock can leave the state half changed.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn poll(&self) -> Poll<Answer> {
        let mut answering = {
            let mut state = self.lock();
            if let Some(answer) = &state.answer {
                return Poll::Ready(answer.clone());
            }
            let Some(answering) = state.answering.take() else {
                state.was_wanted = true;
                return Poll::Pending;
            };
            answering
        };
        // Not under the lock: an approver may do anything.
        let waker = Waker::from(Arc::clone(&self.wakers));
        let polled =
            catch_unwind(AssertUnwindSafe(|| answering.as_mut().poll(&mut Context::from_waker(&waker))));
        let answer = match polled {
            Ok(Poll::Pending) => {
                let was_wanted = {
                    let mut state = self.lock();
                    state.answering = Some(answering);
                    std::mem::take(&mut state.was_wanted)
                };
                // What they came for may have happened after it was looked at here.
                if was_wanted {
                    waker.wake();
                }
                return Poll::Pending;
            }
            Ok(Poll::Ready(answer)) => answer,
            Err(panic) => {
                std::mem::forget(panic);
                Answer::denied_by(DeniedBy::Fault, "asking stopped on an internal error")
            }
        };
        // The question is off the list before anybody has its answer.
        drop(answering);
        self.lock().answer = Some(answer.clone());
        waker.wake();
        Poll::Ready(answer)
    }
}

impl Wakers {
    fn lock(&self) -> MutexGuard<'_, (u64, BTreeMap<u64, Waker>)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Wake for Wakers {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        let wakers: Vec<Waker> = self.lock().1.values().cloned().collect();
        wakers.into_iter().for_each(Waker::wake);
    }
}

impl Passenger {
    pub(super) fn of(flight: Arc<Flight>) -> Self {
        let number = {
            let mut wakers = flight.wakers.lock();
            wakers.0 += 1;
            wakers.0
        };
        Self { flight, number }
    }

    pub(super) fn poll(&self, task: &Context<'_>) -> Poll<Answer> {
        let before = self.flight.wakers.lock().1.insert(self.number, task.waker().clone());
        // Dropping a waker may run code of anybody's.
        drop(before);
        self.flight.poll()
    }
}

impl Drop for Passenger {
    fn drop(&mut self) {
        let waker = self.flight.wakers.lock().1.remove(&self.number);
        drop(waker);
    }
}

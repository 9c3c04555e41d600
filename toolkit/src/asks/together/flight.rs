//! A future that several tasks wait for. Each of them polls it when woken, so it does not matter which of them is dropped
//! or no longer polled.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use toolkit_core::ask::{Answer, DeniedBy, Reply};

type Answering = Pin<Box<dyn Future<Output = Reply> + Send>>;

/// The future of the answer, and the waiting tasks. It is dropped with the last of them.
pub(super) struct Flight {
    state: Mutex<State>,
    /// Separate from the future, which holds wakers and must not hold itself.
    wakers: Arc<Wakers>,
}

struct State {
    /// `None` while a task polls it, and after it is done.
    answering: Option<Answering>,
    answer: Option<Reply>,
    /// True if another task tried to poll it meanwhile.
    was_wanted: bool,
}

/// The wakers of waiting tasks, each with a number.
#[derive(Default)]
struct Wakers(Mutex<(u64, BTreeMap<u64, Waker>)>);

/// One waiting task.
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
        // No code under the lock can leave the state inconsistent, even if it panics.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn poll(&self) -> Poll<Reply> {
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
        // Without the lock: an approver may run any code.
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
                // The event that they were woken for may have happened after this poll.
                if was_wanted {
                    waker.wake();
                }
                return Poll::Pending;
            }
            Ok(Poll::Ready(answer)) => answer,
            Err(panic) => {
                std::mem::forget(panic);
                Answer::denied_by(DeniedBy::Fault, "asking stopped on an internal error").into()
            }
        };
        // The question is removed from the list before any caller gets the answer.
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

    pub(super) fn poll(&self, task: &Context<'_>) -> Poll<Reply> {
        let before = self.flight.wakers.lock().1.insert(self.number, task.waker().clone());
        // Dropping a waker may run foreign code.
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

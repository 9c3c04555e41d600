//! Faults that a test injects.

use crate::Answer;
use tokio::sync::watch;

/// A fault of the server or of the network.
#[derive(Debug, Clone)]
pub enum Fault {
    /// The request is refused with status 429 and the seconds to wait. It is not processed.
    TooManyRequests(u64),
    /// The request is refused with this status, from 500 up. It is not processed.
    ServerError(u16),
    /// The request is refused with status 409. It is not processed.
    Conflict,
    /// The connection ends, and the request is not processed.
    CloseBefore,
    /// The request is processed, and the connection ends without an answer.
    CloseAfter,
    /// The request is processed, and its answer is cut.
    MalformedJson,
    /// The request is answered so. It is not processed.
    Answer(Answer),
}

/// A fault, and the requests that meet it.
#[derive(Debug)]
pub(super) struct Injected {
    pub(super) method: String,
    pub(super) times: usize,
    pub(super) what: Effect,
}

/// The effect on a request.
#[derive(Debug, Clone)]
pub(super) enum Effect {
    Fault(Fault),
    /// The request is processed, and its answer is held back.
    Hold(Holding),
}

/// The server's side of [`Held`].
#[derive(Debug, Clone)]
pub(super) struct Holding {
    pub(super) reached: watch::Sender<bool>,
    pub(super) released: watch::Receiver<bool>,
}

/// A request whose answer is held back until this value is released or dropped.
#[derive(Debug)]
pub struct Held {
    reached: watch::Receiver<bool>,
    release: watch::Sender<bool>,
}

impl Held {
    /// Waits until the request has been processed.
    pub async fn reached(&self) {
        // The sender lives as long as the fault does, which ends when it is reached.
        let _ = self.reached.clone().wait_for(|reached| *reached).await;
    }

    /// Lets the answer go.
    pub fn release(self) {
        self.release.send_replace(true);
    }
}

/// Returns both sides of an answer that is held back.
pub(super) fn hold() -> (Held, Holding) {
    let (reached, was_reached) = watch::channel(false);
    let (release, released) = watch::channel(false);
    (Held { reached: was_reached, release }, Holding { reached, released })
}

impl Holding {
    /// Tells that the request was processed, and waits for the release.
    pub(super) async fn wait(mut self) {
        self.reached.send_replace(true);
        let _ = self.released.wait_for(|released| *released).await;
    }
}

/// Takes the first effect for a method.
pub(super) fn take(faults: &mut Vec<Injected>, method: &str) -> Option<Effect> {
    let place = faults.iter().position(|fault| fault.method == method || fault.method == "*")?;
    let fault = faults.get_mut(place)?;
    let what = fault.what.clone();
    fault.times = fault.times.saturating_sub(1);
    if fault.times == 0 {
        faults.remove(place);
    }
    Some(what)
}

//! The events of an open conversation, as they happen: for those who watch an answer being written.

use tokio::sync::watch;
use toolkit_agent::{Observation, Observed, ObservedEvent};

use crate::{SessionKey, Sessions};

/// The conversation of a session, whenever it is open.
pub(super) struct Live {
    sessions: Sessions,
    session: SessionKey,
    opened: watch::Receiver<u64>,
    observation: Option<Observation>,
    /// True until the conversation was looked for.
    is_first: bool,
    /// True if the conversation is looked for once another one was opened.
    is_awaited: bool,
    /// The number and the time of the last event that was seen.
    last: Option<(u64, u64)>,
}

/// A part of the view.
pub(super) enum Seen {
    /// Events, in order.
    Events(Vec<Observed>),
    /// So many events came faster than they were read.
    Missed(u64),
}

impl Live {
    pub(super) fn new(sessions: Sessions, session: SessionKey) -> Self {
        let opened = sessions.opened();
        Self { sessions, session, opened, observation: None, is_first: true, is_awaited: false, last: None }
    }

    /// Waits for the next events. Nothing is lost if the future is dropped.
    pub(super) async fn next(&mut self) -> Seen {
        loop {
            if let Some(observation) = &mut self.observation {
                match observation.next().await {
                    Some(Ok(observed)) => {
                        self.last = Some((observed.seq, observed.at));
                        return Seen::Events(vec![observed]);
                    }
                    Some(Err(missed)) => return Seen::Missed(missed),
                    None => (self.observation, self.is_awaited) = (None, true),
                }
            }
            if self.is_awaited {
                if self.opened.changed().await.is_err() {
                    std::future::pending::<()>().await;
                }
                self.is_awaited = false;
            }
            self.opened.borrow_and_update();
            let is_first = std::mem::replace(&mut self.is_first, false);
            let Some(mut observation) = self.sessions.observe(&self.session) else {
                self.is_awaited = true;
                continue;
            };
            let so_far = std::mem::take(&mut observation.so_far);
            self.observation = Some(observation);
            let last = so_far.last().map(|observed| (observed.seq, observed.at));
            // A conversation that has ended may be found once more.
            let is_seen = last == self.last;
            // A run that was over when the view began is in the transcript.
            let is_over = so_far.iter().any(|observed| ends_run(&observed.event));
            if !(so_far.is_empty() || is_seen || is_first && is_over) {
                self.last = last;
                return Seen::Events(so_far);
            }
        }
    }
}

fn ends_run(event: &ObservedEvent) -> bool {
    matches!(event, ObservedEvent::RunEnded { .. } | ObservedEvent::RunInterrupted { .. })
}

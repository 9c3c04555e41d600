//! Events to any number of observers, in one order, also to those that join while a run goes on.

use crate::events::{AgentEvent, Observer};
use crate::result::ToolAgentResult;
use crate::transcript::DamagedTranscript;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::broadcast::{self, error::RecvError};
use tokio::sync::mpsc;

/// The most events that wait for an observer that does not read; older ones are missed.
const MAX_WAITING: usize = 1_024;
/// The most events of a run that are kept for observers that join late. Pieces of one text are one event.
const MAX_KEPT: usize = 4_096;
/// The most bytes of a text that pieces are joined to.
const MAX_JOINED: usize = 64 << 10;

/// An event of a conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Observed {
    /// Its number, which grows by one from event to event.
    pub seq: u64,
    /// When it happened, in milliseconds since 1970.
    pub at: u64,
    /// The event.
    pub event: ObservedEvent,
}

/// Something that happened in a conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
#[non_exhaustive]
pub enum ObservedEvent {
    /// A message waits.
    Queued {
        /// Its id.
        id: String,
    },
    /// A message that waited is taken back.
    Withdrawn {
        /// Its id.
        id: String,
    },
    /// The mode of the next run was set.
    ModeSet {
        /// The mode.
        mode: super::Mode,
    },
    /// The transcript is damaged, and the conversation goes on in a fork that has the lines before the damage.
    ForkedBeforeDamage {
        /// The damaged transcript and the fork.
        damage: DamagedTranscript,
    },
    /// An event of the run.
    Run {
        /// The id of the run.
        run: String,
        /// The event.
        event: Box<AgentEvent>,
    },
    /// The run is over, and its account is on the disk.
    RunEnded {
        /// The id of the run.
        run: String,
        /// Its account.
        result: Box<ToolAgentResult>,
    },
    /// The run was interrupted, as by a crash: it has no end, and goes on when the conversation is opened again.
    RunInterrupted {
        /// The id of the run.
        run: String,
    },
    /// The conversation has ended. Nothing follows.
    Ended,
}

/// The observers of one conversation.
pub(super) struct Watch {
    state: Mutex<State>,
    callbacks: Mutex<Vec<Observer>>,
}

struct State {
    last: u64,
    /// The events since the latest run began.
    kept: VecDeque<Observed>,
    /// `None` once the conversation has ended.
    live: Option<Live>,
}

struct Live {
    observers: broadcast::Sender<Observed>,
    /// Observers that miss nothing.
    whole: Vec<mpsc::UnboundedSender<Observed>>,
}

impl Watch {
    pub(super) fn new() -> Self {
        let live = Live { observers: broadcast::channel(MAX_WAITING).0, whole: Vec::new() };
        let state = State { last: 0, kept: VecDeque::new(), live: Some(live) };
        Self { state: Mutex::new(state), callbacks: Mutex::default() }
    }

    pub(super) fn send(&self, event: ObservedEvent) {
        let mut state = self.lock();
        if matches!(&event, ObservedEvent::Run { event, .. } if matches!(**event, AgentEvent::Started { .. }))
        {
            state.kept.clear();
        }
        state.last += 1;
        let observed = Observed { seq: state.last, at: crate::transcript::now(), event };
        if !matches!(observed.event, ObservedEvent::Queued { .. } | ObservedEvent::Withdrawn { .. }) {
            state.keep(&observed);
        }
        if let Some(live) = &mut state.live {
            live.whole.retain(|observer| observer.send(observed.clone()).is_ok());
            // Without an observer nobody gets it.
            let _ = live.observers.send(observed);
        }
    }

    /// Sends an event of a run, to callbacks too.
    pub(super) fn run(&self, run: &str, event: AgentEvent) {
        let callbacks = self.callbacks.lock().unwrap_or_else(PoisonError::into_inner).clone();
        for observer in callbacks {
            observer.send(event.clone());
        }
        self.send(ObservedEvent::Run { run: run.to_owned(), event: Box::new(event) });
    }

    pub(super) fn observe(&self, waiting: Vec<String>) -> Observation {
        let state = self.lock();
        let so_far = state.kept.iter().cloned().collect();
        let live = state.live.as_ref().map(|live| Source::Latest(live.observers.subscribe()));
        Observation { waiting, so_far, live }
    }

    pub(super) fn observe_whole(&self, waiting: Vec<String>) -> Observation {
        let mut state = self.lock();
        let so_far = state.kept.iter().cloned().collect();
        let live = state.live.as_mut().map(|live| {
            let (observer, events) = mpsc::unbounded_channel();
            live.whole.push(observer);
            Source::Whole(events)
        });
        Observation { waiting, so_far, live }
    }

    /// Ends the streams of all observers.
    pub(super) fn close(&self) {
        self.lock().live = None;
    }

    pub(super) fn call(&self, observer: Observer) {
        self.callbacks.lock().unwrap_or_else(PoisonError::into_inner).push(observer);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn keep(&mut self, observed: &Observed) {
        if let Some(last) = self.kept.back_mut()
            && joined(&mut last.event, &observed.event)
        {
            last.seq = observed.seq;
            return;
        }
        if self.kept.len() >= MAX_KEPT {
            self.kept.pop_front();
        }
        self.kept.push_back(observed.clone());
    }
}

/// Adds a piece of text to the one before. Returns false if they are of different texts.
fn joined(last: &mut ObservedEvent, next: &ObservedEvent) -> bool {
    let (ObservedEvent::Run { event: last, .. }, ObservedEvent::Run { event: next, .. }) = (last, next)
    else {
        return false;
    };
    let (text, more) = match (&mut **last, &**next) {
        (AgentEvent::Text { text }, AgentEvent::Text { text: more })
        | (AgentEvent::Reasoning { text }, AgentEvent::Reasoning { text: more }) => (text, more),
        (AgentEvent::Output { call_id, text }, AgentEvent::Output { call_id: other, text: more })
            if call_id == other =>
        {
            (text, more)
        }
        _ => return false,
    };
    if text.len() + more.len() > MAX_JOINED {
        return false;
    }
    text.push_str(more);
    true
}

/// The view of one observer.
#[derive(Debug)]
pub struct Observation {
    /// The ids of the messages that no run has consumed.
    pub waiting: Vec<String>,
    /// The events of the latest run so far. Pieces of one text are joined, and the number of such an event is that of its
    /// last piece. The messages before are in the transcript.
    pub so_far: Vec<Observed>,
    live: Option<Source>,
}

#[derive(Debug)]
enum Source {
    Latest(broadcast::Receiver<Observed>),
    Whole(mpsc::UnboundedReceiver<Observed>),
}

impl Observation {
    /// Waits for the next event after those [so far](Self::so_far). Returns `None` once the conversation has ended.
    ///
    /// # Errors
    ///
    /// The number of events that were missed, because more than 1,024 waited: the numbers of the next events show the gap. The
    /// transcript has what the missed ones told. A [whole](super::Conversation::observe_whole) observation misses none.
    pub async fn next(&mut self) -> Option<Result<Observed, u64>> {
        match self.live.as_mut()? {
            Source::Whole(events) => events.recv().await.map(Ok),
            Source::Latest(events) => match events.recv().await {
                Ok(observed) => Some(Ok(observed)),
                Err(RecvError::Lagged(missed)) => Some(Err(missed)),
                Err(RecvError::Closed) => None,
            },
        }
    }
}

impl std::fmt::Debug for Watch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Watch").finish_non_exhaustive()
    }
}

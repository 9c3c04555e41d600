//! Messages on their way: from the sender to the run that consumes each, and its end back to the sender.

use crate::request::DelegationRequest;
use crate::result::ToolAgentResult;
use crate::transcript::new_id;
use std::collections::VecDeque;
use std::sync::Arc;
use tokio::sync::watch;

/// A message to a conversation.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct IncomingMessage {
    /// Its id, which is unique in the conversation: a message that is sent again under it is consumed once.
    pub id: String,
    /// The task.
    pub request: DelegationRequest,
    /// True if it may reach a run that is under way, at its next turn, unless an earlier message waits or it has attachments.
    pub steers: bool,
    /// True if it begins no run of its own: it reaches its run while that is under way, or it is not consumed.
    pub only_steers: bool,
    /// The id of the run that it begins, or that it steers alone, if its sender gives one. Otherwise it begins a new one.
    pub run: Option<String>,
}

impl IncomingMessage {
    /// Returns a message that waits for its turn.
    pub fn new(id: impl Into<String>, text: impl Into<String>) -> Self {
        Self::of(id, DelegationRequest::new(text))
    }

    /// Returns a message with a new id, for a sender that never sends it again.
    pub fn once(text: impl Into<String>) -> Self {
        Self::new(new_id(), text)
    }

    /// Returns a message with all parts of a request.
    pub fn of(id: impl Into<String>, request: DelegationRequest) -> Self {
        Self { id: id.into(), request, steers: false, only_steers: false, run: None }
    }

    /// Lets it reach a run that is under way.
    #[must_use]
    pub fn steering(mut self) -> Self {
        self.steers = true;
        self
    }

    /// Lets it reach this run while it is under way, and no other: for a sender that keeps a queue and runs of its own.
    #[must_use]
    pub fn only_steering_run(mut self, run: impl Into<String>) -> Self {
        (self.steers, self.only_steers, self.run) = (true, true, Some(run.into()));
        self
    }

    /// Gives the run that it begins an id, which no other run of the conversation has: for a sender that keeps runs of its own.
    #[must_use]
    pub fn in_run(mut self, run: impl Into<String>) -> Self {
        self.run = Some(run.into());
        self
    }
}

/// The end of the run that consumed a message.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Ended {
    /// The id of the run.
    pub run: String,
    /// Its account. One of an earlier process has no steps.
    pub result: Arc<ToolAgentResult>,
}

/// The receipt of a message: its sender waits for the end of the run that consumes it.
#[derive(Debug, Clone)]
pub struct Receipt(pub(super) watch::Receiver<Outcome>);

/// The state of a message, as its sender sees it.
#[derive(Debug, Clone)]
pub(super) enum Outcome {
    Waits,
    Ended(Ended),
    /// A run of an earlier process, or one of long ago, consumed it, and its account is not held any more; or its run was interrupted.
    Consumed,
    /// It was withdrawn, or the conversation ended before it was consumed.
    NotConsumed,
}

impl Receipt {
    /// A receipt of which the outcome is known.
    pub(super) fn known(outcome: Outcome) -> Self {
        Self(watch::channel(outcome).1)
    }

    /// Waits for the end of the run that consumes the message. Returns `None` if the message was withdrawn, if the conversation ended before, or if
    /// it [was consumed](Self::is_consumed) by a run of which the account is not held: one that a later message superseded, that ended before 100
    /// others, or that was [interrupted](super::Conversation::interrupt).
    pub async fn ended(self) -> Option<Ended> {
        match self.outcome().await {
            Outcome::Ended(ended) => Some(ended),
            _ => None,
        }
    }

    /// Waits as [`ended`](Self::ended) does, and returns true if a run has consumed the message: it must not be sent again under another id.
    pub async fn is_consumed(self) -> bool {
        matches!(self.outcome().await, Outcome::Ended(_) | Outcome::Consumed)
    }

    async fn outcome(mut self) -> Outcome {
        let outcome = self.0.wait_for(|outcome| !matches!(outcome, Outcome::Waits)).await;
        outcome.map_or(Outcome::NotConsumed, |outcome| outcome.clone())
    }
}

/// The place of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Place {
    /// Before the runs.
    Queue,
    /// It is the task of the run under way.
    Task,
    /// It waits for the next turn of the run under way.
    Steering,
    /// A run has consumed it.
    Consumed(String),
}

/// A message on its way.
#[derive(Debug)]
pub(super) struct Flight {
    pub(super) message: IncomingMessage,
    pub(super) place: Place,
    outcome: watch::Sender<Outcome>,
}

/// All messages on their way, in the order in which they came.
#[derive(Debug, Default)]
pub(super) struct Flights(VecDeque<Flight>);

impl Flights {
    pub(super) fn add(&mut self, message: IncomingMessage, place: Place) -> Receipt {
        let (outcome, receiver) = watch::channel(Outcome::Waits);
        self.0.push_back(Flight { message, place, outcome });
        Receipt(receiver)
    }

    pub(super) fn get(&self, id: &str) -> Option<&Flight> {
        self.0.iter().find(|flight| flight.message.id == id)
    }

    pub(super) fn waiting(&self) -> usize {
        self.0.iter().filter(|flight| flight.place == Place::Queue).count()
    }

    /// The ids of the messages that wait for a run.
    pub(super) fn queued(&self) -> Vec<String> {
        let queued = self.0.iter().filter(|flight| flight.place == Place::Queue);
        queued.map(|flight| flight.message.id.clone()).collect()
    }

    /// The ids of the messages that no run has consumed, those for the run under way included.
    pub(super) fn on_the_way(&self) -> Vec<String> {
        let waiting = self.0.iter().filter(|flight| matches!(flight.place, Place::Queue | Place::Steering));
        waiting.map(|flight| flight.message.id.clone()).collect()
    }

    /// The ids of the messages that the run under way is to consume.
    pub(super) fn of_run(&self) -> Vec<String> {
        let waiting = self.0.iter().filter(|flight| matches!(flight.place, Place::Task | Place::Steering));
        waiting.map(|flight| flight.message.id.clone()).collect()
    }

    /// Makes the first message that waits the task of a run.
    pub(super) fn take_task(&mut self) -> Option<IncomingMessage> {
        let first = self.0.iter_mut().find(|flight| flight.place == Place::Queue)?;
        first.place = Place::Task;
        Some(first.message.clone())
    }

    /// Notes that a run has consumed a message.
    pub(super) fn consumed(&mut self, id: &str, run: &str) {
        if let Some(flight) = self.0.iter_mut().find(|flight| flight.message.id == id) {
            flight.place = Place::Consumed(run.to_owned());
        }
    }

    /// Tells the senders of a run's messages that it has ended. Messages that it was to get and did not wait for a run of their own, before all
    /// that came later, unless they only steer. Its task counts as its own, also if it could not begin.
    pub(super) fn run_ended(&mut self, ended: &Ended) {
        self.0.retain_mut(|flight| match &flight.place {
            Place::Consumed(run) if *run == ended.run => {
                flight.outcome.send_replace(Outcome::Ended(ended.clone()));
                false
            }
            Place::Task => {
                flight.outcome.send_replace(Outcome::Ended(ended.clone()));
                false
            }
            Place::Steering if flight.message.only_steers => {
                flight.outcome.send_replace(Outcome::NotConsumed);
                false
            }
            Place::Steering => {
                flight.place = Place::Queue;
                true
            }
            _ => true,
        });
    }

    /// Tells the senders of the messages that a run has consumed that it was interrupted. No other run begins: the others end with the conversation.
    pub(super) fn run_interrupted(&mut self, run: &str) {
        self.0.retain(|flight| {
            let is_its = matches!(&flight.place, Place::Consumed(consumer) if consumer == run);
            if is_its {
                flight.outcome.send_replace(Outcome::Consumed);
            }
            !is_its
        });
    }

    /// Takes a message back that no run has consumed. `unsteered` removes it from what the run under way is to get.
    pub(super) fn withdraw(&mut self, id: &str, unsteered: impl Fn(&str) -> bool) -> bool {
        let place = self.0.iter().position(|flight| {
            flight.message.id == id
                && match flight.place {
                    Place::Queue => true,
                    Place::Steering => unsteered(id),
                    _ => false,
                }
        });
        match place.and_then(|place| self.0.remove(place)) {
            Some(flight) => {
                flight.outcome.send_replace(Outcome::NotConsumed);
                true
            }
            None => false,
        }
    }

    /// Ends all of them: the conversation is over.
    pub(super) fn end(&mut self) {
        for flight in self.0.drain(..) {
            flight.outcome.send_replace(Outcome::NotConsumed);
        }
    }
}

impl Receipt {
    pub(super) fn of(flight: &Flight) -> Self {
        Self(flight.outcome.subscribe())
    }
}

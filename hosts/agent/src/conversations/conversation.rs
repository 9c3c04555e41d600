//! The handle of a conversation.

use super::flights::{Ended, Flights, IncomingMessage, Outcome, Place, Receipt};
use super::mode::Mode;
use super::watch::{Observation, ObservedEvent, Watch};
use super::worker::{self, NextRun};
use crate::agent::Agent;
use crate::events::Observer;
use crate::result::ToolAgentResult;
use crate::session::Session;
use crate::steering::Steering;
use crate::transcript::{DamagedTranscript, Runs, new_id};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;
use toolkit::CancellationToken;

/// Options of a conversation.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ConversationOptions {
    /// The most messages that wait; 1,000 by default. A further one is refused.
    pub max_waiting: usize,
    /// Begins a run when a background job ends, so that the model is told of it; true by default. Otherwise [`Conversation::woken`] waits for that,
    /// and [`Conversation::wake`] begins the run.
    pub wakes: bool,
    /// Goes on at once with a run that a crash interrupted; true by default. Otherwise it goes on when its message is sent again; another message
    /// begins a run of its own, which begins the calls again that waited for an answer.
    pub resumes: bool,
}

impl Default for ConversationOptions {
    fn default() -> Self {
        Self { max_waiting: 1_000, wakes: true, resumes: true }
    }
}

impl ConversationOptions {
    /// Returns the default options.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the most messages that wait.
    #[must_use]
    pub fn max_waiting(self, max_waiting: usize) -> Self {
        Self { max_waiting, ..self }
    }

    /// Sets whether the end of a background job begins a run.
    #[must_use]
    pub fn wakes(self, wakes: bool) -> Self {
        Self { wakes, ..self }
    }

    /// Sets whether an interrupted run goes on at once.
    #[must_use]
    pub fn resumes(self, resumes: bool) -> Self {
        Self { resumes, ..self }
    }
}

/// Why a message was not taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SendError {
    /// Too many messages wait.
    #[error(
        "the message was not taken: {waiting} messages wait in this conversation already; send it again later"
    )]
    Full {
        /// How many wait.
        waiting: usize,
    },
    /// The conversation has ended.
    #[error("the message was not taken: the conversation has ended; open it again")]
    Ended,
    /// It [only steers a run](IncomingMessage::only_steering_run), and cannot: that run is not under way, an earlier message waits, or it has
    /// attachments.
    #[error("the message was not taken: it cannot reach the run under way; send it as one that waits")]
    NotSteering,
}

/// A conversation that is alive: a session, its queue, and a task that works through it. Cheap to clone.
///
/// One run goes on at a time. Each message is consumed by one run, in order, and each run has one end. If the program is killed, whoever sends
/// the messages sends those again of which no run has consumed the id; the transcript knows the others.
#[derive(Clone)]
pub struct Conversation(pub(super) Arc<Shared>);

pub(super) struct Shared {
    name: String,
    /// The id of the transcript.
    id: String,
    /// The session of the toolkit that its calls belong to.
    toolkit_session: String,
    damage: Option<DamagedTranscript>,
    pub(super) options: ConversationOptions,
    pub(super) watch: Watch,
    pub(super) state: Mutex<State>,
    /// Notified when there is something to do.
    pub(super) changed: Notify,
    /// Notified when something waits for the model that no message brought.
    pub(super) news: Notify,
    /// Cancelled when the conversation has to end.
    pub(super) ending: CancellationToken,
    /// Cancelled once the task has ended.
    pub(super) ended: CancellationToken,
}

pub(super) struct State {
    pub(super) flights: Flights,
    /// The agent in its first mode.
    pub(super) agent: Agent,
    pub(super) mode: Mode,
    pub(super) running: Option<Running>,
    pub(super) runs: Runs,
    /// The run that a crash interrupted and that goes on next.
    pub(super) resumes: Option<NextRun>,
    /// The run that a crash interrupted, and that goes on if its message is sent again before another run begins.
    pub(super) interrupted: Option<String>,
    /// True once its runs end as by a crash.
    pub(super) is_interrupted: bool,
    /// True if something waits for the model that no message brought.
    pub(super) has_news: bool,
    /// True if a run has to begin with it.
    pub(super) wakes_next: bool,
    steering: Steering,
}

/// The run under way.
pub(super) struct Running {
    pub(super) run: String,
    /// The message that is its task.
    pub(super) task: Option<String>,
    pub(super) cancel: CancellationToken,
    /// Cancelled before `cancel` if the run is interrupted.
    pub(super) interrupt: CancellationToken,
}

impl Conversation {
    pub(super) fn begin(name: String, session: Session, options: ConversationOptions) -> Self {
        let agent = session.agent.clone();
        let resumes_at_once = options.resumes;
        let state = State {
            flights: Flights::default(),
            // A question that waits for a person is not answered for them.
            mode: if session.waits_for_a_person() { Mode::Ask } else { Mode::of(&agent) },
            agent,
            running: None,
            resumes: None,
            is_interrupted: false,
            has_news: false,
            wakes_next: false,
            interrupted: session.open_run().map(|run| match run {
                // The run of an earlier version has no id.
                "" => new_id(),
                run => run.to_owned(),
            }),
            runs: session.journal.conversation.runs.clone(),
            steering: session.steering(),
        };
        let shared = Arc::new(Shared {
            name,
            id: session.id().to_owned(),
            toolkit_session: session.toolkit_session().to_owned(),
            damage: session.damage().cloned(),
            options,
            watch: Watch::new(),
            state: Mutex::new(state),
            changed: Notify::new(),
            news: Notify::new(),
            ending: CancellationToken::new(),
            ended: CancellationToken::new(),
        });
        if let Some(damage) = shared.damage.clone() {
            shared.watch.send(ObservedEvent::ForkedBeforeDamage { damage });
        }
        if resumes_at_once {
            let mut state = shared.lock();
            if let Some(run) = state.interrupted.take() {
                shared.resume(&mut state, run, None);
            }
        }
        tokio::spawn(worker::work(Arc::clone(&shared), session));
        Self(shared)
    }

    /// Returns its name.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// Returns the id of its transcript.
    pub fn id(&self) -> &str {
        &self.0.id
    }

    /// Returns the damage because of which it goes on in a fork, of which its owner should know.
    pub fn damage(&self) -> Option<&DamagedTranscript> {
        self.0.damage.as_ref()
    }

    /// Sends a message. One with an id that is on its way, or that a run has consumed, also in an earlier process, is not sent twice: the receipt is
    /// that of the first. If a crash interrupted its run, and no other run has begun since, that run goes on.
    ///
    /// # Errors
    ///
    /// Too many messages wait, or the conversation has ended. Nothing was taken then.
    pub fn send(&self, message: IncomingMessage) -> Result<Receipt, SendError> {
        let mut state = self.0.lock();
        if let Some(flight) = state.flights.get(&message.id) {
            return Ok(Receipt::of(flight));
        }
        if let Some(run) = state.runs.consumer(&message.id).map(str::to_owned) {
            if let Some(result) = state.runs.end(&run) {
                let ended = Ended { run, result: Arc::new(result.clone()) };
                return Ok(Receipt::known(Outcome::Ended(ended)));
            }
            if state.interrupted.as_ref() == Some(&run) && !self.0.ending.is_cancelled() {
                self.0.resume(&mut state, run.clone(), Some(message.id.clone()));
                self.0.changed.notify_one();
            }
            let goes_on = state.running.as_ref().is_some_and(|running| running.run == run);
            return Ok(if goes_on {
                state.flights.add(message, Place::Consumed(run))
            } else {
                Receipt::known(Outcome::Consumed)
            });
        }
        if self.0.ending.is_cancelled() {
            return Err(SendError::Ended);
        }
        let waiting = state.flights.waiting();
        if !message.only_steers && waiting >= self.0.options.max_waiting {
            return Err(SendError::Full { waiting });
        }
        let may_steer = message.steers
            && waiting == 0
            && message.request.attachments.is_empty()
            && state.running.as_ref().is_some_and(|running| {
                let is_its_run = !message.only_steers || message.run.as_ref() == Some(&running.run);
                is_its_run && !running.cancel.is_cancelled()
            });
        let steers =
            may_steer && state.steering.send_as(message.id.clone(), message.request.to_text()).is_ok();
        if message.only_steers && !steers {
            return Err(SendError::NotSteering);
        }
        let (id, place) = (message.id.clone(), if steers { Place::Steering } else { Place::Queue });
        let receipt = state.flights.add(message, place);
        self.0.watch.send(ObservedEvent::Queued { id });
        drop(state);
        self.0.changed.notify_one();
        Ok(receipt)
    }

    /// Waits until something waits for the model that no message brought: the end of a background job. Where the [options](ConversationOptions::wakes)
    /// say so, a run begins by itself, and this waits for ever.
    pub async fn woken(&self) {
        loop {
            let news = self.0.news.notified();
            if self.0.lock().has_news {
                return;
            }
            news.await;
        }
    }

    /// Begins a run with what waits for the model. Returns false if nothing does.
    pub fn wake(&self) -> bool {
        let mut state = self.0.lock();
        let has_news = state.has_news && !self.0.ending.is_cancelled();
        state.wakes_next |= has_news;
        drop(state);
        self.0.changed.notify_one();
        has_news
    }

    /// Returns true if a job that a tool started goes on in the background.
    pub fn has_background_work(&self) -> bool {
        let toolkit = self.0.lock().agent.0.toolkit.clone();
        toolkit.has_background_work(&self.0.toolkit_session)
    }

    /// Returns the ids of the messages that wait for a run of their own.
    pub fn waiting(&self) -> Vec<String> {
        self.0.lock().flights.queued()
    }

    /// Returns the id of the run under way.
    pub fn running(&self) -> Option<String> {
        self.0.lock().running.as_ref().map(|running| running.run.clone())
    }

    /// Returns the run that has consumed a message: its line is in the transcript, and synced.
    pub fn consumer(&self, message: &str) -> Option<String> {
        self.0.lock().runs.consumer(message).map(str::to_owned)
    }

    /// Returns the account of one of the last 100 runs that ended, without its steps.
    pub fn end_of(&self, run: &str) -> Option<ToolAgentResult> {
        self.0.lock().runs.end(run).cloned()
    }

    /// Cancels the run under way, which ends at once. Messages that wait stay. Returns false if none is under way.
    pub fn cancel(&self) -> bool {
        let state = self.0.lock();
        state.running.as_ref().map(|running| running.cancel.cancel()).is_some()
    }

    /// Ends the run under way at once, as a crash would, and begins no other: its calls that ran are reported to the model as interrupted, a question
    /// that waits stays open, and the run has no end in the transcript, so that it goes on when the conversation is opened again. Returns false if
    /// none is under way. [`end`](Self::end) waits until the transcript is closed.
    pub fn interrupt(&self) -> bool {
        let mut state = self.0.lock();
        state.is_interrupted = true;
        if let Some(running) = &state.running {
            running.interrupt.cancel();
        }
        self.0.ending.cancel();
        state.running.is_some()
    }

    /// Takes a message back that waits, or cancels the run of which it is the task. Returns false if it is neither.
    pub fn cancel_message(&self, id: &str) -> bool {
        let mut state = self.0.lock();
        let steering = state.steering.clone();
        if state.flights.withdraw(id, |id| steering.remove(id)) {
            self.0.watch.send(ObservedEvent::Withdrawn { id: id.to_owned() });
            return true;
        }
        let its = state.running.as_ref().filter(|running| running.task.as_deref() == Some(id));
        its.map(|running| running.cancel.cancel()).is_some()
    }

    /// Returns the mode of the next run.
    pub fn mode(&self) -> Mode {
        self.0.lock().mode
    }

    /// Returns the modes that can be set.
    pub fn modes(&self) -> Vec<Mode> {
        Mode::offered(&self.0.lock().agent)
    }

    /// Sets the mode, from the next run on. Returns false if the agent does not offer it.
    pub fn set_mode(&self, mode: Mode) -> bool {
        let mut state = self.0.lock();
        if !Mode::offered(&state.agent).contains(&mode) {
            return false;
        }
        state.mode = mode;
        self.0.watch.send(ObservedEvent::ModeSet { mode });
        true
    }

    /// Goes on with another agent from the next run on: another model, other limits. A mode that it does not offer becomes its first one.
    pub fn set_agent(&self, agent: Agent) {
        let mut state = self.0.lock();
        if !Mode::offered(&agent).contains(&state.mode) {
            state.mode = Mode::of(&agent);
        }
        state.agent = agent;
    }

    /// Observes it from now on: the events of the run under way so far, and all that follow, each once.
    pub fn observe(&self) -> Observation {
        // Messages are queued under the lock, so that each is in the list or in a later event.
        let state = self.0.lock();
        self.0.watch.observe(state.flights.on_the_way())
    }

    /// Observes it as [`observe`](Self::observe) does, and misses nothing: events that were not read are kept in memory until the observation
    /// is dropped. For a host that writes each event to somebody who may read slowly.
    pub fn observe_whole(&self) -> Observation {
        let state = self.0.lock();
        self.0.watch.observe_whole(state.flights.on_the_way())
    }

    /// Calls a function with each event of its runs, before the run goes on. It must not block.
    pub fn observe_with(&self, observer: impl Into<Observer>) {
        self.0.watch.call(observer.into());
    }

    /// Returns true once it has to end.
    pub fn has_ended(&self) -> bool {
        self.0.ending.is_cancelled()
    }

    /// Cancels the run under way, ends the conversation, and waits until its transcript is closed. Messages that wait are not consumed, which
    /// their receipts say.
    pub async fn end(&self) {
        self.0.ending.cancel();
        self.cancel();
        self.0.ended.cancelled().await;
    }
}

impl State {
    /// Notes that a run has consumed a message.
    pub(super) fn consumed(&mut self, id: &str, run: &str) {
        self.flights.consumed(id, run);
        self.runs.consume(id.to_owned(), run.to_owned());
    }
}

impl Shared {
    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Conversation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Conversation")
            .field("name", &self.0.name)
            .field("id", &self.0.id)
            .finish_non_exhaustive()
    }
}

//! The sessions at work: each runs one message after the other, on a conversation with its agent.
//!
//! ```text
//! send ──► store ──► dispatch ──► one task for each run ──► conversation of the agent
//!            ▲                        │                       its transcript
//!            └── consumed, finished ◄─┘
//! ```
//!
//! The store decides which message begins which run, and under which id. The transcript is the truth about what a run consumed and how it
//! ended: a message is marked consumed after its line was synced, and an end that is in the transcript is stored, also after a crash, and not
//! asked for anew.

mod agents;
mod at_work;
mod open;
mod recover;
mod slots;

pub use agents::{AgentError, Agents};
pub(crate) use slots::Slots;

use std::collections::HashSet;
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use tokio::sync::{Notify, watch};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use toolkit_agent::{IncomingMessage, Observation};

use crate::store::{
    Acceptance, CancelOutcome, MessageId, NewMessage, RunId, RunRecord, SteerOutcome, Store, StoreError,
};
use crate::{SessionKey, SessionKind};
use agents::request;
use open::OpenConversations;
use recover::Recovering;
use slots::WaitingRuns;

/// Time after which a store that failed is tried again.
const RETRY: Duration = Duration::from_secs(1);
/// Time after which messages are looked at again that wait for a time.
const RECHECK: Duration = Duration::from_mins(1);

/// Settings of the sessions.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct SessionsOptions {
    /// The most runs that have a slot at once; 8 by default.
    pub max_runs: u32,
    /// How often a run goes on after a crash; twice by default.
    pub max_resumptions: u32,
    /// Lets a message of the sender of the run under way reach that run, in direct chats; true by default.
    pub steer: bool,
    /// The most conversations that are kept open while nothing runs in them; 32 by default. The one that was used longest ago is closed
    /// first, and none that has a job in the background.
    pub max_idle: usize,
}

impl Default for SessionsOptions {
    fn default() -> Self {
        Self { max_runs: 8, max_resumptions: 2, steer: true, max_idle: 32 }
    }
}

impl SessionsOptions {
    /// Returns the default settings.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the most runs that have a slot at once.
    #[must_use]
    pub fn max_runs(self, max_runs: u32) -> Self {
        Self { max_runs, ..self }
    }

    /// Sets how often a run goes on after a crash.
    #[must_use]
    pub fn max_resumptions(self, max_resumptions: u32) -> Self {
        Self { max_resumptions, ..self }
    }

    /// Sets if messages may reach a run under way.
    #[must_use]
    pub fn steer(self, steer: bool) -> Self {
        Self { steer, ..self }
    }

    /// Sets the most conversations that are kept open while nothing runs in them.
    #[must_use]
    pub fn max_idle(self, max_idle: usize) -> Self {
        Self { max_idle, ..self }
    }
}

/// The sessions of a gateway at work. Cheap to clone.
#[derive(Clone)]
pub struct Sessions(Arc<Inner>);

/// Sessions that are held by somebody else.
#[derive(Clone)]
pub(crate) struct WeakSessions(Weak<Inner>);

impl WeakSessions {
    /// Returns the sessions, if they are still there.
    pub(crate) fn upgrade(&self) -> Option<Sessions> {
        self.0.upgrade().map(Sessions)
    }
}

struct Inner {
    store: Store,
    agents: Arc<dyn Agents>,
    options: SessionsOptions,
    conversations: OpenConversations,
    /// Runs in flight that were cancelled.
    cancelled: Mutex<HashSet<RunId>>,
    /// Runs that this process does.
    at_work: Mutex<HashSet<RunId>>,
    /// Runs that a planned stop does not wait for.
    undrained: Mutex<HashSet<RunId>>,
    /// Runs that gave up their slots, with what they wait for.
    waiting: Arc<Mutex<WaitingRuns>>,
    /// Held while a message is given to a run under way.
    steering: tokio::sync::Mutex<()>,
    /// How many runs of an ended process have no slot yet.
    recovering: AtomicUsize,
    /// The task that begins runs.
    dispatching: Mutex<Option<JoinHandle<()>>>,
    /// Notified when a message, or a slot, may begin a run.
    changed: Notify,
    /// Cancelled when no further run begins.
    stopping: CancellationToken,
    /// Cancelled when the runs under way are interrupted.
    interrupting: CancellationToken,
    runs: TaskTracker,
}

impl Sessions {
    /// Goes on with the runs that an ended process has left, and begins the runs of the messages that wait. Must be called within a tokio
    /// runtime, once for a store.
    ///
    /// # Errors
    ///
    /// The store cannot be read or written.
    pub async fn start(
        store: Store,
        agents: impl Agents,
        options: SessionsOptions,
    ) -> Result<Self, StoreError> {
        let sessions = Self::at_rest(store, agents, options);
        // Whoever waited has to wait anew.
        sessions.0.store.end_all_waits().await?;
        sessions.0.store.give_up_all_slots().await?;
        // Those that go on come first.
        let left = sessions.0.store.runs_in_flight().await?;
        let left = left.into_iter().map(|run| (run, Recovering::new(&sessions.0))).collect();
        sessions.0.runs.spawn(recover::go_on(Arc::clone(&sessions.0), left));
        let dispatching = tokio::spawn(dispatch(Arc::clone(&sessions.0)));
        *sessions.0.dispatching.lock().unwrap_or_else(PoisonError::into_inner) = Some(dispatching);
        Ok(sessions)
    }

    /// The sessions of a store in which nothing runs: messages wait for the next start.
    pub(crate) fn at_rest(store: Store, agents: impl Agents, options: SessionsOptions) -> Self {
        Self(Arc::new(Inner {
            store,
            agents: Arc::new(agents),
            options,
            conversations: OpenConversations::new(options.max_idle),
            cancelled: Mutex::default(),
            at_work: Mutex::default(),
            undrained: Mutex::default(),
            waiting: Arc::default(),
            steering: tokio::sync::Mutex::default(),
            recovering: AtomicUsize::new(0),
            dispatching: Mutex::default(),
            changed: Notify::new(),
            stopping: CancellationToken::new(),
            interrupting: CancellationToken::new(),
            runs: TaskTracker::new(),
        }))
    }

    /// The store.
    pub fn store(&self) -> &Store {
        &self.0.store
    }

    /// The sessions, as long as somebody else holds them.
    pub(crate) fn downgrade(&self) -> WeakSessions {
        WeakSessions(Arc::downgrade(&self.0))
    }

    /// The slots of runs that wait for a person or another session.
    pub(crate) fn slots(&self) -> Slots {
        Slots::new(&self.0)
    }

    /// Accepts a message, and lets it begin a run, or reach the one under way.
    ///
    /// # Errors
    ///
    /// The message could not be stored: it was not accepted.
    pub async fn send(&self, message: NewMessage) -> Result<Acceptance, StoreError> {
        let session = message.session().clone();
        let accepted = self.0.store.accept(message).await?;
        if let Acceptance::Accepted { id } = accepted {
            self.handed_in(&session, id).await;
        }
        Ok(accepted)
    }

    /// Looks for messages that were stored by a command other than that of [`send`](Self::send).
    pub(crate) fn notify(&self) {
        self.0.changed.notify_waiters();
    }

    /// Lets a message begin a run, or reach the one under way, that a command other than that of [`send`](Self::send) has stored.
    pub(crate) async fn handed_in(&self, session: &SessionKey, id: MessageId) {
        if let Err(error) = self.steer(session, id).await {
            // It is stored, and waits for a run of its own.
            tracing::warn!(%error, "a message did not reach the run under way");
        }
        self.0.changed.notify_waiters();
    }

    /// Lets all messages that wait in a session begin runs, or reach the one under way, in order: the first of them waits no more for its files.
    pub(crate) async fn handed_in_again(&self, session: &SessionKey) {
        if let Err(error) = self.steer_all(session).await {
            tracing::warn!(%error, "messages did not reach the run under way");
        }
        self.0.changed.notify_waiters();
    }

    async fn steer_all(&self, session: &SessionKey) -> Result<(), StoreError> {
        for message in self.0.store.queued(session.clone()).await? {
            if !self.steer(session, message.id).await? {
                break;
            }
        }
        Ok(())
    }

    /// Returns true if the run under way has the message now.
    async fn steer(&self, session: &SessionKey, id: MessageId) -> Result<bool, StoreError> {
        if !self.0.options.steer || !matches!(session.kind(), SessionKind::Direct | SessionKind::Main) {
            return Ok(false);
        }
        let Some(conversation) = self.0.conversations.get(session) else { return Ok(false) };
        let Some(run) = conversation.running() else { return Ok(false) };
        let Some(message) = self.0.store.message(id).await? else { return Ok(false) };
        if request(&message).is_err() {
            return Ok(false);
        }
        // In the order in which they are given to the run, whoever does it.
        let _turn = self.0.steering.lock().await;
        let run = RunId::new(run);
        let is_steered = self.0.store.steer(&run, id).await? == SteerOutcome::Steered;
        if is_steered
            && let Some(message) = self.0.store.message(id).await?
            && let Ok(request) = request(&message)
        {
            // Where it comes too late, the end of the run lets it wait again.
            let incoming = IncomingMessage::of(message.key(), request);
            let _ = conversation.send(incoming.only_steering_run(run.as_str()));
        }
        Ok(is_steered)
    }

    /// Cancels the run of a session that is in flight, and what its sub-agents do. Returns false if nothing is in flight.
    pub async fn cancel(&self, session: SessionKey) -> Result<bool, StoreError> {
        self.cancel_tree(session, None).await
    }

    /// Takes a message back that waits, or cancels the run that it began.
    pub async fn cancel_message(&self, id: MessageId) -> Result<CancelOutcome, StoreError> {
        let outcome = self.0.store.cancel_message(id).await?;
        if let CancelOutcome::TooLate { run: Some(run), .. } = &outcome
            && let Some(record) = self.0.store.run(run).await?
            && record.message == id
            && record.ended_at.is_none()
        {
            self.cancel_tree(record.session, Some(record.id)).await?;
        }
        Ok(outcome)
    }

    async fn cancel_tree(&self, session: SessionKey, run: Option<RunId>) -> Result<bool, StoreError> {
        // Carried out also if whoever asked for it has gone: runs that are noted as cancelled, and go on, would end in silence.
        let cancelling = tokio::spawn(self.clone().cancel_all(session, run));
        // It is over without a result where the runtime ends.
        cancelling.await.unwrap_or(Ok(false))
    }

    async fn cancel_all(self, session: SessionKey, run: Option<RunId>) -> Result<bool, StoreError> {
        // Noted first: their conversations may not be open yet, and the process may end before the runs do.
        let cancelled = self.0.store.cancel_tree(session, run).await?;
        self.0.cancelled().extend(cancelled.iter().map(|run| run.id.clone()));
        let mut failed = None;
        for run in &cancelled {
            if let Err(error) = self.0.cancel_noted(run).await {
                failed = Some(error);
            }
        }
        failed.map_or(Ok(!cancelled.is_empty()), Err)
    }

    /// Does not wait for a run when it stops: the run asked for that.
    pub(crate) fn do_not_drain(&self, run: RunId) {
        self.0.undrained().insert(run);
        self.0.changed.notify_waiters();
    }

    /// Looks for messages that may begin a run now, as after a person was let in again.
    pub(crate) fn look_again(&self) {
        self.0.changed.notify_waiters();
    }

    /// Observes the conversation of a session, if it is open: the events of the run under way so far, and all that follow.
    pub fn observe(&self, session: &SessionKey) -> Option<Observation> {
        self.0.conversations.get(session).map(|conversation| conversation.observe())
    }

    /// Changes each time a conversation was opened, which can be [observed](Self::observe) then.
    pub fn opened(&self) -> watch::Receiver<u64> {
        self.0.conversations.opened()
    }

    /// Begins no further run, lets those under way end within a time, and interrupts the rest, which go on at the next start. That does not
    /// count as a crash.
    ///
    /// # Errors
    ///
    /// The store could not note that the stop was planned; everything was stopped all the same.
    pub async fn stop(&self, within: Duration) -> Result<(), StoreError> {
        self.0.stopping.cancel();
        self.0.changed.notify_waiters();
        let dispatching = self.0.dispatching.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(dispatching) = dispatching {
            let _ = dispatching.await;
        }
        self.0.runs.close();
        let planned = self.0.store.plan_stop().await;
        let _ = tokio::time::timeout(within, self.0.drained()).await;
        self.0.interrupting.cancel();
        self.0.runs.wait().await;
        self.0.conversations.close().await;
        planned
    }
}

impl fmt::Debug for Sessions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sessions").field("options", &self.0.options).finish_non_exhaustive()
    }
}

/// Begins runs as messages come and slots are free.
async fn dispatch(inner: Arc<Inner>) {
    let mut events = inner.store.last_event();
    let mut budgets = inner.store.budgets_changed();
    // They may have been raised while no process ran.
    inner.release_held().await;
    while !inner.stopping.is_cancelled() {
        // Made before the look, so that what comes after it is not missed.
        let changed = inner.changed.notified();
        events.mark_unchanged();
        loop {
            if inner.stopping.is_cancelled() {
                return;
            }
            if inner.recovering.load(Ordering::SeqCst) > 0 {
                break;
            }
            match inner.store.claim(inner.options.max_runs).await {
                Ok(Some(claimed)) => {
                    at_work::begin(&inner, claimed.run, claimed.message);
                }
                Ok(None) => break,
                Err(error) => {
                    tracing::error!(%error, "no run can begin; the store is tried again");
                    inner.rest().await;
                }
            }
        }
        tokio::select! {
            () = changed => {}
            // Whoever accepted a message may be gone before it told so.
            Ok(()) = events.changed() => {}
            Ok(()) = budgets.changed() => inner.release_held().await,
            () = inner.until_held() => {}
            () = inner.stopping.cancelled() => return,
        }
    }
}

impl Inner {
    /// Waits before the store is tried again.
    async fn rest(&self) {
        tokio::select! {
            () = tokio::time::sleep(RETRY) => {}
            () = self.interrupting.cancelled() => {}
        }
    }

    /// Cancels what the sub-agents of a run do that took too long. Where the store fails, it is tried again.
    async fn cancel_sub_agents(&self, session: &SessionKey, run: &RunId) {
        let cancelled = loop {
            match self.store.cancel_sub_agents(session.clone(), run.clone()).await {
                Ok(cancelled) => break cancelled,
                Err(error) => tracing::error!(%error, %run, "sub-agents of a late run cannot be cancelled"),
            }
            self.rest().await;
            if self.interrupting.is_cancelled() {
                return;
            }
        };
        self.cancelled().extend(cancelled.iter().map(|run| run.id.clone()));
        for run in &cancelled {
            if let Err(error) = self.cancel_noted(run).await {
                tracing::error!(%error, run = %run.id, "a run that is noted as cancelled still works");
            }
        }
    }

    /// Has the work of a run notice that it was cancelled.
    async fn cancel_noted(&self, run: &RunRecord) -> Result<(), StoreError> {
        if let Some(conversation) = self.conversations.get(&run.session)
            && let Some(message) = self.store.message(run.message).await?
        {
            conversation.cancel_message(&message.key());
        }
        self.changed.notify_waiters();
        // One that ended just before would be noted for ever.
        let record = self.store.run(&run.id).await?;
        if record.is_none_or(|record| record.ended_at.is_some()) {
            self.cancelled().remove(&run.id);
        }
        Ok(())
    }

    /// Lets messages begin their runs again that a budget held before.
    async fn release_held(&self) {
        while let Err(error) = self.store.release_held().await {
            tracing::error!(%error, "what a budget holds is not looked at again; the store is tried again");
            self.rest().await;
            if self.stopping.is_cancelled() {
                return;
            }
        }
    }

    /// Waits until a message may begin its run that a budget holds, a minute at most: the clock may be set.
    async fn until_held(&self) {
        let wait = match self.store.next_held().await {
            Ok(Some(at)) => at.since(self.store.clock().now()).clamp(RETRY, RECHECK),
            Ok(None) => return std::future::pending().await,
            Err(error) => {
                tracing::error!(%error, "the store cannot be read, and is tried again");
                RETRY
            }
        };
        tokio::time::sleep(wait).await;
    }

    /// Waits until no run is under way but those that are not waited for.
    async fn drained(&self) {
        loop {
            // Made before the look, so that a run that ends after it is not missed.
            let changed = self.changed.notified();
            if self.at_work().is_subset(&self.undrained()) {
                return;
            }
            changed.await;
        }
    }

    fn cancelled(&self) -> MutexGuard<'_, HashSet<RunId>> {
        self.cancelled.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn at_work(&self) -> MutexGuard<'_, HashSet<RunId>> {
        self.at_work.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn undrained(&self) -> MutexGuard<'_, HashSet<RunId>> {
        self.undrained.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_cancelled(&self, run: &RunId) -> bool {
        self.cancelled().contains(run)
    }
}

#[cfg(test)]
mod tests;

//! Streams of events from calls to readers: bounded, and never waited for.

use super::{CallEvent, Event};
use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll, Waker};
use toolkit_core::redact::Redactor;
use toolkit_core::unix_time;

/// A stream of events: [`Toolkit::events`](crate::Toolkit::events), [`Toolbox::events`](crate::Toolbox::events),
/// [`Toolbox::notices`](crate::Toolbox::notices).
///
/// It holds up to 1,024 events that its reader has not taken. When it is full, the oldest progress, log, metadata or
/// partial content event is dropped, and [`Events::lost`] counts it. Other events, such as the start and the end of
/// calls, are never dropped. A reader that falls 100,000 events behind, or 256 MiB of their content, is cut off: it
/// gets the waiting events, and then `None` with [`Events::is_cut_off`] true.
#[derive(Debug)]
pub struct Events {
    queue: Arc<Queue>,
}

/// The most events that wait before intermediate ones are dropped.
const CAPACITY: usize = 1_024;
/// The most events of any kind that wait before the reader is cut off.
const MAX_EVENTS: usize = 100_000;
/// The most bytes of content that wait before the reader is cut off.
const MAX_BYTES: usize = 256 << 20;

impl Events {
    /// Waits for the next event; returns `None` when there will be no more.
    pub async fn next(&mut self) -> Option<CallEvent> {
        poll_fn(|task| self.poll_next(task)).await
    }

    /// Polls for the next event, for a hand-written future; see [`Events::next`].
    pub fn poll_next(&mut self, task: &mut Context<'_>) -> Poll<Option<CallEvent>> {
        let mut waiting = self.queue.lock();
        match waiting.events.pop_front() {
            Some(event) => {
                waiting.bytes -= event.event.bytes();
                if event.event.is_intermediate() {
                    waiting.intermediate -= 1;
                }
                Poll::Ready(Some(event))
            }
            None if waiting.closed => Poll::Ready(None),
            None => {
                waiting.reader = Some(task.waker().clone());
                Poll::Pending
            }
        }
    }

    /// Returns the next event, if one is waiting.
    pub fn try_next(&mut self) -> Option<CallEvent> {
        match self.poll_next(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(event) => event,
            Poll::Pending => None,
        }
    }

    /// Returns the number of intermediate events that were dropped because the reader was too slow.
    pub fn lost(&self) -> u64 {
        self.queue.lock().lost
    }

    /// Returns true if the reader was so slow that it gets no more events.
    pub fn is_cut_off(&self) -> bool {
        self.queue.lock().cut_off
    }
}

impl Drop for Events {
    fn drop(&mut self) {
        self.queue.lock().closed = true;
        if let Some(hub) = self.queue.hub.upgrade() {
            hub.remove(&self.queue);
        }
    }
}

#[derive(Debug)]
struct Queue {
    hub: Weak<Hub>,
    wanted: Wanted,
    waiting: Mutex<Waiting>,
}

/// The selection of events that a reader gets.
#[derive(Debug)]
pub(crate) enum Wanted {
    All,
    /// All events of this session.
    Session(String),
    /// Progress and log messages of the call with this id.
    Notices(String),
}

impl Wanted {
    fn is_of(&self, session: &str) -> bool {
        match self {
            Self::All => true,
            Self::Session(wanted) => wanted == session,
            Self::Notices(_) => false,
        }
    }
}

#[derive(Debug, Default)]
struct Waiting {
    events: VecDeque<CallEvent>,
    intermediate: usize,
    bytes: usize,
    lost: u64,
    closed: bool,
    cut_off: bool,
    reader: Option<Waker>,
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds an event. Returns the waker of the reader if it waits, which is woken without any lock: an executor may run it at once.
    fn push(&self, event: CallEvent) -> Option<Waker> {
        let mut waiting = self.lock();
        if waiting.closed {
            return None;
        }
        waiting.push(event);
        waiting.reader.take()
    }
}

impl Waiting {
    fn push(&mut self, event: CallEvent) {
        if self.events.len() >= CAPACITY && self.intermediate > 0 {
            let oldest = self.events.iter().position(|event| event.event.is_intermediate());
            if let Some(gone) = oldest.and_then(|place| self.events.remove(place)) {
                self.bytes -= gone.event.bytes();
                self.intermediate -= 1;
                self.lost += 1;
            }
        }
        let bytes = self.bytes + event.event.bytes();
        let is_intermediate = event.event.is_intermediate();
        if is_intermediate && (self.events.len() >= CAPACITY || bytes > MAX_BYTES) {
            self.lost += 1;
            return;
        }
        if self.events.len() >= MAX_EVENTS || bytes > MAX_BYTES {
            (self.closed, self.cut_off) = (true, true);
            return;
        }
        self.bytes = bytes;
        self.intermediate += usize::from(is_intermediate);
        self.events.push_back(event);
    }
}

/// The sender of events to all readers.
#[derive(Debug, Default)]
pub(crate) struct Hub {
    /// The number of readers of all events, or of all events of a session.
    readers: AtomicUsize,
    /// The number of readers of one call's notices.
    listeners: AtomicUsize,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    queues: Vec<Arc<Queue>>,
    /// The number of the last event.
    last: u64,
}

impl Hub {
    /// Returns a stream of the selected events, from now on.
    pub(crate) fn subscribe(self: &Arc<Self>, wanted: Wanted) -> Events {
        let queue = Arc::new(Queue { hub: Arc::downgrade(self), wanted, waiting: Mutex::default() });
        self.lock().queues.push(Arc::clone(&queue));
        self.count(&queue).fetch_add(1, Ordering::Release);
        Events { queue }
    }

    fn count(&self, queue: &Queue) -> &AtomicUsize {
        match queue.wanted {
            Wanted::All | Wanted::Session(_) => &self.readers,
            Wanted::Notices(_) => &self.listeners,
        }
    }

    /// Returns true if an event of any kind could reach a reader.
    pub(crate) fn is_watched(&self) -> bool {
        self.readers.load(Ordering::Acquire) > 0
    }

    /// Returns true if a notice (progress or a log message) could reach a reader.
    pub(crate) fn is_listened_to(&self) -> bool {
        self.is_watched() || self.listeners.load(Ordering::Acquire) > 0
    }

    /// Sends an event of a call. It is not created if there is no reader.
    pub(crate) fn send<'a>(&self, call: impl FnOnce() -> CallOrigin<'a>, event: impl FnOnce() -> Event) {
        if self.is_watched() {
            let call = call();
            self.send_made(call.session, || call.event(event()));
        }
    }

    /// Sends a notice of a call. It is not created if there is no reader.
    pub(crate) fn send_notice<'a>(
        &self,
        call: impl FnOnce() -> CallOrigin<'a>,
        event: impl FnOnce() -> Event,
    ) {
        if self.is_listened_to() {
            let call = call();
            let is_wanted = |wanted: &Wanted| match wanted {
                Wanted::Notices(wanted) => wanted == call.id,
                others => others.is_of(call.session),
            };
            self.send_to(is_wanted, || call.event(event()));
        }
    }

    /// Sends an event of a session. It is not created if there is no reader.
    pub(super) fn send_made(&self, session: &str, event: impl FnOnce() -> CallEvent) {
        if self.is_watched() {
            self.send_to(|wanted| wanted.is_of(session), event);
        }
    }

    fn send_to(&self, is_wanted: impl Fn(&Wanted) -> bool, event: impl FnOnce() -> CallEvent) {
        if !self.lock().queues.iter().any(|queue| is_wanted(&queue.wanted)) {
            return;
        }
        let event = event();
        self.number_and_push(is_wanted, event).into_iter().for_each(Waker::wake);
    }

    /// Numbers an event and adds it to all queues that want it, in one step: so each queue is in the order of the numbers. Returns the wakers
    /// of the readers that wait.
    fn number_and_push(&self, is_wanted: impl Fn(&Wanted) -> bool, mut event: CallEvent) -> Vec<Waker> {
        let mut state = self.lock();
        let State { queues, last } = &mut *state;
        let mut wanting = queues.iter().filter(|queue| is_wanted(&queue.wanted)).peekable();
        if wanting.peek().is_some() {
            *last += 1;
            (event.seq, event.at) = (*last, unix_time::now());
        }
        wanting.filter_map(|queue| queue.push(event.clone())).collect()
    }

    fn remove(&self, queue: &Arc<Queue>) {
        self.lock().queues.retain(|other| !Arc::ptr_eq(other, queue));
        self.count(queue).fetch_sub(1, Ordering::Release);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The call that an event is about.
#[derive(Clone, Copy)]
pub(crate) struct CallOrigin<'a> {
    pub(crate) id: &'a str,
    pub(crate) tool: &'a str,
    /// The id of the session, also of one that the host did not name.
    pub(crate) session: &'a str,
    /// The session, if the host named one.
    pub(crate) session_id: Option<&'a str>,
    pub(crate) agent: Option<&'a str>,
    pub(crate) message_id: Option<&'a str>,
    /// Takes secrets out of the event.
    pub(crate) redactor: &'a Redactor,
}

impl CallOrigin<'_> {
    fn event(self, mut event: Event) -> CallEvent {
        event.redact(self.redactor);
        CallEvent {
            seq: 0,
            at: 0,
            call_id: self.id.to_owned(),
            tool: self.tool.to_owned(),
            session_id: self.session_id.map(str::to_owned),
            agent: self.agent.map(str::to_owned),
            message_id: self.message_id.map(str::to_owned),
            event,
        }
    }
}

impl Drop for Hub {
    fn drop(&mut self) {
        for queue in &self.lock().queues {
            let reader = {
                let mut waiting = queue.lock();
                waiting.closed = true;
                waiting.reader.take()
            };
            if let Some(reader) = reader {
                reader.wake();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::Progress;
    use std::time::Duration;
    use toolkit_core::call::ToolResult;
    use toolkit_core::content::Content;
    use toolkit_core::error::ToolError;

    fn event(number: usize, event: Event) -> CallEvent {
        CallEvent {
            seq: 0,
            at: 0,
            call_id: number.to_string(),
            tool: String::new(),
            session_id: None,
            agent: None,
            message_id: None,
            event,
        }
    }

    fn finished(number: usize) -> CallEvent {
        let result = ToolResult::new(String::new(), String::new(), Err(ToolError::failed("x")));
        event(number, Event::Finished { result: Arc::new(result), duration: Duration::ZERO })
    }

    #[test]
    fn a_late_reader_loses_what_is_intermediate_and_nothing_else() {
        let hub = Arc::new(Hub::default());
        let mut events = hub.subscribe(Wanted::All);
        for number in 0..CAPACITY * 3 {
            let _ = events.queue.push(event(number, Event::Progress(Progress::new(1.0))));
            let _ = events.queue.push(finished(number));
        }
        let mut ids = (Vec::new(), 0);
        while let Some(event) = events.try_next() {
            match event.event {
                Event::Finished { .. } => ids.0.push(event.call_id),
                _ => ids.1 += 1,
            }
        }
        assert_eq!(ids.0, (0..CAPACITY * 3).map(|number| number.to_string()).collect::<Vec<_>>());
        assert_eq!(events.lost(), (CAPACITY * 3 - ids.1) as u64);
        let _ = events.queue.push(event(0, Event::Progress(Progress::new(1.0))));
        assert!(events.try_next().is_some());
        assert!(!events.is_cut_off());
    }

    #[test]
    fn a_reader_that_never_reads_is_cut_off() {
        let hub = Arc::new(Hub::default());
        let mut events = hub.subscribe(Wanted::All);
        for number in 0..MAX_EVENTS * 2 {
            let _ = events.queue.push(event(number, Event::Started));
        }
        assert!(events.is_cut_off());
        let mut count = 0;
        while events.try_next().is_some() {
            count += 1;
        }
        assert_eq!(count, MAX_EVENTS);
    }

    #[test]
    fn a_reader_that_never_reads_does_not_fill_the_memory() {
        let hub = Arc::new(Hub::default());
        let mut events = hub.subscribe(Wanted::All);
        let text = "x".repeat(MAX_BYTES / 8);
        for number in 0..20 {
            let _ = events.queue.push(event(number, Event::Partial { content: Content::text(text.clone()) }));
        }
        assert_eq!(events.lost(), 12);
        while events.try_next().is_some() {}
        assert!(!events.is_cut_off());
        let result = ToolResult::new(String::new(), String::new(), Err(ToolError::failed(text)));
        let result = Arc::new(result);
        for number in 0..9 {
            let ended = Event::Finished { result: Arc::clone(&result), duration: Duration::ZERO };
            let _ = events.queue.push(event(number, ended));
        }
        assert!(events.is_cut_off());
    }

    #[tokio::test]
    async fn the_stream_ends_with_its_toolkit() {
        let hub = Arc::new(Hub::default());
        let mut events = hub.subscribe(Wanted::All);
        assert!(hub.is_watched());
        drop(hub.subscribe(Wanted::All));
        assert_eq!(hub.readers.load(Ordering::Relaxed), 1);
        assert_eq!(hub.lock().queues.len(), 1);
        let (next, ()) = tokio::join!(events.next(), async { drop(hub) });
        assert_eq!(next, None);
    }
}

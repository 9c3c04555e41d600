//! The requests of a client that are in progress: an ID is used for one at a time, their number is bounded, and the end of the client's
//! input waits for their answers.
//!
//! A client that sends requests faster than it reads answers is slowed down: requests without a place wait in a queue, and once that is
//! full, nothing more is read. Answers of the client, cancellations and pings pass the queue, since calls may wait for them.

use super::lines::Lines;
use super::message::Message;
use super::places::{FormerPlace, Place, Places};
use super::queue::{MAX_QUEUED, Queue};
use crate::server::faults::{in_use, too_many_requests, too_many_subscriptions};
use crate::turns::Turns;
use rmcp::model::{
    ClientNotification, ClientRequest, ErrorData, GetExtensions as _, JsonRpcMessage, JsonRpcRequest,
    RequestId, ServerNotification,
};
use rmcp::service::{RoleServer, TxJsonRpcMessage};
use rmcp::transport::Transport;
use std::collections::{HashMap, VecDeque};
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::Notify;
use tokio::time::Instant;

/// Pause between two checks whether the client is gone, after the end of its input.
const PAUSE: Duration = Duration::from_millis(250);

/// Time for the last answers to be written.
const CLOSED_WITHIN: Duration = Duration::from_secs(1);

type Sending = Pin<Box<dyn Future<Output = io::Result<()>> + Send>>;

/// The limits of one client.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// Maximum number of requests that are handled at once, and of subscriptions.
    pub(super) max_in_flight: usize,
    /// Time for which a client may read nothing while it has as much in progress as it may.
    pub(super) read_within: Duration,
}

/// A transport that bounds the requests in progress, refuses a request whose ID is in use, and ends only once all requests are answered.
pub(super) struct InFlight<R, W> {
    lines: Lines<R, W>,
    shared: Arc<Shared>,
    limits: Limits,
    places: Places,
    subscriptions: Places,
    /// Requests without a place.
    queue: Queue,
    turns: Turns,
    /// Returns true if the client reads no answers any more.
    is_gone: Box<dyn Fn() -> bool + Send + Sync>,
    /// An answer to a request that is refused.
    refusal: Option<Sending>,
    has_ended: bool,
    /// Set if the transport ended because the client read nothing for too long.
    unread: Arc<AtomicBool>,
}

struct Shared {
    requests: Mutex<Requests>,
    /// Notified when a request was answered or a place is free, when the server asks something, and by the output.
    changed: Arc<Notify>,
}

#[derive(Default)]
struct Requests {
    received: HashMap<RequestId, Received>,
    /// Requests of the server that wait for an answer.
    asked: VecDeque<RequestId>,
}

/// The state of a request of the client.
enum Received {
    Queued,
    Begun(Place),
    /// Its answer is being written.
    Answered(#[expect(dead_code, reason = "it is held until the answer is written")] Place),
    /// A subscription, which has no answer before its end.
    Lasting(Place),
    /// Cancelled, so that it has no answer. Its handler may go on for a while; a request that had its ID would get the handler's answer.
    Cancelled(FormerPlace),
}

impl Received {
    /// Returns true if nothing is left of a cancelled request.
    fn is_gone(&self) -> bool {
        matches!(self, Self::Cancelled(place) if !place.is_taken())
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Requests> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes note of an answer that will be written. Returns the ID of its request, unless that was cancelled, or it is a refusal of another
    /// one with that ID.
    fn answers(&self, id: &RequestId) -> Option<RequestId> {
        let mut requests = self.lock();
        let request = requests.received.get_mut(id)?;
        match request {
            Received::Begun(place) => *request = Received::Answered(place.clone()),
            Received::Cancelled(_) => return None,
            Received::Queued | Received::Answered(_) | Received::Lasting(_) => {}
        }
        Some(id.clone())
    }

    /// Takes note of a cancellation. Returns true if the request was in the queue.
    fn cancelled(&self, id: &RequestId) -> bool {
        let mut requests = self.lock();
        requests.received.retain(|_, request| !request.is_gone());
        let Some(request) = requests.received.get_mut(id) else { return false };
        match request {
            Received::Queued => {
                requests.received.remove(id);
                true
            }
            Received::Begun(place) | Received::Lasting(place) => {
                let former = place.former();
                let place = std::mem::replace(request, Received::Cancelled(former));
                // The place is given up without the lock.
                drop(requests);
                drop(place);
                false
            }
            // The answer is written whatever the client wants.
            Received::Answered(_) | Received::Cancelled(_) => false,
        }
    }
}

impl<R, W> InFlight<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    pub(super) fn new(
        lines: Lines<R, W>,
        limits: Limits,
        is_gone: impl Fn() -> bool + Send + Sync + 'static,
    ) -> Self {
        let changed = lines.output().changed();
        Self {
            places: Places::new(limits.max_in_flight, Arc::clone(&changed)),
            subscriptions: Places::new(limits.max_in_flight, Arc::clone(&changed)),
            shared: Arc::new(Shared { requests: Mutex::default(), changed }),
            lines,
            limits,
            queue: Queue::default(),
            turns: Turns::default(),
            is_gone: Box::new(is_gone),
            refusal: None,
            has_ended: false,
            unread: Arc::default(),
        }
    }

    /// Returns a flag that is set if the transport ends because the client read nothing for too long.
    pub(super) fn unread(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.unread)
    }

    /// Takes note of a message. Returns `None` if it is refused, or waits.
    fn received(&mut self, message: Message) -> Option<Message> {
        let requests = || self.shared.lock();
        match &message {
            JsonRpcMessage::Request(_) => {}
            JsonRpcMessage::Notification(notification) => {
                // A cancelled request has no answer.
                if let ClientNotification::CancelledNotification(cancelled) = &notification.notification
                    && let Some(id) = &cancelled.params.request_id
                    && self.shared.cancelled(id)
                {
                    self.queue.remove(id);
                    return None;
                }
            }
            JsonRpcMessage::Response(answer) => requests().asked.retain(|id| *id != answer.id),
            JsonRpcMessage::Error(answer) => requests().asked.retain(|id| Some(id) != answer.id.as_ref()),
        }
        match message {
            JsonRpcMessage::Request(request) => self.requested(request),
            other => Some(other),
        }
    }

    /// Begins a request of the client, adds it to the queue, or refuses it.
    fn requested(&mut self, request: JsonRpcRequest<ClientRequest>) -> Option<Message> {
        let max = self.limits.max_in_flight;
        let mut requests = self.shared.lock();
        let is_lasting = matches!(request.request, ClientRequest::SubscriptionsListenRequest(_));
        let is_ping = matches!(request.request, ClientRequest::PingRequest(_));
        let passes = is_ping && self.places.taken() < 2 * max && !self.lines.output().is_full();
        let is_in_use = requests.received.get(&request.id).is_some_and(|earlier| !earlier.is_gone());
        let refused = if is_in_use {
            Some(in_use(&request.id))
        } else if is_lasting && (self.subscriptions.are_taken() || self.lines.output().is_full()) {
            Some(too_many_subscriptions(max))
        } else if !is_lasting && !passes && self.queue.is_full() {
            Some(too_many_requests(MAX_QUEUED))
        } else {
            None
        };
        if let Some(error) = refused {
            drop(requests);
            let refusal = JsonRpcMessage::error(error, Some(request.id));
            self.refusal = Some(Box::pin(self.lines.send(refusal)));
            return None;
        }
        if is_lasting {
            // The acknowledgment may not be read: the place is free again at the end of the handler.
            let place = self.subscriptions.take();
            let mut request = request;
            request.request.extensions_mut().insert(place.clone());
            requests.received.insert(request.id.clone(), Received::Lasting(place));
            return Some(JsonRpcMessage::Request(request));
        }
        if self.queue.is_empty() && self.may_begin() || passes {
            drop(requests);
            return Some(self.begun(request));
        }
        requests.received.insert(request.id.clone(), Received::Queued);
        drop(requests);
        let bytes = self.lines.length();
        self.queue.add(request, bytes);
        None
    }

    /// Returns true if a request has a place, and its answer will not come on top of many that are not read.
    fn may_begin(&self) -> bool {
        !self.places.are_taken() && !self.lines.output().is_full()
    }

    /// Gives a request its place.
    fn begun(&mut self, mut request: JsonRpcRequest<ClientRequest>) -> Message {
        let place = self.places.take();
        if matches!(request.request, ClientRequest::CallToolRequest(_)) {
            request.request.extensions_mut().insert(self.turns.next());
        }
        if !matches!(request.request, ClientRequest::InitializeRequest(_)) {
            request.request.extensions_mut().insert(place.clone());
        }
        self.shared.lock().received.insert(request.id.clone(), Received::Begun(place));
        JsonRpcMessage::Request(request)
    }

    /// Returns the requests that will have no other answer, in no order.
    fn unanswered(&self) -> Vec<RequestId> {
        let requests = self.shared.lock();
        let is_open = |request: &Received| matches!(request, Received::Queued | Received::Begun(_));
        let open = requests.received.iter().filter(|(_, request)| is_open(request));
        open.map(|(id, _)| id.clone()).collect()
    }

    /// Returns the next message after the end of the client's input: an error for each question, which nobody can answer; the end after
    /// the end of the last request, or if the client is gone.
    fn after_the_end(&self) -> Option<Next> {
        let mut requests = self.shared.lock();
        if let Some(id) = requests.asked.pop_front() {
            let error = ErrorData::internal_error("the client has closed its input", None);
            return Some(Next::Message(Box::new(JsonRpcMessage::error(error, Some(id)))));
        }
        let is_over = |request| matches!(request, &Received::Lasting(_) | &Received::Cancelled(_));
        let is_over = requests.received.values().all(is_over);
        drop(requests);
        (is_over || (self.is_gone)()).then_some(Next::End)
    }

    /// Returns the time at which the client counts as one that reads nothing, if it has as much in progress as it may. The time moves on
    /// with each byte that it reads.
    fn is_unread_at(&self) -> Option<Instant> {
        let much_waits = self.has_ended || !self.may_begin();
        let since = || self.lines.output().stands_since().unwrap_or_else(Instant::now);
        // A time that cannot be represented is never reached.
        much_waits.then(since)?.checked_add(self.limits.read_within)
    }

    /// Returns the time of the next check.
    fn next_check(&self) -> Option<Instant> {
        let poll = self.has_ended.then(|| Instant::now() + PAUSE);
        self.is_unread_at().into_iter().chain(poll).min()
    }

    /// Returns true if messages are read: there is a place in the queue; or the client reads, or calls wait for its answers, and the
    /// cancellation or the answer that makes room may come after more requests than the queue takes.
    fn reads(&self) -> bool {
        let is_read = || self.lines.output().stands_since().is_none() || !self.shared.lock().asked.is_empty();
        !self.has_ended && (!self.queue.is_full() || is_read())
    }
}

/// The next event of the client's input.
enum Next {
    Message(Box<Message>),
    End,
    /// A refusal was sent.
    Refused,
    /// The client cannot be written to.
    Failed,
}

// This future may be dropped at any time: its state is in the arguments.
async fn next<R, W>(refusal: &mut Option<Sending>, lines: &mut Lines<R, W>) -> Next
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    if let Some(sending) = refusal {
        let sent = sending.await;
        *refusal = None;
        return if sent.is_ok() { Next::Refused } else { Next::Failed };
    }
    lines.receive().await.map_or(Next::End, |message| Next::Message(Box::new(message)))
}

async fn until(time: Option<Instant>) {
    match time {
        Some(time) => tokio::time::sleep_until(time).await,
        None => std::future::pending().await,
    }
}

impl<R, W> Transport<RoleServer> for InFlight<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let answered = match &message {
            JsonRpcMessage::Response(answer) => self.shared.answers(&answer.id),
            JsonRpcMessage::Error(answer) => answer.id.as_ref().and_then(|id| self.shared.answers(id)),
            JsonRpcMessage::Request(request) => {
                self.shared.lock().asked.push_back(request.id.clone());
                self.shared.changed.notify_one();
                None
            }
            JsonRpcMessage::Notification(notification) => {
                // A question that is given up has no answer.
                if let ServerNotification::CancelledNotification(cancelled) = &notification.notification {
                    let given_up = &cancelled.params.request_id;
                    self.shared.lock().asked.retain(|id| Some(id) != given_up.as_ref());
                }
                None
            }
        };
        let (sending, shared) = (self.lines.send(message), Arc::clone(&self.shared));
        async move {
            let sent = sending.await;
            if let Some(id) = answered {
                // The place is given up without the lock.
                let request = shared.lock().received.remove(&id);
                drop(request);
                shared.changed.notify_one();
            }
            sent
        }
    }

    // This future may be dropped at any time: its state is in `self`.
    async fn receive(&mut self) -> Option<Message> {
        loop {
            if self.lines.output().is_closed() {
                return None;
            }
            if self.may_begin()
                && let Some(request) = self.queue.next()
            {
                return Some(self.begun(request));
            }
            if self.has_ended
                && let Some(next) = self.after_the_end()
            {
                let Next::Message(message) = next else { return None };
                return Some(*message);
            }
            let (time, reads) = (self.next_check(), self.reads());
            tokio::select! {
                biased;
                () = self.shared.changed.notified() => {}
                () = until(time) => {
                    if self.is_unread_at().is_some_and(|time| time <= Instant::now()) {
                        self.unread.store(true, Ordering::Release);
                        self.lines.output().abandon();
                        return None;
                    }
                }
                next = next(&mut self.refusal, &mut self.lines), if reads || self.refusal.is_some() => match next {
                    Next::Message(message) => {
                        if let Some(message) = self.received(*message) {
                            return Some(message);
                        }
                    }
                    Next::End => self.has_ended = true,
                    Next::Refused => {}
                    Next::Failed => return None,
                },
            }
        }
    }

    /// Answers the requests that have no answer, and closes the stream.
    async fn close(&mut self) -> io::Result<()> {
        for request in self.unanswered() {
            let error = ErrorData::internal_error("the server shuts down; the request was interrupted", None);
            let answer = TxJsonRpcMessage::<RoleServer>::error(error, Some(request));
            let _ = self.lines.output().add(&answer);
        }
        // A client that does not read does not get them.
        let flushed = tokio::time::timeout(CLOSED_WITHIN, self.lines.output().flush()).await;
        if flushed.is_err() {
            self.lines.output().abandon();
        }
        self.lines.close().await
    }
}

#[cfg(test)]
mod tests;

//! A connection that bounds the requests of the other end: a server that does not read the answers gets no further requests
//! through.

use rmcp::RoleClient;
use rmcp::model::{JsonRpcMessage, RequestId, ServerNotification};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::{Instant, timeout_at};

/// Maximum number of requests of a server that wait for their answers to be sent.
const MAX_REQUESTS: usize = 1_000;
/// Time that a server may leave the maximum number of requests unanswered before the connection ends.
const PATIENCE: Duration = Duration::from_secs(30);

/// A transport that reads requests only while there is room for their answers.
pub(super) struct Bounded<T> {
    inner: T,
    asked: Arc<Asked>,
    /// Since when there is no room.
    full_since: Option<Instant>,
}

/// The requests of the other end that are not answered yet.
#[derive(Default)]
struct Asked {
    open: Mutex<Open>,
    fewer: Notify,
}

#[derive(Default)]
struct Open {
    count: usize,
    /// Number of open requests for each ID: a malicious server repeats one ID.
    ids: HashMap<RequestId, usize>,
}

impl Asked {
    fn open(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, id: RequestId) {
        let mut open = self.open();
        open.count += 1;
        *open.ids.entry(id).or_default() += 1;
    }

    fn remove(&self, id: &RequestId) {
        let mut open = self.open();
        let Some(times) = open.ids.get_mut(id) else { return };
        *times -= 1;
        if *times == 0 {
            open.ids.remove(id);
        }
        open.count -= 1;
        self.fewer.notify_one();
    }

    fn is_full(&self) -> bool {
        self.open().count >= MAX_REQUESTS
    }

    /// Waits until there is room.
    async fn room(&self) {
        while self.is_full() {
            self.fewer.notified().await;
        }
    }
}

impl<T> Bounded<T> {
    pub(super) fn new(inner: T) -> Self {
        Self { inner, asked: Arc::default(), full_since: None }
    }
}

impl<T> Transport<RoleClient> for Bounded<T>
where
    T: Transport<RoleClient>,
{
    type Error = T::Error;

    fn name() -> Cow<'static, str> {
        T::name()
    }

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let answered = match &message {
            JsonRpcMessage::Response(answer) => Some(answer.id.clone()),
            JsonRpcMessage::Error(answer) => answer.id.clone(),
            _ => None,
        };
        let asked = Arc::clone(&self.asked);
        let sending = self.inner.send(message);
        async move {
            let sent = sending.await;
            if let Some(id) = answered {
                asked.remove(&id);
            }
            sent
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        // While this waits, nothing more is read, and further messages stay in the transport. The future may be dropped and created
        // again at any time; `full_since` is kept.
        if self.asked.is_full() {
            let since = *self.full_since.get_or_insert_with(Instant::now);
            if timeout_at(since + PATIENCE, self.asked.room()).await.is_err() {
                tracing::warn!(
                    "the server asks {MAX_REQUESTS} things and reads no answer: the connection ends"
                );
                return None;
            }
        }
        self.full_since = None;
        let message = self.inner.receive().await?;
        match &message {
            JsonRpcMessage::Request(request) => {
                self.asked.add(request.id.clone());
            }
            // A cancelled request is not answered.
            JsonRpcMessage::Notification(notification) => {
                if let ServerNotification::CancelledNotification(taken_back) = &notification.notification
                    && let Some(id) = &taken_back.params.request_id
                {
                    self.asked.remove(id);
                }
            }
            _ => {}
        }
        Some(message)
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.inner.close().await
    }
}

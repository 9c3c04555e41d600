//! A connection on which the other end cannot ask without an end: whoever does not read its answers gets no further ones.

use rmcp::RoleClient;
use rmcp::model::JsonRpcMessage;
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio::time::timeout;

/// The most requests of a server that wait for their answers to be sent.
const MOST: usize = 1_000;
/// How long nothing is heard of a server that has so many, before the connection ends.
const PATIENCE: Duration = Duration::from_secs(30);

/// A transport that hears of requests only while there is room for their answers.
pub(super) struct Bounded<T> {
    inner: T,
    room: Arc<Semaphore>,
}

impl<T> Bounded<T> {
    pub(super) fn new(inner: T) -> Self {
        Self { inner, room: Arc::new(Semaphore::new(MOST)) }
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
        let is_answer = matches!(message, JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_));
        let room = Arc::clone(&self.room);
        let sending = self.inner.send(message);
        async move {
            let sent = sending.await;
            // One that is cancelled is answered by nobody, and gives its room back with the connection alone.
            if is_answer && room.available_permits() < MOST {
                room.add_permits(1);
            }
            sent
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        // While one waits here, nothing more is read. What it sends meanwhile stays with it.
        let Ok(Ok(room)) = timeout(PATIENCE, self.room.acquire()).await else {
            tracing::warn!("the server asks {MOST} things and reads no answer: the connection ends");
            return None;
        };
        let message = self.inner.receive().await?;
        if let JsonRpcMessage::Request(_) = message {
            room.forget();
        }
        Some(message)
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.inner.close().await
    }
}

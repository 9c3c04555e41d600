//! The requests of a client that are in progress: an ID is used for one at a time, and the end of the client's input waits for their
//! answers.

use crate::server::faults::in_use;
use rmcp::model::{ClientNotification, ClientRequest, ErrorData, JsonRpcMessage, RequestId};
use rmcp::service::{RoleServer, RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use std::collections::{HashMap, VecDeque};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;

/// Pause between two checks whether the client is gone, after the end of its input.
const PAUSE: Duration = Duration::from_millis(250);

type Message = RxJsonRpcMessage<RoleServer>;
type Sending<E> = Pin<Box<dyn Future<Output = Result<(), E>> + Send>>;

/// A transport that refuses a request whose ID is in use, and that ends only once all requests are answered.
pub(super) struct InFlight<T: Transport<RoleServer>> {
    transport: T,
    shared: Arc<Shared>,
    /// Returns true if the client reads no answers any more.
    is_gone: Box<dyn Fn() -> bool + Send + Sync>,
    /// An answer to a request that is refused.
    refusal: Option<Sending<T::Error>>,
    has_ended: bool,
}

#[derive(Default)]
struct Shared {
    requests: Mutex<Requests>,
    /// Notified when a request was answered, or the server asks something.
    changed: Notify,
}

#[derive(Default)]
struct Requests {
    /// Requests of the client, with true for a subscription, which has no answer before its end.
    received: HashMap<RequestId, bool>,
    /// Requests of the server that wait for an answer.
    asked: VecDeque<RequestId>,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Requests> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T: Transport<RoleServer>> InFlight<T> {
    pub(super) fn new(transport: T, is_gone: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        let is_gone = Box::new(is_gone);
        Self { transport, shared: Arc::default(), is_gone, refusal: None, has_ended: false }
    }

    /// Takes note of a message. Returns `None` if it is refused.
    fn received(&mut self, message: Message) -> Option<Message> {
        let mut requests = self.shared.lock();
        match &message {
            JsonRpcMessage::Request(request) => {
                let is_lasting = matches!(request.request, ClientRequest::SubscriptionsListenRequest(_));
                if requests.received.contains_key(&request.id) {
                    let error = in_use(&request.id);
                    drop(requests);
                    let refusal = JsonRpcMessage::error(error, Some(request.id.clone()));
                    self.refusal = Some(Box::pin(self.transport.send(refusal)));
                    return None;
                }
                requests.received.insert(request.id.clone(), is_lasting);
            }
            JsonRpcMessage::Notification(notification) => {
                // A cancelled request has no answer.
                if let ClientNotification::CancelledNotification(cancelled) = &notification.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    requests.received.remove(id);
                }
            }
            JsonRpcMessage::Response(answer) => requests.asked.retain(|id| *id != answer.id),
            JsonRpcMessage::Error(answer) => requests.asked.retain(|id| Some(id) != answer.id.as_ref()),
        }
        drop(requests);
        Some(message)
    }

    /// Returns the next message after the end of the client's input: an error for each question, which nobody can answer. `None` at the
    /// end of the last request, or if the client is gone.
    async fn after_the_end(&mut self) -> Option<Message> {
        loop {
            {
                let mut requests = self.shared.lock();
                if let Some(id) = requests.asked.pop_front() {
                    let error = ErrorData::internal_error("the client has closed its input", None);
                    return Some(JsonRpcMessage::error(error, Some(id)));
                }
                if requests.received.values().all(|is_lasting| *is_lasting) {
                    return None;
                }
            }
            if (self.is_gone)() {
                return None;
            }
            let _ = tokio::time::timeout(PAUSE, self.shared.changed.notified()).await;
        }
    }
}

impl<T: Transport<RoleServer>> Transport<RoleServer> for InFlight<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let answered = match &message {
            JsonRpcMessage::Response(answer) => Some(answer.id.clone()),
            JsonRpcMessage::Error(answer) => answer.id.clone(),
            JsonRpcMessage::Request(request) => {
                self.shared.lock().asked.push_back(request.id.clone());
                self.shared.changed.notify_one();
                None
            }
            JsonRpcMessage::Notification(_) => None,
        };
        let (sending, shared) = (self.transport.send(message), Arc::clone(&self.shared));
        async move {
            let sent = sending.await;
            if let Some(id) = answered {
                shared.lock().received.remove(&id);
                shared.changed.notify_one();
            }
            sent
        }
    }

    // This future may be dropped at any time: its state is in `self`.
    async fn receive(&mut self) -> Option<Message> {
        loop {
            if let Some(refusal) = &mut self.refusal {
                let sent = refusal.await;
                self.refusal = None;
                sent.ok()?;
            }
            if self.has_ended {
                return self.after_the_end().await;
            }
            match self.transport.receive().await {
                None => self.has_ended = true,
                Some(message) => {
                    if let Some(message) = self.received(message) {
                        return Some(message);
                    }
                }
            }
        }
    }

    fn close(&mut self) -> impl Future<Output = Result<(), Self::Error>> + Send {
        self.transport.close()
    }
}

#[cfg(test)]
mod tests {
    use super::super::lines::Lines;
    use super::*;
    use serde_json::{Value, json};
    use std::sync::atomic::{AtomicBool, Ordering};
    use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream};

    type Served = InFlight<Lines<DuplexStream, DuplexStream>>;

    /// A client, and the transport that serves it.
    struct Client {
        input: Option<DuplexStream>,
        output: BufReader<DuplexStream>,
        is_gone: Arc<AtomicBool>,
    }

    impl Client {
        fn new() -> (Self, Served) {
            let (input, read) = tokio::io::duplex(1 << 16);
            let (write, output) = tokio::io::duplex(1 << 16);
            let is_gone = Arc::new(AtomicBool::new(false));
            let gone = Arc::clone(&is_gone);
            let served = InFlight::new(Lines::new(read, write), move || gone.load(Ordering::SeqCst));
            (Self { input: Some(input), output: BufReader::new(output), is_gone }, served)
        }

        async fn send(&mut self, message: Value) {
            let line = format!("{message}\n");
            self.input.as_mut().unwrap().write_all(line.as_bytes()).await.unwrap();
        }

        async fn message(&mut self) -> Value {
            let mut line = String::new();
            self.output.read_line(&mut line).await.unwrap();
            serde_json::from_str(&line).unwrap()
        }
    }

    fn request(id: u32) -> Value {
        json!({"jsonrpc": "2.0", "id": id, "method": "ping"})
    }

    fn json(message: Option<Message>) -> Value {
        serde_json::to_value(message).unwrap()
    }

    async fn answer(served: &mut Served, id: u32) {
        let answer = json!({"jsonrpc": "2.0", "id": id, "result": {}});
        served.send(serde_json::from_value(answer).unwrap()).await.unwrap();
    }

    /// Returns true if there is no message yet, and no end.
    async fn waits(served: &mut Served) -> bool {
        tokio::time::timeout(Duration::from_millis(50), served.receive()).await.is_err()
    }

    #[tokio::test]
    async fn the_end_of_input_waits_for_the_answers() {
        let (mut client, mut served) = Client::new();
        client.send(request(1)).await;
        client.send(request(2)).await;
        assert_eq!(
            [json(served.receive().await)["id"].clone(), json(served.receive().await)["id"].clone()],
            [1, 2]
        );
        client.input = None;
        assert!(waits(&mut served).await);
        answer(&mut served, 2).await;
        assert!(waits(&mut served).await);
        answer(&mut served, 1).await;
        assert!(served.receive().await.is_none());
        assert_eq!(client.message().await["id"], 2);
    }

    #[tokio::test]
    async fn the_end_of_input_does_not_wait_for_a_client_that_is_gone_or_a_cancelled_request() {
        let cancel =
            json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}});
        for is_cancelled in [true, false] {
            let (mut client, mut served) = Client::new();
            client.send(request(1)).await;
            served.receive().await;
            if is_cancelled {
                client.send(cancel.clone()).await;
                served.receive().await;
            }
            client.input = None;
            assert_eq!(waits(&mut served).await, !is_cancelled);
            client.is_gone.store(true, Ordering::SeqCst);
            let end = tokio::time::timeout(Duration::from_secs(5), served.receive()).await;
            assert!(end.is_ok_and(|message| message.is_none()));
        }
    }

    #[tokio::test]
    async fn a_question_after_the_end_of_input_gets_an_error() {
        let (mut client, mut served) = Client::new();
        client.send(request(1)).await;
        served.receive().await;
        let question = json!({"jsonrpc": "2.0", "id": 7, "method": "roots/list"});
        served.send(serde_json::from_value(question.clone()).unwrap()).await.unwrap();
        client.send(json!({"jsonrpc": "2.0", "id": 7, "result": {"roots": []}})).await;
        assert_eq!(json(served.receive().await)["id"], 7);
        client.input = None;
        assert!(waits(&mut served).await, "the question is answered");
        served.send(serde_json::from_value(question).unwrap()).await.unwrap();
        let error = json(served.receive().await);
        assert_eq!(
            (&error["id"], &error["error"]["message"]),
            (&json!(7), &json!("the client has closed its input"))
        );
        assert!(waits(&mut served).await);
    }

    #[tokio::test]
    async fn a_request_whose_id_is_in_use_is_refused() {
        let (mut client, mut served) = Client::new();
        client.send(request(1)).await;
        assert_eq!(json(served.receive().await)["id"], 1);
        client.send(request(1)).await;
        assert!(waits(&mut served).await);
        let refused = client.message().await;
        assert_eq!((&refused["id"], &refused["error"]["code"]), (&json!(1), &json!(-32600)));
        assert!(
            refused["error"]["message"].as_str().unwrap().contains("the ID 1 is in progress"),
            "{refused}"
        );
        answer(&mut served, 1).await;
        client.send(request(1)).await;
        assert_eq!(json(served.receive().await)["id"], 1);
    }
}

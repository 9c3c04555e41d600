//! A model that answers at once, and notes when it was asked about each message.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use tokio::net::TcpListener;

use gateway::Result;
use gateway::connection::Connection;

/// The beginning of the text of each message; its number follows.
pub(crate) const MARK: &str = "message-";
/// Digits of the number.
pub(crate) const DIGITS: usize = 7;

const ANSWER: &str = "data: {\"id\":\"1\",\"object\":\"chat.completion.chunk\",\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\
\"content\":\"Fine.\"}}]}\n\ndata: {\"id\":\"1\",\"object\":\"chat.completion.chunk\",\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{},\
\"finish_reason\":\"stop\"}]}\n\ndata: {\"choices\":[],\"usage\":{\"prompt_tokens\":100,\"completion_tokens\":2,\"total_tokens\":102}}\n\ndata: [DONE]\n\n";

#[derive(Clone, Default)]
struct Asked(Arc<Mutex<HashMap<usize, Instant>>>);

pub(crate) struct Model {
    pub(crate) url: String,
    asked: Asked,
}

impl Model {
    /// Begins to serve, for as long as the runtime is there.
    pub(crate) async fn start() -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let url = format!("http://{}/v1", listener.local_addr()?);
        let asked = Asked::default();
        let notes = asked.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let notes = notes.clone();
                tokio::spawn(async move {
                    let mut connection = Connection::of(stream);
                    while let Ok(Some((_, body))) = connection.read().await {
                        notes.note(&body);
                        if connection.answer("text/event-stream", ANSWER).await.is_err() {
                            return;
                        }
                    }
                });
            }
        });
        Ok(Self { url, asked })
    }

    /// Takes the times at which the model was first asked about each message.
    pub(crate) fn take(&self) -> HashMap<usize, Instant> {
        std::mem::take(&mut *self.asked.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The number of the messages that it was asked about.
    pub(crate) fn count(&self) -> usize {
        self.asked.0.lock().unwrap_or_else(PoisonError::into_inner).len()
    }
}

impl Asked {
    fn note(&self, body: &[u8]) {
        let now = Instant::now();
        let text = String::from_utf8_lossy(body);
        let mut asked = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for (at, _) in text.match_indices(MARK) {
            let begin = at + MARK.len();
            if let Some(Ok(number)) = text.get(begin..begin + DIGITS).map(str::parse) {
                asked.entry(number).or_insert(now);
            }
        }
    }
}

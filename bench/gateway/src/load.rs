//! Messages at a rate, whether or not the ones before were answered.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::sync::Mutex;
use tokio::task::JoinSet;

use crate::model::{DIGITS, MARK, Model};
use gateway::Result;
use gateway::connection::Connection;
use gateway::process::Gateway;

/// Time between two looks whether all is done.
const PAUSE: Duration = Duration::from_millis(20);

/// The times of a load, in milliseconds since each message was to be sent.
pub(crate) struct Load {
    pub(crate) accepted: Vec<f64>,
    pub(crate) asked: Vec<f64>,
    /// The time from the last message to the end of the last run.
    pub(crate) drained: Duration,
}

/// Connections that are not in use.
type Connections = Arc<Mutex<Vec<Connection>>>;

/// Sends so many messages to these sessions by turns, at a rate of so many a second, and waits until all are answered.
pub(crate) async fn run(
    gateway: &Gateway,
    model: &Model,
    messages: usize,
    rate: usize,
    sessions: usize,
) -> Result<Load> {
    model.take();
    let connections = Connections::default();
    let begun = Instant::now() + Duration::from_millis(100);
    let between = Duration::from_secs(1) / u32::try_from(rate)?;
    let due = |number: usize| begun + between * u32::try_from(number).unwrap_or(u32::MAX);
    let mut sending = JoinSet::new();
    for number in 0..messages {
        tokio::time::sleep_until(due(number).into()).await;
        let path =
            format!("/v1/sessions/agent:main:local:console:direct:owner:s{}/messages", number % sessions);
        let body =
            json!({ "text": format!("{MARK}{number:0DIGITS$}"), "id": number.to_string() }).to_string();
        let (address, token) = (gateway.address.clone(), gateway.token.clone());
        let (connections, due) = (Arc::clone(&connections), due(number));
        sending.spawn(async move {
            let idle = connections.lock().await.pop();
            let mut connection = match idle {
                Some(connection) => connection,
                None => Connection::open(&address).await?,
            };
            // One that was idle for long may have been closed; the message has an id of its own, so that it is stored once.
            let sent = match connection.request("POST", &path, &token, &body).await {
                Err(_) => {
                    connection = Connection::open(&address).await?;
                    connection.request("POST", &path, &token, &body).await
                }
                sent => sent,
            };
            let (status, answer) = sent?;
            if status != 202 {
                return Err(
                    format!("a message was refused: {status} {}", String::from_utf8_lossy(&answer)).into()
                );
            }
            connections.lock().await.push(connection);
            Ok::<_, Box<dyn std::error::Error + Send + Sync>>(due.elapsed().as_secs_f64() * 1e3)
        });
    }
    let mut accepted = Vec::new();
    while let Some(sent) = sending.join_next().await {
        accepted.push(sent??);
    }
    let last = due(messages - 1);
    let mut connection = Connection::open(&gateway.address).await?;
    loop {
        let (_, status) = connection.request("GET", "/v1/status", &gateway.token, "").await?;
        let status: Value = serde_json::from_slice(&status)?;
        if model.count() == messages && status["queued"] == 0 && status["runs"]["running"] == 0 {
            break;
        }
        tokio::time::sleep(PAUSE).await;
    }
    let drained = last.elapsed();
    let asked = model.take();
    let asked = (0..messages).filter_map(|number| {
        asked.get(&number).map(|at| at.saturating_duration_since(due(number)).as_secs_f64() * 1e3)
    });
    Ok(Load { accepted, asked: asked.collect(), drained })
}

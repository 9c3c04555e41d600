//! Clients over HTTP: each sends what it has to say until it is accepted, under one id.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use toolkit_gateway::client::{ClientError, GatewayClient};

use super::model::kind;
use super::random::Random;
use super::{Place, in_time};

const CLIENTS: usize = 8;
/// The least number of messages of each client.
const LEAST: usize = 3;
/// Jobs of a tool.
const TICKING: usize = 3;
const PAUSE: Duration = Duration::from_millis(20);

/// Makes the people and the jobs, and returns a token for each person.
pub(super) async fn set_up(place: &Place) -> Vec<String> {
    let owner = GatewayClient::of_data_dir(&place.data()).unwrap();
    let job = |job: Value| {
        let owner = owner.clone();
        async move { owner.post("/v1/schedules", &job).await.unwrap() }
    };
    // Of these every missed time is made up for, of the other the last one.
    for _ in 0..TICKING {
        job(json!({ "every": "1s", "tool": "kill_tick", "missed": "all" })).await;
    }
    job(json!({ "every": "2s", "prompt": "plain j-00000" })).await;
    let mut tokens = Vec::new();
    for number in 0..CLIENTS {
        let made = owner.post("/v1/tokens", &json!({ "name": format!("c{number}") })).await.unwrap();
        tokens.push(made["token"].as_str().unwrap().to_owned());
    }
    tokens
}

/// The clients at work.
pub(super) struct Clients {
    stop: CancellationToken,
    working: JoinSet<Vec<String>>,
}

impl Clients {
    pub(super) fn start(place: &Place, tokens: Vec<String>, random: &mut Random) -> Self {
        let (stop, mut working) = (CancellationToken::new(), JoinSet::new());
        for (number, token) in tokens.into_iter().enumerate() {
            let client = Client { place: place.clone(), token, gateway: None };
            working.spawn(work(client, number, random.fork(), stop.clone()));
        }
        Self { stop, working }
    }

    /// Lets each end with the message that it is at, and returns the ids of all messages, which were accepted.
    pub(super) async fn end(self) -> Vec<String> {
        self.stop.cancel();
        self.working.join_all().await.concat()
    }
}

async fn work(mut client: Client, number: usize, mut random: Random, stop: CancellationToken) -> Vec<String> {
    let mut sent = Vec::new();
    while !stop.is_cancelled() || sent.len() < LEAST {
        let id = format!("c{number}-{:05}", sent.len());
        let kind = kind(&mut random);
        let message = json!({ "text": format!("{kind} {id}"), "id": id });
        let accepted =
            in_time("a message is accepted", client.post("/v1/sessions/main/messages", &message)).await;
        sent.push(id);
        if random.below(4) == 0 {
            // The next one reaches the run, or waits.
            tokio::time::sleep(random.millis(50)).await;
            continue;
        }
        let path = format!("/v1/sessions/main/inbox/{}?waitSeconds=5", accepted["id"]);
        in_time("a message is answered", async {
            loop {
                let outcome = client.get(&path).await;
                if !["queued", "running", "waiting"].contains(&outcome["state"].as_str().unwrap()) {
                    break;
                }
            }
        })
        .await;
    }
    sent
}

/// A client that tries again until the gateway answers.
struct Client {
    place: Place,
    token: String,
    gateway: Option<GatewayClient>,
}

impl Client {
    async fn get(&mut self, path: &str) -> Value {
        self.ask(path, None).await
    }

    async fn post(&mut self, path: &str, body: &Value) -> Value {
        self.ask(path, Some(body)).await
    }

    async fn ask(&mut self, path: &str, body: Option<&Value>) -> Value {
        loop {
            if let Some(gateway) = self.gateway() {
                let answer = match body {
                    Some(body) => gateway.post(path, body).await,
                    None => gateway.get(path).await,
                };
                match answer {
                    Ok(answer) => return answer,
                    // It was killed.
                    Err(ClientError::Unreachable { .. } | ClientError::Answer { .. }) => {}
                    Err(error) => panic!("{path}: {error}"),
                }
            }
            self.gateway = None;
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// The gateway that runs now, if one does.
    fn gateway(&mut self) -> Option<GatewayClient> {
        if self.gateway.is_none() {
            let address = std::fs::read_to_string(self.place.data().join("gateway.address")).ok()?;
            self.gateway = GatewayClient::new(address.trim(), self.token.as_str()).ok();
        }
        self.gateway.clone()
    }
}

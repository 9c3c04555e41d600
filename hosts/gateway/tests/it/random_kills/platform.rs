//! A chat platform without idempotency keys: a file of messages for the gateway, and one of those that arrived.

use std::time::Duration;

use serde_json::json;
use toolkit_gateway::{
    Acceptance, Delivery, NewMessage, PeerKind, SendChannel, SendError, Sending, SessionKey, Sessions, Target,
};

use super::Place;
use super::model::kind;
use super::random::Random;

const CHANNEL: &str = "chat";
const ACCOUNT: &str = "one";
const SOURCE: &str = "chat:one";
/// The file of the messages for the gateway.
const INCOMING: &str = "incoming";
const PEERS: u64 = 4;

/// The half that sends.
pub(super) struct Platform(pub(super) Place);

impl SendChannel for Platform {
    fn channel(&self) -> &'static str {
        CHANNEL
    }

    fn account(&self) -> &'static str {
        ACCOUNT
    }

    fn has_idempotency_keys(&self) -> bool {
        false
    }

    /// Some are refused, some have to be tried again, and of some nobody knows.
    fn send<'a>(&'a self, delivery: &'a Delivery) -> Sending<'a> {
        Box::pin(async move {
            tokio::time::sleep(Duration::from_millis((delivery.id * 7 % 20).unsigned_abs())).await;
            match delivery.id % 16 {
                3 if delivery.attempts == 1 => {
                    let retry_after = Some(Duration::from_millis(30));
                    return Err(SendError::NotSent { reason: "it is busy".to_owned(), retry_after });
                }
                5 => return Err(SendError::refused("it is blocked")),
                _ => {}
            }
            self.0.note("sent", &format!("{} {}", delivery.id, delivery.target.conversation));
            tokio::time::sleep(Duration::from_millis((delivery.id * 13 % 20).unsigned_abs())).await;
            if delivery.id % 16 == 9 { Err(SendError::unknown("the connection broke")) } else { Ok(None) }
        })
    }
}

/// Hands the messages in that the gateway has not accepted.
pub(super) async fn receive(place: &Place, sessions: &Sessions) {
    let offset = sessions.store().offset(SOURCE.to_owned()).await.unwrap();
    let offset: usize = offset.map_or(0, |offset| offset.parse().unwrap());
    for (number, line) in place.lines(INCOMING).iter().enumerate().skip(offset) {
        let (peer, text) = line.split_once(' ').unwrap();
        let key = SessionKey::peer("main", CHANNEL, ACCOUNT, PeerKind::Direct, peer, None).unwrap();
        let message = NewMessage::new(SOURCE, text, key, json!({ "text": text }))
            .with_sender(peer)
            .with_reply_to(Target::new(CHANNEL, ACCOUNT, peer))
            .with_offset((number + 1).to_string());
        let accepted = sessions.send(message).await.unwrap();
        assert!(matches!(accepted, Acceptance::Accepted { .. }), "{line}: {accepted:?}");
    }
}

/// The messages that people write on the platform.
pub(super) struct Incoming {
    place: Place,
    random: Random,
    /// The ids of the messages.
    pub(super) sent: Vec<String>,
}

impl Incoming {
    pub(super) fn new(place: &Place, random: Random) -> Self {
        Self { place: place.clone(), random, sent: Vec::new() }
    }

    /// Writes one message.
    pub(super) fn write(&mut self) {
        let peer = self.random.below(PEERS);
        let id = format!("p{peer}-{:05}", self.sent.len());
        let kind = kind(&mut self.random);
        self.place.note(INCOMING, &format!("p{peer} {kind} {id}"));
        self.sent.push(id);
    }
}

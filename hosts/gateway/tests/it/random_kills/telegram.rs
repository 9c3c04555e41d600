//! Telegram as a source and a target: a strict double of its Bot API in the process of the test, which outlives the gateway, and people who write
//! to it while that is killed.

use std::sync::Arc;

use serde_json::{Value, json};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use toolkit_gateway::client::GatewayClient;
use toolkit_loopback::bot_api::{Chat, FakeBotApi, Fault, User};

use super::Place;
use super::model::kind;
use super::random::Random;

/// The source of the messages of the account.
pub(super) const SOURCE: &str = "telegram:default:110201543";
/// The channel.
pub(super) const CHANNEL: &str = "telegram";
const PEOPLE: i64 = 3;
/// The number of the first person.
const FIRST: i64 = 101;
/// Somebody whom nobody let in.
const STRANGER: i64 = 999;
/// A group whose messages are all heard.
const GROUP: i64 = -1_000_777;
/// The least number of messages that people write.
const MIN_MESSAGES: usize = 12;
/// The longest pause between two messages, in milliseconds.
const MAX_PAUSE: u64 = 1_000;
/// The longest time that an answer of the platform is held back, in milliseconds.
const MAX_HOLD: u64 = 2_500;

/// A message that a person wrote.
#[derive(Debug)]
pub(super) struct Written {
    /// The id in its text.
    pub(super) id: String,
    /// Its id in the inbox.
    pub(super) external_id: String,
}

/// The platform.
#[derive(Clone)]
pub(super) struct Telegram(pub(super) Arc<FakeBotApi>);

impl Telegram {
    pub(super) async fn start() -> Self {
        Self(Arc::new(FakeBotApi::start().await))
    }

    /// The settings of the channel.
    pub(super) fn channel(&self) -> Value {
        json!({ "token": self.0.token(), "baseUrl": self.0.url(), "pollSeconds": 1 })
    }

    /// The groups that are heard.
    pub(super) fn groups() -> Value {
        json!({ format!("{CHANNEL}:{GROUP}"): { "mention": false } })
    }

    /// Lets the people in.
    pub(super) async fn set_up(&self, place: &Place) {
        let owner = GatewayClient::of_data_dir(&place.data()).unwrap();
        self.0.join(&group());
        for number in 0..PEOPLE {
            let user = user(FIRST + number);
            let sent = self.0.sent().len();
            self.0.say(&user, &Chat::direct(&user), "hello");
            // The code.
            self.0.wait_sent(sent + 1).await;
            let wanted = json!({ "sender": format!("{CHANNEL}:{}", user.id), "name": format!("u{number}") });
            owner.post("/v1/pairings/approve", &wanted).await.unwrap();
            self.0.wait_sent(sent + 2).await;
        }
    }

    /// Ends the faults of before, and injects at most one.
    pub(super) fn trouble(&self, random: &mut Random) {
        self.0.clear_faults();
        let (method, fault) = match random.below(20) {
            0 => ("sendMessage", Fault::TooManyRequests(1)),
            1 => ("sendMessage", Fault::ServerError(502)),
            2 => ("sendMessage", Fault::CloseBefore),
            3 => ("sendMessage", Fault::CloseAfter),
            4 => ("getUpdates", Fault::Conflict),
            5 => ("getUpdates", Fault::ServerError(502)),
            6 => ("getUpdates", Fault::CloseBefore),
            7 => ("getUpdates", Fault::MalformedJson),
            8 => ("getUpdates", Fault::TooManyRequests(1)),
            9 => ("sendPoll", Fault::CloseAfter),
            10 => ("getMe", Fault::ServerError(502)),
            11..=17 => {
                // A message arrives, and the gateway does not hear of it for a while: often not before it is killed.
                let (held, pause) = (self.0.hold("sendMessage"), random.millis(MAX_HOLD));
                tokio::spawn(async move {
                    held.reached().await;
                    tokio::time::sleep(pause).await;
                    held.release();
                });
                return;
            }
            _ => return,
        };
        self.0.inject(method, 1, fault);
    }

    /// The offset of somebody who has read everything.
    pub(super) fn last_offset(&self) -> String {
        (self.0.last_update().unwrap() + 1).to_string()
    }
}

fn user(id: i64) -> User {
    User::new(id, &format!("User {id}"))
}

fn group() -> Chat {
    Chat::supergroup(GROUP, "Team")
}

/// The people at work: they write whether a gateway runs or not.
pub(super) struct People {
    stop: CancellationToken,
    writing: JoinHandle<Vec<Written>>,
}

impl People {
    pub(super) fn start(telegram: &Telegram, random: Random) -> Self {
        let stop = CancellationToken::new();
        let writing = tokio::spawn(write_all(telegram.clone(), random, stop.clone()));
        Self { stop, writing }
    }

    /// Lets them end, and returns what they wrote.
    pub(super) async fn end(self) -> Vec<Written> {
        self.stop.cancel();
        self.writing.await.unwrap()
    }
}

async fn write_all(telegram: Telegram, mut random: Random, stop: CancellationToken) -> Vec<Written> {
    let mut written = Vec::new();
    while !stop.is_cancelled() || written.len() < MIN_MESSAGES {
        tokio::time::sleep(random.millis(MAX_PAUSE)).await;
        if random.below(16) == 0 {
            let stranger = user(STRANGER);
            telegram.0.say(&stranger, &Chat::direct(&stranger), "effect x-00000");
            continue;
        }
        let number = i64::try_from(random.below(PEOPLE.unsigned_abs())).unwrap();
        let user = user(FIRST + number);
        let chat = if random.below(4) == 0 { group() } else { Chat::direct(&user) };
        let id = format!("u{number}-{:05}", written.len());
        let kind = if random.below(6) == 0 { "poll" } else { kind(&mut random) };
        let message = telegram.0.say(&user, &chat, &format!("{kind} {id}"));
        written.push(Written { id, external_id: format!("{}/{message}", chat.id) });
    }
    written
}

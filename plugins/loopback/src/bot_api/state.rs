//! The state of the server.

use super::faults::Injected;
use super::file::File;
use super::sent::{Call, Sent};
use super::world::{Chat, User};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// The date at which a server starts, in seconds since 1970.
const EPOCH: u64 = 1_790_000_000;
/// The id of the first update, as any other number would be.
const FIRST_UPDATE: i64 = 500_001;

/// The state, and the news of its changes.
#[derive(Debug)]
pub(super) struct Shared {
    state: Mutex<State>,
    changes: watch::Sender<u64>,
}

impl Shared {
    pub(super) fn new(bot: User) -> Self {
        Self { state: Mutex::new(State::new(bot)), changes: watch::Sender::new(0) }
    }

    /// Reads the state.
    pub(super) fn read(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the state, and tells whoever waits.
    pub(super) fn change<R>(&self, change: impl FnOnce(&mut State) -> R) -> R {
        let changed = change(&mut self.read());
        self.changes.send_modify(|count| *count += 1);
        changed
    }

    /// Waits until a function of the state returns a value.
    pub(super) async fn find<R>(&self, mut find: impl FnMut(&mut State) -> Option<R>) -> R {
        let mut changes = self.changes.subscribe();
        loop {
            changes.mark_unchanged();
            if let Some(found) = find(&mut self.read()) {
                return found;
            }
            // The sender lives as long as the state.
            let _ = changes.changed().await;
        }
    }
}

/// A chat, and the state of the bot in it.
#[derive(Debug)]
pub(super) struct ChatState {
    pub(super) chat: Chat,
    pub(super) topics: BTreeSet<i64>,
    pub(super) next_message: i64,
    /// The description of why the bot may not write there.
    pub(super) forbidden: Option<String>,
    pub(super) migrated_to: Option<i64>,
    /// The times of the bot's latest messages.
    pub(super) times: VecDeque<Duration>,
}

/// A limit of messages in each chat.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rate {
    pub(super) messages: usize,
    pub(super) per: Duration,
}

/// An update that is not confirmed yet.
#[derive(Debug)]
pub(super) struct Queued {
    pub(super) id: i64,
    /// Its kind; `None` for one that is delivered in any case.
    pub(super) kind: Option<&'static str>,
    pub(super) json: String,
}

/// The state of the server.
#[derive(Debug)]
pub(super) struct State {
    pub(super) bot: User,
    pub(super) chats: BTreeMap<i64, ChatState>,
    /// The messages by chat and id, in the form of the Bot API.
    pub(super) messages: BTreeMap<(i64, i64), Value>,
    /// The files that can be fetched, by their ids.
    pub(super) files: BTreeMap<String, File>,
    pub(super) updates: VecDeque<Queued>,
    next_update: i64,
    /// The number of the latest poll.
    pub(super) poll: u64,
    /// The number of the poll that waits.
    pub(super) waiting: Option<u64>,
    /// The presses of buttons, with the text of the bot's answer.
    pub(super) presses: BTreeMap<String, Option<String>>,
    /// The bot's reactions, by chat and message.
    pub(super) reactions: BTreeMap<(i64, i64), String>,
    pub(super) sent: Vec<Sent>,
    pub(super) calls: Vec<Call>,
    pub(super) violations: Vec<String>,
    pub(super) faults: Vec<Injected>,
    pub(super) rate: Option<Rate>,
    /// The chats in which a request to send is under way.
    pub(super) sending: BTreeSet<i64>,
    started: Instant,
    /// The time by which the clock was advanced.
    advanced: Duration,
}

impl State {
    fn new(bot: User) -> Self {
        Self {
            bot,
            chats: BTreeMap::new(),
            messages: BTreeMap::new(),
            files: BTreeMap::new(),
            updates: VecDeque::new(),
            next_update: FIRST_UPDATE,
            poll: 0,
            waiting: None,
            presses: BTreeMap::new(),
            reactions: BTreeMap::new(),
            sent: Vec::new(),
            calls: Vec::new(),
            violations: Vec::new(),
            faults: Vec::new(),
            rate: None,
            sending: BTreeSet::new(),
            started: Instant::now(),
            advanced: Duration::ZERO,
        }
    }

    /// The time since the start.
    pub(super) fn now(&self) -> Duration {
        self.started.elapsed() + self.advanced
    }

    /// Advances the clock.
    pub(super) fn advance(&mut self, time: Duration) {
        self.advanced += time;
    }

    /// The date, in seconds since 1970.
    pub(super) fn date(&self) -> u64 {
        EPOCH + self.now().as_secs()
    }

    /// Adds a chat, if it is not there yet.
    pub(super) fn add_chat(&mut self, chat: &Chat) -> &mut ChatState {
        self.chats.entry(chat.id).or_insert_with(|| ChatState {
            chat: chat.clone(),
            topics: BTreeSet::new(),
            next_message: 1,
            forbidden: None,
            migrated_to: None,
            times: VecDeque::new(),
        })
    }

    /// Returns the id of the next message of a chat.
    pub(super) fn next_message(&mut self, chat: &Chat) -> i64 {
        let state = self.add_chat(chat);
        let id = state.next_message;
        state.next_message += 1;
        id
    }

    /// Stores a file. Returns its id.
    pub(super) fn add_file(&mut self, file: File) -> String {
        let id = format!("file-{}", self.files.len() + 1);
        self.files.insert(id.clone(), file);
        id
    }

    /// Adds an update with the JSON that a function writes from its id. Returns the id.
    pub(super) fn push(&mut self, kind: Option<&'static str>, write: impl FnOnce(i64) -> String) -> i64 {
        let id = self.next_update;
        self.next_update += 1;
        self.updates.push_back(Queued { id, kind, json: write(id) });
        id
    }

    /// Returns the id of the latest update.
    pub(super) fn last_update(&self) -> Option<i64> {
        (self.next_update > FIRST_UPDATE).then(|| self.next_update - 1)
    }

    /// Adds an update of a kind. Returns its id.
    pub(super) fn push_update(&mut self, kind: &'static str, content: &Value) -> i64 {
        self.push(Some(kind), |id| serde_json::json!({ "update_id": id, kind: content }).to_string())
    }

    /// Returns the bot's message with an id.
    pub(super) fn sent_mut(&mut self, chat: i64, message_id: i64) -> Option<&mut Sent> {
        self.sent.iter_mut().find(|sent| (sent.chat, sent.message_id) == (chat, message_id))
    }
}

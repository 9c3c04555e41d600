//! The Bot API of Telegram on loopback: a bot, users who write to it, and faults that a test injects.
//!
//! It is written from the [public documentation](https://core.telegram.org/bots/api), and is stricter than Telegram's servers: an unknown
//! method or field, a wrong type, a text beyond its limit, HTML that the documentation does not allow, and two requests at once that
//! send to one chat are [violations](FakeBotApi::violations). Updates are kept until a poll has an offset beyond them. A poll ends another
//! one that waits with status 409.
//!
//! ```
//! use toolkit_loopback::bot_api::{Chat, FakeBotApi, User};
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() {
//! let telegram = FakeBotApi::start().await;
//! let ada = User::new(5, "Ada");
//! let message_id = telegram.say(&ada, &Chat::direct(&ada), "Hello");
//! assert_eq!((message_id, telegram.pending_updates()), (1, 1));
//! assert!(telegram.violations().is_empty());
//! # }
//! ```

mod acts;
mod answers;
mod body;
mod faults;
mod file;
mod html;
mod methods;
mod polling;
mod posting;
mod schema;
mod sent;
mod serving;
mod state;
mod user_message;
mod world;

pub use faults::{Fault, Held};
pub use file::File;
pub use sent::{Call, Sent};
pub use user_message::UserMessage;
pub use world::{Chat, User};

use crate::Loopback;
use faults::{Effect, Injected};
use state::{Rate, Shared};
use std::sync::Arc;
use std::time::Duration;

/// The token of the bot.
const TOKEN: &str = "110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw";
/// The id of the bot, with which its token begins.
const BOT: i64 = 110_201_543;
/// The user name of the bot.
const USERNAME: &str = "toolkit_test_bot";
/// The longest time that a test waits for something that happens in any case. It is no measurement: a machine may be slow.
const DEADLINE: Duration = Duration::from_mins(2);

/// A server of the Bot API. It stops when it is dropped.
#[derive(Debug)]
pub struct FakeBotApi {
    server: Loopback,
    shared: Arc<Shared>,
}

impl FakeBotApi {
    /// Begins to serve.
    pub async fn start() -> Self {
        let bot = User { username: Some(USERNAME.to_owned()), is_bot: true, ..User::new(BOT, "Test bot") };
        let shared = Arc::new(Shared::new(bot));
        let (state, token): (_, Arc<str>) = (Arc::clone(&shared), TOKEN.into());
        let server = Loopback::start_async(move |request| {
            serving::serve(Arc::clone(&state), Arc::clone(&token), request)
        })
        .await;
        Self { server, shared }
    }

    /// The base URL.
    pub fn url(&self) -> &str {
        self.server.url()
    }

    /// The token of the bot.
    pub fn token(&self) -> &'static str {
        TOKEN
    }

    /// The bot.
    pub fn bot(&self) -> User {
        self.shared.read().bot.clone()
    }

    /// The messages that the bot sent, in order, as they are now.
    pub fn sent(&self) -> Vec<Sent> {
        self.shared.read().sent.clone()
    }

    /// The calls that were checked, in order, whatever came of them.
    pub fn calls(&self) -> Vec<Call> {
        self.shared.read().calls.clone()
    }

    /// The calls of a method.
    pub fn calls_of(&self, method: &str) -> Vec<Call> {
        self.calls().into_iter().filter(|call| call.method == method).collect()
    }

    /// The requests that no correct client makes.
    pub fn violations(&self) -> Vec<String> {
        self.shared.read().violations.clone()
    }

    /// Takes the violations, for a test that makes one on purpose.
    pub fn take_violations(&self) -> Vec<String> {
        self.shared.change(|state| std::mem::take(&mut state.violations))
    }

    /// The number of updates that are not confirmed.
    pub fn pending_updates(&self) -> usize {
        self.shared.read().updates.len()
    }

    /// The id of the latest update; `None` if there was none yet.
    pub fn last_update(&self) -> Option<i64> {
        self.shared.read().last_update()
    }

    /// The bot's reaction to a message.
    pub fn reaction(&self, chat: &Chat, message_id: i64) -> Option<String> {
        self.shared.read().reactions.get(&(chat.id, message_id)).cloned()
    }

    /// The text that whoever pressed a button was shown; `None` while the press is not acknowledged.
    pub fn acknowledgement(&self, press: &str) -> Option<String> {
        self.shared.read().presses.get(press).cloned().flatten()
    }

    /// Waits until the bot has sent this number of messages, and returns them.
    ///
    /// # Panics
    ///
    /// That has not happened after minutes.
    pub async fn wait_sent(&self, number: usize) -> Vec<Sent> {
        let sent = self.shared.find(|state| (state.sent.len() >= number).then(|| state.sent.clone()));
        self.within(&format!("{number} messages of the bot"), sent).await
    }

    /// Waits until this number of calls of a method were checked.
    ///
    /// # Panics
    ///
    /// That has not happened after minutes.
    pub async fn wait_calls(&self, method: &str, number: usize) {
        let called = self.shared.find(|state| {
            (state.calls.iter().filter(|call| call.method == method).count() >= number).then_some(())
        });
        self.within(&format!("{number} calls of {method}"), called).await;
    }

    /// Waits until all updates are confirmed.
    ///
    /// # Panics
    ///
    /// That has not happened after minutes.
    pub async fn wait_confirmed(&self) {
        let confirmed = self.shared.find(|state| state.updates.is_empty().then_some(()));
        self.within("the confirmation of all updates", confirmed).await;
    }

    /// Waits until a press is acknowledged, and returns the text that is shown.
    ///
    /// # Panics
    ///
    /// That has not happened after minutes.
    pub async fn wait_acknowledged(&self, press: &str) -> String {
        let text = self.shared.find(|state| state.presses.get(press).cloned().flatten());
        self.within("the acknowledgement of a press", text).await
    }

    /// Waits until a poll waits for updates.
    ///
    /// # Panics
    ///
    /// That has not happened after minutes.
    pub async fn wait_polling(&self) {
        let polling = self.shared.find(|state| state.waiting.is_some().then_some(()));
        self.within("a poll", polling).await;
    }

    async fn within<R>(&self, what: &str, waiting: impl Future<Output = R>) -> R {
        let Ok(found) = tokio::time::timeout(DEADLINE, waiting).await else {
            let (calls, violations) = (self.calls(), self.violations());
            panic!("{what}: nothing came of it; calls: {calls:#?}, violations: {violations:#?}")
        };
        found
    }

    /// Injects a fault into a number of requests of a method: `file` for the download of a file, `*` for any method.
    pub fn inject(&self, method: &str, times: usize, fault: Fault) {
        let injected = Injected { method: method.to_owned(), times, what: Effect::Fault(fault) };
        self.shared.change(|state| state.faults.push(injected));
    }

    /// Holds back the answer to the next request of a method: the request is processed.
    pub fn hold(&self, method: &str) -> Held {
        let (held, holding) = faults::hold();
        let injected = Injected { method: method.to_owned(), times: 1, what: Effect::Hold(holding) };
        self.shared.change(|state| state.faults.push(injected));
        held
    }

    /// Ends all faults that are injected.
    pub fn clear_faults(&self) {
        self.shared.change(|state| state.faults.clear());
    }

    /// Limits the messages of the bot in each chat: one beyond that is refused with status 429 and the time to wait.
    pub fn limit_rate(&self, messages: usize, per: Duration) {
        self.shared.change(|state| state.rate = Some(Rate { messages, per }));
    }

    /// Advances the server's clock, which goes on by itself too.
    pub fn advance(&self, time: Duration) {
        self.shared.change(|state| state.advance(time));
    }
}

//! Telegram in a whole gateway: its channel and its tools, over a strict double of the Bot API.

mod conversation;
mod crashes;
mod outages;
mod tools;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use toolkit::config::{Configuration, LoadOptions};
use toolkit_channel::{Account, registered};
use toolkit_gateway::{Clock, Gateway, GatewayOptions};
use toolkit_host::Host;
use toolkit_loopback::bot_api::{Chat, FakeBotApi, Sent, User};

use super::code;
use crate::agents::in_time;
use crate::websocket::{Model, http};

/// The accounts of a gateway, each with a double of its own.
const ACCOUNTS: [&str; 2] = ["home", "work"];
/// The number of the owner on Telegram.
const OWNER: i64 = 5;

/// A gateway with accounts on Telegram, in a directory of its own.
struct Bots {
    directory: tempfile::TempDir,
    model: Model,
    telegrams: Vec<FakeBotApi>,
    gateway: Gateway,
    token: String,
    settings: Vec<String>,
    /// A clock that stands, in place of the system's.
    clock: Option<Clock>,
    /// How many messages to a chat of an account were looked at.
    read: BTreeMap<(usize, i64), usize>,
}

impl Bots {
    async fn of(accounts: usize, settings: &[&str], clock: Option<Clock>) -> Self {
        let settings: Vec<String> = settings.iter().map(|setting| (*setting).to_owned()).collect();
        let directory = tempfile::tempdir().unwrap();
        let model = Model::start().await;
        let mut telegrams = Vec::new();
        for _ in 0..accounts {
            telegrams.push(FakeBotApi::start().await);
        }
        let gateway = start(directory.path(), &model.url, &urls(&telegrams), &settings, clock.clone()).await;
        let token = std::fs::read_to_string(gateway.owner_token_file()).unwrap().trim().to_owned();
        Self { directory, model, telegrams, gateway, token, settings, clock, read: BTreeMap::new() }
    }

    /// Stops the gateway, and starts it again.
    async fn restart(self) -> Self {
        let Self { directory, model, telegrams, gateway, token, settings, clock, read } = self;
        in_time(gateway.stop(Duration::ZERO)).await.unwrap();
        let gateway = start(directory.path(), &model.url, &urls(&telegrams), &settings, clock.clone()).await;
        Self { directory, model, telegrams, gateway, token, settings, clock, read }
    }

    /// Ends, if the bots made no request that no correct client makes.
    async fn stop(self) {
        in_time(self.gateway.stop(Duration::ZERO)).await.unwrap();
        for telegram in &self.telegrams {
            assert_eq!(telegram.violations(), Vec::<String>::new());
        }
    }

    fn telegram(&self) -> &FakeBotApi {
        &self.telegrams[0]
    }

    async fn post(&self, path: &str, body: Value) -> (u16, Value) {
        http(self.gateway.address(), "POST", path, &self.token, Some(body)).await
    }

    /// The health of the first account.
    async fn health(&self) -> Value {
        let (status, channels) = http(self.gateway.address(), "GET", "/v1/channels", &self.token, None).await;
        assert_eq!(status, 200, "{channels}");
        channels["channels"][0].clone()
    }

    /// The rows of the outbox with an action of a platform, the oldest first.
    async fn actions(&self) -> Vec<toolkit_gateway::Delivery> {
        let filter = toolkit_gateway::DeliveryFilter { limit: 1_000, ..Default::default() };
        let mut all = self.gateway.state().store().list_deliveries(filter).await.unwrap();
        all.retain(|delivery| delivery.body["action"] == "platform");
        all.reverse();
        all
    }

    /// Waits for the next message of an account in a chat.
    async fn next(&mut self, account: usize, chat: i64) -> Sent {
        let seen = self.read.entry((account, chat)).or_default();
        let mut number = 1;
        loop {
            let sent = self.telegrams[account].wait_sent(number).await;
            if let Some(found) = sent.iter().filter(|sent| sent.chat == chat).nth(*seen) {
                *seen += 1;
                return found.clone();
            }
            number = sent.len() + 1;
        }
    }

    /// Waits for the next text in the owner's chat with the first account.
    async fn told(&mut self) -> String {
        self.next(0, OWNER).await.text
    }

    fn say(&self, account: usize, user: i64, text: &str) -> i64 {
        let user = self::user(user);
        self.telegrams[account].say(&user, &Chat::direct(&user), text)
    }

    /// Has the owner's agent call a tool, and returns what it says about the result.
    async fn call(&mut self, tool: &str, arguments: &Value) -> String {
        self.say(0, OWNER, &format!("call {tool} {arguments}"));
        self.told().await
    }

    /// Lets a user in as this, such as `{ "owner": true }`.
    async fn let_in(&mut self, account: usize, user: i64, mut becomes: Value) {
        self.say(account, user, "hello");
        let told = self.next(account, user).await.text;
        becomes["sender"] = code(&told).into();
        let (status, approved) = self.post("/v1/pairings/approve", becomes).await;
        assert_eq!(status, 200, "{approved}");
        let welcome = self.next(account, user).await.text;
        assert!(welcome.starts_with("You are let in"), "{welcome}");
    }

    async fn with_owner(settings: &[&str]) -> Self {
        Self::with_owner_at(settings, None).await
    }

    async fn with_owner_at(settings: &[&str], clock: Option<Clock>) -> Self {
        let mut bots = Self::of(1, settings, clock).await;
        bots.let_in(0, OWNER, json!({ "owner": true })).await;
        bots
    }
}

fn user(id: i64) -> User {
    User::new(id, &format!("User {id}"))
}

fn urls(telegrams: &[FakeBotApi]) -> Vec<(String, &'static str)> {
    telegrams.iter().map(|telegram| (telegram.url().to_owned(), telegram.token())).collect()
}

/// Starts a gateway with an account for each of these addresses, the first of its configuration.
async fn start(
    directory: &Path,
    model: &str,
    telegrams: &[(String, &str)],
    settings: &[String],
    clock: Option<Clock>,
) -> Gateway {
    let channel = |account: &str, (url, token): &(String, &str)| {
        format!(
            "channels.telegram.telegram={{ accounts: {{ {account}: {{ token: '{token}' }} }}, baseUrl: '{url}', pollSeconds: 1 }}"
        )
    };
    let mut load = LoadOptions::new()
        .data_dir(directory)
        .set("gateway.address='127.0.0.1:0'")
        .set("gateway.othersMayUse=['plugins']")
        .set(format!("models={{ local: {{ baseUrl: '{model}', model: 'm', contextTokens: 1000000 }} }}"))
        .set(channel(ACCOUNTS[0], &telegrams[0]));
    for setting in settings {
        load = load.set(setting.clone());
    }
    let mut options = GatewayOptions::new().clock(clock);
    for (telegram, account) in telegrams.iter().zip(ACCOUNTS).skip(1) {
        options = options.account(opened(&channel(account, telegram)));
    }
    // Tools of other tests need what is not here.
    let host = |load| Host::builder(load).with_toolkit(toolkit::Builder::leave_out_incomplete);
    Gateway::start(load, host, options).await.unwrap()
}

/// Opens an account on another server than that of the configuration.
fn opened(setting: &str) -> Account {
    let configuration = Configuration::load(LoadOptions::new().set(setting)).unwrap();
    let all = registered();
    let telegram = all.iter().find(|registered| registered.platform == "telegram").unwrap();
    let Account { channel, id, account } = telegram.open(&configuration).unwrap().remove(0);
    Account { channel, id, account: Arc::clone(&account) }
}

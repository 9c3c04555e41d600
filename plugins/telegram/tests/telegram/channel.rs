//! The channel, against a server of the Bot API.

mod conformance;
mod faults;
mod files;
mod groups;
mod opening;
mod platform;
mod receiving;
mod sending;

use std::sync::Arc;
use toolkit::config::{Configuration, LoadOptions};
use toolkit_channel::{
    Accounts, Action, Batch, Channel, Conversation, Event, EventKind, Incoming, Outgoing, Receipt, SendError,
    registered,
};
use toolkit_loopback::bot_api::{Chat, FakeBotApi, User};

/// A bot with a user who writes to it.
struct Place {
    telegram: FakeBotApi,
    channel: Arc<dyn Channel>,
    ada: User,
    direct: Chat,
}

impl Place {
    async fn new() -> Self {
        let telegram = FakeBotApi::start().await;
        let channel = account(telegram.url(), telegram.token(), 60);
        let ada = User { username: Some("ada_l".to_owned()), ..User::new(5, "Ada") };
        let direct = Chat::direct(&ada);
        telegram.join(&direct);
        Self { telegram, channel, ada, direct }
    }

    /// Everything that is not confirmed.
    async fn events(&self) -> Vec<Event> {
        let Batch { events } = self.channel.receive(None).await.unwrap();
        events
    }

    async fn messages(&self) -> Vec<Incoming> {
        let message = |event: Event| match event.kind {
            EventKind::Message(message) => Some(message),
            _ => None,
        };
        self.events().await.into_iter().filter_map(message).collect()
    }

    async fn send(&self, action: Action) -> Result<Receipt, SendError> {
        self.channel.send(&outgoing(&self.direct, action)).await
    }

    fn assert_no_violations(&self) {
        assert_eq!(self.telegram.violations(), Vec::<String>::new());
    }
}

/// Opens the accounts of a configuration.
fn opened(settings: &str) -> Result<Accounts, String> {
    let options = LoadOptions::new().set(format!("channels.telegram.telegram={settings}"));
    let configuration = Configuration::load(options).map_err(|error| error.to_string())?;
    let all = registered();
    let telegram = all.iter().find(|registered| registered.platform == "telegram").unwrap();
    let accounts = telegram.open(&configuration).map_err(|error| error.to_string())?;
    Ok(accounts.into_iter().map(|account| (account.id, account.account)).collect())
}

/// Opens an account whose polls wait for a second.
fn account(url: &str, token: &str, timeout_seconds: u64) -> Arc<dyn Channel> {
    let settings = format!(
        "{{ token: '{token}', baseUrl: '{url}', pollSeconds: 1, timeoutSeconds: {timeout_seconds} }}"
    );
    let (id, account) = opened(&settings).unwrap().remove(0);
    assert_eq!(id, "default");
    account
}

fn outgoing(chat: &Chat, action: Action) -> Outgoing {
    let conversation = Conversation::direct(chat.id.to_string());
    Outgoing { conversation, key: "1".to_owned(), action, reply_to: None, silent: false }
}

fn text(plain: &str) -> Action {
    Action::Text { plain: plain.to_owned(), markup: None, buttons: Vec::new() }
}

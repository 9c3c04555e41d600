//! Chat channels: accounts on platforms, by which people write to their agents.
//!
//! ```text
//! platform ──► receiving ──► arriving: who is it? ──► inbox, with the offset of the platform ──► unread: files
//!                                 └── a stranger ──► a code, once
//! platform ◄── sending ◄── outbox: parts that fit, in order for each conversation
//! ```
//!
//! An event is stored before the platform may forget it. Everything that costs comes after the sender is known.

mod arrival;
mod arriving;
mod asking;
mod commands;
mod health;
mod kept_files;
mod media;
mod messaging;
mod parts;
mod parts_of_text;
mod reads;
mod receiving;
mod remarks;
mod sending;
mod unread;

pub use health::{ChannelHealth, ChannelStatus};
pub(crate) use messaging::ChannelMessages;
pub(crate) use parts::parts_of;
pub(crate) use reads::Reads;
pub(crate) use sending::AccountSender;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;
use toolkit::config::Configuration;
use toolkit_channel::{Account, Identity, OpenError, registered};

use crate::settings::GroupSettings;
use crate::store::{Moment, Store, StoreError};
use crate::{Questions, Sessions};
use health::Health;

/// Opens the accounts that a configuration names, of the platforms that are linked into this program.
///
/// # Errors
///
/// Settings are wrong, or name a channel whose crate is not linked.
pub(crate) fn open(configuration: &Configuration) -> Result<Vec<Account>, OpenError> {
    let mut accounts = Vec::new();
    for platform in registered() {
        accounts.extend(platform.open(configuration)?);
    }
    accounts.sort_by(|one, other| (&one.channel, &one.id).cmp(&(&other.channel, &other.id)));
    for pair in accounts.windows(2) {
        if (&pair[0].channel, &pair[0].id) == (&pair[1].channel, &pair[1].id) {
            return Err(OpenError(format!(
                "channels.{}: two accounts are called `{}`; give each a name of its own",
                pair[0].channel, pair[0].id
            )));
        }
    }
    Ok(accounts)
}

/// The accounts of a gateway, receiving. Receiving ends with [`stop`](Self::stop), or when it is dropped.
#[derive(Clone)]
pub struct Channels(Arc<Inner>);

struct Inner {
    store: Store,
    accounts: Vec<Connected>,
    stopping: CancellationToken,
    receiving: std::sync::Mutex<Vec<AbortOnDropHandle<()>>>,
}

/// An account, with its health.
struct Connected {
    account: Account,
    health: Health,
}

/// The parts of the gateway that channels use.
#[derive(Clone)]
pub(crate) struct AtWork {
    pub(crate) sessions: Sessions,
    pub(crate) questions: Questions,
    pub(crate) workspaces: Arc<dyn Workspaces>,
    pub(crate) readers: Arc<dyn ReadsMedia>,
    /// How many files were read for each person lately.
    pub(crate) reads: Arc<Reads>,
    pub(crate) settings: Arc<dyn Fn() -> ChannelSettings + Send + Sync>,
}

/// The configuration of now, as far as it is about channels.
#[derive(Debug, Clone, Default)]
pub(crate) struct ChannelSettings {
    /// The agent of people and groups that have no other.
    pub(crate) agent: String,
    /// The groups in which the gateway takes part, by `CHANNEL:GROUP`.
    pub(crate) groups: std::collections::BTreeMap<String, GroupSettings>,
}

/// The outcome of reading a file: `None` where nothing is configured that reads it.
pub(crate) type Reading<'a> =
    std::pin::Pin<Box<dyn Future<Output = Result<Option<String>, String>> + Send + 'a>>;

/// The message whose files are read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MediaOf<'a> {
    /// The session that it is for.
    pub(crate) session: &'a crate::store::SessionRecord,
    /// The conversation from which it came.
    pub(crate) target: &'a crate::store::Target,
    /// The person who sent it.
    pub(crate) sender: &'a str,
}

/// Reads files that come with messages, in the name of a session and within its budgets.
pub(crate) trait ReadsMedia: Send + Sync + 'static {
    /// Returns what is said in a sound file of the workspace.
    fn transcript<'a>(&'a self, of: MediaOf<'a>, path: &'a str) -> Reading<'a>;

    /// Returns what a picture of the workspace shows.
    fn description<'a>(&'a self, of: MediaOf<'a>, path: &'a str) -> Reading<'a>;
}

/// Where the files go that come with messages.
pub(crate) trait Workspaces: Send + Sync + 'static {
    /// Returns the workspace of the agent in a session. Blocks.
    fn workspace(&self, session: &crate::store::SessionRecord) -> Result<std::path::PathBuf, String>;
}

impl Channels {
    /// Begins to receive. Must be called within a tokio runtime.
    pub(crate) fn begin(store: Store, accounts: Vec<Account>, at_work: &AtWork) -> Self {
        let now = store.clock().now();
        let accounts: Vec<Connected> =
            accounts.into_iter().map(|account| Connected { account, health: Health::new(now) }).collect();
        let stopping = CancellationToken::new();
        let mut tasks: Vec<AbortOnDropHandle<()>> = accounts
            .iter()
            .map(|connected| {
                let Connected { account, health } = connected;
                let receiving = receiving::receive_all(
                    store.clone(),
                    account.clone(),
                    health.clone(),
                    at_work.clone(),
                    stopping.clone(),
                );
                AbortOnDropHandle::new(tokio::spawn(receiving))
            })
            .collect();
        let all: Vec<Account> = accounts.iter().map(|connected| connected.account.clone()).collect();
        // Also without accounts: messages may be left of one that is configured no more.
        let reading = unread::read_all(store.clone(), all.clone(), at_work.clone(), stopping.clone());
        tasks.push(AbortOnDropHandle::new(tokio::spawn(reading)));
        if !accounts.is_empty() {
            let showing = asking::show_all(store.clone(), all, at_work.clone(), stopping.clone());
            tasks.push(AbortOnDropHandle::new(tokio::spawn(showing)));
        }
        Self(Arc::new(Inner { store, accounts, stopping, receiving: std::sync::Mutex::new(tasks) }))
    }

    /// Receives nothing more, and waits until what was received is stored, for this time at most.
    pub async fn stop(&self, within: Duration) {
        self.0.stopping.cancel();
        let tasks =
            std::mem::take(&mut *self.0.receiving.lock().unwrap_or_else(std::sync::PoisonError::into_inner));
        let _ = tokio::time::timeout(within, async {
            for task in tasks {
                let _ = task.await;
            }
        })
        .await;
    }

    /// Lists the accounts with their health, and how much waits to be sent.
    ///
    /// # Errors
    ///
    /// The store cannot be read.
    pub async fn list(&self) -> Result<Vec<ChannelStatus>, StoreError> {
        let mut statuses = Vec::new();
        for Connected { account, health } in &self.0.accounts {
            let waiting = self.0.store.waiting_deliveries(&account.channel, &account.id).await?;
            statuses.push(ChannelStatus {
                channel: account.channel.clone(),
                account: account.id.clone(),
                health: health.get(),
                capabilities: account.account.capabilities(),
                limits: account.account.limits(),
                waiting,
            });
        }
        Ok(statuses)
    }

    /// Returns true if an account degraded.
    pub fn is_degraded(&self) -> bool {
        self.0.accounts.iter().any(|connected| connected.health.get().degraded_since.is_some())
    }

    /// The account of a channel, or its only one if none is named.
    pub(crate) fn account(&self, channel: &str, id: Option<&str>) -> Option<&Account> {
        let of_channel = || {
            self.0
                .accounts
                .iter()
                .map(|connected| &connected.account)
                .filter(|account| account.channel == channel)
        };
        match id {
            Some(id) => of_channel().find(|account| account.id == id),
            None if of_channel().count() == 1 => of_channel().next(),
            None => None,
        }
    }
}

impl fmt::Debug for Channels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Channels").field("accounts", &self.0.accounts.len()).finish_non_exhaustive()
    }
}

/// The source of the messages of an account, as the platform knows it: another account under the same name has ids and offsets of its own.
fn source(account: &Account, identity: &Identity) -> String {
    format!("{}:{}:{}", account.channel, account.id, identity.id)
}

/// The time of the store.
fn now(store: &Store) -> Moment {
    store.clock().now()
}

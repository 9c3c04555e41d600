//! The store: one SQLite file that holds what must survive.
//!
//! ```text
//! commands ──► writer     one thread; what waits becomes one transaction, and nobody is told before it is synced
//! queries  ──► readers    a few connections, on threads that may block
//! ```
//!
//! Each command is one transaction: it happens whole, or not at all. Times come from one [`Clock`]. Nothing outside this module writes
//! SQL, and nothing in it runs on a thread of the async runtime.
//!
//! A command that returned is durable: the file is in WAL mode with `synchronous = FULL`, so it survives a power failure as far
//! as the disk keeps what it confirmed. A command whose future is dropped is carried out all the same, once it was handed over.

mod asks;
mod beginning;
mod budgets;
mod claims;
mod client_calls;
mod clock;
mod configured_people;
mod counts;
mod damage;
mod events;
mod files;
mod fires;
mod handover;
mod identities;
mod ids;
mod inbox;
mod jobs;
mod migrations;
mod named;
mod new_job;
mod nodes;
mod origin;
mod outbox;
mod overdue;
mod parts;
mod people;
mod readers;
mod receivers;
mod resending;
mod retention;
mod runs;
mod sending;
mod sessions;
mod sources;
mod spawns;
mod target;
mod tokens;
mod unread;
mod visible;
mod waits;
mod withdrawal;
mod writer;

pub(crate) use asks::{AskAnswer, AskingCall, NewAsk};
pub use asks::{AskOutcome, AskRecord};
pub use budgets::{
    AccountBudget, BudgetAccount, BudgetFilter, BudgetKind, BudgetUse, DayUse, ExhaustedBudget, NewRequest,
    ReserveOutcome,
};
pub use claims::ClaimedFire;
pub use client_calls::ClientCall;
pub(crate) use client_calls::{CallEnd, Ended, NewClientCall};
pub use clock::{Clock, Moment};
pub(crate) use configured_people::ConfiguredPerson;
pub use counts::Counts;
pub use damage::{Problem, StoreError};
pub use events::{Event, EventFilter, EventPage};
pub(crate) use files::{ADDRESS_FILE, RESTORING};
pub use fires::{Fire, FireEnd, FireId, FireState};
pub(crate) use identities::{Becomes, StrangerName, StrangersMessage, TurnedAway};
pub use identities::{IdentityRecord, Stranger};
pub use ids::{MessageId, RunId};
pub use inbox::{Acceptance, CancelOutcome, Message, MessageKind, MessageState, NewMessage};
pub use jobs::{Job, JobChange, JobFilter, JobId};
pub use new_job::{JobWork, NewJob};
pub(crate) use nodes::{CODE_WITHIN, NewPairing, NodeApproval};
pub use nodes::{NodeRecord, NodeState};
pub use outbox::{Delivery, DeliveryCounts, DeliveryFilter, DeliveryState, NewDelivery};
pub use overdue::Missed;
pub use parts::Parts;
pub use people::{PersonRecord, Role};
pub use retention::CleanUp;
pub use runs::{Claimed, Resumption, RunEnd, RunRecord, RunState, SteerOutcome};
pub use sending::{NewSend, SendStored};
pub(crate) use sessions::check_label_text;
pub use sessions::{SessionFilter, SessionRecord, SessionStatus};
pub use spawns::{NewSpawn, SpawnStored};
pub use target::{LOCAL_CHANNEL, Target};
pub use tokens::{NewToken, TokenRecord};
pub(crate) use unread::{Unread, UnreadMessage};
pub use waits::WaitCycle;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use rusqlite::Connection;
use tokio::sync::watch;

use crate::settings::BudgetSettings;
use damage::Fault;

use readers::Readers;
use writer::{Writer, Writing};

/// The file's name in the data directory.
const FILE: &str = "gateway.db";

/// Settings of a store.
#[derive(Debug, Clone)]
pub struct StoreOptions {
    clock: Clock,
    max_queued: u32,
    parts: Parts,
}

impl StoreOptions {
    /// The system's clock, and at most 100 waiting messages in a session.
    pub fn new() -> Self {
        Self { clock: Clock::system(), max_queued: 100, parts: Parts::default() }
    }

    /// Takes times from another clock.
    #[must_use]
    pub fn with_clock(mut self, clock: Clock) -> Self {
        self.clock = clock;
        self
    }

    /// Divides what leaves into parts.
    #[must_use]
    pub fn with_parts(mut self, parts: Parts) -> Self {
        self.parts = parts;
        self
    }

    /// Refuses a message of a person where so many already wait in its session. Results of sub-agents and fires of schedules are not
    /// counted, and not refused.
    #[must_use]
    pub fn with_max_queued(mut self, messages: u32) -> Self {
        self.max_queued = messages;
        self
    }
}

impl Default for StoreOptions {
    fn default() -> Self {
        Self::new()
    }
}

/// The store of a gateway. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Store(Arc<Inner>);

/// The lock of a data directory: no store is open in it.
#[derive(Debug)]
pub(crate) struct StoreLock {
    _in_use: files::InUse,
}

#[derive(Debug)]
struct Inner {
    file: PathBuf,
    options: StoreOptions,
    writer: Writer,
    readers: Readers,
    last_clean_up: Mutex<Option<CleanUp>>,
    /// The budgets that count.
    budgets: watch::Sender<Arc<BudgetSettings>>,
}

impl Store {
    /// Opens the store in a data directory, and makes both if they are missing. One process at a time has it open.
    ///
    /// A file of an older version is brought up to date, after a copy of it was made beside it.
    ///
    /// # Errors
    ///
    /// Another process has it open; it is damaged, of a newer version, or cannot be read or written.
    pub async fn open(directory: &Path, options: StoreOptions) -> Result<Self, StoreError> {
        let directory = directory.to_owned();
        let file = directory.join(FILE);
        let shown = file.clone();
        let opened = tokio::task::spawn_blocking(move || -> Result<Self, Fault> {
            let in_use = files::prepare(&directory, &file)?;
            if directory.join(files::RESTORING).exists() {
                return Err(Fault::Refused(
                    "a backup was being put in its place when the process ended: run `toolkit gateway restore` again".to_owned(),
                ));
            }
            files::make(&file)?;
            let mut connection = files::connect(&file)?;
            migrations::run(&mut connection, &file, migrations::ALL)?;
            let last_event = events::last(&connection)?;
            let of_writer = (options.clock.clone(), options.parts.clone());
            let writer = Writer::start(connection, of_writer, last_event, in_use)?;
            let readers = Readers::new(file.clone());
            let (last_clean_up, budgets) = (Mutex::default(), watch::Sender::default());
            Ok(Self(Arc::new(Inner { file, options, writer, readers, last_clean_up, budgets })))
        });
        match opened.await {
            Ok(opened) => opened.map_err(|fault| fault.at(&shown)),
            Err(_) => Err(Fault::Closed.at(&shown)),
        }
    }

    /// Takes the lock of a data directory without opening its store. Blocks.
    pub(crate) fn lock(directory: &Path) -> Result<StoreLock, StoreError> {
        let file = directory.join(FILE);
        files::prepare(directory, &file)
            .map(|in_use| StoreLock { _in_use: in_use })
            .map_err(|fault| fault.at(&file))
    }

    /// Returns true if a process has the store of a data directory open. Blocks briefly.
    pub fn is_in_use(directory: &Path) -> bool {
        files::is_in_use(&directory.join(FILE))
    }

    /// The file.
    pub fn file(&self) -> &Path {
        &self.0.file
    }

    /// The clock of the store.
    pub fn clock(&self) -> &Clock {
        &self.0.options.clock
    }

    /// Carries out what was handed over, and closes the file, which another process may open then. Commands of other copies of the store
    /// fail from then on.
    pub async fn close(&self) {
        // Those that read keep the file open, too.
        self.0.readers.close().await;
        self.0.writer.close().await;
    }

    /// Writes a consistent copy into a new file, while the store is in use.
    ///
    /// # Errors
    ///
    /// The file exists, or cannot be written.
    pub async fn backup(&self, to: &Path) -> Result<(), StoreError> {
        let (file, to) = (self.0.file.clone(), to.to_owned());
        self.read(move |_| files::back_up(&file, &to)).await
    }

    /// Checks the whole file, and returns what is wrong with it; nothing, if it is sound. It reads all of it.
    pub async fn check(&self) -> Result<Vec<String>, StoreError> {
        self.read(files::check).await
    }

    /// The number of the last event, as it grows.
    pub fn last_event(&self) -> watch::Receiver<i64> {
        self.0.writer.last_event()
    }

    /// Carries out one command as one transaction.
    async fn write<T: Send + 'static>(
        &self,
        act: impl FnOnce(&Writing<'_>) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.0.writer.run(act).await.map_err(|fault| fault.at(&self.0.file))
    }

    /// Answers one question from what is committed.
    async fn read<T: Send + 'static>(
        &self,
        act: impl FnOnce(&Connection) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.0.readers.run(act).await.map_err(|fault| fault.at(&self.0.file))
    }
}

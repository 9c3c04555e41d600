//! The durable heart of the process in which agents live.
//!
//! A message that was accepted is in the [`Store`] before anyone is told so, and stays there until one run has consumed it; the answer of
//! that run is a row of the outbox in the same transaction that ends the run. So nothing is lost and nothing is done twice, whenever the
//! process is killed.
//!
//! ```
//! use serde_json::json;
//! use toolkit_gateway::{Acceptance, NewDelivery, NewMessage, RunEnd, SessionKey, Store, StoreOptions, Target};
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let directory = tempfile::tempdir()?;
//! let store = Store::open(directory.path(), StoreOptions::new()).await?;
//! let key = SessionKey::peer("main", "local", "console", toolkit_gateway::PeerKind::Direct, "ada", None)?;
//! let target = Target::new("local", "console", "ada");
//!
//! // Accepted once, however often the source hands it in.
//! let message = NewMessage::new("local:console", "1", key.clone(), json!({"text": "hello"})).with_reply_to(target.clone());
//! let first = store.accept(message.clone()).await?;
//! assert!(matches!(first, Acceptance::Accepted { .. }));
//! assert!(matches!(store.accept(message).await?, Acceptance::Again { .. }));
//!
//! // One run consumes it, and ends with an answer.
//! let run = store.claim(4).await?.expect("a message waits");
//! store.consume(&run.run, vec![run.message.id]).await?;
//! let answer = NewDelivery::new(target, json!({"text": "Hello, Ada."}));
//! store.finish(&run.run, RunEnd::Answered, Vec::new(), vec![answer]).await?;
//!
//! let sending = store.next_delivery("local", "console").await?.expect("an answer waits");
//! store.delivered(sending.id, Some("platform id".to_owned())).await?;
//! store.close().await;
//! # Ok(()) }
//! ```

mod address_file;
mod backup;
mod budgets;
mod channels;
pub mod client;
mod clients;
mod codes;
mod fail_points;
mod gateway;
pub mod http;
mod measured;
mod moment;
mod nodes;
mod outbox;
mod people;
mod questions;
mod recurrence;
mod schedules;
mod session_key;
mod session_tools;
mod sessions;
mod settings;
mod stand_in;
mod store;
mod uploads;

pub use backup::{BackupError, back_up, restore};
pub use budgets::StoredMeter;
pub use channels::{ChannelHealth, ChannelStatus, Channels};
pub use clients::{ClientLimits, Clients};
pub use gateway::{Gateway, GatewayError, GatewayOptions};
pub use measured::Measured;
pub use nodes::{GATEWAY_KEY_FILE, NodeStatus, Nodes};
pub use outbox::{LocalChannel, Outbox, SendChannel, SendError, Sending};
pub use people::{
    Access, LOCAL_ACCOUNT, LOCAL_CHANNEL, OWNER, OWNER_TOKEN_FILE, People, PeopleError, Person,
};
pub use questions::{QuestionError, Questions};
pub use recurrence::{
    CronError, CronExpression, Interval, IntervalError, MAX_EXPRESSION_BYTES, Schedule, TimeError, Zone,
    ZoneError,
};
pub use schedules::{Schedules, ToolJobError, ToolJobs};
pub use session_key::{KeyError, MAX_KEY_PART_BYTES, PeerKind, SessionKey, SessionKind, ShortKey};
pub use session_tools::{SessionDirectory, SessionTools, StoredJobs, caller_in, caller_of_job};
pub use sessions::{AgentError, Agents, Sessions, SessionsOptions};
pub use settings::{
    AgentScopes, BudgetSettings, GatewaySettings, GroupSettings, PeopleSettings, PeriodLimits, PersonRole,
    PersonSettings, Scope, SessionSettings, UsageLimits,
};
pub use stand_in::StandIn;
pub use store::{
    Acceptance, AccountBudget, AskOutcome, AskRecord, BudgetAccount, BudgetFilter, BudgetKind, BudgetUse,
    CancelOutcome, Claimed, ClaimedFire, CleanUp, ClientCall, Clock, Counts, DayUse, Delivery,
    DeliveryCounts, DeliveryFilter, DeliveryState, Event, EventFilter, EventPage, ExhaustedBudget, Fire,
    FireEnd, FireId, FireState, IdentityRecord, Job, JobChange, JobFilter, JobId, JobWork, Message,
    MessageId, MessageKind, MessageState, Missed, Moment, NewDelivery, NewJob, NewMessage, NewRequest,
    NewSend, NewSpawn, NewToken, NodeRecord, NodeState, Parts, PersonRecord, Problem, ReserveOutcome,
    Resumption, Role, RunEnd, RunId, RunRecord, RunState, SendStored, SessionFilter, SessionRecord,
    SessionStatus, SpawnStored, SteerOutcome, Store, StoreError, StoreOptions, Stranger, Target, TokenRecord,
    WaitCycle,
};

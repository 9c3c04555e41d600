//! Records tool calls, their arguments and outcomes: [`History`], in memory or in a file.
//!
//! The call path hands each call over as a [`Record`] and goes on: it copies at most about 64 KiB of each part, and
//! neither formats nor writes anything. A reader gets a [`HistoryEntry`]; there is no other way to look into a record.
//! An entry is made with a [`Redactor`](crate::text::Redactor), which removes named secrets, the values of `#[arg(secret)]` parameters and
//! texts that look like keys from arguments, outputs and errors.
//!
//! A call that finishes at once is one record. A call that has to wait is recorded when it starts to wait and again
//! when it ends, so that the history shows the running calls after a crash.
//!
//! The format of the file, and its guarantees, are described at [`JsonlHistory`].

mod copy;
mod entry;
mod jsonl;
pub(crate) mod keep;
mod memory;
mod query;
mod reader;
mod record;
pub(crate) mod secrets;
mod segments;

pub(crate) use copy::USUAL;
pub use entry::{CallStatus, HistoryEntry, RecordedCaller, RecordedContent, RecordedOutput};
pub(crate) use jsonl::Report;
pub use jsonl::{JsonlHistory, JsonlOptions, JsonlStatus};
pub use memory::MemoryHistory;
pub use query::HistoryQuery;
pub use reader::{CorruptLine, HistoryItem, HistoryReader};
pub use record::{Record, RecordedCall};

use std::fmt;

/// A destination for the records of calls.
pub trait History: fmt::Debug + Send + Sync + 'static {
    /// Takes a record. Called in the call's path: it must neither block nor take long.
    fn record(&self, record: Record);
}

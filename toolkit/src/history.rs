//! What was called, with what, and what came of it: [`History`], in memory or in a file.
//!
//! The call path hands each call over as a [`Record`] and goes on: it copies what is needed, at most some 64 KiB of
//! each part, and neither formats nor writes anything. What a reader gets is a [`HistoryEntry`], and there is no other
//! way to look into a record: it is made with a [`Redactor`], which takes out what named secrets, the values of
//! `#[arg(secret)]` parameters and the patterns of keys leave in arguments, answers and errors.
//!
//! A call that finishes at once is one record. One that has to wait is recorded when it starts to wait and again when
//! it ends, so that a crash shows what was under way.
//!
//! The format of the file, and what is guaranteed, is described at [`JsonlHistory`].

mod copy;
mod entry;
mod jsonl;
mod memory;
mod query;
mod reader;
mod record;
pub(crate) mod secrets;

pub(crate) use copy::USUAL;
pub use entry::{CallStatus, HistoryEntry, RecordedCaller, RecordedContent, RecordedOutput};
pub use jsonl::{JsonlHistory, JsonlOptions, JsonlStatus};
pub use memory::MemoryHistory;
pub use query::HistoryQuery;
pub use reader::{CorruptLine, HistoryItem, HistoryReader};
pub use record::{Record, RecordedCall};

use std::fmt;

/// Where calls are recorded.
pub trait History: fmt::Debug + Send + Sync + 'static {
    /// Takes a record. Runs on the call's path: it must neither block nor take long.
    fn record(&self, record: Record);
}

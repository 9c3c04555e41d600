//! Notes that an agent keeps and finds again, in an SQLite database of its own.
//!
//! `memory_store` keeps a note, `memory_search` finds notes by their words, the best first. A host needs nothing but
//! `toolkit::link!(toolkit_memory)`.
//!
//! ```json5
//! {
//!   plugins: { memory: { maxNotes: 10000 } }, // for each agent
//!   permission: { memory: "allow" }, // a note changes what later sessions do, so storing one asks otherwise
//! }
//! ```
//!
//! # What is kept, and where
//!
//! Each agent has a database of its own, `memory/agent-<digest of its name>.sqlite3` in the toolkit's directory for data; callers
//! that name no agent share one. So no agent finds, or counts among the words of its search, what another one stored. The
//! files are their owner's alone (mode 0600). Several processes can use them at once.
//!
//! # How notes are found
//!
//! Case, accents (`cafe` finds `Café`) and the width of characters do not matter, and a word of three letters or more is also the
//! beginning of one: `deploy` finds `deployment`. Notes rank by BM25, tags counting twice. Scripts that put no spaces between words
//! (Chinese, Japanese, Thai, Lao, Burmese, Khmer) are indexed by character and sought by pairs of characters, so a word of one
//! or two characters is found too. A symbol, such as 🎂, is a word of its own. A query is words and nothing else: what the
//! full-text engine would take for operators has no meaning.
//!
//! # Limits
//!
//! A note has 4,000 characters and 10 tags of 40 characters at most, an agent 10,000 notes (`maxNotes`). A query has 500
//! characters, of which the first 64 terms count, and finds 20 notes at most. Where another process writes, a call waits for
//! 5 seconds (`waitMs`).

mod settings;
mod store;
mod tools;
mod words;

pub use settings::MemorySettings;
pub use store::Memory;

toolkit::plugin! {
    id: "memory",
    title: "Memory",
    description: "Notes that an agent keeps and finds again.",
}

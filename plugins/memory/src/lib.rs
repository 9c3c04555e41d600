//! Notes that an agent stores and finds again, in its own SQLite database.
//!
//! `memory_store` stores a note, `memory_search` finds notes by their words, the best first. A host only needs
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
//! Each agent has its own database, `memory/agent-<digest of its name>.sqlite3` in the toolkit's data directory; callers without
//! an agent name share one. A host that serves several people has one for each person and agent. So no agent finds another agent's notes, and they do not affect the ranking of its search. Only the
//! owner can access the files (mode 0600). Several processes can use them at once.
//!
//! # How notes are found
//!
//! Case, accents (`cafe` finds `Café`) and the width of characters do not matter, and a word of three letters or more also matches
//! as a prefix: `deploy` finds `deployment`. Notes are ranked by BM25, with tags counted twice. Scripts without spaces between
//! words (Chinese, Japanese, Thai, Lao, Burmese, Khmer) are indexed by character and searched by pairs of characters, so a word of
//! one or two characters is found too. A symbol, such as 🎂, is a word of its own. A query consists only of words: operators of the
//! full-text engine have no meaning.
//!
//! # Limits
//!
//! A note has at most 4,000 characters and 10 tags of 40 characters, an agent 10,000 notes (`maxNotes`). A query has at most 500
//! characters, of which the first 64 terms count, and finds at most 20 notes. While another process writes, a call waits for up to
//! 5 seconds (`waitMs`).

mod settings;
mod store;
mod tools;
mod words;

pub use settings::MemorySettings;
pub use store::Memory;

/// The key among the further values of a caller by which a host names the person for whom an agent works, if it keeps people apart: a text. Notes
/// are found by that person alone.
pub const PERSON: &str = "person";

toolkit::plugin! {
    id: "memory",
    title: "Memory",
    description: "Notes that an agent keeps and finds again.",
}

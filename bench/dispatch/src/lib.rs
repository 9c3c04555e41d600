//! The contenders of the dispatch benchmark: one tool, written for each framework and called the way it offers.

mod contender;
mod contenders;
pub mod line;
pub mod policy;

pub use contender::{Contender, Form, Subject};
pub use contenders::{all, toolkit_of};

/// The arguments that every call has, as text. All three are given.
pub const ARGUMENTS: &str = r#"{"text":"The quick brown fox","count":1,"upper":true}"#;

/// The required answer of each contender's tool to [`ARGUMENTS`].
pub const ANSWER: &str = "THE QUICK BROWN FOX";

/// The work of each contender's tool: hardly any, and with [`ARGUMENTS`] it doesn't allocate.
pub fn repeat(mut text: String, count: u32, upper: Option<bool>) -> String {
    if upper == Some(true) {
        text.make_ascii_uppercase();
    }
    if count == 1 { text } else { text.repeat(count as usize) }
}

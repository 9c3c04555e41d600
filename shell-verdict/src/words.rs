//! Words of a command, as far as they are known before it runs.
//!
//! ```text
//! raw word ─► braces ─► scan: quotes, variables, substitutions ─► glob ─► values
//! ```
//!
//! The parser finds the end of a word; its content is parsed here again, and more strictly: anything that is not
//! completely understood makes the whole word unknown.

mod arithmetic;
mod braces;
mod glob;
mod number;
mod quote;
mod scan;
mod skip;

use crate::state::State;
pub(crate) use arithmetic::arithmetic;
use scan::{Out, Scan};
pub(crate) use skip::plain_arithmetic;
use std::path::PathBuf;
use std::rc::Rc;

/// A word after expansion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Value {
    /// A known text.
    Text(String),
    /// The name of a file below one of these directories, beginning with it.
    Below {
        roots: Vec<String>,
        /// True if each word is a regular file, and not a symlink.
        are_files: bool,
    },
    /// Any number of words from this list.
    Listed(Rc<[String]>),
    /// An unknown value that begins with this.
    Unknown {
        prefix: String,
        /// True if the value may expand to any number of arbitrary words.
        splits: bool,
    },
}

impl Value {
    pub(crate) fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Returns a completely unknown value.
    pub(crate) fn unknown() -> Self {
        Self::Unknown { prefix: String::new(), splits: true }
    }

    /// Returns true if it may be several words, or none.
    pub(crate) fn may_split(&self) -> bool {
        matches!(self, Self::Unknown { splits: true, .. } | Self::Listed(_))
    }

    /// Returns true if it may begin with a dash.
    pub(crate) fn may_be_option(&self) -> bool {
        match self {
            Self::Text(text) => text.starts_with('-'),
            Self::Below { roots, .. } => roots.iter().any(|root| root.starts_with('-')),
            Self::Listed(words) => words.iter().any(|word| word.starts_with('-')),
            Self::Unknown { prefix, splits } => *splits || prefix.is_empty() || prefix.starts_with('-'),
        }
    }
}

/// The effects of an expansion beside its values.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// Commands that are run for it.
    pub(crate) commands: Vec<String>,
    /// Descriptions of the constructs that evaluate an unknown text.
    pub(crate) evaluates: Vec<&'static str>,
    /// Assigned variables; `true` for those that then hold a number.
    pub(crate) assigns: Vec<(String, bool)>,
    /// Directories that are listed for patterns. `None` for an unknown one.
    pub(crate) lists: Vec<Option<PathBuf>>,
}

/// The reason for which a word cannot be understood.
pub(crate) type Unclear = &'static str;

/// Returns the values of a word of a command, in order. An unquoted variable can result in none.
pub(crate) fn fields(word: &str, state: &State<'_>, found: &mut Found) -> Result<Vec<Value>, Unclear> {
    if is_plain(word) {
        return Ok(vec![Value::Text(word.to_owned())]);
    }
    let mut values = Vec::new();
    let words = braces::expand(word, state)?;
    let assigned = found.assigns.len();
    for word in &words {
        let out = Scan::new(word, state, found).word()?;
        glob::expand(&out, state, &mut values, found);
    }
    // An assignment in one of the words would change the value of the next.
    if words.len() > 1 && found.assigns.len() > assigned {
        return Err("a variable is assigned in a word with braces");
    }
    Ok(values)
}

/// Returns the value of an assigned text, or of a word that is neither split nor expanded as a pattern.
pub(crate) fn single(word: &str, state: &State<'_>, found: &mut Found) -> Result<Value, Unclear> {
    if is_plain(word) {
        return Ok(Value::Text(word.to_owned()));
    }
    Ok(Scan::new(word, state, found).assigned()?.into_value())
}

/// Looks through the text of a here-document.
pub(crate) fn document(text: &str, state: &State<'_>, found: &mut Found) -> Result<(), Unclear> {
    Scan::new(text, state, found).document().map(drop)
}

/// Returns true if nothing in a word is special.
fn is_plain(word: &str) -> bool {
    // Only a fast path: the longer way gives the same word, so no test covers it.
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-,:=%@+^".contains(&byte);
    word.bytes().all(is_plain)
}

impl Out {
    /// Returns a single value, ignoring patterns.
    fn into_value(self) -> Value {
        let text = self.chars.iter().map(|(c, _)| c).collect();
        match self.hole {
            None => Value::Text(text),
            Some(_) => Value::Unknown { prefix: text, splits: false },
        }
    }
}

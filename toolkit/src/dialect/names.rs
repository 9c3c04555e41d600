//! Names of tools as a provider takes them.

use super::Dialect;
use crate::name::MAX_NAME_BYTES;
use data_encoding::BASE32_NOPAD;
use sha2::{Digest as _, Sha256};
use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap, HashSet};

/// The longest name in the Model Context Protocol.
const MAX_MCP_NAME_BYTES: usize = 128;
/// How long what tells a changed name from others is: 60 bits of a hash.
const HASH: usize = 12;

impl Dialect {
    /// Whether a provider takes a tool of this name as it is.
    ///
    /// Letters, digits, `_` and `-`, up to 64: OpenAI, Anthropic. Gemini takes `.` too, and wants a letter or `_` first. The Model
    /// Context Protocol has `.` too, and up to 128.
    ///
    /// ```
    /// use toolkit::Dialect;
    ///
    /// assert!(Dialect::Gemini.takes_name("files.read") && !Dialect::Anthropic.takes_name("files.read"));
    /// ```
    pub fn takes_name(self, name: &str) -> bool {
        (1..=self.longest_name()).contains(&name.len())
            && name.chars().all(|c| self.takes_char(c))
            && name.chars().next().is_some_and(|first| self.takes_first(first))
    }

    const fn longest_name(self) -> usize {
        match self {
            Self::Mcp => MAX_MCP_NAME_BYTES,
            _ => MAX_NAME_BYTES,
        }
    }

    fn takes_char(self, c: char) -> bool {
        c.is_ascii_alphanumeric()
            || matches!(c, '_' | '-')
            || c == '.' && matches!(self, Self::Gemini | Self::Mcp)
    }

    fn takes_first(self, c: char) -> bool {
        self != Self::Gemini || c.is_ascii_alphabetic() || c == '_'
    }
}

/// The names of tools as a provider takes them, in the order of the tools, each of which has another name.
///
/// One that the provider takes stays. Any other becomes what can stay of it, and a hash of the whole; so it depends on no other
/// tool, unless one of these has just that name.
pub(super) fn shown(dialect: Dialect, names: &[&str]) -> Vec<String> {
    let mut taken: HashSet<String> =
        names.iter().filter(|name| dialect.takes_name(name)).map(|name| (*name).to_owned()).collect();
    // By name, so that the order of the tools does not matter where two would be called the same.
    let others: BTreeSet<&str> = names.iter().copied().filter(|name| !dialect.takes_name(name)).collect();
    let mut changed: HashMap<&str, String> = HashMap::new();
    for name in others {
        let free =
            (0..=names.len()).map(|round| legal(dialect, name, round)).find(|legal| !taken.contains(legal));
        let free = free.expect("there are more names than tools");
        taken.insert(free.clone());
        changed.insert(name, free);
    }
    names.iter().map(|name| changed.get(name).cloned().unwrap_or_else(|| (*name).to_owned())).collect()
}

/// The name of a tool that stands alone.
pub(super) fn shown_alone(dialect: Dialect, name: &str) -> Cow<'_, str> {
    if dialect.takes_name(name) { Cow::Borrowed(name) } else { Cow::Owned(legal(dialect, name, 0)) }
}

fn legal(dialect: Dialect, name: &str, round: usize) -> String {
    let mut hash = Sha256::new();
    hash.update((round as u64).to_le_bytes());
    hash.update(name);
    let mut hash = BASE32_NOPAD.encode(&hash.finalize()).to_ascii_lowercase();
    hash.truncate(HASH);
    let most = dialect.longest_name() - HASH - 1;
    let mut legal = String::new();
    for c in name.chars().take(most) {
        let c = if dialect.takes_char(c) { c } else { '_' };
        if legal.is_empty() && !dialect.takes_first(c) {
            legal.push('_');
        }
        legal.push(c);
    }
    legal.truncate(most);
    format!("{legal}_{hash}")
}

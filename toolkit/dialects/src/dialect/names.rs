//! Names of tools that a provider accepts.

use super::Dialect;
use data_encoding::BASE32_NOPAD;
use hmac_sha256::Hash;
use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap, HashSet};
use toolkit_core::name::MAX_NAME_BYTES;

/// The length of the suffix that distinguishes a changed name: 60 bits of a hash.
const HASH: usize = 12;

impl Dialect {
    /// Returns true if a provider accepts a tool with this name unchanged.
    ///
    /// OpenAI and Anthropic accept letters, digits, `_` and `-`, up to 64 characters. Gemini also accepts `.`, and requires a
    /// letter or `_` first. The Model Context Protocol also has `.`, and up to 128 characters.
    ///
    /// ```
    /// use toolkit::dialects::Dialect;
    ///
    /// assert!(Dialect::Gemini.takes_name("files.read") && !Dialect::Anthropic.takes_name("files.read"));
    /// ```
    pub fn takes_name(self, name: &str) -> bool {
        let rules = self.provider().names();
        (1..=rules.max_bytes).contains(&name.len())
            && name.chars().all(|c| rules.takes_char(c))
            && name.chars().next().is_some_and(|first| rules.takes_first(first))
    }
}

/// The names that a provider accepts: letters, digits, `_` and `-`.
#[derive(Debug, Clone, Copy)]
pub(super) struct NameRules {
    /// The length of the longest name.
    pub(super) max_bytes: usize,
    /// True if a name may have `.` too.
    pub(super) has_dots: bool,
    /// True if a name must begin with a letter or `_`.
    pub(super) begins_with_letter: bool,
}

impl Default for NameRules {
    fn default() -> Self {
        Self { max_bytes: MAX_NAME_BYTES, has_dots: false, begins_with_letter: false }
    }
}

impl NameRules {
    fn takes_char(self, c: char) -> bool {
        c.is_ascii_alphanumeric() || matches!(c, '_' | '-') || c == '.' && self.has_dots
    }

    fn takes_first(self, c: char) -> bool {
        !self.begins_with_letter || c.is_ascii_alphabetic() || c == '_'
    }
}

/// Returns the names of tools for a provider, in the order of the tools; no two are equal.
///
/// A name that the provider accepts stays. Any other becomes its acceptable characters with a hash of the whole name; so it does
/// not depend on the other tools, unless one of them has just that name.
pub(super) fn shown(dialect: Dialect, names: &[&str]) -> Vec<String> {
    let mut taken: HashSet<String> =
        names.iter().filter(|name| dialect.takes_name(name)).map(|name| (*name).to_owned()).collect();
    // Sorted by name, so that the order of the tools does not matter if two would get the same name.
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
    let mut hash = Hash::new();
    hash.update((round as u64).to_le_bytes());
    hash.update(name);
    let mut hash = BASE32_NOPAD.encode(&hash.finalize()).to_ascii_lowercase();
    hash.truncate(HASH);
    let rules = dialect.provider().names();
    let most = rules.max_bytes - HASH - 1;
    let mut legal = String::new();
    for c in name.chars().take(most) {
        let c = if rules.takes_char(c) { c } else { '_' };
        if legal.is_empty() && !rules.takes_first(c) {
            legal.push('_');
        }
        legal.push(c);
    }
    legal.truncate(most);
    format!("{legal}_{hash}")
}

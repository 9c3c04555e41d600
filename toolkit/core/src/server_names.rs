//! The prefixes of server tools' names: `server__tool`.

use data_encoding::BASE32_NOPAD;
use hmac_sha256::Hash;
use std::collections::BTreeMap;

/// The separator between the server and the tool.
const BETWEEN: &str = "__";
/// The number of hash characters that distinguish two otherwise equal prefixes.
const HASH: usize = 8;
/// The most characters of a prefix that are kept if the name of a tool would be too long.
#[doc(hidden)]
pub const MAX_OF_LONG_PREFIX: usize = 20;

/// Returns the prefix of the names of each server's tools, by server. The name of a tool is this prefix, `__`, and the
/// server's own name for the tool. Servers that would have the same prefix get one with a hash of their name.
///
/// ```
/// let prefixes = toolkit::text::server_prefixes(["My Server", "docs"]);
/// assert_eq!(prefixes["My Server"], "my_server");
/// ```
pub fn server_prefixes<'a>(servers: impl IntoIterator<Item = &'a str>) -> BTreeMap<&'a str, String> {
    let mut prefixes: BTreeMap<&str, String> =
        servers.into_iter().map(|server| (server, prefix(server))).collect();
    let mut count: BTreeMap<String, usize> = BTreeMap::new();
    for prefix in prefixes.values() {
        *count.entry(prefix.clone()).or_default() += 1;
    }
    for (server, prefix) in &mut prefixes {
        if count[prefix] > 1 {
            prefix.push('_');
            prefix.push_str(&hash(server));
        }
    }
    prefixes
}

/// Returns the prefix of a server on its own: without two consecutive underscores and without a trailing one, so that it
/// can be separated from the rest.
fn prefix(server: &str) -> String {
    let mut prefix = String::new();
    for c in in_letters_of_names(server).chars() {
        match c {
            '_' if prefix.is_empty() || prefix.ends_with('_') => {}
            c if prefix.is_empty() && c.is_ascii_digit() => prefix.extend(['s', c]),
            c => prefix.push(c),
        }
    }
    let prefix = prefix.trim_end_matches('_');
    if prefix.is_empty() { "server".to_owned() } else { prefix.to_owned() }
}

/// Converts a name to the characters of tool names: `getSum` becomes `get_sum`, and every character that is no letter or
/// digit becomes an underscore.
#[doc(hidden)]
pub fn in_letters_of_names(name: &str) -> String {
    let mut lower = String::new();
    let mut is_within = false;
    for c in name.chars() {
        if c.is_ascii_uppercase() && is_within {
            lower.push('_');
        }
        lower.push(if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' });
        is_within = c.is_ascii_lowercase() || c.is_ascii_digit();
    }
    lower
}

fn hash(server: &str) -> String {
    let mut hash = Hash::new();
    hash.update((server.len() as u64).to_le_bytes());
    hash.update(server);
    BASE32_NOPAD.encode(&hash.finalize())[..HASH].to_ascii_lowercase()
}

/// The names that configured servers introduce: their own, and those of tools that are unknown until the servers start.
#[derive(Debug, Clone, Default)]
#[doc(hidden)]
pub struct ServerNames {
    /// The ids in lower case: `mcp:docs`, and `docs`.
    ids: Vec<String>,
    servers: Vec<String>,
    /// The prefixes: `docs__`.
    prefixes: Vec<String>,
}

impl ServerNames {
    #[doc(hidden)]
    pub fn new<'a>(servers: impl IntoIterator<Item = &'a str>) -> Self {
        let servers: Vec<&str> = servers.into_iter().collect();
        let lower = |name: &str| name.trim().to_lowercase();
        // A server that is switched off must not change the prefix of another.
        let alone = servers.iter().map(|server| prefix(server));
        let together = server_prefixes(servers.iter().copied()).into_values();
        let mut prefixes: Vec<String> = alone.chain(together).collect();
        let long = prefixes.iter().filter_map(|prefix| prefix.get(..MAX_OF_LONG_PREFIX));
        let long: Vec<String> = long.map(|prefix| prefix.trim_end_matches('_').to_owned()).collect();
        prefixes.extend(long);
        Self {
            ids: servers.iter().map(|server| format!("mcp:{}", lower(server))).collect(),
            prefixes: prefixes.into_iter().map(|prefix| prefix + BETWEEN).collect(),
            servers: servers.into_iter().map(lower).collect(),
        }
    }

    /// Returns `mcp:<server>` for each server.
    #[doc(hidden)]
    pub fn ids(&self) -> impl Iterator<Item = &str> {
        self.ids.iter().map(String::as_str)
    }

    /// Returns true if the name, in lower case, is `mcp:<server>` or that of a tool that a server may have.
    #[doc(hidden)]
    pub fn has(&self, name: &str) -> bool {
        self.ids.iter().any(|id| id == name) || self.prefixes.iter().any(|prefix| name.starts_with(prefix))
    }

    /// Returns true if the name, in lower case, is that of a server.
    #[doc(hidden)]
    pub fn is_server(&self, name: &str) -> bool {
        self.servers.iter().any(|server| server == name)
    }

    /// Returns true if a pattern with `*`, in lower case, may match such a name.
    #[doc(hidden)]
    pub fn may_match(&self, pattern: &str) -> bool {
        let lead = pattern.split('*').next().unwrap_or_default();
        let may = |name: &String| {
            name.starts_with(lead) || name.ends_with(BETWEEN) && lead.starts_with(name.as_str())
        };
        self.ids.iter().chain(&self.prefixes).any(may)
    }
}

//! Names of programs, commands and variables by category.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

static NAMES: LazyLock<HashMap<&'static str, HashSet<&'static str>>> = LazyLock::new(|| {
    let mut kinds: HashMap<&str, HashSet<&str>> = HashMap::new();
    let mut kind = "";
    for line in include_str!("names.txt").lines().filter(|line| !line.starts_with('#')) {
        match line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            Some(begun) => kind = begun,
            None => kinds.entry(kind).or_default().extend(line.split_ascii_whitespace()),
        }
    }
    kinds
});

/// Returns true if a name is of a kind of `names.txt`.
pub(crate) fn is(kind: &str, name: &str) -> bool {
    NAMES.get(kind).is_some_and(|names| names.contains(name))
}

/// Returns the name of a program without its directory.
pub(crate) fn base(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

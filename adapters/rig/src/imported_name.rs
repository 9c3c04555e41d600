//! Names of rig's tools in a toolkit.

use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use toolkit::text::{MAX_NAME_BYTES, is_valid_name};

/// How many bytes of a hash tell two names apart; each is two characters.
const HASH_BYTES: usize = 4;

/// The names of these tools here, in their order. One that is valid stays. Any other is written with the characters that are, and told
/// apart by a hash of what it really is where another would be the same or it is too long.
pub(crate) fn names<'a>(originals: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let each: Vec<(&str, String)> =
        originals.into_iter().map(|original| (original, written(original))).collect();
    let mut count: BTreeMap<&str, usize> = BTreeMap::new();
    for (_, name) in &each {
        *count.entry(name).or_default() += 1;
    }
    let named = each.iter().map(|(original, name)| {
        let is_unique = count[name.as_str()] == 1 && name.len() <= MAX_NAME_BYTES;
        if is_unique || is_valid_name(original) { name.clone() } else { told_apart(original, name) }
    });
    named.collect()
}

/// In lower case, with an underscore where a word begins and for whatever else is no letter or digit.
fn written(original: &str) -> String {
    if is_valid_name(original) {
        return original.to_owned();
    }
    let mut name = String::new();
    let mut before = ' ';
    for c in original.chars() {
        let begins_word = c.is_ascii_uppercase() && (before.is_ascii_lowercase() || before.is_ascii_digit());
        if (begins_word || !c.is_ascii_alphanumeric()) && !name.is_empty() && !name.ends_with('_') {
            name.push('_');
        }
        if c.is_ascii_alphanumeric() {
            name.push(c.to_ascii_lowercase());
        }
        before = c;
    }
    let name = name.trim_end_matches('_');
    match name.chars().next() {
        Some(first) if first.is_ascii_lowercase() => name.to_owned(),
        Some(_) => format!("tool_{name}"),
        None => "tool".to_owned(),
    }
}

fn told_apart(original: &str, name: &str) -> String {
    let mut hash = String::new();
    for byte in &Sha256::digest(original.as_bytes())[..HASH_BYTES] {
        let _ = write!(hash, "{byte:02x}");
    }
    let most = MAX_NAME_BYTES - hash.len() - 1;
    format!("{}_{hash}", &name[..name.len().min(most)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn a_name_stays_or_is_written_with_what_is_valid() {
        for (original, expected) in [
            ("add", "add"),
            ("a_b_", "a_b_"),
            ("Add-Numbers", "add_numbers"),
            ("getSumOf2D", "get_sum_of2_d"),
            ("HTTPGet", "httpget"),
            ("a.b/c", "a_b_c"),
            ("3d", "tool_3d"),
            ("__", "tool"),
            ("日本", "tool"),
            ("x y\n", "x_y"),
        ] {
            assert_eq!(names([original]), [expected], "{original:?}");
        }
    }

    #[test]
    fn names_are_valid_unique_and_do_not_depend_on_each_other() {
        let (long, longer) = ("L".repeat(100), "l".repeat(101));
        let originals = ["a-b", "a.b", "a_b", "日", "", &long, &longer, "c"];
        let all = names(originals);
        assert!(all.iter().all(|name| is_valid_name(name)), "{all:?}");
        assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), originals.len(), "{all:?}");
        // A valid name is kept, and given to no other tool.
        assert_eq!((all[2].as_str(), all[7].as_str()), ("a_b", "c"));
        assert_eq!(names([originals[6]]), [all[6].clone()]);
        assert_eq!(names([originals[1], originals[0]]), [all[1].clone(), all[0].clone()]);
    }
}

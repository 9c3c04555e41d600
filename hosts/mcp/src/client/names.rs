//! Local names of servers' tools: `server__tool`, in the form that every provider accepts. Tools of one session have no prefix.

use data_encoding::BASE32_NOPAD;
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;
use toolkit::text::{MAX_NAME_BYTES, MAX_OF_LONG_PREFIX, in_letters_of_names};

/// Separator between server and tool.
const BETWEEN: &str = "__";
/// The beginning of a name that would not begin with a letter.
const FIRST: &str = "tool_";
/// Length of the hash that distinguishes truncated names.
const HASH: usize = 8;

/// Returns the local names of a server's tools, in order. A name that is too long is truncated, and one shared with another tool of
/// the server is made unique; both get a hash of the original name, which depends on no other tool.
pub(super) fn names(prefix: &str, tools: &[&str]) -> Vec<String> {
    let plain: Vec<String> = tools.iter().map(|tool| plain(prefix, tool)).collect();
    let mut count: BTreeMap<&str, usize> = BTreeMap::new();
    for name in &plain {
        *count.entry(name).or_default() += 1;
    }
    let is_unique = |name: &str| count[name] == 1 && name.len() <= MAX_NAME_BYTES && !name.ends_with(BETWEEN);
    let each = tools.iter().zip(&plain);
    each.map(|(tool, name)| if is_unique(name) { name.clone() } else { shortened(prefix, tool) }).collect()
}

fn plain(prefix: &str, tool: &str) -> String {
    let name = in_letters_of_names(tool);
    match prefix {
        "" if name.starts_with(|first: char| first.is_ascii_lowercase()) => name,
        "" => format!("{FIRST}{name}"),
        prefix => format!("{prefix}{BETWEEN}{name}"),
    }
}

fn shortened(prefix: &str, tool: &str) -> String {
    let hash = hash(&[prefix, tool]);
    let whole = plain(prefix, tool);
    let most = MAX_NAME_BYTES - HASH - 1;
    if whole.len() <= most {
        return format!("{whole}_{hash}");
    }
    let prefix = &prefix[..prefix.len().min(MAX_OF_LONG_PREFIX)];
    let whole = plain(prefix.trim_end_matches('_'), tool);
    format!("{}_{hash}", &whole[..whole.len().min(most)])
}

fn hash(parts: &[&str]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    let mut text = BASE32_NOPAD.encode(&hash.finalize()).to_ascii_lowercase();
    text.truncate(HASH);
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolkit::text::{is_valid_name, server_prefixes};

    fn prefix(server: &str) -> String {
        server_prefixes([server]).remove(server).unwrap()
    }

    #[test]
    fn a_server_has_a_prefix_that_can_be_told_from_the_rest() {
        for (server, expected) in [
            ("files", "files"),
            ("My Server", "my_server"),
            ("myServer", "my_server"),
            ("HTTP2Files", "http2_files"),
            ("a__b-", "a_b"),
            ("3d", "s3d"),
            ("@scope/name", "scope_name"),
            ("日本", "server"),
            ("", "server"),
            ("_x", "x"),
        ] {
            assert_eq!(prefix(server), expected);
            assert!(is_valid_name(&prefix(server)));
        }
        let prefixes = server_prefixes(["a-b", "a.b", "c"]);
        assert_eq!(prefixes["c"], "c");
        assert_ne!(prefixes["a-b"], prefixes["a.b"]);
        assert!(prefixes["a.b"].starts_with("a_b_"), "{prefixes:?}");
    }

    #[test]
    fn names_are_legal_unique_and_stable() {
        let long = "l".repeat(100);
        let longer = format!("{long}x");
        let tools = [
            "echo",
            "get-sum",
            "a.b",
            "a-b",
            "",
            "__",
            &long,
            &longer,
            "日",
            "getSum",
            "ListALLFiles",
            "echo",
        ];
        let names = names("everything", &tools);
        assert_eq!(names[10], "everything__list_allfiles");
        assert!(names.iter().all(|name| is_valid_name(name)), "{names:?}");
        // `get-sum` and `getSum` get different names.
        assert!(names[1].starts_with("everything__get_sum_") && names[9].starts_with("everything__get_sum_"));
        let mut unique = names[..11].to_vec();
        unique.sort_unstable();
        unique.dedup();
        assert_eq!(unique.len(), 11, "{names:?}");
        // Two identical names cannot be distinguished.
        assert_eq!(names[0], names[11]);
        // Other tools in the list change no name.
        let fewer = super::names("everything", &[&longer, "get-sum"]);
        assert_eq!(fewer, [names[7].clone(), "everything__get_sum".to_owned()]);
        let whole = super::names(&"p".repeat(80), &["echo"]);
        assert!(is_valid_name(&whole[0]) && whole[0].contains("__echo_"), "{whole:?}");
    }

    #[test]
    fn names_without_a_prefix_are_legal_and_unique() {
        let long = "L".repeat(100);
        let names = names("", &["getPage", "get-page", "echo", "3d", "日", "", "__", &long]);
        assert!(names.iter().all(|name| is_valid_name(name)), "{names:?}");
        assert_eq!((&*names[2], &*names[3]), ("echo", "tool_3d"));
        assert!(names[0].starts_with("get_page_") && names[1].starts_with("get_page_"), "{names:?}");
        let unique: std::collections::BTreeSet<&String> = names.iter().collect();
        assert_eq!(unique.len(), names.len(), "{names:?}");
    }

    #[test]
    fn no_server_can_take_the_names_of_another() {
        let of = |server: &str, tool: &str| names(&prefix(server), &[tool]).remove(0);
        assert_ne!(of("a", "b__c"), of("a__b", "c"));
        assert_ne!(of("a", "_b"), of("a_", "b"));
    }
}

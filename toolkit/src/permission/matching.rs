//! Matches texts with the patterns of rules.

use memchr::memmem;

/// Returns true if `pattern` matches the whole of `text`: `*` matches any text, including the empty text and `/`; every
/// other character matches only itself, including case and spaces.
///
/// Each part between two `*` is searched for once, so the time grows with the lengths and not with the number of `*`.
pub(super) fn matches(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(rest) = text.strip_prefix(first) else { return false };
    let Some(last) = parts.next_back() else { return rest.is_empty() };
    let Some(mut middle) = rest.strip_suffix(last) else { return false };
    for part in parts {
        let Some(at) = memmem::find(middle.as_bytes(), part.as_bytes()) else { return false };
        middle = &middle[at + part.len()..];
    }
    true
}

/// Returns true if `pattern` matches the words of `text` up to a space: a command without its last arguments.
pub(super) fn matches_beginning(pattern: &str, text: &str) -> bool {
    if pattern.contains('*') {
        return !pattern.ends_with('*') && matches(&format!("{pattern} *"), text);
    }
    !pattern.is_empty() && text.strip_prefix(pattern).is_some_and(|rest| rest.starts_with(' '))
}

/// Returns true if the pattern matches every text.
pub(super) fn is_any(pattern: &str) -> bool {
    !pattern.is_empty() && pattern.bytes().all(|byte| byte == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::time::{Duration, Instant};

    #[test]
    fn a_pattern_describes_the_whole_text() {
        for (pattern, text, expected) in [
            ("", "", true),
            ("", "a", false),
            ("a", "a", true),
            ("a", "A", false),
            ("a", "a ", false),
            ("a", " a", false),
            ("a", "ab", false),
            ("*", "", true),
            ("*", "a/b\nc", true),
            ("**", "a", true),
            ("git *", "git push", true),
            ("git *", "git ", true),
            ("git *", "git", false),
            ("git *", "gitpush", false),
            ("git *", "sudo git push", false),
            ("*.rs", "src/lib.rs", true),
            ("*.rs", "src/lib.rs.txt", false),
            ("src/*/mod.rs", "src/a/b/mod.rs", true),
            ("src/*/mod.rs", "src/mod.rs", false),
            ("a*a", "a", false),
            ("a*a", "aa", true),
            ("a*b*c", "a-b-b-c", true),
            ("a*b*c", "acb", false),
            ("*aba*aba*", "ababa", false),
            ("*aba*aba*", "abaaba", true),
            // No other character is special.
            ("a?c", "abc", false),
            ("[ab]", "a", false),
            ("a.c", "abc", false),
            (r"\*", "*", false),
            (r"\*", r"\x", true),
            // Two encodings of one letter are different texts.
            ("é", "e\u{301}", false),
            ("größe*", "größe ", true),
        ] {
            assert_eq!(matches(pattern, text), expected, "{pattern:?} {text:?}");
        }
    }

    #[test]
    fn the_beginning_of_a_command_ends_before_a_space() {
        for (pattern, text, expected) in [
            ("cat", "cat a", true),
            ("cat", "cat", false),
            ("cat", "cat ", true),
            ("cat", "cats a", false),
            ("git push", "git push origin main", true),
            ("git push", "git pushall x", false),
            ("*/run.sh", "./run.sh x", true),
            ("git * push", "git -C x push origin", true),
            ("git *", "git push x", false),
            ("", " a", false),
        ] {
            assert_eq!(matches_beginning(pattern, text), expected, "{pattern:?} {text:?}");
        }
    }

    #[test]
    fn many_wildcards_take_no_longer() {
        let (pattern, text) = ("a*".repeat(10_000) + "b", "a".repeat(1_000_000));
        let begun = Instant::now();
        assert!(!matches(&pattern, &text));
        assert!(begun.elapsed() < Duration::from_secs(2));
    }

    /// Matches by trying every possibility.
    fn tries(pattern: &[char], text: &[char]) -> bool {
        match pattern {
            [] => text.is_empty(),
            ['*', rest @ ..] => (0..=text.len()).any(|skipped| tries(rest, &text[skipped..])),
            [first, rest @ ..] => text.first() == Some(first) && tries(rest, &text[1..]),
        }
    }

    proptest! {
        #[test]
        fn as_if_every_way_was_tried(pattern in "[ab*é]{0,8}", text in "[abé]{0,10}") {
            let chars = |text: &str| text.chars().collect::<Vec<_>>();
            prop_assert_eq!(matches(&pattern, &text), tries(&chars(&pattern), &chars(&text)));
        }
    }
}

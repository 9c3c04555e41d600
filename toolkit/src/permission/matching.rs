//! Matches texts with the patterns of rules.

use memchr::memmem;

/// Returns true if `pattern` matches the whole of `text`: `*` matches any text, including the empty text and `/`; every
/// other character matches only itself, including case and spaces.
///
/// Each part between two `*` is searched for once, so the time grows with the lengths and not with the number of `*`.
pub(super) fn matches(pattern: &str, text: &str) -> bool {
    pieces_match(pattern.split('*'), text)
}

/// Returns true if `text` consists of these pieces with any text between them.
fn pieces_match<'a>(mut parts: impl DoubleEndedIterator<Item = &'a str>, text: &str) -> bool {
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

/// The character that stands for an unknown text in the form of a command.
pub(super) const ANY_TEXT: char = '\0';

/// Returns true if `pattern` may match `form`, in which each [`ANY_TEXT`] stands for any text, including the empty one.
pub(super) fn may_match(pattern: &str, form: &str) -> bool {
    if !form.contains(ANY_TEXT) {
        return matches(pattern, form);
    }
    if names_program_by_path(pattern) {
        let program = form.split(' ').next().unwrap_or_default();
        return program.contains(ANY_TEXT) || matches(pattern, program);
    }
    if !pattern.contains('*') {
        return pieces_match(form.split(ANY_TEXT), pattern);
    }
    // Between a wildcard of the one and one of the other, each can take what the other has in the middle.
    let ends = |text: &str, any: char| {
        let (first, _) = text.split_once(any).unwrap_or_default();
        let (_, last) = text.rsplit_once(any).unwrap_or_default();
        (first.to_owned(), last.to_owned())
    };
    let ((first, last), (other_first, other_last)) = (ends(pattern, '*'), ends(form, ANY_TEXT));
    (first.starts_with(&other_first) || other_first.starts_with(&first))
        && (last.ends_with(&other_last) || other_last.ends_with(&last))
}

/// Returns true for a pattern such as `*/deploy.sh`, which is about a program, whatever its arguments are.
fn names_program_by_path(pattern: &str) -> bool {
    pattern.starts_with('*') && !pattern.contains(' ') && !is_any(pattern)
}

/// Returns true if a call of what `pattern` names may be `form`, as in [`may_match`], with any further arguments.
pub(super) fn may_begin(pattern: &str, form: &str) -> bool {
    if form.contains(ANY_TEXT) {
        let extended = if names_program_by_path(pattern) { pattern } else { &format!("{pattern} *") };
        !pattern.is_empty() && may_match(extended, form)
    } else {
        matches_beginning(pattern, form)
    }
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
    fn an_unknown_text_may_be_what_a_pattern_names() {
        for (pattern, form, whole, beginning) in [
            ("cat", "\0", true, true),
            ("cat x", "cat \0", true, true),
            ("cat x", "cat", false, false),
            ("cat", "cat \0", false, true),
            ("cat", "ls \0", false, false),
            ("git push", "git \0", true, true),
            ("git push *", "git \0", true, true),
            ("git push *", "git log \0", false, false),
            ("git push", "git \0 push", false, true),
            ("git * push", "git \0", true, true),
            ("git * push", "git \0 log", false, true),
            ("* --force", "git log \0", true, true),
            ("* --force", "git \0 x", false, true),
            ("a*b", "a\0c*\0b", true, true),
            ("a*b", "b\0b", false, false),
            // A `*` of a command is this character.
            ("cat *x", "cat y*x", true, false),
            ("cat yx", "cat y*\0", false, false),
        ] {
            let seen = (may_match(pattern, form), may_begin(pattern, form));
            assert_eq!(seen, (whole, beginning), "{pattern:?} {form:?}");
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

        #[test]
        fn a_form_may_match_whatever_one_of_its_texts_matches(
            pattern in "[ab*]{0,6}", form in "[ab\0]{0,5}", taken in prop::collection::vec("[ab]{0,3}", 5)
        ) {
            let mut taken = taken.into_iter();
            let text = form.split(ANY_TEXT).fold(None, |text: Option<String>, piece| {
                Some(text.map_or_else(String::new, |text| text + &taken.next().unwrap_or_default()) + piece)
            });
            let text = text.unwrap_or_default();
            prop_assert!(!matches(&pattern, &text) || may_match(&pattern, &form), "{}", text);
            prop_assert!(!matches_beginning(&pattern, &text) || may_begin(&pattern, &form), "{}", text);
        }
    }
}

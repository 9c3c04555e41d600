//! The text of a doc attribute with an expression, as `#[doc = include_str!("…")]`, read at compile time.

/// Removes white space around a text.
pub const fn trimmed(text: &'static str) -> &'static str {
    text.trim_ascii()
}

/// Returns a doc text up to its first heading, for which the macro has a function of the same name.
pub const fn until_heading(text: &'static str) -> &'static str {
    let bytes = text.as_bytes();
    let (mut at, mut in_code) = (0, false);
    while at < bytes.len() {
        if is_fence(bytes, at) {
            in_code = !in_code;
        } else if !in_code && is_heading(bytes, at) {
            break;
        }
        while at < bytes.len() && bytes[at] != b'\n' {
            at += 1;
        }
        if at < bytes.len() {
            at += 1;
        }
    }
    text.split_at(at).0.trim_ascii()
}

/// Checks the description of a tool that comes from such an attribute; the error is reported at the attribute.
#[track_caller]
pub const fn check_described(description: &str) {
    assert!(!description.is_empty(), "no text before the first heading; say what the tool does");
}

const fn is_fence(bytes: &[u8], mut at: usize) -> bool {
    while at < bytes.len() && matches!(bytes[at], b' ' | b'\t') {
        at += 1;
    }
    at + 3 <= bytes.len() && bytes[at] == b'`' && bytes[at + 1] == b'`' && bytes[at + 2] == b'`'
}

const fn is_heading(bytes: &[u8], start: usize) -> bool {
    let mut at = start;
    while at < bytes.len() && bytes[at] == b'#' {
        at += 1;
    }
    let level = at - start;
    level >= 1 && level <= 6 && (at == bytes.len() || matches!(bytes[at], b' ' | b'\n' | b'\r'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_description_ends_at_the_first_heading() {
        for (text, kept) in [
            ("\nReads.\n", "Reads."),
            ("Reads.\r\n# Errors\r\nFor people.", "Reads."),
            (
                "Reads.\n\n```sh\n# no heading\n```\n#hashtag stays\n#\nx",
                "Reads.\n\n```sh\n# no heading\n```\n#hashtag stays",
            ),
            ("Reads ä.\n####### seven\n###### six", "Reads ä.\n####### seven"),
        ] {
            assert_eq!(until_heading(text), kept, "{text}");
        }
    }

    #[test]
    #[should_panic(expected = "no text before the first heading")]
    fn nothing_before_the_first_heading() {
        check_described(until_heading("\n# Errors\nFor people."));
    }
}

//! Formats paths for permission prompts and rules.

use std::fmt::Write as _;
use std::path::Path;

/// Formats a path so that no two paths have the same text: invalid UTF-8 bytes become `\x{ff}`, and backslashes before
/// such an escape, or before a literal `x{`, are doubled.
pub(crate) fn shown_path(path: &Path) -> String {
    let bytes = path.as_os_str().as_encoded_bytes();
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        push_valid(&mut text, chunk.valid(), !chunk.invalid().is_empty());
        for byte in chunk.invalid() {
            let _ = write!(text, "\\x{{{byte:02x}}}");
        }
    }
    text
}

fn push_valid(text: &mut String, valid: &str, before_escape: bool) {
    let mut rest = valid;
    while let Some(at) = rest.find('\\') {
        text.push_str(&rest[..at]);
        rest = &rest[at..];
        let count = rest.bytes().take_while(|byte| *byte == b'\\').count();
        rest = &rest[count..];
        let doubles = rest.starts_with("x{") || rest.is_empty() && before_escape;
        text.extend(std::iter::repeat_n('\\', if doubles { 2 * count } else { count }));
    }
    text.push_str(rest);
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;

    fn text(bytes: &[u8]) -> String {
        shown_path(Path::new(OsStr::from_bytes(bytes)))
    }

    #[test]
    fn what_is_text_stays_as_it_is() {
        for (bytes, expected) in [
            (&b"src/lib.rs"[..], "src/lib.rs"),
            ("größe".as_bytes(), "größe"),
            (br"C:\Users\x", r"C:\Users\x"),
            (b"a\xffb", r"a\x{ff}b"),
            (br"a\x{ff}b", r"a\\x{ff}b"),
            (b"a\\\xff", r"a\\\x{ff}"),
            (br"a\\x{ff}", r"a\\\\x{ff}"),
            (br"a\", r"a\"),
            (b"a\\b\xff", r"a\b\x{ff}"),
        ] {
            assert_eq!(text(bytes), expected);
        }
    }

    proptest! {
        #[test]
        fn two_paths_never_look_the_same(
            one in proptest::collection::vec(proptest::sample::select(b"\\x{f}\xff\xfe".to_vec()), 0..10),
            other in proptest::collection::vec(proptest::sample::select(b"\\x{f}\xff\xfe".to_vec()), 0..10),
        ) {
            prop_assert_eq!(text(&one) == text(&other), one == other);
            // The text must also differ from the path that the other text names.
            let literal = text(&one);
            prop_assert_eq!(text(literal.as_bytes()) == text(&one), literal.as_bytes() == one);
        }
    }
}

//! Names of directories and files, safe for any session id.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};
use toolkit_core::caller::Caller;
use toolkit_core::name::folded;

/// The maximum length of a directory name; longer names are shortened. File systems allow 255 bytes.
const MAX_NAME_BYTES: usize = 100;
/// The number of bytes kept of a name that is too long, before its digest.
const SHORTENED_BYTES: usize = 60;
/// The number of digits in a file's name, before the extension; enough until the year 2286.
const DIGITS: usize = 16;
const EXTENSION: &str = ".txt";

/// Returns the directory name of a session.
///
/// Lower-case letters, digits, `.`, `_` and `-` are kept. A `+` switches between lower and upper case, since some file
/// systems ignore case; every other byte becomes `~` and two hexadecimal digits. So no two sessions share a directory,
/// unless both have names of more than a hundred bytes and the same 128-bit digest.
pub(crate) fn directory_name(session: Option<&str>) -> String {
    // No session id is encoded like this: in an encoded id a `~` is followed by digits.
    let Some(id) = session else { return "~none".to_owned() };
    if id.is_empty() {
        return "~empty".to_owned();
    }
    let mut name = String::with_capacity(id.len());
    let (mut upper, last) = (false, id.len() - 1);
    for (at, byte) in id.bytes().enumerate() {
        if name.len() > MAX_NAME_BYTES {
            name.truncate(SHORTENED_BYTES);
            let _ = write!(name, "~~{:032x}", digest(id));
            return name;
        }
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' => {
                if byte.is_ascii_uppercase() != upper {
                    upper = !upper;
                    name.push('+');
                }
                name.push(byte.to_ascii_lowercase().into());
            }
            b'0'..=b'9' | b'_' | b'-' => name.push(byte.into()),
            // Not as the first byte, which would make the name hidden, `.` or `..`, nor as the last, which Windows
            // drops.
            b'.' if at != 0 && at != last => name.push('.'),
            _ => {
                let _ = write!(name, "~{byte:02x}");
            }
        }
    }
    name
}

/// Returns the name under which the outputs of a caller in a session are stored: the session's own if the caller names neither an agent nor
/// a sender. So no caller reads the outputs of another agent or sender of the same session. The id of an agent is compared as the policy
/// does, and a sender is one of the caller's account in a channel.
pub(crate) fn owner_name(session: &str, caller: &Caller) -> String {
    let sender = caller.sender_id.as_deref().map(|sender| (&caller.channel, &caller.account_id, sender));
    if caller.agent.is_none() && sender.is_none() && !session.contains('\0') {
        return session.to_owned();
    }
    // The quoted form contains no NUL, so that the parts stay apart, and so do an absent part and an empty one.
    format!("{session:?}\0{:?}\0{sender:?}", caller.agent.as_deref().map(folded))
}

/// Returns the FNV-1a hash of a text, which is the same on every machine and in every version.
fn digest(text: &str) -> u128 {
    text.bytes().fold(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d, |hash, byte| {
        (hash ^ u128::from(byte)).wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b)
    })
}

/// Returns a name for a new file: microseconds since 1970, greater than every name before it in this process, even if
/// the clock goes back.
pub(super) fn file_name() -> String {
    static LAST: AtomicU64 = AtomicU64::new(0);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let now = u64::try_from(now.as_micros()).unwrap_or(0);
    let later = |last: u64| now.max(last + 1);
    let last = LAST.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |last| Some(later(last)));
    format!("{:0DIGITS$}{EXTENSION}", later(last.unwrap_or_else(|last| last)))
}

/// Returns true if a file name has this form.
pub(super) fn is_file_name(name: &str) -> bool {
    name.strip_suffix(EXTENSION)
        .is_some_and(|digits| digits.len() == DIGITS && digits.bytes().all(|byte| byte.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn any_session_has_a_safe_directory() {
        for (id, name) in [
            ("", "~empty"),
            (".", "~2e"),
            ("..", "~2e~2e"),
            ("...", "~2e.~2e"),
            (".ssh", "~2essh"),
            ("a.b", "a.b"),
            ("../../etc", "~2e.~2f..~2fetc"),
            ("a/b", "a~2fb"),
            ("a\\b", "a~5cb"),
            ("a\0b", "a~00b"),
            ("s1", "s1"),
            ("S1", "+s1"),
            ("01ARZ3ND", "01+arz3nd"),
            ("filePath", "file+p+ath"),
            ("+s1", "~2bs1"),
            ("~2f", "~7e2f"),
            ("~none", "~7enone"),
            ("c1f7a0de-7c1e-4f0e-9d2b-3f1f0b1c2d3e", "c1f7a0de-7c1e-4f0e-9d2b-3f1f0b1c2d3e"),
            ("é", "~c3~a9"),
        ] {
            assert_eq!(directory_name(Some(id)), name, "{id:?}");
        }
        assert_eq!(directory_name(None), "~none");
    }

    #[test]
    fn no_two_sessions_share_a_directory() {
        let long: Vec<String> = (0..100).map(|at| "x".repeat(10_000 + at)).collect();
        let wide: Vec<String> = (0..100).map(|at| "é".repeat(20 + at)).collect();
        let near = [
            "a", "A", "aa", "aA", "Aa", "AA", "a+a", "a~", "~", "~~", "+", "a.", ".a", " ", "~none",
            "~empty", "",
        ];
        let edge: Vec<String> = (97..=103).map(|length| "y".repeat(length)).collect();
        let ids: Vec<&str> =
            near.into_iter().chain(long.iter().chain(&wide).chain(&edge).map(String::as_str)).collect();
        let names: HashSet<String> = ids.iter().map(|id| directory_name(Some(id))).collect();
        assert_eq!(names.len(), ids.len());
        for name in names {
            assert!(name.len() <= MAX_NAME_BYTES + 3, "{name}");
            assert!(
                !name.starts_with('.') && !name.contains(|c: char| c.is_ascii_uppercase() || c == '/'),
                "{name}"
            );
            assert!(name.is_ascii());
        }
    }

    #[test]
    fn file_names_have_their_form() {
        assert!(is_file_name(&file_name()));
        for name in
            ["1.txt", "1763774142123456", "1763774142123456.txt.bak", "176377414212345x.txt", ".txt", ""]
        {
            assert!(!is_file_name(name), "{name}");
        }
    }
}

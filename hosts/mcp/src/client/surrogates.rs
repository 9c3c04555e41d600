//! Escapes of lone surrogates, which JSON permits in a string and Unicode does not.

/// Length of an escape such as `\\u00e9`.
const ESCAPE: usize = 6;

/// Replaces the escape of each lone surrogate by that of the replacement character. Returns `None` if there is none.
pub(super) fn replaced(json: &[u8]) -> Option<Vec<u8>> {
    let mut replaced: Option<Vec<u8>> = None;
    let mut at = 0;
    while let Some(found) = memchr::memchr(b'\\', json.get(at..)?) {
        at += found;
        let Some(unit) = unit(json, at) else {
            // The character after the backslash is part of the escape.
            at += 2;
            continue;
        };
        let next = unit_of_low(json, at + ESCAPE);
        if (0xd800..0xdc00).contains(&unit) && next {
            at += 2 * ESCAPE;
            continue;
        }
        if (0xd800..0xe000).contains(&unit) {
            let all = replaced.get_or_insert_with(|| json.to_vec());
            all[at..at + ESCAPE].copy_from_slice(b"\\ufffd");
        }
        at += ESCAPE;
    }
    replaced
}

/// Returns the UTF-16 unit of the escape at a place, if there is one.
fn unit(json: &[u8], at: usize) -> Option<u16> {
    let digits = json.get(at..at + ESCAPE)?.strip_prefix(b"\\u")?;
    let is_hexadecimal = digits.iter().all(u8::is_ascii_hexdigit);
    is_hexadecimal.then(|| u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok())?
}

fn unit_of_low(json: &[u8], at: usize) -> bool {
    unit(json, at).is_some_and(|unit| (0xdc00..0xe000).contains(&unit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_lone_surrogates_are_replaced() {
        for (json, expected) in [
            (r#""a\ud83d""#, Some(r#""a\ufffd""#)),
            (r#""\ud83d\ude00 \ude00""#, Some(r#""\ud83d\ude00 \ufffd""#)),
            (r#""\ud83d\ud83d\ude00""#, Some(r#""\ufffd\ud83d\ude00""#)),
            (r#""\uDE00\n\uD83Dx""#, Some(r#""\ufffd\n\ufffdx""#)),
            (r#""\ud83d\ude00""#, None),
            (r#""\\ud83d""#, None),
            (r#""\\\ud83d""#, Some(r#""\\\ufffd""#)),
            (r#""\u00e9\u12""#, None),
            (r#""\"#, None),
            ("1", None),
        ] {
            let found = replaced(json.as_bytes()).map(|bytes| String::from_utf8(bytes).unwrap());
            assert_eq!(found.as_deref(), expected, "{json}");
        }
    }
}

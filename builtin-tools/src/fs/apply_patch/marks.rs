//! Parts of lines that the formats of patches have in common.

use std::borrow::Cow;

/// Returns the line that a line with `@@` names, if any: neither an ellipsis nor line numbers that are not complete name a line.
pub(super) fn anchor(line: &str) -> Option<&str> {
    let text = line.trim_start_matches('@').trim();
    let text = text.strip_suffix("@@").unwrap_or(text).trim_end();
    let is_filler = |character: char| matches!(character, '.' | '…' | ' ');
    let is_number =
        |character: char| character.is_ascii_digit() || matches!(character, '-' | '+' | ',' | ' ');
    let names_nothing = text.chars().all(is_filler) || text.starts_with('-') && text.chars().all(is_number);
    (!names_nothing).then_some(text)
}

/// Returns true if a line states that the one before has no line ending.
pub(super) fn is_open_mark(line: &str) -> bool {
    line.starts_with("\\ No newline") || line.starts_with("\\ no newline")
}

/// A name that is quoted as git does, without the quotes.
pub(super) fn unquoted(name: &str) -> Option<Cow<'_, str>> {
    let Some(quoted) = name.strip_prefix('"') else { return Some(Cow::Borrowed(name)) };
    let quoted = quoted.strip_suffix('"')?;
    let mut bytes = Vec::new();
    let mut rest = quoted.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        bytes.push(match rest.next()? {
            b'n' => b'\n',
            b't' => b'\t',
            b'r' => b'\r',
            b'a' => 7,
            b'b' => 8,
            b'f' => 12,
            b'v' => 11,
            first @ b'0'..=b'3' => {
                let digits = [first, rest.next()?, rest.next()?];
                u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 8).ok()?
            }
            other => other,
        });
    }
    String::from_utf8(bytes).ok().map(Cow::Owned)
}

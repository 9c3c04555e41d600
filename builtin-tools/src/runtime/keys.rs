//! Keys of a terminal, by name.

use toolkit::{ToolError, ToolErrorKind, text::escape_line};

/// Keys that send more than one character, or one that cannot be typed as a text.
const NAMED: &[(&str, &str)] = &[
    ("enter", "\r"),
    ("return", "\r"),
    ("tab", "\t"),
    ("backtab", "\u{1b}[Z"),
    ("space", " "),
    ("escape", "\u{1b}"),
    ("esc", "\u{1b}"),
    ("backspace", "\u{7f}"),
    ("delete", "\u{1b}[3~"),
    ("insert", "\u{1b}[2~"),
    ("up", "\u{1b}[A"),
    ("down", "\u{1b}[B"),
    ("right", "\u{1b}[C"),
    ("left", "\u{1b}[D"),
    ("home", "\u{1b}[H"),
    ("end", "\u{1b}[F"),
    ("pageup", "\u{1b}[5~"),
    ("pagedown", "\u{1b}[6~"),
    ("f1", "\u{1b}OP"),
    ("f2", "\u{1b}OQ"),
    ("f3", "\u{1b}OR"),
    ("f4", "\u{1b}OS"),
    ("f5", "\u{1b}[15~"),
    ("f6", "\u{1b}[17~"),
    ("f7", "\u{1b}[18~"),
    ("f8", "\u{1b}[19~"),
    ("f9", "\u{1b}[20~"),
    ("f10", "\u{1b}[21~"),
    ("f11", "\u{1b}[23~"),
    ("f12", "\u{1b}[24~"),
];

/// Keys that only move, undo typing, or end something. Every other key may run the typed text, or an action that a program has
/// bound to it: Enter, C-o and C-x C-e do in a shell.
const PLAIN: &[&str] =
    &["escape", "esc", "backspace", "up", "down", "right", "left", "home", "end", "pageup", "pagedown"];
/// Control keys with the same property.
const PLAIN_CONTROL: &[u8] = b"abcdfgklnpqsuwz\\";

/// Keys, as a terminal sends them.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Keys {
    pub(super) bytes: Vec<u8>,
    /// True if one of the keys may run something.
    pub(super) may_run: bool,
}

/// Returns the bytes that a terminal sends for keys, whose names are separated by spaces: `Up Enter`, `C-c`.
///
/// # Errors
///
/// `InvalidArguments` for an unknown name.
pub(super) fn keys(names: &str) -> Result<Keys, ToolError> {
    let mut keys = Keys::default();
    for name in names.split_whitespace() {
        let lower = name.to_lowercase();
        if let Some((_, sent)) = NAMED.iter().find(|(known, _)| *known == lower) {
            keys.bytes.extend_from_slice(sent.as_bytes());
            keys.may_run |= !PLAIN.contains(&&*lower);
        } else if let Some(control) = control(&lower) {
            keys.bytes.push(control);
            keys.may_run |= !PLAIN_CONTROL.iter().any(|plain| plain & 0x1f == control);
        } else {
            return Err(wrong(&format!(
                "`{}` is not a key; keys are {} and C-a to C-z. For text, use the action `write`",
                escape_line(name),
                NAMED.iter().map(|(known, _)| *known).collect::<Vec<_>>().join(", ")
            )));
        }
    }
    if keys.bytes.is_empty() {
        return Err(wrong("`data` names no key, such as `C-c` or `Up Enter`"));
    }
    Ok(keys)
}

fn control(name: &str) -> Option<u8> {
    let key = ["c-", "ctrl-", "ctrl+", "^"].iter().find_map(|prefix| name.strip_prefix(prefix))?;
    match key.as_bytes() {
        [letter @ b'a'..=b'z'] => Some(letter - b'a' + 1),
        b"[" => Some(0x1b),
        b"\\" => Some(0x1c),
        b"]" => Some(0x1d),
        b"space" | b"@" => Some(0),
        _ => None,
    }
}

fn wrong(problem: &str) -> ToolError {
    ToolError::new(ToolErrorKind::InvalidArguments, problem)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_sent_as_a_terminal_sends_them() {
        for (names, expected) in [
            ("Enter", Some((&b"\r"[..], true))),
            ("return", Some((b"\r", true))),
            ("C-m", Some((b"\r", true))),
            ("^J", Some((b"\n", true))),
            ("ctrl-o", Some((b"\x0f", true))),
            ("C-x C-e", Some((b"\x18\x05", true))),
            ("Tab", Some((b"\t", true))),
            ("Space", Some((b" ", true))),
            ("C-[", Some((b"\x1b", true))),
            ("C-@", Some((b"\0", true))),
            ("C-c", Some((b"\x03", false))),
            ("ctrl+d", Some((b"\x04", false))),
            ("^Z", Some((b"\x1a", false))),
            ("C-\\", Some((b"\x1c", false))),
            ("Up Down Left", Some((b"\x1b[A\x1b[B\x1b[D", false))),
            ("C-u Escape", Some((b"\x15\x1b", false))),
            ("Up  Enter", Some((b"\x1b[A\r", true))),
            ("Enter Up", Some((b"\r\x1b[A", true))),
            ("F5", Some((b"\x1b[15~", true))),
            ("", None),
            ("rm", None),
            ("C-", None),
            ("C-cc", None),
            ("Enter x", None),
        ] {
            let found = keys(names).ok();
            let found = found.as_ref().map(|keys| (&*keys.bytes, keys.may_run));
            assert_eq!(found, expected, "{names}");
        }
    }
}

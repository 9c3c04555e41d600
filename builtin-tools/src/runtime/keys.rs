//! Keys of a terminal, by name.

use toolkit::{ToolError, ToolErrorKind, escape_line};

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

/// What a terminal sends for these keys, named with spaces between: `Up Enter`, `C-c`.
///
/// # Errors
///
/// `InvalidArguments` for a name that is none.
pub(super) fn keys(names: &str) -> Result<Vec<u8>, ToolError> {
    let mut bytes = Vec::new();
    for name in names.split_whitespace() {
        let lower = name.to_lowercase();
        if let Some((_, sent)) = NAMED.iter().find(|(known, _)| *known == lower) {
            bytes.extend_from_slice(sent.as_bytes());
        } else if let Some(control) = control(&lower) {
            bytes.push(control);
        } else {
            return Err(wrong(&format!(
                "`{}` is no key; keys are {} and C-a to C-z. Text is written with the action `write`",
                escape_line(name),
                NAMED.iter().map(|(known, _)| *known).collect::<Vec<_>>().join(", ")
            )));
        }
    }
    if bytes.is_empty() {
        return Err(wrong("`data` names no key, such as `C-c` or `Up Enter`"));
    }
    Ok(bytes)
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
            ("Enter", Some(&b"\r"[..])),
            ("C-c", Some(b"\x03")),
            ("ctrl+d", Some(b"\x04")),
            ("^Z", Some(b"\x1a")),
            ("C-\\", Some(b"\x1c")),
            ("Up  Enter", Some(b"\x1b[A\r")),
            ("F5", Some(b"\x1b[15~")),
            ("", None),
            ("rm", None),
            ("C-", None),
            ("C-cc", None),
            ("Enter x", None),
        ] {
            assert_eq!(keys(names).ok().as_deref(), expected, "{names}");
        }
    }
}

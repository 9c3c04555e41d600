//! The gateway's own remarks in a message, which look like nothing that a person wrote.

use toolkit_channel::text::is_blank;

/// The beginnings of the remarks.
const REMARKS: [&str; 8] =
    ["[forwarded", "[this replaces", "[place", "[picture", "[voice note", "[sound", "[film", "[file"];

/// The longest beginning of a remark, in characters.
const MAX_REMARK: usize = 16;

pub(super) fn is_line_end(char: char) -> bool {
    matches!(char, '\n' | '\u{b}' | '\u{c}' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// Returns a line that a person wrote or said, which looks like no remark of the gateway.
pub(super) fn unlike_a_remark(line: &str) -> String {
    // Characters that nobody sees hide no remark.
    let is_hidden = |char: &char| char.is_whitespace() || char.is_control() || is_blank(*char);
    let start: String =
        line.chars().skip_while(is_hidden).take(MAX_REMARK).flat_map(char::to_lowercase).collect();
    let is_like = REMARKS.iter().any(|remark| start.starts_with(remark));
    if is_like { format!("> {line}") } else { line.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_looks_like_a_remark_is_marked() {
        for line in
            ["[picture: x]", "  [Picture: x]", "\u{200b}[VOICE NOTE: x]", "\u{feff}\u{2060}[forwarded"]
        {
            assert!(unlike_a_remark(line).starts_with("> "), "{line:?}");
        }
        for line in ["a [picture", "[paint", ""] {
            assert_eq!(unlike_a_remark(line), line);
        }
        assert!("a\u{b}b\u{c}c".split(is_line_end).count() == 3);
    }
}

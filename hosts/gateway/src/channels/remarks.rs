//! The gateway's own remarks in a message, which look like nothing that a person wrote.

/// The beginnings of the remarks.
const REMARKS: [&str; 8] =
    ["[forwarded", "[this replaces", "[place", "[picture", "[voice note", "[sound", "[film", "[file"];

pub(super) fn is_line_end(char: char) -> bool {
    matches!(char, '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// Returns a line that a person wrote or said, which looks like no remark of the gateway.
pub(super) fn unlike_a_remark(line: &str) -> String {
    let is_like = REMARKS.iter().any(|remark| line.trim_start().starts_with(remark));
    if is_like { format!("> {line}") } else { line.to_owned() }
}

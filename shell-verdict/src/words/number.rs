//! Variables and expansions that are numbers for certain, which evaluate nothing in an arithmetic expression.

use crate::state::{Known, State};

/// Returns true if an expansion in an arithmetic expression is a number for certain: its text begins after the dollar. Its length.
pub(super) fn number_expansion(rest: &str, state: &State<'_>) -> Option<usize> {
    if rest.starts_with(['#', '?', '$']) {
        return Some(1);
    }
    let (body, length) = match rest.strip_prefix('{') {
        Some(body) => {
            let end = body.find('}')?;
            (&body[..end], end + 2)
        }
        None => (&rest[..name_length(rest)], name_length(rest)),
    };
    if let Some(of) = body.strip_prefix('#') {
        let name = &of[..name_length(of)];
        let is_count = matches!(&of[name.len()..], "" | "[@]" | "[*]");
        return is_count.then_some(length);
    }
    let is_name = !body.is_empty() && name_length(body) == body.len();
    (is_name && is_number(body, state)).then_some(length)
}

/// Returns true if a variable is known to hold a number. One that was never set counts as zero.
pub(super) fn is_number(name: &str, state: &State<'_>) -> bool {
    match state.variable(name) {
        Known::Number => true,
        Known::Text(text) => {
            let digits = text.strip_prefix('-').unwrap_or(text);
            !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
        }
        Known::Unset => {
            name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
        }
        Known::Unknown => false,
    }
}

/// Returns the length of the name of a variable that a text begins with.
pub(super) fn name_length(text: &str) -> usize {
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    if text.starts_with(|c: char| c.is_ascii_digit()) {
        return 0;
    }
    text.bytes().take_while(|byte| is_name(*byte)).count()
}

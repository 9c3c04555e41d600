//! Arithmetic expressions: the value of a variable in one is an expression in turn, and may run commands.

use super::number::{is_number, number_expansion};
use super::{Found, Unclear};
use crate::state::State;

/// Examines an expression. Only numbers, operators and variables with numeric values are known to evaluate nothing.
pub(crate) fn arithmetic(text: &str, state: &State<'_>, found: &mut Found) -> Result<(), Unclear> {
    let mut rest = text;
    let mut names = Vec::new();
    let mut is_known = true;
    while let Some(c) = rest.chars().next() {
        let length = match c {
            '$' => match number_expansion(&rest[1..], state) {
                Some(length) => 1 + length,
                None => {
                    is_known = false;
                    1
                }
            },
            '0'..='9' => {
                rest.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || b"#@_".contains(byte)).count()
            }
            'a'..='z' | 'A'..='Z' | '_' => {
                let length =
                    rest.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
                let name = &rest[..length];
                // Another expansion of the word may have assigned it just before.
                let is_unassigned =
                    || !found.assigns.iter().any(|(assigned, is_number)| assigned == name && !is_number);
                is_known &= is_number(name, state) && is_unassigned();
                names.push(name.to_owned());
                length
            }
            ' ' | '\t' | '\n' => 1,
            c if "+-*/%()<>=!&|^~?:,".contains(c) => 1,
            c => {
                is_known = false;
                c.len_utf8()
            }
        };
        rest = &rest[length..];
    }
    if !is_known {
        found.evaluates.push("an arithmetic expression evaluates a value that is not known to be a number");
        substitutions(text, state, found)?;
    }
    if assigns(text) {
        found.assigns.extend(names.into_iter().map(|name| (name, is_known)));
    }
    Ok(())
}

/// Returns true if something is assigned in it.
fn assigns(text: &str) -> bool {
    let bytes = text.as_bytes();
    text.contains("++")
        || text.contains("--")
        || bytes.iter().enumerate().any(|(at, byte)| {
            let before = at.checked_sub(1).map_or(b' ', |at| bytes[at]);
            let two_before = at.checked_sub(2).map_or(b' ', |at| bytes[at]);
            let is_compared = matches!(before, b'=' | b'!')
                || (matches!(before, b'<' | b'>') && two_before != before)
                || bytes.get(at + 1) == Some(&b'=');
            *byte == b'=' && !is_compared
        })
}

/// The commands that are substituted in it.
fn substitutions(text: &str, state: &State<'_>, found: &mut Found) -> Result<(), Unclear> {
    if text.contains(['$', '`']) { super::document(text, state, found) } else { Ok(()) }
}

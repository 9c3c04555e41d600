//! The forms of a secret that are searched for: literal, in JSON, in a URL, in base64.

use super::SHORTEST;
use data_encoding::{BASE64, BASE64URL};
use std::fmt::Write as _;

/// Secrets longer than this are searched for only literally, in JSON, and line by line, because they do not occur in
/// URLs.
const LONG: usize = 4096;

/// The minimum number of characters of a base64 form, whose first and last may be cut off.
const SHORTEST_BASE64: usize = 6;

/// The minimum number of bytes of a line of a multi-line secret.
const SHORTEST_LINE: usize = 8;

/// Returns all forms of a secret that are searched for.
pub(super) fn of(secret: &str) -> Vec<String> {
    // A value read from a file or a variable may end with a newline that is not repeated elsewhere.
    let trimmed = secret.trim();
    let mut forms = vec![trimmed.to_owned(), secret.to_owned()];
    let escaped = json(trimmed);
    // JSON text within a JSON string.
    forms.push(json(&escaped));
    forms.push(escaped.replace('/', "\\/"));
    forms.push(escaped_ascii(&escaped));
    forms.push(escaped);
    forms.push(trimmed.escape_debug().collect());
    if trimmed.contains('\n') {
        forms.extend(
            trimmed.lines().map(str::trim).filter(|line| line.len() >= SHORTEST_LINE).map(str::to_owned),
        );
    }
    if trimmed.len() <= LONG {
        for keep in ["-._~", "-._~!'()*", "-._~/:@"] {
            let encoded = percent(trimmed, keep);
            let plus = encoded.replace("%20", "+");
            forms.extend([lower_percent(&encoded), lower_percent(&plus), encoded, plus]);
        }
        for shift in 0..3 {
            forms.extend(base64(trimmed.as_bytes(), shift));
        }
    }
    forms.retain(|form| form.len() >= SHORTEST);
    forms
}

fn json(text: &str) -> String {
    let quoted = serde_json::Value::from(text).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

/// Escapes all characters beyond ASCII as `\u…`, as some encoders do.
fn escaped_ascii(json: &str) -> String {
    let mut escaped = String::with_capacity(json.len());
    for character in json.chars() {
        if character.is_ascii() {
            escaped.push(character);
        } else {
            for unit in character.encode_utf16(&mut [0; 2]) {
                // Writing to a string cannot fail.
                let _ = write!(escaped, "\\u{unit:04x}");
            }
        }
    }
    escaped
}

fn percent(text: &str, keep: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || keep.as_bytes().contains(&byte) {
            encoded.push(byte.into());
        } else {
            let _ = write!(encoded, "%{byte:02X}");
        }
    }
    encoded
}

fn lower_percent(encoded: &str) -> String {
    let mut lower = String::with_capacity(encoded.len());
    let mut digits = 0;
    for character in encoded.chars() {
        if character == '%' {
            digits = 2;
            lower.push(character);
        } else {
            lower.push(if digits > 0 { character.to_ascii_lowercase() } else { character });
            digits = usize::saturating_sub(digits, 1);
        }
    }
    lower
}

/// Returns the base64 characters that are the same for any text containing the secret, if the secret starts `shift`
/// bytes into a group of three: the characters that depend on no other bytes.
fn base64(secret: &[u8], shift: usize) -> Vec<String> {
    let mut bytes = vec![0; shift];
    bytes.extend_from_slice(secret);
    let start = (shift * 8).div_ceil(6);
    let end = bytes.len() * 8 / 6;
    let forms = [BASE64.encode(&bytes), BASE64URL.encode(&bytes)];
    forms
        .iter()
        .filter_map(|form| form.get(start..end))
        .filter(|form| form.len() >= SHORTEST_BASE64)
        .map(str::to_owned)
        .collect()
}

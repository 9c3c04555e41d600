//! How a secret may look: as it is, in JSON, in a URL, in base64.

use super::SHORTEST;
use data_encoding::{BASE64, BASE64URL};
use std::fmt::Write as _;

/// Longer secrets are looked for as they are, in JSON, and line by line: nobody puts them in a URL.
const LONG: usize = 4096;

/// The fewest characters of a base64 form, of which the first and last may be cut off.
const SHORTEST_BASE64: usize = 6;

/// The fewest bytes of a line of a secret that has several.
const SHORTEST_LINE: usize = 8;

/// All forms of a secret that are looked for.
pub(super) fn of(secret: &str) -> Vec<String> {
    // A value read from a file or a variable may end with a newline that nobody repeats.
    let trimmed = secret.trim();
    let mut forms = vec![trimmed.to_owned(), secret.to_owned()];
    let escaped = json(trimmed);
    // Text in JSON in JSON.
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

/// Everything beyond ASCII as `\u…`, as some encoders write it.
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

/// What the base64 of any text that holds the secret holds too, where the secret starts `shift` bytes into a group of
/// three: the characters that other bytes have no part in.
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

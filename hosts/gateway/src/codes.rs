//! Codes by which nodes and senders are approved.

use data_encoding::HEXLOWER;
use sha2::{Digest as _, Sha256};

/// The characters of a code: none looks like another one.
const ALPHABET: &[u8; 30] = b"ABCDEFGHJKMNPQRSTVWXYZ23456789";
/// The characters of a code.
const CODE_CHARS: usize = 8;
/// The characters that make the id of a node its own.
const SUFFIX_CHARS: usize = 6;

/// Makes a code.
pub(crate) fn random() -> Result<String, getrandom::Error> {
    chars(CODE_CHARS)
}

/// Makes the end of an id.
pub(crate) fn suffix() -> Result<String, getrandom::Error> {
    Ok(chars(SUFFIX_CHARS)?.to_ascii_lowercase())
}

fn chars(count: usize) -> Result<String, getrandom::Error> {
    // Bytes beyond the last multiple are left out, so that each character is as likely as the others.
    let end = u8::MAX - u8::MAX % 30;
    let mut text = String::new();
    while text.len() < count {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes)?;
        let fitting = bytes.into_iter().filter(|byte| *byte < end).take(count - text.len());
        text.extend(fitting.map(|byte| char::from(ALPHABET[usize::from(byte % 30)])));
    }
    Ok(text)
}

/// Returns a code as it was made, of what a person typed; `None` if it is none.
pub(crate) fn normalized(typed: &str) -> Option<String> {
    let chars = typed.chars().filter(|char| !matches!(char, '-' | ' ')).take(CODE_CHARS + 1);
    let code: String = chars.map(|char| char.to_ascii_uppercase()).collect();
    let is_code = code.len() == CODE_CHARS && code.bytes().all(|byte| ALPHABET.contains(&byte));
    is_code.then_some(code)
}

/// The digest of a code, which the store has.
pub(crate) fn digest(code: &str) -> String {
    HEXLOWER.encode(&Sha256::digest(code))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_read_in_any_case_and_with_separators() {
        let code = random().unwrap();
        assert_eq!(code.len(), 8);
        let typed = format!(" {}-{} ", code[..4].to_lowercase(), &code[4..]);
        assert_eq!(normalized(&typed), Some(code.clone()));
        assert_ne!(random().unwrap(), code);
        for wrong in ["", "ABCDEFG", "ABCDEFGH2", "ABCDEFG0", "ÄBCDEFGH"] {
            assert_eq!(normalized(wrong), None, "{wrong}");
        }
    }
}

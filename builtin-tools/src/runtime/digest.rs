//! Digests of texts that a question is too short for.

use hmac_sha256::Hash;
use std::fmt::Write as _;

/// Returns the first 32 hexadecimal digits of the SHA-256 of a text.
pub(super) fn short_digest(bytes: &[u8]) -> String {
    Hash::hash(bytes)[..16].iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

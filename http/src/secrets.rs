//! Secrets in answers.

/// The text in place of a secret.
pub const REDACTED: &str = "[redacted]";

/// Removes a secret of the request from an answer: some servers repeat the request.
pub fn without_secret(answer: Vec<u8>, secret: &str) -> Vec<u8> {
    match String::from_utf8(answer) {
        Ok(text) if !secret.is_empty() && text.contains(secret) => {
            text.replace(secret, REDACTED).into_bytes()
        }
        Ok(text) => text.into_bytes(),
        Err(error) => error.into_bytes(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets() {
        for (answer, expected) in [
            (&b"a key-1 and key-1."[..], &b"a [redacted] and [redacted]."[..]),
            (b"a key-2", b"a key-2"),
            (b"\xff key-1", b"\xff key-1"),
            (b"", b""),
        ] {
            assert_eq!(without_secret(answer.to_vec(), "key-1"), expected);
        }
        assert_eq!(without_secret(b"all".to_vec(), ""), b"all");
    }
}

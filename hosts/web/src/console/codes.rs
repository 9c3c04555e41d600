//! Codes that are used once.

use sha2::{Digest as _, Sha256};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// Time in which a code can be used.
const VALID: Duration = Duration::from_mins(1);
/// Codes that count at once; the oldest gives way to a new one.
const MAX_CODES: usize = 16;

/// The codes that were given out and not used yet, as digests: their comparison tells nothing of them.
#[derive(Default)]
pub(super) struct Codes(Mutex<Vec<([u8; 32], Instant)>>);

impl Codes {
    pub(super) fn add(&self, code: &str) {
        let mut codes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        codes.retain(|(_, until)| *until > Instant::now());
        if codes.len() >= MAX_CODES {
            codes.remove(0);
        }
        codes.push((Sha256::digest(code).into(), Instant::now() + VALID));
    }

    /// Uses a code up. Returns false if it is none, was used, or is too old.
    pub(super) fn take(&self, code: &str) -> bool {
        let digest: [u8; 32] = Sha256::digest(code).into();
        let mut codes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        codes.retain(|(_, until)| *until > Instant::now());
        let count = codes.len();
        codes.retain(|(other, _)| *other != digest);
        codes.len() < count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_code_counts_once_and_for_a_minute() {
        let codes = Codes::default();
        codes.add("one");
        codes.add("other");
        assert!(!codes.take("third"));
        assert!(codes.take("one"));
        assert!(!codes.take("one"));
        tokio::time::advance(VALID).await;
        assert!(!codes.take("other"));
    }

    #[tokio::test(start_paused = true)]
    async fn many_codes_leave_the_newest() {
        let codes = Codes::default();
        for number in 0..=MAX_CODES {
            codes.add(&number.to_string());
        }
        assert!(!codes.take("0"));
        assert!((1..=MAX_CODES).all(|number| codes.take(&number.to_string())));
    }
}

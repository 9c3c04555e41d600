//! Codes that are used once.

use sha2::{Digest as _, Sha256};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// Time in which a code can be used.
const VALID: Duration = Duration::from_mins(1);
/// Codes that count at once; the oldest gives way to a new one.
const MAX_CODES: usize = 16;

/// The codes that were given out and not used yet, as digests: their comparison tells nothing of them. Each stands for a `T`.
pub(super) struct Codes<T>(Mutex<Vec<Code<T>>>);

struct Code<T> {
    digest: [u8; 32],
    until: Instant,
    grant: T,
}

impl<T> Default for Codes<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T> Codes<T> {
    pub(super) fn add(&self, code: &str, grant: T) {
        let mut codes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        codes.retain(|code| code.until > Instant::now());
        if codes.len() >= MAX_CODES {
            codes.remove(0);
        }
        codes.push(Code { digest: Sha256::digest(code).into(), until: Instant::now() + VALID, grant });
    }

    /// Uses a code up. Returns nothing if it is none, was used, or is too old.
    pub(super) fn take(&self, code: &str) -> Option<T> {
        let digest: [u8; 32] = Sha256::digest(code).into();
        let mut codes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        codes.retain(|code| code.until > Instant::now());
        let place = codes.iter().position(|code| code.digest == digest)?;
        Some(codes.remove(place).grant)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_code_counts_once_and_for_a_minute() {
        let codes = Codes::default();
        codes.add("one", 1);
        codes.add("other", 2);
        assert_eq!(codes.take("third"), None);
        assert_eq!(codes.take("one"), Some(1));
        assert_eq!(codes.take("one"), None);
        tokio::time::advance(VALID).await;
        assert_eq!(codes.take("other"), None);
    }

    #[tokio::test(start_paused = true)]
    async fn many_codes_leave_the_newest() {
        let codes = Codes::default();
        for number in 0..=MAX_CODES {
            codes.add(&number.to_string(), number);
        }
        assert_eq!(codes.take("0"), None);
        assert!((1..=MAX_CODES).all(|number| codes.take(&number.to_string()) == Some(number)));
    }
}

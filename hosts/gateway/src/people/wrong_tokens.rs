//! Requests with wrong tokens, counted.

use std::time::Duration;

use crate::store::Moment;

/// Wrong tokens in one window that are answered as such.
const MAX_WRONG: u32 = 60;
/// The length of a window.
const WINDOW: Duration = Duration::from_mins(1);

/// Counts wrong tokens. Right ones are never refused for them.
#[derive(Debug, Default)]
pub(super) struct WrongTokens {
    all: u64,
    /// When the window began, and how many it has.
    window: Option<(Moment, u32)>,
}

impl WrongTokens {
    /// Counts one. Returns how long the window lasts still, if it has too many.
    pub(super) fn note(&mut self, now: Moment) -> Option<Duration> {
        self.all = self.all.saturating_add(1);
        let current = self.window.filter(|(since, _)| *since <= now && now < since.after(WINDOW));
        let (since, count) = current.unwrap_or((now, 0));
        self.window = Some((since, count.saturating_add(1)));
        if count == MAX_WRONG {
            tracing::warn!(
                "{MAX_WRONG} requests had a wrong token within a minute; further ones are refused"
            );
        }
        let left = since.after(WINDOW).0 - now.0;
        (count >= MAX_WRONG).then(|| Duration::from_millis(left.unsigned_abs()))
    }

    pub(super) fn all(&self) -> u64 {
        self.all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_many_in_a_minute_have_to_wait_for_the_next_one() {
        let mut wrong = WrongTokens::default();
        let start = Moment(1_000);
        for _ in 0..MAX_WRONG {
            assert_eq!(wrong.note(start), None);
        }
        let later = start.after(Duration::from_secs(20));
        assert_eq!(wrong.note(later), Some(Duration::from_secs(40)));
        assert_eq!(wrong.note(start.after(WINDOW)), None);
        // A clock that was set back begins a new window, too.
        assert_eq!(wrong.note(Moment(0)), None);
        assert_eq!(wrong.all(), u64::from(MAX_WRONG) + 3);
    }
}

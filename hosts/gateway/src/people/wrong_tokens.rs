//! Requests with wrong tokens, counted.

use std::time::Duration;

use super::window::Window;
use crate::store::Moment;

/// Wrong tokens in one window that are answered as such.
const MAX_WRONG: u32 = 60;
/// The length of a window.
const WINDOW: Duration = Duration::from_mins(1);

/// Counts wrong tokens. Right ones are never refused for them.
#[derive(Debug)]
pub(super) struct WrongTokens {
    all: u64,
    window: Window,
}

impl Default for WrongTokens {
    fn default() -> Self {
        Self { all: 0, window: Window::new(WINDOW) }
    }
}

impl WrongTokens {
    /// Counts one. Returns how long the window lasts still, if it has too many.
    pub(super) fn note(&mut self, now: Moment) -> Option<Duration> {
        self.all = self.all.saturating_add(1);
        let (count, left) = self.window.note(now);
        if count == MAX_WRONG {
            tracing::warn!(
                "{MAX_WRONG} requests had a wrong token within a minute; further ones are refused"
            );
        }
        (count >= MAX_WRONG).then_some(left)
    }

    pub(super) fn all(&self) -> u64 {
        self.all
    }
}

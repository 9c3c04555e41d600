//! Counts within windows of time.

use std::time::Duration;

use crate::store::Moment;

/// A count that begins anew when its window is over.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Window {
    length: Duration,
    /// When the window began, and its count.
    current: Option<(Moment, u32)>,
}

impl Window {
    pub(crate) fn new(length: Duration) -> Self {
        Self { length, current: None }
    }

    /// Returns true if the next count begins a new window.
    pub(crate) fn is_over(&self, now: Moment) -> bool {
        !self.current.is_some_and(|(since, _)| since <= now && now < since.after(self.length))
    }

    /// Counts one. Returns how many the window had before, and how long it lasts still.
    pub(crate) fn note(&mut self, now: Moment) -> (u32, Duration) {
        // A clock that was set back begins a new window, too.
        let current = self.current.filter(|_| !self.is_over(now));
        let (since, count) = current.unwrap_or((now, 0));
        self.current = Some((since, count.saturating_add(1)));
        let left = since.after(self.length).0 - now.0;
        (count, Duration::from_millis(left.unsigned_abs()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_begins_anew_after_its_window() {
        let mut window = Window::new(Duration::from_mins(1));
        let start = Moment(1_000);
        assert_eq!(window.note(start), (0, Duration::from_mins(1)));
        let later = start.after(Duration::from_secs(20));
        assert_eq!(window.note(later), (1, Duration::from_secs(40)));
        assert_eq!(window.note(start.after(Duration::from_mins(1))), (0, Duration::from_mins(1)));
        assert_eq!(window.note(Moment(0)), (0, Duration::from_mins(1)));
        assert_eq!(window.note(Moment(0)), (1, Duration::from_mins(1)));
    }
}

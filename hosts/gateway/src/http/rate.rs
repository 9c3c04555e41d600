//! The limits of requests and of frames that a person sends.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use toolkit_serve::Problem;
use toolkit_serve::axum::http::StatusCode;

use crate::people::Window;
use crate::store::Moment;

/// The length of a window.
pub(super) const WINDOW: Duration = Duration::from_secs(10);

/// Counts the requests, or the frames, of each person, however many tokens and connections they have.
#[derive(Debug)]
pub(super) struct Rate {
    /// In one window.
    max: u32,
    /// The plural of one that is counted.
    unit: &'static str,
    /// By the name of the person.
    windows: Mutex<HashMap<String, Window>>,
}

impl Rate {
    /// So many of a person within ten seconds.
    pub(super) fn new(max: u32, unit: &'static str) -> Self {
        Self { max, unit, windows: Mutex::default() }
    }

    /// Counts one.
    ///
    /// # Errors
    ///
    /// A problem with status 429 if the person has sent too many.
    pub(super) fn note(&self, person: &str, now: Moment) -> Result<(), Problem> {
        let Some(left) = self.beyond(person, now) else { return Ok(()) };
        let text = format!("{} {} within ten seconds are the limit; wait", self.max, self.unit);
        Err(Problem::new(StatusCode::TOO_MANY_REQUESTS, text).retry_after(left))
    }

    /// Counts one. Returns how long the window lasts still if it has too many.
    pub(super) fn beyond(&self, person: &str, now: Moment) -> Option<Duration> {
        let mut windows = self.windows.lock().unwrap_or_else(PoisonError::into_inner);
        let window = windows.entry(person.to_owned()).or_insert_with(|| Window::new(WINDOW));
        let (count, left) = window.note(now);
        (count >= self.max).then_some(left)
    }
}

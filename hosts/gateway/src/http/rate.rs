//! The limit of requests that a person sends.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use toolkit_serve::Problem;
use toolkit_serve::axum::http::StatusCode;

use crate::people::Window;
use crate::store::Moment;

/// The length of a window.
const WINDOW: Duration = Duration::from_secs(10);

/// Counts the requests of each person, however many tokens they have.
#[derive(Debug)]
pub(super) struct Rate {
    /// In one window.
    max_requests: u32,
    /// By the name of the person.
    windows: Mutex<HashMap<String, Window>>,
}

impl Rate {
    /// So many requests of a person within ten seconds.
    pub(super) fn new(max_requests: u32) -> Self {
        Self { max_requests, windows: Mutex::default() }
    }

    /// Counts a request.
    ///
    /// # Errors
    ///
    /// A problem with status 429 if the person has sent too many.
    pub(super) fn note(&self, person: &str, now: Moment) -> Result<(), Problem> {
        let mut windows = self.windows.lock().unwrap_or_else(PoisonError::into_inner);
        let window = windows.entry(person.to_owned()).or_insert_with(|| Window::new(WINDOW));
        let (count, left) = window.note(now);
        if count < self.max_requests {
            return Ok(());
        }
        let text = format!("{} requests within ten seconds are the limit; wait", self.max_requests);
        Err(Problem::new(StatusCode::TOO_MANY_REQUESTS, text).retry_after(left))
    }
}

//! A tool that a server offers, as its calls need it.

use super::known::Change;
use std::sync::{Mutex, PoisonError};

/// A tool of a server.
#[derive(Debug)]
pub(super) struct Offered {
    /// The server's name of the tool.
    pub(super) name: String,
    /// The local name of the tool.
    pub(super) here: String,
    /// The result of a call comes later than its answer.
    pub(super) is_deferred: bool,
    /// The present definition, if it differs from the recorded one and the user has not approved it yet.
    changed: Mutex<Option<Change>>,
}

impl Offered {
    pub(super) fn new(name: &str, here: &str, changed: Option<Change>) -> Self {
        Self {
            name: name.to_owned(),
            here: here.to_owned(),
            is_deferred: false,
            changed: Mutex::new(changed),
        }
    }

    /// Says if the result of a call comes later than its answer.
    pub(super) fn deferred(self, is_deferred: bool) -> Self {
        Self { is_deferred, ..self }
    }

    pub(super) fn change(&self) -> Option<Change> {
        self.changed.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn agreed(&self) {
        self.changed.lock().unwrap_or_else(PoisonError::into_inner).take();
    }
}

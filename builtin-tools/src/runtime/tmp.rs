//! The directory that the commands of a session see as `/tmp`, or where nothing can be put in the place of that have as their `TMPDIR`.

use crate::scratch::{Scratch, sweep};
use std::path::PathBuf;
use std::sync::{Mutex, Once, PoisonError};
use toolkit_sandbox::{Feature, probe};

const PREFIX: &str = "toolkit-tmp-";

/// Returns true if the directory replaces `/tmp` for contained commands. Blocks the first time in a process.
pub(super) fn is_put_in_place() -> bool {
    probe().has(Feature::UserNamespace) && probe().has(Feature::Mounts)
}

/// Creates a directory for the temporary files of one command. `None` if that is impossible, as on a full disk: most commands need none.
pub(super) fn scratch() -> Option<Scratch> {
    Scratch::make(&std::env::temp_dir(), PREFIX).ok()
}

/// The session's private `/tmp`. It is created on first use and removed with the session. If a host was killed, the next session that
/// creates its own removes it.
#[derive(Debug, Default)]
pub(super) struct Tmp(Mutex<Option<Scratch>>);

impl Tmp {
    /// Returns the directory, if it exists and so may contain files.
    pub(super) fn made(&self) -> Option<PathBuf> {
        let own = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        own.as_ref().map(|own| own.directory().to_owned())
    }

    pub(super) fn directory(&self) -> Option<PathBuf> {
        static SWEPT: Once = Once::new();
        let mut own = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if own.is_none() {
            let within = std::env::temp_dir();
            SWEPT.call_once(|| sweep(&within, PREFIX));
            *own = Scratch::make(&within, PREFIX).ok();
        }
        own.as_ref().map(|own| own.directory().to_owned())
    }
}

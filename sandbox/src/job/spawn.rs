//! The start of a command, after a check of its texts.

use std::ffi::OsStr;

use super::Job;
use crate::{Command, SpawnError};

impl Command {
    /// Starts the command. Any runtime may be used, and several at once; the job does not depend on it afterwards.
    ///
    /// # Errors
    ///
    /// [`SpawnError`] with the reason; then nothing was started.
    pub async fn spawn(self) -> Result<Job, SpawnError> {
        let nul = |text: &OsStr| text.as_encoded_bytes().contains(&0);
        let names = self.environment.iter().map(|(name, _)| name);
        for (what, found) in [
            ("the program's name", nul(&self.program) || self.arg0.as_deref().is_some_and(nul)),
            ("an argument", self.arguments.iter().any(|argument| nul(argument))),
            ("a variable's name", names.into_iter().any(|name| nul(name))),
            ("a variable's value", self.environment.iter().any(|(_, value)| nul(value))),
            ("the directory", nul(self.directory.as_os_str())),
        ] {
            if found {
                return Err(SpawnError::Nul { what });
            }
        }
        Job::start(self).await
    }
}

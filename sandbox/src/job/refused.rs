//! Errors of commands that were not started.

use std::io;
use std::os::unix::ffi::OsStrExt as _;

use crate::failure::{Failure, Step};
use crate::wire::Run;
use crate::{Conflict, SpawnError};

/// Converts the failure that a supervisor reports for a command to an error.
pub(super) fn refused(failure: &Failure, run: &Run) -> SpawnError {
    let source = io::Error::from_raw_os_error(failure.error);
    let detail = String::from_utf8_lossy(&failure.detail).into_owned();
    let program = run.program.to_string_lossy().into_owned();
    match failure.step {
        Step::NotFound => {
            let searched = !run.program.as_bytes().contains(&b'/');
            let path = crate::supervisor::child::path(&run.environment).unwrap_or_default();
            SpawnError::NotFound { program, path: searched.then(|| path.to_string_lossy().into_owned()) }
        }
        Step::Execute => SpawnError::NotExecutable { program, source },
        Step::TooLong => SpawnError::TooLong,
        Step::Directory => SpawnError::Directory { path: run.directory.clone(), source },
        Step::Contradiction => {
            let mut why = detail.chars();
            let conflict = why.next().and_then(Conflict::from_sign).unwrap_or(Conflict::Unreadable);
            SpawnError::Contradiction { conflict, why: why.as_str().to_owned() }
        }
        Step::Required => {
            let (part, why) = detail.split_once(':').unwrap_or(("", &detail));
            let part =
                crate::Part::ALL.into_iter().find(|known| known.name() == part).unwrap_or(crate::Part::Files);
            SpawnError::Sandbox { part, why: why.to_owned() }
        }
        step if detail.is_empty() => SpawnError::Supervisor { step: step.words(), source },
        step => SpawnError::Supervisor {
            step: step.words(),
            source: io::Error::new(source.kind(), format!("{detail}: {source}")),
        },
    }
}

//! The host's side: the choice of the supervisor program, the running spawner, and the thread that receives the supervisors' messages.

pub(crate) mod arenas;
pub(crate) mod control;
pub(crate) mod descriptors;
mod requests;
pub(crate) mod spawner;
mod thread;

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::{Mutex, PoisonError};

/// The program to start as the spawner.
static PROGRAM: Mutex<Option<OsString>> = Mutex::new(None);

/// Must be the first call in `main`: if this process was started as the supervisor, it becomes the supervisor and never returns. In the
/// host it records that the host's own program can be started as supervisor, and returns at once.
///
/// Before it nothing should happen that a supervisor must not do, and no thread be started. A host that does not call it has the
/// weaker [`Guarantee::ProcessGroup`](crate::Guarantee::ProcessGroup).
pub fn init() {
    if crate::supervisor::is_spawner() {
        crate::supervisor::spawner::run();
    }
    note("/proc/self/exe");
}

/// Sets another program, whose `main` calls [`init`], as the supervisor: for tests, and for hosts that ship one.
pub fn supervise_with(program: impl Into<PathBuf>) {
    note(program.into());
}

fn note(program: impl Into<OsString>) {
    *PROGRAM.lock().unwrap_or_else(PoisonError::into_inner) = Some(program.into());
}

/// The program that is the supervisor, where there is one.
pub(crate) fn program() -> Option<OsString> {
    PROGRAM.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

/// Returns the thread that receives the supervisors' messages.
fn hearing() -> std::io::Result<&'static thread::Hearing> {
    static HEARING: OnceLock<thread::Hearing> = OnceLock::new();
    static STARTING: Mutex<()> = Mutex::new(());
    if let Some(hearing) = HEARING.get() {
        return Ok(hearing);
    }
    let _one = STARTING.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(hearing) = HEARING.get() {
        return Ok(hearing);
    }
    let hearing = thread::Hearing::start()?;
    Ok(HEARING.get_or_init(|| hearing))
}

/// A number that no other job of this process has.
pub(crate) fn number() -> std::io::Result<u64> {
    hearing().map(thread::Hearing::number)
}

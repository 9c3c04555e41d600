//! Fault points: the steps of a file change at which the process may die, for tests that make it die there.

/// Called right before the step of this name.
#[cfg(not(feature = "testing"))]
pub(super) fn point(_step: &'static str) {}

/// Returns the simulated kind of file systems.
#[cfg(not(feature = "testing"))]
pub(super) fn file_systems() -> FileSystems {
    FileSystems::AsTheyAre
}

#[cfg(feature = "testing")]
pub(super) use hooked::{file_systems, point};

#[cfg(feature = "testing")]
pub use hooked::{at_fault_points, take_file_systems_for};

/// The kinds of file systems that can be simulated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(
    not(feature = "testing"),
    allow(dead_code, unreachable_pub, reason = "only tests take them for what they are not")
)]
pub enum FileSystems {
    /// No simulation.
    AsTheyAre,
    /// File systems that can neither exchange two names nor rename without replacing, as some network file systems.
    WithoutFlags,
    /// A separate file system for each directory.
    OnePerDirectory,
}

#[cfg(feature = "testing")]
mod hooked {
    use super::FileSystems;
    use std::sync::{Arc, Mutex, PoisonError};

    type Hook = Arc<dyn Fn(&'static str) + Send + Sync>;

    static FILE_SYSTEMS: Mutex<FileSystems> = Mutex::new(FileSystems::AsTheyAre);
    static HOOK: Mutex<Option<Hook>> = Mutex::new(None);

    /// Sets `hook` to be called, in the whole process, right before each step of a file change, with the step's name.
    /// A test counts the steps, or ends the process at one.
    pub fn at_fault_points(hook: impl Fn(&'static str) + Send + Sync + 'static) {
        *HOOK.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(hook));
    }

    pub(crate) fn point(step: &'static str) {
        let hook = HOOK.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(hook) = hook {
            hook(step);
        }
    }

    /// Simulates a kind of file systems, in the whole process.
    pub fn take_file_systems_for(others: FileSystems) {
        *FILE_SYSTEMS.lock().unwrap_or_else(PoisonError::into_inner) = others;
    }

    pub(crate) fn file_systems() -> FileSystems {
        *FILE_SYSTEMS.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

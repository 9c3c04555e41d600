//! The places in a change of a file where the process may die, for tests that let it.

/// Passed right before the step of this name.
#[cfg(not(feature = "testing"))]
pub(super) fn point(_step: &'static str) {}

/// What file systems are to be taken for.
#[cfg(not(feature = "testing"))]
pub(super) fn file_systems() -> FileSystems {
    FileSystems::AsTheyAre
}

#[cfg(feature = "testing")]
pub(super) use hooked::{file_systems, point};

#[cfg(feature = "testing")]
pub use hooked::{at_fault_points, take_file_systems_for};

/// What file systems are taken for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(
    not(feature = "testing"),
    allow(dead_code, unreachable_pub, reason = "only tests take them for what they are not")
)]
pub enum FileSystems {
    /// What they are.
    AsTheyAre,
    /// Such as can neither exchange two names nor rename only where nothing is, as some on a network.
    WithoutFlags,
    /// One for each directory.
    OnePerDirectory,
}

#[cfg(feature = "testing")]
mod hooked {
    use super::FileSystems;
    use std::sync::{Arc, Mutex, PoisonError};

    type Hook = Arc<dyn Fn(&'static str) + Send + Sync>;

    static FILE_SYSTEMS: Mutex<FileSystems> = Mutex::new(FileSystems::AsTheyAre);
    static HOOK: Mutex<Option<Hook>> = Mutex::new(None);

    /// Has `hook` called, in the whole process, right before each step of a change of a file, with the step's name. A
    /// test counts them, or ends the process at one.
    pub fn at_fault_points(hook: impl Fn(&'static str) + Send + Sync + 'static) {
        *HOOK.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(hook));
    }

    pub(crate) fn point(step: &'static str) {
        let hook = HOOK.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(hook) = hook {
            hook(step);
        }
    }

    /// Takes file systems for other ones than they are, in the whole process.
    pub fn take_file_systems_for(others: FileSystems) {
        *FILE_SYSTEMS.lock().unwrap_or_else(PoisonError::into_inner) = others;
    }

    pub(crate) fn file_systems() -> FileSystems {
        *FILE_SYSTEMS.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

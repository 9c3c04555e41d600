//! The places in a change of a file where the process may die, for tests that let it.

/// Passed right before the step of this name.
#[cfg(not(feature = "testing"))]
pub(super) fn point(_step: &'static str) {}

#[cfg(feature = "testing")]
pub(super) use hooked::point;

#[cfg(feature = "testing")]
pub use hooked::at_fault_points;

#[cfg(feature = "testing")]
mod hooked {
    use std::sync::{Arc, Mutex, PoisonError};

    type Hook = Arc<dyn Fn(&'static str) + Send + Sync>;

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
}

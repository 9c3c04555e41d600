//! What a host puts around the functions of its tools: inspectors, the question before a tool runs, result hooks, the
//! loop guard.

use crate::inspector::Inspector;
use crate::loop_guard::LoopGuard;
use crate::result_hook::ResultHook;
use std::sync::Arc;

/// What stands around every function.
#[derive(Clone, Default)]
pub(crate) struct Hooks {
    pub(crate) inspectors: Vec<Named<dyn Inspector>>,
    pub(crate) results: Vec<Named<ResultHook>>,
    pub(crate) loop_guard: LoopGuard,
    /// Tools run without the question before them, unless a rule asks it.
    pub(crate) without_asking_first: bool,
}

/// A hook with the name that its errors say.
pub(crate) struct Named<T: ?Sized> {
    pub(crate) name: Arc<str>,
    pub(crate) hook: Arc<T>,
}

impl<T: ?Sized> Clone for Named<T> {
    fn clone(&self) -> Self {
        Self { name: Arc::clone(&self.name), hook: Arc::clone(&self.hook) }
    }
}

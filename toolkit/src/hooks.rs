//! Hooks of a host around its tools' functions: inspectors, the approval before a tool runs, and result hooks.

use crate::change_hook::ChangeHooks;
use crate::inspector::Inspector;
use crate::named_hook::Named;
use crate::result_hook::ResultHook;

/// The hooks that run around every call.
#[derive(Clone, Default)]
pub(crate) struct Hooks {
    pub(crate) inspectors: Vec<Named<dyn Inspector>>,
    pub(crate) results: Vec<Named<ResultHook>>,
    /// The hooks that see a file before it changes.
    pub(crate) changes: ChangeHooks,
    /// True if tools run without approval, unless a rule asks.
    pub(crate) without_asking_first: bool,
}

//! A tool that is remembered and not kept.

use super::{Inner, Tool};
use std::fmt;
use std::sync::{Arc, Weak};

/// Tells a tool from every other one, also once it is gone, and keeps nothing of it alive.
#[derive(Clone)]
pub(crate) struct WeakTool(Weak<Inner>);

impl WeakTool {
    /// Whether it is this very tool.
    pub(crate) fn is(&self, tool: &Tool) -> bool {
        // The place of what is gone is not given to another while this is here.
        std::ptr::eq(self.0.as_ptr(), Arc::as_ptr(&tool.0))
    }
}

impl fmt::Debug for WeakTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WeakTool")
    }
}

impl Tool {
    /// Whether it is this very tool, under whatever name it came.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    pub(crate) fn downgrade(&self) -> WeakTool {
        WeakTool(Arc::downgrade(&self.0))
    }
}

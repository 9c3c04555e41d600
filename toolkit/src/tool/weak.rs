//! Weak references to tools.

use super::{Inner, Tool};
use std::fmt;
use std::sync::{Arc, Weak};

/// Identifies a tool, even after it is dropped, without keeping it alive.
#[derive(Clone)]
pub(crate) struct WeakTool(Weak<Inner>);

impl WeakTool {
    /// Returns true if it is exactly this tool.
    pub(crate) fn is(&self, tool: &Tool) -> bool {
        // The address of a dropped tool is not reused while this reference exists.
        std::ptr::eq(self.0.as_ptr(), Arc::as_ptr(&tool.0))
    }
}

impl fmt::Debug for WeakTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WeakTool")
    }
}

impl Tool {
    /// Returns true if both refer to the same tool, under any name.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    pub(crate) fn downgrade(&self) -> WeakTool {
        WeakTool(Arc::downgrade(&self.0))
    }
}

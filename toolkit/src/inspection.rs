//! Checks of calls before they run and of results before they are returned.

pub use crate::inspector::{CallbackInspector, Inspecting, Inspection, Inspector, IntoVerdict, Verdict};
pub use crate::loop_guard::LoopGuard;
pub use crate::result_hook::ResultReview;

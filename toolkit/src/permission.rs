//! Whether an action may go ahead: allow, ask or deny.

mod settings;

pub use settings::{Decision, PermissionEntry, PermissionRule, PermissionRules, PermissionSettings};

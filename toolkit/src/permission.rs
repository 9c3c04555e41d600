//! Whether this one action may go ahead.

mod decided;
mod matching;
mod rules;
mod settings;

pub use decided::{Decided, DecidedRule, PermissionRequest};
pub use rules::Permissions;
pub use settings::{Decision, PermissionEntry, PermissionRule, PermissionRules, PermissionSettings};

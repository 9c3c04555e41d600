//! Whether this one action may go ahead.

mod before;
mod decided;
mod diagnostics;
mod matching;
mod path;
mod rules;
mod settings;

pub use decided::{Decided, DecidedRule, PermissionRequest};
pub(crate) use path::OwnDirs;
pub use path::{DecidedPath, GuardedPaths, PathDecision, protected_paths, sensitive_paths};
pub use rules::Permissions;
pub use settings::{Decision, PermissionEntry, PermissionRule, PermissionRules, PermissionSettings};

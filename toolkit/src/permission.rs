//! Permissions: decides if a single action is allowed, asked about or denied.

mod before;
mod coverage;
mod decided;
mod diagnostics;
mod glob;
mod keys;
mod matching;
mod path;
mod rules;
mod settings;
mod verdict;

pub use decided::{DecidedRule, PermissionRequest, RuleDecision};
pub(crate) use diagnostics::KINDS;
pub(crate) use glob::PathPattern;
pub use path::{
    DecidedPath, GuardedPaths, OwnPaths, PathDecision, PathRules, RulePlace, harmless_paths, may_be_guarded,
    protected_path, protected_paths, sensitive_path, sensitive_paths,
};
pub(crate) use path::{OwnDirs, is_suspect};
pub(crate) use rules::PATH_KINDS;
pub use rules::Permissions;
pub use settings::{Decision, PermissionEntry, PermissionRule, PermissionRules, PermissionSettings};
pub use verdict::ToolVerdict;

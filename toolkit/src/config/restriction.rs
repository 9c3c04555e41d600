//! An untrusted file, of which only restrictions have an effect.

use crate::permission::PermissionSettings;
use crate::policy::PolicySettings;
use serde_json::Value;
use std::collections::BTreeSet;

/// The effective part of an untrusted file.
pub(crate) struct Restriction {
    pub(crate) file: String,
    /// The part of the file that has an effect.
    pub(crate) document: Value,
    pub(crate) policy: PolicySettings,
    pub(crate) permissions: PermissionSettings,
    /// The tools that do not run without asking.
    pub(crate) asking: BTreeSet<String>,
}

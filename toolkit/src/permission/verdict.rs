//! The verdict on the calls of a tool, before there is one.

use super::settings::Decision;
use toolkit_core::config_origin::ConfigOrigin;

/// The decision that applies to the calls of a tool by a caller, as far as it is known without their arguments, with its reason.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolVerdict {
    /// The decision. `Ask` also stands for a tool whose arguments decide.
    pub decision: Decision,
    /// The reason, as a clause. It names no file of the configuration.
    pub reason: String,
    /// The place of the rule that decided, if a rule did and its place is known.
    pub origin: Option<ConfigOrigin>,
}

impl ToolVerdict {
    pub(crate) fn new(decision: Decision, reason: impl Into<String>) -> Self {
        Self { decision, reason: reason.into(), origin: None }
    }

    pub(crate) fn with_origin(self, origin: Option<ConfigOrigin>) -> Self {
        Self { origin, ..self }
    }
}

//! Which tools exist for a caller.

mod settings;

pub use settings::{PolicySettings, ProfileRules, ToolRules};

use crate::caller::Caller;
use crate::tool::Tool;
use std::fmt;

/// Decides which tools exist for a caller.
///
/// It is asked for every tool when a toolbox is made, and once more at each call, so that what is revoked
/// meanwhile counts at once. It must not block: it stands on the path of every call.
///
/// ```
/// use toolkit::prelude::*;
/// use toolkit::{Policy, Refusal};
///
/// #[derive(Debug)]
/// struct OnlyReading;
///
/// impl Policy for OnlyReading {
///     fn check(&self, _: &Caller, tool: &Tool) -> Result<(), Refusal> {
///         match tool.annotations().read_only_hint {
///             true => Ok(()),
///             false => Err(Refusal::new("the reading policy", "it allows only tools that change nothing")),
///         }
///     }
/// }
///
/// # fn main() -> Result<(), toolkit::BuildError> {
/// let toolkit = Toolkit::empty().policy(OnlyReading).build()?;
/// # drop(toolkit);
/// # Ok(()) }
/// ```
pub trait Policy: fmt::Debug + Send + Sync + 'static {
    /// Whether the tool exists for the caller.
    ///
    /// # Errors
    ///
    /// Which layer refuses it, and why.
    fn check(&self, caller: &Caller, tool: &Tool) -> Result<(), Refusal>;
}

/// Why a policy does not give a tool to a caller.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Refusal {
    /// Which part of the policy decided.
    pub layer: String,
    /// Why, as a clause: "it allows only tools that change nothing".
    pub reason: String,
}

impl Refusal {
    /// A refusal.
    pub fn new(layer: impl Into<String>, reason: impl Into<String>) -> Self {
        Self { layer: layer.into(), reason: reason.into() }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "denied by {}: {}", self.layer, self.reason)
    }
}

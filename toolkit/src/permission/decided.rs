//! Requests to the permission rules, and their decisions.

use super::glob::PathText;
use super::settings::Decision;
use crate::tool::Tool;
use std::fmt;
use toolkit_core::config_origin::ConfigOrigin;
use toolkit_core::escape::escape_line;

/// An action, as the rules see it.
///
/// ```
/// use toolkit::{Caller, permission::{Decision, PermissionRequest, Permissions}};
///
/// let patterns = ["git push".to_owned()];
/// let decided = Permissions::default().decide(&Caller::new(), &PermissionRequest::new("exec", &patterns));
/// assert_eq!(decided.decision, Decision::Ask);
/// ```
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct PermissionRequest<'a> {
    /// The kind of permission.
    pub kind: &'a str,
    /// The patterns of the action, as a permission prompt shows them. All of them must be allowed.
    pub patterns: &'a [String],
    /// True if flags or paths of a command raised the question: then no entry of a list allows it, only a rule for the
    /// whole kind.
    pub raised: bool,
    /// True if a command is matched as it is written, and not as a call of a program.
    pub(super) as_written: bool,
    /// Alternative spellings of the patterns, which match only entries that ask or deny.
    pub(super) also: &'a [String],
    /// The paths in the patterns, if the patterns are paths; one per pattern.
    pub(super) paths: &'a [PathText],
    /// The tool that performs the action.
    pub(super) tool: Option<&'a Tool>,
}

impl<'a> PermissionRequest<'a> {
    /// Creates a request for an action of a kind, with its patterns.
    pub fn new(kind: &'a str, patterns: &'a [String]) -> Self {
        Self { kind, patterns, raised: false, as_written: false, also: &[], paths: &[], tool: None }
    }

    /// Adds alternative spellings of the patterns. An entry that asks or denies applies if it matches one of them; an
    /// entry that allows does not. In a spelling, the character U+0000 stands for any text: an entry applies if it may match.
    ///
    /// ```
    /// use toolkit::{Caller, permission::{Decision, PermissionRequest, PermissionSettings, Permissions}};
    ///
    /// let mut settings = PermissionSettings::default();
    /// settings.everybody = serde_json::from_value(serde_json::json!({
    ///     "exec": [{ "match": "git log", "do": "allow" }, { "match": "git push*", "do": "deny" }],
    /// })).unwrap();
    /// let permissions = Permissions::new([settings]);
    /// let decide = |text: &str, also: &str| {
    ///     let (patterns, also) = ([text.to_owned()], [also.to_owned()]);
    ///     permissions.decide(&Caller::new(), &PermissionRequest::new("exec", &patterns).also(&also)).decision
    /// };
    /// assert_eq!(decide("git -C . push", "git push"), Decision::Deny);
    /// assert_eq!(decide("git -C . log", "git log"), Decision::Ask);
    /// ```
    #[must_use]
    pub fn also(mut self, also: &'a [String]) -> Self {
        self.also = also;
        self
    }

    /// Matches commands (the kind `exec`) as they are written: an entry that asks about or denies a program does not apply
    /// to its calls with arguments. For the text of a compound command, whose parts are asked about one by one.
    ///
    /// ```
    /// use toolkit::{Caller, permission::{Decision, PermissionRequest, PermissionSettings, Permissions}};
    ///
    /// let mut settings = PermissionSettings::default();
    /// settings.everybody =
    ///     serde_json::from_value(serde_json::json!({ "exec": [{ "match": "cat", "do": "deny" }] })).unwrap();
    /// let permissions = Permissions::new([settings]);
    /// let patterns = ["cat a | cat".to_owned()];
    /// let request = PermissionRequest::new("exec", &patterns);
    /// assert_eq!(permissions.decide(&Caller::new(), &request).decision, Decision::Deny);
    /// assert_eq!(permissions.decide(&Caller::new(), &request.as_written()).decision, Decision::Ask);
    /// ```
    #[must_use]
    pub fn as_written(mut self) -> Self {
        self.as_written = true;
        self
    }

    /// Sets the paths of the patterns.
    pub(super) fn of_paths(mut self, paths: &'a [PathText]) -> Self {
        self.paths = paths;
        self
    }

    /// Sets the tool that performs the action, so that rules for the tool apply too.
    #[must_use]
    pub fn for_tool(mut self, tool: &'a Tool) -> Self {
        self.tool = Some(tool);
        self
    }

    /// Marks that flags or paths of a command raised the question.
    #[must_use]
    pub fn raised(mut self, raised: bool) -> Self {
        self.raised = raised;
        self
    }
}

/// The decision of the rules about an action.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RuleDecision {
    /// The decision.
    pub decision: Decision,
    /// The rule that decided.
    pub rule: Option<DecidedRule>,
    /// True if a rule decided, and false if the default did.
    pub said: bool,
}

impl RuleDecision {
    /// Creates the default decision, for when no rule applies.
    pub(super) fn default_of(decision: Decision) -> Self {
        Self { decision, rule: None, said: false }
    }
}

/// The rule that decided.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DecidedRule {
    /// The JSON pointer of the rule in its configuration: `/permission/exec/0`.
    pub pointer: String,
    /// The text of the rule: `deny`, or with a pattern `` `git *`: deny``. A pattern may contain any characters.
    pub text: String,
    /// The source location, if known.
    pub origin: Option<ConfigOrigin>,
}

impl fmt::Display for DecidedRule {
    /// Formats the rule as `` `git *`: deny`` (/permission/exec/0, toolkit.json5:3:5), in one line that is safe to
    /// display.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({}", escape_line(&self.text), escape_line(&self.pointer))?;
        if let Some(origin) = &self.origin {
            write!(f, ", {}", escape_line(&origin.to_string()))?;
        }
        f.write_str(")")
    }
}

impl fmt::Display for Decision {
    /// Formats the decision as in a configuration: `allow`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        })
    }
}

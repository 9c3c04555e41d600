//! What is asked of the rules, and what they say.

use super::glob::PathText;
use super::settings::Decision;
use crate::config_origin::ConfigOrigin;
use crate::escape::escape_line;
use crate::tool::Tool;
use std::fmt;

/// An action, as rules see it.
///
/// ```
/// use toolkit::{Caller, Decision, PermissionRequest, Permissions};
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
    /// What the action is matched by, as a question shows it. All of it has to be allowed.
    pub patterns: &'a [String],
    /// Whether a command's flags or paths raised the question: then no entry of a list lifts it, only a rule for the
    /// whole kind.
    pub raised: bool,
    /// Other ways to write what it is matched by, which only an entry that asks or denies may describe.
    pub(super) also: &'a [String],
    /// What the patterns are, where they are paths; as many as there are patterns.
    pub(super) paths: &'a [PathText],
    /// The tool that does it.
    pub(super) tool: Option<&'a Tool>,
}

impl<'a> PermissionRequest<'a> {
    /// An action of a kind, and what it is matched by.
    pub fn new(kind: &'a str, patterns: &'a [String]) -> Self {
        Self { kind, patterns, raised: false, also: &[], paths: &[], tool: None }
    }

    /// Adds other ways to write what the action is matched by. An entry of a list that asks or denies one of them counts; one that
    /// allows does not.
    ///
    /// ```
    /// use toolkit::{Caller, Decision, PermissionRequest, PermissionSettings, Permissions};
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

    /// Says what the patterns are, which are paths.
    pub(super) fn of_paths(mut self, paths: &'a [PathText]) -> Self {
        self.paths = paths;
        self
    }

    /// Names the tool that does it: rules for the tool count too.
    #[must_use]
    pub fn for_tool(mut self, tool: &'a Tool) -> Self {
        self.tool = Some(tool);
        self
    }

    /// Says that a command's flags or paths raised the question.
    #[must_use]
    pub fn raised(mut self, raised: bool) -> Self {
        self.raised = raised;
        self
    }
}

/// What the rules say of an action.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Decided {
    /// Whether it may go ahead.
    pub decision: Decision,
    /// The rule that decided.
    pub rule: Option<DecidedRule>,
    /// Whether a rule decided. Otherwise it is the default.
    pub said: bool,
}

impl Decided {
    /// What holds where no rule says anything.
    pub(super) fn default_of(decision: Decision) -> Self {
        Self { decision, rule: None, said: false }
    }
}

/// The rule that decided.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DecidedRule {
    /// Where it stands in its configuration, as a JSON pointer: `/permission/exec/0`.
    pub pointer: String,
    /// What it says: `deny`, or with a pattern `` `git *`: deny``. A pattern may hold any characters.
    pub text: String,
    /// Where it was written, if that is known.
    pub origin: Option<ConfigOrigin>,
}

impl fmt::Display for DecidedRule {
    /// `` `git *`: deny`` (/permission/exec/0, toolkit.json5:3:5), in one line that is safe to show.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({}", escape_line(&self.text), escape_line(&self.pointer))?;
        if let Some(origin) = &self.origin {
            write!(f, ", {}", escape_line(&origin.to_string()))?;
        }
        f.write_str(")")
    }
}

impl fmt::Display for Decision {
    /// As in a configuration: `allow`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        })
    }
}

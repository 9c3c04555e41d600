//! Decides if a tool that does not ask for approval itself may run.

use super::decided::{PermissionRequest, RuleDecision};
use super::rules::Permissions;
use super::settings::Decision;
use crate::tool::Tool;
use toolkit_core::caller::Caller;

/// The properties that decide about a tool that does not ask for approval itself.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ToolFacts<'a> {
    pub(crate) name: &'a str,
    /// Its kind of permission.
    pub(crate) kind: &'a str,
    pub(crate) read_only: bool,
    pub(crate) auto_execute: bool,
    /// True if the tool's attributes are trusted: the host linked or registered it. The attributes of a server's or
    /// client's tools are not trusted.
    pub(crate) is_trusted_source: bool,
    /// The tool, whose names may be keys of rules.
    pub(crate) tool: Option<&'a Tool>,
}

impl<'a> ToolFacts<'a> {
    pub(crate) fn of(tool: &'a Tool) -> Self {
        Self {
            name: tool.name(),
            kind: tool.permission(),
            read_only: tool.annotations().read_only_hint,
            auto_execute: tool.is_auto_execute(),
            is_trusted_source: !tool.source().is_remote(),
            tool: Some(tool),
        }
    }

    /// Returns true if the tool runs without approval because of its own attributes, if nothing is configured.
    fn runs_by_its_word(&self) -> bool {
        self.is_trusted_source && (self.read_only || self.auto_execute)
    }
}

impl Tool {
    /// Returns true if no approval is needed before the tool runs, if nothing is configured: by its attributes, it may
    /// run or asks itself.
    pub(crate) fn runs_by_its_word(&self) -> bool {
        // Only a fast path: the checks before a call come to the same result. No test can tell.
        let facts = ToolFacts::of(self);
        facts.runs_by_its_word() || facts.is_trusted_source && self.asks()
    }
}

impl Permissions {
    /// Decides if a tool that does not ask for approval itself may run for `caller`. The kind is its
    /// [permission](crate::Tool::permission), and the pattern is its name.
    ///
    /// Without a rule, a tool that is `read_only` or `auto_execute` runs, because the host chose to trust its author;
    /// any other tool needs approval. A configured `autoExecute` takes precedence over these attributes.
    ///
    /// ```standalone_crate
    /// use toolkit::prelude::*;
    /// use toolkit::permission::{Decision, Permissions};
    ///
    /// /// Tells the time.
    /// #[tool(read_only)]
    /// async fn clock() -> String { "noon".to_owned() }
    ///
    /// let clock = toolkit::tool_ref!(clock);
    /// let permissions = Permissions::default();
    /// assert_eq!(permissions.before(&clock, &Caller::new()).decision, Decision::Allow);
    /// let permissions = permissions.auto_execute("clock", false);
    /// assert_eq!(permissions.before(&clock, &Caller::new()).decision, Decision::Ask);
    /// ```
    pub fn before(&self, tool: &Tool, caller: &Caller) -> RuleDecision {
        self.before_tool(&ToolFacts::of(tool), caller)
    }

    pub(crate) fn before_tool(&self, tool: &ToolFacts<'_>, caller: &Caller) -> RuleDecision {
        let configured = self.auto_executes(tool.name);
        let default = match (tool.is_trusted_source, configured) {
            (true, Some(true)) => Decision::Allow,
            (_, None) if tool.runs_by_its_word() => Decision::Allow,
            _ => Decision::Ask,
        };
        if self.is_silent() {
            return RuleDecision::default_of(default);
        }
        let patterns = [tool.name.to_owned()];
        let request = PermissionRequest::new(tool.kind, &patterns);
        let request = tool.tool.into_iter().fold(request, PermissionRequest::for_tool);
        self.decide_or(caller, &request, default)
    }

    /// Returns true if the configuration sets `autoExecute: true` for a tool whose attributes are trusted.
    pub(crate) fn runs_unasked(&self, tool: &Tool) -> bool {
        !tool.source().is_remote() && self.auto_executes(tool.name()) == Some(true)
    }

    /// Returns true if the configuration says that a tool must not run without approval, even if the tool asks itself.
    pub(crate) fn must_ask(&self, tool: &Tool) -> bool {
        self.auto_executes(tool.name()) == Some(false)
    }

    /// Returns true if `autoExecute` is configured for the tool.
    pub(crate) fn says_of(&self, tool: &Tool) -> bool {
        self.auto_executes(tool.name()).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::permission::{PermissionEntry, PermissionRule, PermissionSettings};

    #[test]
    fn who_runs_without_a_question() {
        use Decision::{Allow, Ask, Deny};
        // The tool: read only, auto execute, the host's own. The configuration: autoExecute, the rule of the kind.
        for (read_only, auto_execute, is_trusted_source, configured, rule, expected) in [
            (false, false, true, None, None, Ask),
            (true, false, true, None, None, Allow),
            (false, true, true, None, None, Allow),
            (false, false, true, Some(true), None, Allow),
            (true, true, true, Some(false), None, Ask),
            // Attributes of a remote tool have no effect, nor has a setting under a name that it may have chosen.
            (true, true, false, None, None, Ask),
            (true, true, false, Some(true), None, Ask),
            (true, true, false, Some(false), None, Ask),
            // Rules of the kind take precedence over both.
            (false, false, true, None, Some(Allow), Allow),
            (true, true, true, Some(true), Some(Ask), Ask),
            (true, true, true, Some(true), Some(Deny), Deny),
            (true, true, true, Some(false), Some(Allow), Allow),
            (false, false, false, None, Some(Allow), Allow),
            (true, true, false, Some(true), Some(Deny), Deny),
        ] {
            let mut settings = PermissionSettings::default();
            let facts = ToolFacts {
                name: "deploy",
                kind: "release",
                read_only,
                auto_execute,
                is_trusted_source,
                tool: None,
            };
            let entry = |decision| PermissionEntry { pattern: "deploy".to_owned(), decision };
            for as_list in [false, true] {
                if let Some(rule) = rule {
                    let rule = if as_list {
                        PermissionRule::List(vec![entry(rule)])
                    } else {
                        PermissionRule::Always(rule)
                    };
                    settings.everybody.insert("release".to_owned(), rule);
                }
                let mut permissions = Permissions::new([settings.clone()]);
                if let Some(configured) = configured {
                    permissions = permissions.auto_execute(" Deploy", configured);
                }
                let decided = permissions.before_tool(&facts, &Caller::new());
                assert_eq!(decided.decision, expected, "{facts:?} {configured:?} {rule:?}");
                assert_eq!(decided.said, rule.is_some());
            }
        }
    }

    #[test]
    fn an_agents_rule_narrows_what_a_tool_may_by_itself() {
        let mut settings = PermissionSettings::default();
        let ask = [("clock".to_owned(), PermissionRule::Always(Decision::Ask))];
        settings.agents.insert("kid".to_owned(), ask.into());
        let permissions = Permissions::new([settings]);
        let facts = ToolFacts {
            name: "clock",
            kind: "clock",
            read_only: true,
            auto_execute: false,
            is_trusted_source: true,
            tool: None,
        };
        let decide = |caller: Caller| permissions.before_tool(&facts, &caller).decision;
        assert_eq!(decide(Caller::new().with_agent("kid")), Decision::Ask);
        assert_eq!(decide(Caller::new().with_agent("ada")), Decision::Allow);
    }
}

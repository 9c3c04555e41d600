//! The verdict on the calls of a tool, for hosts that show it.

use super::{Scope, Toolbox};
use crate::permission::{DecidedRule, Decision, RuleDecision, ToolVerdict};
use crate::policy::Explanation;
use crate::tool::Tool;
use toolkit_core::escape::{escape_line, escape_rest};

impl Toolbox {
    /// Returns the decision that applies to the calls of the tool of this name or alias, as far as it is known without their arguments: `Deny` for a tool
    /// that does not [exist](Self::explain) for this caller. `None` if the name is unknown.
    ///
    /// ```
    /// use toolkit::prelude::*;
    /// use toolkit::permission::Decision;
    ///
    /// /// Empties the bin.
    /// #[tool]
    /// async fn empty_bin() {}
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), toolkit::BuildError> {
    /// let toolbox = Toolkit::empty().tool(toolkit::tool_ref!(empty_bin)).build()?.toolbox(&Caller::new()).await;
    /// let verdict = toolbox.verdict("empty_bin").expect("it is there");
    /// assert_eq!(verdict.decision, Decision::Ask);
    /// assert_eq!(verdict.reason, "`permission.empty_bin` is `ask` by default");
    /// # Ok(()) }
    /// ```
    pub fn verdict(&self, name: &str) -> Option<ToolVerdict> {
        match self.tool(name) {
            Some(tool) if self.find(name).is_ok() => Some(self.0.verdict_of(tool)),
            _ => self.explain(name).map(|explanation| denied(&explanation)),
        }
    }
}

impl Scope {
    fn verdict_of(&self, tool: &Tool) -> ToolVerdict {
        let (permissions, caller) = (&self.rules.permissions, &*self.caller);
        let (name, kind) = (tool.name(), tool.permission());
        if tool.asks() && !tool.source().is_remote() {
            if let Some(decided) = permissions.denies_tool(tool, caller) {
                return of_rule(&decided, kind);
            }
            if permissions.must_ask(tool) {
                return must_ask(name);
            }
            if let Err(decided) = permissions.may_allow(tool, caller)
                && (tool.always_asks() || decided.decision == Decision::Deny)
            {
                return of_rule(&decided, kind);
            }
            if permissions.runs_unasked(tool) {
                return ToolVerdict::new(
                    Decision::Allow,
                    format!("`tools.settings.{name}.autoExecute` is true"),
                );
            }
            if tool.annotations().read_only_hint {
                return ToolVerdict::new(
                    Decision::Allow,
                    "the tool changes nothing; it asks for approval where its arguments need it",
                );
            }
            let reason = format!(
                "the tool asks for approval itself, depending on its arguments and on the rules of the kind `{kind}`"
            );
            return ToolVerdict::new(Decision::Ask, reason);
        }
        let decided = permissions.before(tool, caller);
        let is_default = !decided.said && !permissions.says_of(tool);
        if decided.decision == Decision::Ask && is_default && self.toolkit.settings.hooks.without_asking_first
        {
            return ToolVerdict::new(Decision::Allow, "the host asks for no approval before calls");
        }
        if decided.rule.is_none() && decided.decision == Decision::Ask && permissions.must_ask(tool) {
            return must_ask(name);
        }
        if decided.said || decided.decision != Decision::Allow {
            return of_rule(&decided, kind);
        }
        let reason = if permissions.runs_unasked(tool) {
            format!("`tools.settings.{name}.autoExecute` is true")
        } else if tool.annotations().read_only_hint {
            "the tool changes nothing".to_owned()
        } else {
            "the tool is declared to run without approval (`auto_execute`)".to_owned()
        };
        ToolVerdict::new(Decision::Allow, reason)
    }
}

fn must_ask(name: &str) -> ToolVerdict {
    ToolVerdict::new(Decision::Ask, format!("`tools.settings.{name}.autoExecute` is false"))
}

/// Returns the verdict of a rule, or of the default of its kind.
fn of_rule(decided: &RuleDecision, kind: &str) -> ToolVerdict {
    let decision = decided.decision;
    match &decided.rule {
        Some(DecidedRule { pointer, text, origin, .. }) => {
            let reason = format!("the rule {} ({})", escape_line(text), escape_line(pointer));
            ToolVerdict::new(decision, reason).with_origin(origin.clone())
        }
        None => ToolVerdict::new(decision, format!("`permission.{kind}` is `{decision}` by default")),
    }
}

/// Returns the verdict on a tool that does not exist for the caller.
fn denied(explanation: &Explanation) -> ToolVerdict {
    match (explanation.denied_by(), &explanation.absence) {
        (Some(layer), _) => {
            let reason = format!("{}: {}", escape_rest(&layer.layer), escape_rest(&layer.reason));
            let origin = layer.rule.as_ref().and_then(|rule| rule.origin.clone());
            ToolVerdict::new(Decision::Deny, reason).with_origin(origin)
        }
        (None, Some(why)) => ToolVerdict::new(Decision::Deny, escape_rest(why)),
        (None, None) => ToolVerdict::new(Decision::Deny, "the tool is not there"),
    }
}

//! Leaves out tools that could only be denied, since no person can be asked for the caller.

use super::own::Own;
use super::{Scope, Toolbox};
use crate::approvals::{Asker, Memory};
use crate::permission::{Decision, Permissions, RuleDecision};
use crate::tool::Tool;
use std::sync::Arc;
use toolkit_core::diagnostic::Level;

/// The kind of permission to change files: without a rule that allows it, each change needs approval, so each call of a tool of this
/// kind asks.
const EDIT: &str = "edit";

/// The reason why each call of a tool needs an approval.
struct Asked {
    /// The rule that asks, or the missing rule that would allow.
    why: String,
    /// The configuration that would allow calls.
    way_out: String,
}

impl Toolbox {
    /// Leaves out tools whose every call needs an approval, if the caller is [unattended](crate::Caller::unattended).
    ///
    /// A tool stays if a call of it might run: if a rule or setting allows some of its actions, if an approval was
    /// remembered for it, or if it decides by its arguments if it asks. A tool whose calls always ask says so by
    /// [`always_asks`](crate::Tool::always_asks).
    pub(super) fn leave_out_what_cannot_run(&mut self) {
        let scope = &*self.0;
        let Some(unattended) = scope.caller.unattended.clone() else { return };
        let mut remembered: Option<Vec<Asker>> = None;
        let mut left = Vec::new();
        for place in (0..scope.tools.len()).filter(|place| scope.is_allowed(*place)) {
            let tool = &scope.tools[place];
            let why = match scope.approval_of_each_call(tool) {
                Each::May => continue,
                Each::Denied(decided) => denied(tool, &decided),
                Each::Asks(asked) => {
                    let askers = remembered.get_or_insert_with(|| scope.remembered());
                    if askers.contains(&Asker::of(&scope.caller, tool)) {
                        continue;
                    }
                    let Asked { why, way_out } = asked;
                    format!(
                        "each call needs approval ({why}), but no approver is available: {unattended}. {way_out} lets calls run without approval"
                    )
                }
            };
            left.push((place, why));
        }
        self.leave_out(left);
    }

    /// Leaves out tools, by their indices in ascending order, with the reasons.
    pub(super) fn leave_out(&mut self, left: Vec<(usize, String)>) {
        if left.is_empty() {
            return;
        }
        let Some(scope) = Arc::get_mut(&mut self.0) else { return };
        let Scope { tools, allowed, own, .. } = scope;
        let own: &mut Own = own.get_or_insert_default();
        let allowed = allowed.get_or_insert_with(|| (0..tools.len()).collect());
        allowed.retain(|place| left.binary_search_by_key(place, |(left, _)| *left).is_err());
        for (place, why) in left {
            own.leave(Level::Info, &tools[place], why);
        }
    }
}

/// The result that applies to each call of a tool, whatever its arguments are.
enum Each {
    /// Some call may run.
    May,
    Asks(Asked),
    Denied(RuleDecision),
}

impl Scope {
    fn approval_of_each_call(&self, tool: &Tool) -> Each {
        let settings = &self.toolkit.settings;
        let (permissions, caller) = (&self.rules.permissions, &*self.caller);
        let kind = tool.permission();
        if !tool.asks() || tool.source().is_remote() {
            let decided = permissions.before(tool, caller);
            let is_default = !decided.said && !permissions.says_of(tool);
            return match decided.decision {
                Decision::Allow => Each::May,
                Decision::Ask if settings.hooks.without_asking_first && is_default => Each::May,
                Decision::Ask => Each::Asks(asked(tool, permissions, Some(&decided))),
                Decision::Deny => Each::Denied(decided),
            };
        }
        if let Some(decided) = permissions.denies_tool(tool, caller) {
            return Each::Denied(decided);
        }
        if permissions.must_ask(tool) {
            return Each::Asks(asked(tool, permissions, None));
        }
        // Other questions depend on the arguments.
        let always_asks = tool.always_asks() || kind == EDIT && !tool.annotations().read_only_hint;
        if always_asks && let Err(decided) = permissions.may_allow(tool, caller) {
            return match decided.decision {
                Decision::Deny => Each::Denied(decided),
                _ => Each::Asks(asked(tool, permissions, Some(&decided))),
            };
        }
        Each::May
    }

    /// Returns the askers for which an approval was remembered, in this session or workspace.
    fn remembered(&self) -> Vec<Asker> {
        let approvals = &self.toolkit.settings.approvals;
        Memory::askers(&self.session, approvals, self.caller.workspace_dir())
    }
}

fn asked(tool: &Tool, permissions: &Permissions, decided: Option<&RuleDecision>) -> Asked {
    let (name, kind) = (tool.name(), tool.permission());
    if permissions.must_ask(tool) && decided.is_none_or(|decided| decided.rule.is_none()) {
        return Asked {
            why: format!("`tools.settings.{name}.autoExecute` is false"),
            way_out: format!("The setting `tools.settings.{name}.autoExecute: true`"),
        };
    }
    let setting = format!("`permission.{kind} = \"allow\"`");
    match decided.and_then(|decided| decided.rule.as_ref()) {
        Some(rule) => {
            Asked { why: format!("the rule {rule}"), way_out: format!("{setting} in place of that rule") }
        }
        None => Asked {
            why: format!("`permission.{kind}` is `ask` by default"),
            way_out: format!("The setting {setting}"),
        },
    }
}

fn denied(tool: &Tool, decided: &RuleDecision) -> String {
    let by = decided.rule.as_ref().map(|rule| format!(" by the rule {rule}")).unwrap_or_default();
    format!("all that it does is denied{by}, of kind `{}`", tool.permission())
}

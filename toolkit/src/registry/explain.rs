//! Explains why a tool exists for a caller or not.

use super::{Inner, Toolkit};
use crate::policy::{self, Explanation};
use toolkit_core::caller::Caller;
use toolkit_core::escape::escape_line;

impl Toolkit {
    /// Explains why the tool of this name or alias exists for the caller or not.
    ///
    /// Disabled tools are included. If there is no such tool, a name that a core crate registers for lists, or that a
    /// rule names, is judged like a tool of that name, and the explanation says that it is not
    /// [present](Explanation::present): a tool of a server that is not connected yet, for example. Returns `None` if
    /// the name is unknown.
    ///
    /// For tools that are created or hidden for one caller only, see [`Toolbox::explain`](crate::Toolbox::explain).
    pub fn explain(&self, caller: &Caller, name: &str) -> Option<Explanation> {
        self.0.explain(caller, name)
    }
}

impl Inner {
    /// Explains why the tool of this name exists for the caller or not, among the tools that are the same for all
    /// callers.
    pub(crate) fn explain(&self, caller: &Caller, name: &str) -> Option<Explanation> {
        let (rules, origins) = (self.rules.get(), &self.origins);
        let policy = rules.policy.as_deref();
        if let Some(tool) = self.tools().get(name) {
            return Some(policy::explain(policy, caller, tool));
        }
        match policy::switched_off(name).filter(|tool| origins.is_withheld(tool.name())) {
            // With its owner, as if it were enabled: lists may name its plugin.
            Some(tool) => Some(policy::explain(policy, caller, &origins.place(tool))),
            None => self.explain_absent(caller, name),
        }
    }

    /// Explains a name for which there is no tool.
    fn explain_absent(&self, caller: &Caller, name: &str) -> Option<Explanation> {
        let rules = self.rules.get();
        let policy = rules.policy.as_deref();
        let explanation = policy::explain_absent(policy, caller, name, self.origins.links());
        let absence = self.absence(name);
        if absence.is_none() {
            return explanation;
        }
        let unknown = || Explanation {
            tool: escape_line(name).into_owned(),
            exists: false,
            present: false,
            absence: None,
            layers: Vec::new(),
        };
        Some(Explanation { absence, ..explanation.unwrap_or_else(unknown) })
    }
}

//! Why a tool exists for a caller, or doesn't.

use super::{Inner, Toolkit};
use crate::caller::Caller;
use crate::escape::escape_line;
use crate::policy::{self, Explanation};

impl Toolkit {
    /// Why the tool of this name or alias exists for the caller, or doesn't.
    ///
    /// It knows tools too that are switched off. Where there is no such tool, a name that a core crate registers for lists,
    /// or that a rule names, is judged as a tool of that name would be, and the answer says that it is not
    /// [present](Explanation::present): one of a server that is not connected yet, say. `None` where nothing knows the name.
    ///
    /// What is made or hidden for one caller only, [`Toolbox::explain`](crate::Toolbox::explain) knows.
    pub fn explain(&self, caller: &Caller, name: &str) -> Option<Explanation> {
        self.0.explain(caller, name)
    }
}

impl Inner {
    /// Why the tool of this name exists for the caller, or doesn't, as far as everybody's tools go.
    pub(crate) fn explain(&self, caller: &Caller, name: &str) -> Option<Explanation> {
        let (policy, origins) = (self.settings.policy.as_deref(), &self.origins);
        if let Some(tool) = self.tools().get(name) {
            return Some(policy::explain(policy, caller, tool));
        }
        match policy::switched_off(name).filter(|tool| origins.is_withheld(tool.name())) {
            // Placed, as it would be if it were on: lists may name its plugin.
            Some(tool) => Some(policy::explain(policy, caller, &origins.place(tool))),
            None => self.explain_absent(caller, name),
        }
    }

    /// What is known of a name that no tool here has.
    fn explain_absent(&self, caller: &Caller, name: &str) -> Option<Explanation> {
        let policy = self.settings.policy.as_deref();
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

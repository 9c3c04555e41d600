//! Why a tool exists for a caller, or doesn't.

use super::Toolkit;
use crate::caller::Caller;
use crate::policy::{self, Explanation};

impl Toolkit {
    /// Why the tool of this name or alias exists for the caller, or doesn't.
    ///
    /// It knows tools too that are switched off. Where there is no such tool, a name that a core crate registers for lists,
    /// or that a rule names, is judged as a tool of that name would be, and the answer says that it is not
    /// [present](Explanation::present): one of a server that is not connected yet, say. `None` where nothing knows the name.
    pub fn explain(&self, caller: &Caller, name: &str) -> Option<Explanation> {
        let (policy, origins) = (self.0.settings.policy.as_deref(), &self.0.origins);
        if let Some(tool) = self.tool(name) {
            return Some(policy::explain(policy, caller, &tool));
        }
        match policy::switched_off(name).filter(|tool| origins.is_withheld(tool.name())) {
            // Placed, as it would be if it were on: lists may name its plugin.
            Some(tool) => Some(policy::explain(policy, caller, &origins.place(tool))),
            None => policy::explain_absent(policy, caller, name, origins.links()),
        }
    }
}

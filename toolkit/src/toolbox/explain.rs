//! Explains why a tool is in a toolbox or not.

use super::Toolbox;
use crate::policy::{self, Explanation, LayerVerdict, PolicyVerdict};

impl Toolbox {
    /// Explains why the tool of this name or alias is in this toolbox or not: the current verdict of each layer of the
    /// policy, and other reasons that exclude it.
    ///
    /// The explanation includes tools that were created for the caller of this toolbox. For other names it is the same
    /// as that of [`Toolkit::explain`](crate::Toolkit::explain); `None` if the name is unknown.
    pub fn explain(&self, name: &str) -> Option<Explanation> {
        let toolkit = &self.0.toolkit;
        if let Some(place) = self.0.tools.place(name) {
            let mut explanation = self.explained(place);
            if toolkit.registry.version() != self.0.tools.version() && self.check_still_there(place).is_err()
            {
                keep_out(&mut explanation, "it was removed from the toolkit after this toolbox was made");
            }
            return Some(explanation);
        }
        let mut explanation = toolkit.explain(&self.0.caller, name)?;
        if explanation.exists {
            keep_out(&mut explanation, "it was added to the toolkit after this toolbox was made");
        }
        Some(explanation)
    }

    /// Returns the tools that do not exist for this caller, by name, with the reasons.
    pub fn denied(&self) -> Vec<Explanation> {
        let denied = (0..self.0.tools.len()).filter(|place| !self.0.is_allowed(*place));
        denied.map(|place| self.explained(place)).collect()
    }

    /// Explains the tool at an index of this toolbox.
    fn explained(&self, place: usize) -> Explanation {
        let tool = &self.0.tools[place];
        let policy = self.0.rules.policy.as_deref();
        let mut explanation = policy::explain(policy, &self.0.caller, tool);
        if self.0.is_allowed(place) {
            return explanation;
        }
        match self.0.own.as_ref().and_then(|own| own.why_left(tool)) {
            Some(why) => keep_out(&mut explanation, why),
            None if explanation.exists => {
                keep_out(&mut explanation, "it was not allowed when this toolbox was made");
            }
            None => {}
        }
        explanation
    }
}

/// Adds a reason other than the policy that excludes a tool.
fn keep_out(explanation: &mut Explanation, why: &str) {
    explanation.exists = false;
    explanation.layers.push(LayerVerdict::new("this caller", PolicyVerdict::Denies, why));
}

//! Why a tool is in a toolbox, or isn't.

use super::Toolbox;
use crate::policy::{self, Explanation, LayerVerdict, PolicyVerdict};

impl Toolbox {
    /// Why the tool of this name or alias is in this toolbox, or isn't: what each layer of the policy says of it now, and
    /// what else kept it out.
    ///
    /// It speaks of what this toolbox has, tools that were made for its caller included. Of a name that it does not have it
    /// says what [`Toolkit::explain`](crate::Toolkit::explain) does; `None` where nothing knows the name.
    pub fn explain(&self, name: &str) -> Option<Explanation> {
        let toolkit = &self.0.toolkit;
        if let Some(place) = self.0.tools.place(name) {
            let mut explanation = self.explained(place);
            if toolkit.registry.version() != self.0.tools.version() && self.check_still_there(place).is_err()
            {
                keep_out(&mut explanation, "it was taken out of the toolkit since this toolbox was made");
            }
            return Some(explanation);
        }
        let mut explanation = toolkit.explain(&self.0.caller, name)?;
        if explanation.exists {
            keep_out(&mut explanation, "it was added to the toolkit after this toolbox was made");
        }
        Some(explanation)
    }

    /// The tools that are not there for this caller, by name, and why.
    pub fn denied(&self) -> Vec<Explanation> {
        let denied = (0..self.0.tools.len()).filter(|place| !self.0.is_allowed(*place));
        denied.map(|place| self.explained(place)).collect()
    }

    /// What is said of the tool at a place of this toolbox.
    fn explained(&self, place: usize) -> Explanation {
        let tool = &self.0.tools[place];
        let policy = self.0.toolkit.settings.policy.as_deref();
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

/// Adds what kept a tool out beside the policy.
fn keep_out(explanation: &mut Explanation, why: &str) {
    explanation.exists = false;
    explanation.layers.push(LayerVerdict::new("this caller", PolicyVerdict::Denies, why));
}

//! Combines two policies, each of which can only deny.

use super::{LayerVerdict, Policy, Refusal, admitted_alone, check_alone, version};
use crate::tool::Tool;
use std::sync::Arc;
use toolkit_core::caller::Caller;
use toolkit_core::diagnostic::Diagnostic;

/// A policy under which a tool exists if both policies admit it.
#[derive(Debug)]
pub(crate) struct Both(pub(crate) Arc<dyn Policy>, pub(crate) Arc<dyn Policy>);

impl Policy for Both {
    fn check(&self, caller: &Caller, tool: &Tool) -> Result<(), Refusal> {
        check_alone(&*self.0, caller, tool)?;
        check_alone(&*self.1, caller, tool)
    }

    fn admitted(&self, caller: &Caller, tools: &[Tool]) -> Vec<usize> {
        let mut places = admitted_alone(&*self.0, caller, tools);
        let others = admitted_alone(&*self.1, caller, tools);
        places.retain(|place| others.binary_search(place).is_ok());
        places
    }

    fn explain(&self, caller: &Caller, tool: &Tool) -> Vec<LayerVerdict> {
        let mut layers = self.0.explain(caller, tool);
        layers.extend(self.1.explain(caller, tool));
        layers
    }

    fn diagnostics(&self, tools: &[Tool]) -> Vec<Diagnostic> {
        let mut diagnostics = self.0.diagnostics(tools);
        diagnostics.extend(self.1.diagnostics(tools));
        diagnostics
    }

    /// Changes whenever either version changes: the versions are counters, and too close to each other to collide.
    fn version(&self) -> Option<u64> {
        const FAR: u64 = 0x9e37_79b9_7f4a_7c15;
        Some(version(&*self.0)?.wrapping_mul(FAR).wrapping_add(version(&*self.1)?))
    }

    /// Either policy may enable a tool that its author disabled, but a tool that the other disables is denied.
    fn switches_on(&self, tool: &Tool) -> bool {
        self.0.switches_on(tool) || self.1.switches_on(tool)
    }
}

//! A hook that passes on data that rig does not give to tools: the id of the call, and calls of unknown tools.

use crate::export::Calls;
use rig_agent::agent::{
    AgentHook, DispatchAction, DispatchEvent, HookContext, InvalidToolCallAction, InvalidToolCallContext,
    InvalidToolCallReason, OutcomeAction, OutcomeEvent,
};
use rig_agent::bus::Dispatcher;
use rig_core::effect::EffectId;
use rig_core::tool::ToolContext;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How many ids wait for their calls. A call whose run ends before it begins leaves its id behind; the oldest goes then.
const MAX_WAITING: usize = 1024;

/// The ids of calls that were announced and have not begun, by what rig's bus calls them.
#[derive(Default)]
pub(crate) struct CallIds(Mutex<BTreeMap<EffectId, String>>);

impl CallIds {
    fn waiting(&self) -> MutexGuard<'_, BTreeMap<EffectId, String>> {
        // It is whole between any two of its operations.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn announce(&self, effect: EffectId, id: String) {
        let mut waiting = self.waiting();
        if waiting.len() >= MAX_WAITING {
            waiting.pop_first();
        }
        waiting.insert(effect, id);
    }

    /// The id of the call that runs with this context, where it was announced.
    pub(crate) fn take(&self, context: &ToolContext) -> Option<String> {
        // The parent of an effect that a handler dispatches is the call that it serves.
        let effect = context.scope::<Dispatcher>()?.parent()?;
        self.waiting().remove(&effect)
    }
}

/// The hook that goes with the tools of a toolbox.
pub(crate) struct CallHook(pub(crate) Arc<Calls>);

impl AgentHook for CallHook {
    fn name(&self) -> Option<String> {
        Some("toolkit-rig".to_owned())
    }

    async fn on_dispatch(&self, _: &HookContext, event: DispatchEvent<'_>) -> DispatchAction {
        if let (Some(name), Some(id)) = (event.tool_name(), event.call_id)
            && self.0.toolbox.tool(name).is_some()
        {
            self.0.ids.announce(event.id, id.to_string());
        }
        DispatchAction::proceed()
    }

    async fn on_outcome(&self, _: &HookContext, event: OutcomeEvent<'_>) -> OutcomeAction {
        // Another hook may have kept the call from its tool.
        self.0.ids.waiting().remove(&event.id);
        OutcomeAction::proceed()
    }

    async fn on_invalid_tool_call(
        &self,
        _: &HookContext,
        event: &InvalidToolCallContext,
    ) -> Option<InvalidToolCallAction> {
        let not_now = |name: &str| {
            InvalidToolCallAction::skip(format!(
                "`{name}` cannot be called in this turn; call a tool that is shown"
            ))
        };
        match (&event.reason, self.0.toolbox.find(&event.tool_name)) {
            (InvalidToolCallReason::UnknownTool, Err(error)) => {
                Some(InvalidToolCallAction::skip(error.message()))
            }
            (InvalidToolCallReason::UnknownTool, Ok(tool)) => {
                // By an alias, where the agent shows the tool in this turn: that is the agent's to say.
                let is_shown = event.allowed_tools.iter().any(|allowed| allowed == tool.name());
                Some(if is_shown { InvalidToolCallAction::repair(tool.name()) } else { not_now(tool.name()) })
            }
            (InvalidToolCallReason::DisallowedByToolChoice, Ok(tool)) => Some(not_now(tool.name())),
            // Of a tool that is not this toolbox's; or of arguments, which rig explains itself.
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_that_nobody_takes_are_bounded() {
        let ids = CallIds::default();
        for effect in 0..MAX_WAITING as u64 + 10 {
            ids.announce(EffectId::from_raw(effect), effect.to_string());
        }
        let waiting = ids.waiting();
        assert_eq!(waiting.len(), MAX_WAITING);
        assert_eq!(waiting.first_key_value().unwrap().1, "10");
    }

    #[test]
    fn outside_an_agent_there_is_no_id() {
        assert_eq!(CallIds::default().take(&ToolContext::new()), None);
    }
}

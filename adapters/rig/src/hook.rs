//! A hook that passes on data that rig does not give to tools: the id of the call, and calls of unknown tools.

use crate::export::Calls;
use rig_agent::agent::{
    AgentHook, DispatchAction, DispatchEvent, HookContext, InvalidToolCallAction, InvalidToolCallContext,
    InvalidToolCallReason, OutcomeAction, OutcomeEvent,
};
use std::sync::Arc;

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
        self.0.ids.forget(event.id);
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

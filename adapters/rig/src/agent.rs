//! An agent with a toolbox.

use crate::export::Calls;
use crate::hook::CallHook;
use rig_agent::AgentBuilder;
use rig_agent::agent::{NoToolConfig, WithBuilderTools};
use std::sync::Arc;
use toolkit::{CallOptions, Toolbox};

/// Gives an agent the tools of a toolbox.
///
/// Beside the tools of [`tools`](crate::tools) it gets a hook, with which calls have the ids that the model gave them, and a call of a
/// tool that is not there, or that the agent does not show in this turn, is answered instead of ending the run: with the names that were
/// probably meant, or with what in the policy denies it. A tool can be called by its aliases too. Of the other calls that the model made
/// together with one that is not there rig runs none, and tells it so.
///
/// Hooks that were added before this one answer such calls first.
pub trait WithToolbox {
    /// Adds the tools of the toolbox, as they are now: resolve one per conversation or turn.
    fn toolbox(self, toolbox: &Toolbox) -> AgentBuilder<WithBuilderTools>;

    /// The same with options for each of its calls: a time limit, who is asked, what ends them.
    fn toolbox_with(
        self,
        toolbox: &Toolbox,
        options: impl Into<CallOptions>,
    ) -> AgentBuilder<WithBuilderTools>;
}

macro_rules! with_toolbox {
    ($($state:ty),*) => {$(
        impl WithToolbox for AgentBuilder<$state> {
            fn toolbox(self, toolbox: &Toolbox) -> AgentBuilder<WithBuilderTools> {
                self.toolbox_with(toolbox, CallOptions::new())
            }

            fn toolbox_with(
                self,
                toolbox: &Toolbox,
                options: impl Into<CallOptions>,
            ) -> AgentBuilder<WithBuilderTools> {
                let calls = Arc::new(Calls::new(toolbox, options.into()));
                self.dynamic_tools(Calls::tools(&calls)).add_hook(CallHook(calls))
            }
        }
    )*};
}

with_toolbox!(NoToolConfig, WithBuilderTools);

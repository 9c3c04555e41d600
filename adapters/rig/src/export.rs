//! The tools of a toolbox as tools of rig.

use crate::answer::answer;
use crate::call_ids::CallIds;
use rig_core::message::ToolName;
use rig_core::tool::DynamicTool;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use toolkit::{CallOptions, ToolCall, Toolbox, descriptor::Definition};

/// The tools of a toolbox as tools of rig, by name.
///
/// Each has its own schema, and its calls go through the toolbox. Rig tells a tool no call's id, so the calls are `rig-1`, `rig-2`, …;
/// with [`WithToolbox`](crate::WithToolbox) they have those of the model.
///
/// ```
/// use rig_agent::tool::ToolSet;
/// use serde_json::json;
/// use toolkit::prelude::*;
///
/// /// Doubles a number.
/// #[tool(read_only)]
/// async fn double(/** The number. */ n: i64) -> String {
///     (2 * n).to_string()
/// }
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let toolbox = Toolkit::empty().tool(toolkit::tool_ref!(double)).build()?.toolbox(&Caller::new()).await;
/// let set = ToolSet::from_dynamic_tools(toolkit_rig::tools(&toolbox));
/// assert_eq!(set.names().collect::<Vec<_>>(), ["double"]);
/// let output = toolkit_rig::tools(&toolbox)[0].execute(json!({"n": 4})).await?;
/// assert_eq!(output.as_text(), Some("8"));
/// # Ok(()) }
/// ```
pub fn tools(toolbox: &Toolbox) -> Vec<DynamicTool> {
    tools_with(toolbox, CallOptions::new())
}

/// The same with options for each of their calls: a time limit, who is asked, what ends them.
pub fn tools_with(toolbox: &Toolbox, options: impl Into<CallOptions>) -> Vec<DynamicTool> {
    Calls::tools(&Arc::new(Calls::new(toolbox, options.into())))
}

/// State that all calls of the tools share.
pub(crate) struct Calls {
    pub(crate) toolbox: Toolbox,
    options: CallOptions,
    pub(crate) ids: CallIds,
}

impl Calls {
    pub(crate) fn new(toolbox: &Toolbox, options: CallOptions) -> Self {
        Self { toolbox: toolbox.clone(), options, ids: CallIds::default() }
    }

    pub(crate) fn tools(calls: &Arc<Self>) -> Vec<DynamicTool> {
        let definitions = calls.toolbox.definitions();
        definitions.into_iter().filter_map(|definition| Self::tool(calls, definition)).collect()
    }

    fn tool(calls: &Arc<Self>, definition: Definition) -> Option<DynamicTool> {
        let Definition { name, description, input_schema, .. } = definition;
        // Rig wants a name that is not empty. Those of a toolbox are more than that: what each provider takes.
        let shown = ToolName::new(name.as_str()).ok()?;
        let calls = Arc::clone(calls);
        Some(DynamicTool::new_with_context(shown, description, input_schema, move |context, arguments| {
            let (calls, name) = (Arc::clone(&calls), name.clone());
            Box::pin(async move {
                let id = calls.ids.take(context).unwrap_or_else(made_up);
                let call = ToolCall::new(id, name, arguments);
                let result = calls.toolbox.call_with(call, calls.options.clone()).await;
                answer(context, result)
            })
        }))
    }
}

/// An id for a call that nobody gave one.
fn made_up() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    format!("rig-{}", NEXT.fetch_add(1, Ordering::Relaxed))
}

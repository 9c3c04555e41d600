//! Calls that a tool makes.

use super::{CallOptions, Toolbox};
use crate::live::Reason;
use crate::tool::context::{Above, ToolContext};
use std::pin::Pin;
use std::sync::Arc;
use toolkit_core::call::{CallArguments, IntoCallArguments, ToolCall};
use toolkit_core::error::ToolError;
use toolkit_core::output::ToolOutput;

/// The deepest nesting of calls.
const DEEPEST: u32 = 16;

impl ToolContext {
    /// Calls another tool of the same caller, by name.
    ///
    /// The call is processed like every call: policy, arguments, output limits. Its id is this call's id with a number
    /// after a `/`. It is cancelled together with this call. Calls can be nested 16 deep.
    ///
    /// While all calls that a tool made wait [aside](Self::wait_aside) or for a person, other calls of the session run. So a function that goes on
    /// beside such a call must not change anything itself: let a call do that, which has its turn again first.
    ///
    /// Simultaneous calls are scheduled like those of a model: read-only calls run together, others alone. A `read_only`
    /// tool can only call `read_only` tools, because otherwise it would not be read-only.
    ///
    /// ```
    /// use serde_json::json;
    /// use toolkit::prelude::*;
    ///
    /// /// Adds two numbers.
    /// #[tool(read_only)]
    /// async fn add(/** One. */ a: i64, /** Other. */ b: i64) -> String {
    ///     (a + b).to_string()
    /// }
    ///
    /// /// Doubles a number.
    /// #[tool(read_only)]
    /// async fn double(ctx: &ToolContext, /** The number. */ a: i64) -> Result<String, ToolError> {
    ///     let sum = ctx.call("add", json!({ "a": a, "b": a })).await?;
    ///     Ok(sum.to_text())
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() {
    /// # let toolkit = Toolkit::empty().tool(toolkit::tool_ref!(add)).tool(toolkit::tool_ref!(double)).build().unwrap();
    /// let toolbox = toolkit.toolbox(&Caller::new()).await;
    /// assert_eq!(toolbox.call(ToolCall::new("1", "double", json!({ "a": 21 }))).await.text(), "42");
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The error of the called tool, or `Failed` when calls are nested too deep.
    // The future has no bounds of its own: with them, the compiler reports a wrong argument once more where it is awaited.
    pub fn call(
        &self,
        name: impl Into<String>,
        arguments: impl IntoCallArguments,
    ) -> Pin<Box<dyn Future<Output = Result<ToolOutput, ToolError>> + Send + '_>> {
        Box::pin(self.call_nested(name.into(), arguments.into_call_arguments()))
    }

    async fn call_nested(&self, name: String, arguments: CallArguments) -> Result<ToolOutput, ToolError> {
        let (call, options) = self.nested(name, arguments)?;
        let away = self.live().leave(Reason::Calling);
        // If all else only waits aside, the passes of this call and of those above have been given to others.
        away.has_passes().await;
        let result = Toolbox::of(self.shared_scope()).call_with(call, options).await;
        away.come_back().await;
        result.outcome
    }

    fn nested(&self, name: String, arguments: CallArguments) -> Result<(ToolCall, CallOptions), ToolError> {
        let depth = self.above().map_or(0, |above| above.depth) + 1;
        if depth > DEEPEST {
            return Err(ToolError::failed(format!(
                "tool calls are nested {DEEPEST} deep, the maximum, so `{}` cannot call `{name}`",
                self.tool_name()
            )));
        }
        let live = self.live();
        let id = format!("{}/{}", self.call_id(), live.next_child());
        let above = Above { live: Arc::clone(live), depth };
        let options =
            CallOptions { cancel: Some(live.token.clone()), above: Some(above), ..CallOptions::default() };
        let (approver, change_hook) = (self.approver.clone(), self.change_hook.clone());
        let (attached, messages) = (self.attached.clone(), self.messages.clone());
        let within_read_only = self.tool().annotations().read_only_hint;
        let options = CallOptions { approver, change_hook, attached, messages, within_read_only, ..options };
        Ok((ToolCall::new(id, name, arguments), options))
    }
}

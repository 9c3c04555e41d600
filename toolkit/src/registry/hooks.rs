//! Hooks of a toolkit that is being built.

use super::Builder;
use crate::change_hook::{ChangeHook, FileChange};
use crate::inspector::Inspector;
use crate::loop_guard::LoopGuard;
use crate::named_hook::Named;
use crate::result_hook::{ResultHook, ResultReview};
use std::sync::Arc;
use toolkit_core::error::ToolError;

impl Builder {
    /// Adds an inspector that checks every call before it runs, after the inspectors added before. `name` is shown to
    /// the model if the inspector blocks a call. See [`Inspector`].
    #[must_use]
    pub fn inspector(mut self, name: impl Into<String>, inspector: impl Inspector) -> Self {
        let named = Named { name: name.into().into(), hook: Arc::new(inspector) as Arc<dyn Inspector> };
        self.settings.hooks.inspectors.push(named);
        self
    }

    /// Adds a hook that reviews every tool result before anything else gets it: the model, history, events. The hook
    /// may only shorten the result or remove parts of it; `name` is shown to the model if the hook withholds a result.
    /// See [`ResultReview`].
    #[must_use]
    pub fn result_hook(
        mut self,
        name: impl Into<String>,
        hook: impl Fn(&mut ResultReview<'_>) -> Result<(), ToolError> + Send + Sync + 'static,
    ) -> Self {
        let named = Named { name: name.into().into(), hook: Arc::new(hook) as Arc<ResultHook> };
        self.settings.hooks.results.push(named);
        self
    }

    /// Has a hook see what a file has before a tool writes, removes or moves it, for a host that can put files back. A hook that
    /// fails keeps the file from being changed, and the tool gets its error.
    ///
    /// It sees the changes that tools make through [`Workspace`](crate::files::Workspace): those of commands and of tools that open files by
    /// themselves pass it by. It blocks the call; a file of more than 256 MiB cannot be changed with it.
    ///
    /// ```standalone_crate
    /// use toolkit::{Toolkit, files::FileChange};
    ///
    /// # fn main() -> Result<(), toolkit::BuildError> {
    /// let toolkit = Toolkit::builder().change_hook(|change: &FileChange<'_>| {
    ///     println!("{} changes {}", change.tool, change.path.display());
    ///     Ok(())
    /// });
    /// # drop(toolkit.build()?);
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn change_hook(
        mut self,
        hook: impl Fn(&FileChange<'_>) -> Result<(), ToolError> + Send + Sync + 'static,
    ) -> Self {
        self.settings.hooks.changes.0.push(Arc::new(hook) as Arc<ChangeHook>);
        self
    }

    /// Sets how repeated identical calls are handled. Without it the default of [`LoopGuard`] applies.
    #[must_use]
    pub fn loop_guard(mut self, guard: LoopGuard) -> Self {
        self.rules.loop_guard = guard;
        self
    }

    /// Runs every tool without approval, unless a rule of the configuration says ask or deny.
    ///
    /// By default a person is asked before a tool runs that is neither `read_only` nor `auto_execute` and does not ask
    /// for approval itself; without an approver the call is denied. Use this in a host that decides elsewhere which
    /// tools may run. Approvals that a tool requests itself, or that an inspector demands, are still asked for.
    ///
    /// ```
    /// use toolkit::prelude::*;
    ///
    /// /// Empties the bin.
    /// #[tool]
    /// async fn empty_bin() -> &'static str {
    ///     "Emptied."
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), toolkit::BuildError> {
    /// let call = ToolCall::new("1", "empty_bin", "{}");
    /// let cautious = Toolkit::empty().tool(toolkit::tool_ref!(empty_bin)).build()?;
    /// assert!(cautious.toolbox(&Caller::new()).await.call(call.clone()).await.is_error());
    ///
    /// let trusting = Toolkit::empty().tool(toolkit::tool_ref!(empty_bin)).without_asking_first().build()?;
    /// assert_eq!(trusting.toolbox(&Caller::new()).await.call(call).await.text(), "Emptied.");
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn without_asking_first(mut self) -> Self {
        self.settings.hooks.without_asking_first = true;
        self
    }
}

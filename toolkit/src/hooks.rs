//! What a host puts around the functions of its tools: inspectors, the question before a tool runs, result hooks, the
//! loop guard.

use crate::ToolError;
use crate::files::{ChangeHook, ChangeHooks, FileChange};
use crate::inspector::Inspector;
use crate::loop_guard::LoopGuard;
use crate::registry::Builder;
use crate::result_hook::{ResultHook, ResultReview};
use std::sync::Arc;

/// What stands around every function.
#[derive(Clone, Default)]
pub(crate) struct Hooks {
    pub(crate) inspectors: Vec<Named<dyn Inspector>>,
    pub(crate) results: Vec<Named<ResultHook>>,
    /// Who sees what a file has before it changes.
    pub(crate) changes: ChangeHooks,
    pub(crate) loop_guard: LoopGuard,
    /// Tools run without the question before them, unless a rule asks it.
    pub(crate) without_asking_first: bool,
}

/// A hook with the name that its errors say.
pub(crate) struct Named<T: ?Sized> {
    pub(crate) name: Arc<str>,
    pub(crate) hook: Arc<T>,
}

impl<T: ?Sized> Clone for Named<T> {
    fn clone(&self) -> Self {
        Self { name: Arc::clone(&self.name), hook: Arc::clone(&self.hook) }
    }
}

impl Builder {
    /// Has every call inspected before it runs, after those that were added before. `name` is what a model is told where
    /// it blocks a call. See [`Inspector`].
    #[must_use]
    pub fn inspector(mut self, name: impl Into<String>, inspector: impl Inspector) -> Self {
        let named = Named { name: name.into().into(), hook: Arc::new(inspector) as Arc<dyn Inspector> };
        self.settings.hooks.inspectors.push(named);
        self
    }

    /// Has every answer of a tool looked at before anybody gets it: the model, history, events. The hook may only shorten
    /// it, or take something out; `name` is what a model is told where it withholds an answer. See [`ResultReview`].
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
    /// It sees the changes that tools make through [`Workspace`](crate::Workspace): those of commands and of tools that open files by
    /// themselves pass it by. It blocks the call; a file of more than 256 MiB cannot be changed with it.
    ///
    /// ```
    /// use toolkit::{FileChange, Toolkit};
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

    /// What happens to a model that makes the same call again and again: see [`LoopGuard`], whose default holds
    /// otherwise.
    #[must_use]
    pub fn loop_guard(mut self, guard: LoopGuard) -> Self {
        self.settings.hooks.loop_guard = guard;
        self
    }

    /// Runs every tool without asking first, unless a rule of the configuration asks or denies.
    ///
    /// By default a person is asked before a tool runs that is neither `read_only` nor `auto_execute` and does not ask by
    /// itself; without an approver it is denied. This is for hosts that have decided elsewhere what may run. What a tool
    /// asks by itself, or an inspector demands, is asked all the same.
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

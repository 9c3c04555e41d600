//! Toolboxes with only some of the tools that a caller may use.

use super::Toolbox;
use crate::registry::Toolkit;
use crate::tool::Tool;
use std::sync::Arc;
use toolkit_core::caller::Caller;

/// The tools that a host leaves out of one toolbox.
pub(super) struct Others<'a> {
    keeps: &'a (dyn Fn(&Tool) -> bool + Sync),
    why: &'a str,
}

impl Toolkit {
    /// Returns a toolbox as [`toolbox`](Self::toolbox) does, with only those tools for which `keeps` returns true: for a host whose clients may each
    /// use some tools. The others are neither found by a search nor called by another tool; a call of one is denied with the reason `why`, a clause.
    ///
    /// ```
    /// use toolkit::prelude::*;
    ///
    /// /// Tells the time.
    /// #[tool(read_only)]
    /// async fn clock() -> String { "noon".to_owned() }
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), toolkit::BuildError> {
    /// let toolkit = Toolkit::empty().tool(toolkit::tool_ref!(clock)).build()?;
    /// let why = "the client may not tell the time";
    /// let toolbox = toolkit.toolbox_of(&Caller::new(), |tool| tool.name() != "clock", why).await;
    /// assert_eq!(toolbox.tools().len(), 0);
    /// assert!(toolbox.call(ToolCall::new("1", "clock", "{}")).await.text().contains(why));
    /// # Ok(()) }
    /// ```
    pub async fn toolbox_of(
        &self,
        caller: &Caller,
        keeps: impl Fn(&Tool) -> bool + Sync,
        why: &str,
    ) -> Toolbox {
        self.brought().await;
        let others = Others { keeps: &keeps, why };
        Toolbox::new(Arc::clone(&self.0), caller.clone()).ready_without(Some(others)).await
    }
}

impl Toolbox {
    pub(super) fn leave_out_others(&mut self, others: &Others<'_>) {
        let scope = &*self.0;
        let places = (0..scope.tools.len()).filter(|place| scope.is_allowed(*place));
        let left = places.filter(|place| !(others.keeps)(&scope.tools[*place]));
        let left = left.map(|place| (place, others.why.to_owned())).collect();
        self.leave_out(left);
    }
}

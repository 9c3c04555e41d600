//! An approver for development.

use super::{Answering, Approver};
use toolkit_core::ask::{Answer, PendingAsk, Question};

/// Allows everything once, without asking a person: for development.
///
/// A tool that is neither `read_only` nor `auto_execute` asks before it runs, and is denied without an approver. With this
/// one it runs, and so do the operations for which tools themselves ask: edits, commands, paths outside the workspace.
/// Calls that a rule denies stay denied. A request for a value is declined, because there is no person to give one.
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
/// let toolkit = Toolkit::empty().tool(toolkit::tool_ref!(empty_bin)).approver(toolkit::AllowAll).build()?;
/// let toolbox = toolkit.toolbox(&Caller::new()).await;
/// assert_eq!(toolbox.call(ToolCall::new("1", "empty_bin", "{}")).await.text(), "Emptied.");
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct AllowAll;

impl AllowAll {
    /// Returns the approver, as the constructors of others do.
    pub const fn new() -> Self {
        Self
    }
}

#[diagnostic::do_not_recommend]
impl Approver for AllowAll {
    fn ask<'a>(&'a self, ask: &'a PendingAsk) -> Answering<'a> {
        let answer = match ask.question() {
            Question::Approve(_) => Answer::allow(),
            _ => Answer::Declined,
        };
        Box::pin(std::future::ready(Some(answer.into())))
    }
}

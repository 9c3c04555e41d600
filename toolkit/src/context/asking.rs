//! A tool that asks a person.

use super::ToolContext;
use crate::arg::ToolArg;
use crate::ask::{Answer, Ask, Elicitation, Origin, Question};
use crate::error::ToolError;
use crate::events::Event;
use crate::live::Reason;
use futures_util::future::{Either, select};
use std::pin::pin;

impl ToolContext {
    /// Asks whether something may be done, and waits for the answer, for hours if need be.
    ///
    /// While it waits the call's clock stands still, and other calls of the session, and of the tool, can run in its
    /// place. With the answer it waits for its turn again. A function that drops the question instead goes on at once
    /// as far as its next await, and from there in its turn. Where a function has several calls of its own under way,
    /// one of which asks, it keeps its turn: the others need it.
    ///
    /// ```
    /// use toolkit::prelude::*;
    /// use toolkit::{Ask, Answer, ScriptedApprover};
    ///
    /// /// Deploys the site.
    /// #[tool]
    /// async fn deploy(ctx: &ToolContext) -> Result<String, ToolError> {
    ///     ctx.ask(Ask::new("deploy", "Put the site online")).await?;
    ///     Ok("deployed".to_owned())
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), toolkit::BuildError> {
    /// let toolkit = Toolkit::empty()
    ///     .tool(toolkit::tool_ref!(deploy))
    /// #   .without_asking_first()
    ///     .approver(ScriptedApprover::new([Answer::allow(), Answer::deny_saying("not on a Friday")]))
    ///     .build()?;
    /// let toolbox = toolkit.toolbox(&Caller::new()).await;
    /// assert_eq!(toolbox.call(ToolCall::new("1", "deploy", "{}")).await.text(), "deployed");
    /// assert!(toolbox.call(ToolCall::new("2", "deploy", "{}")).await.text().contains("not on a Friday"));
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// `Denied`, with the person's word for the model, or saying why nobody could be asked; `Aborted` once the call is
    /// cancelled or over.
    pub async fn ask(&self, ask: Ask) -> Result<(), ToolError> {
        let title = ask.title.clone();
        self.put(Question::Approve(ask)).await?.into_permission(&title)
    }

    /// Asks a person for a value, and waits for it as [`ToolContext::ask`] does. `None` when the person declines.
    ///
    /// `T` is a struct of plain fields: strings, numbers, booleans, enums without content. Put `#[toolkit::args]` on it.
    ///
    /// # Errors
    ///
    /// `Denied` when nobody could be asked, `Aborted` when the person dismissed the question or the call is cancelled or
    /// over, `Failed` when `T` is another kind of type.
    pub async fn elicit<T: ToolArg>(&self, message: impl Into<String>) -> Result<Option<T>, ToolError> {
        let elicitation = Elicitation::of::<T>(message)?;
        match self.put(Question::Elicit(elicitation)).await?.into_value()? {
            None => Ok(None),
            Some(value) => T::decode(value)
                .map(Some)
                .map_err(|error| ToolError::failed(format!("the person's answer does not fit: {error}"))),
        }
    }

    /// Puts a question to a person, whatever any rule says of it.
    pub(crate) async fn put(&self, question: Question) -> Result<Answer, ToolError> {
        let settings = &self.scope().toolkit.settings;
        let origin = Origin {
            call_id: self.call_id().to_owned(),
            tool: self.tool_name().to_owned(),
            session_id: self.session_id().map(str::to_owned),
            agent: self.agent().map(str::to_owned),
        };
        // Nobody needs the answer once the call is over; a thread or a task that outlives it would wait for hours.
        let cancelled = pin!(self.cancellation_token().cancelled());
        self.check_cancelled()?;
        let away = self.live().leave(Reason::Asking);
        let answer = settings.asks.ask_telling(settings.approver(), origin, question, |ask| {
            self.send(|| Event::Asked { ask: ask.clone() });
        });
        let answer = match select(answer, cancelled).await {
            Either::Left((answer, _)) => answer,
            Either::Right(_) => return Err(ToolError::aborted("the call was cancelled")),
        };
        away.come_back().await;
        Ok(answer)
    }
}

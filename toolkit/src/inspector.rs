//! Inspectors: what a host looks at before a call runs.

use crate::ask::Ask;
use crate::caller::Caller;
use crate::context::ToolContext;
use crate::error::ToolError;
use crate::tool::Tool;
use serde_json::Value;
use std::fmt;
use std::pin::Pin;
use std::time::Duration;

/// How long an inspector may take unless it says otherwise.
const LIMIT: Duration = Duration::from_secs(10);

/// Looks at each call before its tool's function runs, and may block it, rewrite its arguments, or demand that a person
/// is asked.
///
/// An inspector can only make things stricter: [`Verdict::Proceed`] lifts no question that anybody else asks. One that
/// panics, fails or is late blocks the call, and the model is told which it was.
///
/// The inspectors of a toolkit are asked in the order of [`Builder::inspector`](crate::Builder::inspector), one after
/// the other, each with the arguments as the one before it left them. After a round in which one of them rewrote
/// something all are asked again, until every one of them has judged exactly what the function will get; otherwise the
/// first could be deceived by the last. So an inspector is asked about a call once or a few times, and its last verdict
/// counts: give the same one for the same call, and rewrite what was rewritten already to itself. Where they go on
/// rewriting in a fourth round, the call is blocked.
///
/// They are asked when the call has its turn: with what it holds of the session's gate and while its clock runs. Calls
/// that a tool makes by itself are inspected like any other.
///
/// [`CallbackInspector`] makes one of a closure.
pub trait Inspector: Send + Sync + 'static {
    /// Judges a call.
    ///
    /// The future is dropped when the call is cancelled or late: leave nothing running then.
    ///
    /// # Errors
    ///
    /// When it cannot judge: this blocks the call, and the model reads the error.
    fn inspect<'a>(&'a self, call: &'a Inspection<'a>) -> Inspecting<'a>;

    /// How long a verdict may take, from the first time that it has to be waited for: 10 seconds unless this says
    /// otherwise. It can only be measured in a tokio runtime with timers.
    fn limit(&self) -> Duration {
        LIMIT
    }
}

/// How often all inspectors are asked about one call at most.
pub(crate) const MAX_ROUNDS: usize = 4;

/// The verdict of an inspector, when it has come.
pub type Inspecting<'a> = Pin<Box<dyn Future<Output = Result<Verdict, ToolError>> + Send + 'a>>;

/// What an inspector says of a call.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Verdict {
    /// Nothing speaks against it. What others ask is asked all the same.
    Proceed,
    /// It may go on with these arguments instead. They have to fit the tool's schema as they are: nothing is repaired,
    /// and what does not fit blocks the call.
    Rewrite(Value),
    /// It may go on if a person allows it. No rule and no remembered answer stands for the person.
    Ask(Ask),
    /// It must not run.
    Block {
        /// Why, for the model.
        reason: String,
    },
}

impl Verdict {
    /// It must not run, for this reason, which the model reads.
    pub fn block(reason: impl Into<String>) -> Self {
        Self::Block { reason: reason.into() }
    }
}

/// A call that is about to run, as an inspector sees it.
#[derive(Clone, Copy)]
pub struct Inspection<'a> {
    pub(crate) context: &'a ToolContext,
    pub(crate) arguments: &'a Value,
}

impl<'a> Inspection<'a> {
    /// The call's id.
    pub fn call_id(&self) -> &'a str {
        self.context.call_id()
    }

    /// The tool.
    pub fn tool(&self) -> &'a Tool {
        self.context.tool()
    }

    /// Who calls.
    pub fn caller(&self) -> &'a Caller {
        self.context.caller()
    }

    /// The arguments, always an object, as the function will get them: complete, repaired, secrets included. Do not log
    /// them, nor repeat them in a reason.
    pub fn arguments(&self) -> &'a Value {
        self.arguments
    }

    /// Whether a tool makes this call, and not the model.
    pub fn is_nested(&self) -> bool {
        self.context.above().is_some()
    }
}

impl fmt::Debug for Inspection<'_> {
    /// Without the arguments, since they may hold secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Inspection")
            .field("call_id", &self.call_id())
            .field("tool", &self.tool().name())
            .finish_non_exhaustive()
    }
}

/// An inspector made of a closure that says at once what it thinks.
///
/// ```
/// use serde_json::json;
/// use toolkit::prelude::*;
/// use toolkit::{CallbackInspector, Verdict};
///
/// /// Says something.
/// #[tool(read_only)]
/// async fn say(text: String) -> String {
///     text
/// }
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), toolkit::BuildError> {
/// let toolkit = Toolkit::empty()
///     .tool(toolkit::tool_ref!(say))
///     .inspector("manners", CallbackInspector::new(|call| {
///         let is_loud = call.arguments()["text"].as_str().is_some_and(|text| text.ends_with('!'));
///         Ok(if is_loud { Verdict::block("do not shout") } else { Verdict::Proceed })
///     }))
///     .build()?;
/// let toolbox = toolkit.toolbox(&Caller::new()).await;
/// assert_eq!(toolbox.call(ToolCall::new("1", "say", json!({ "text": "hello" }))).await.text(), "hello");
/// let blocked = toolbox.call(ToolCall::new("2", "say", json!({ "text": "hello!" }))).await;
/// assert!(blocked.text().contains("do not shout"));
/// # Ok(()) }
/// ```
pub struct CallbackInspector<F>(F);

impl<F> CallbackInspector<F>
where
    F: Fn(&Inspection<'_>) -> Result<Verdict, ToolError> + Send + Sync + 'static,
{
    /// Asks `judge` about each call. It must not block the thread.
    pub fn new(judge: F) -> Self {
        Self(judge)
    }
}

impl<F> Inspector for CallbackInspector<F>
where
    F: Fn(&Inspection<'_>) -> Result<Verdict, ToolError> + Send + Sync + 'static,
{
    fn inspect<'a>(&'a self, call: &'a Inspection<'a>) -> Inspecting<'a> {
        Box::pin(std::future::ready((self.0)(call)))
    }
}

impl<F> fmt::Debug for CallbackInspector<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CallbackInspector")
    }
}

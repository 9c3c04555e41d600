//! Inspectors: a host's checks before a call runs.

use crate::tool::Tool;
use crate::tool::context::ToolContext;
use serde_json::Value;
use std::fmt;
use std::pin::Pin;
use std::time::Duration;
use toolkit_core::ask::Ask;
use toolkit_core::caller::Caller;
use toolkit_core::error::ToolError;

/// The default time limit of an inspector.
const LIMIT: Duration = Duration::from_secs(10);

/// A check of each call before its tool's function runs; it may block the call, rewrite its arguments, or demand that a
/// person approves it.
///
/// An inspector can only make things stricter: [`Verdict::Proceed`] lifts no approval that another component demands.
/// An inspector that panics, fails or is late blocks the call, and the model is told which of these happened.
///
/// The inspectors of a toolkit run one after the other, in the order of
/// [`Builder::inspector`](crate::Builder::inspector). Each gets the arguments as the previous one left them. After a
/// round in which an inspector rewrote the arguments, all inspectors run again, until every one has judged exactly the
/// arguments that the function will get; otherwise a later inspector could undo what an earlier one checked. So an
/// inspector may run several times for one call, and its last verdict counts: return the same verdict for the same
/// call, and leave arguments that are already rewritten unchanged. If the arguments are rewritten again in the fourth
/// round, the call is blocked.
///
/// Inspectors run when the call has its turn: while it holds its pass through the session's gate and its time limit
/// counts. Calls that a tool makes itself are inspected like any other call.
///
/// [`CallbackInspector`] turns a closure into an inspector.
#[diagnostic::on_unimplemented(
    message = "this is not an inspector",
    label = "not an `Inspector`",
    note = "of a closure: `CallbackInspector::new(|call| Ok(Verdict::Proceed))`; both names are in `toolkit::inspection`"
)]
pub trait Inspector: Send + Sync + 'static {
    /// Judges a call.
    ///
    /// The future is dropped when the call is cancelled or late: leave no background work running then.
    ///
    /// # Errors
    ///
    /// Return an error if the call cannot be judged: this blocks the call, and the model reads the error.
    fn inspect<'a>(&'a self, call: &'a Inspection<'a>) -> Inspecting<'a>;

    /// Returns the time limit for a verdict, counted from the first time the inspector has to be awaited; by default 10
    /// seconds. The limit applies only in a tokio runtime with timers.
    fn limit(&self) -> Duration {
        LIMIT
    }
}

/// The maximum number of inspection rounds for one call.
pub(crate) const MAX_ROUNDS: usize = 4;

/// A future that resolves to an inspector's verdict.
pub type Inspecting<'a> = Pin<Box<dyn Future<Output = Result<Verdict, ToolError>> + Send + 'a>>;

/// An inspector's verdict on a call.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Verdict {
    /// The inspector has no objection. Approvals that other components demand are still asked for.
    Proceed,
    /// The call may go on with these arguments instead. They must match the tool's schema as they are: they are not
    /// repaired, and arguments that do not match block the call.
    Rewrite(Value),
    /// The call may go on if a person approves it. Neither a rule nor a remembered approval replaces the person's
    /// answer.
    Ask(Ask),
    /// The call must not run.
    Block {
        /// The reason, for the model.
        reason: String,
    },
}

/// The value that the closure of a [`CallbackInspector`] returns: a [`Verdict`], or a `Result` of one.
#[diagnostic::on_unimplemented(
    message = "the closure of an inspector must return a `Verdict`",
    label = "it returns `{Self}`, which is not a `Verdict`",
    note = "return one: `|call| if call.tool().name() == \"exec\" {{ Verdict::block(\"why\") }} else {{ Verdict::Proceed }}`, or `Ok(verdict)` where a `ToolError` is possible",
    note = "one that waits implements `Inspector` for a type; `Verdict` is in `toolkit::inspection`"
)]
pub trait IntoVerdict {
    #[doc(hidden)]
    fn into_verdict(self) -> Result<Verdict, ToolError>;
}

#[diagnostic::do_not_recommend]
impl IntoVerdict for Verdict {
    fn into_verdict(self) -> Result<Verdict, ToolError> {
        Ok(self)
    }
}

#[diagnostic::do_not_recommend]
impl IntoVerdict for Result<Verdict, ToolError> {
    fn into_verdict(self) -> Result<Verdict, ToolError> {
        self
    }
}

impl Verdict {
    /// Blocks the call for this reason, which the model reads.
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
    /// Returns the call's id.
    pub fn call_id(&self) -> &'a str {
        self.context.call_id()
    }

    /// Returns the tool.
    pub fn tool(&self) -> &'a Tool {
        self.context.tool()
    }

    /// Returns the caller.
    pub fn caller(&self) -> &'a Caller {
        self.context.caller()
    }

    /// Returns the arguments, always an object, as the function will get them: complete, repaired, secrets included. Do
    /// not log them or repeat them in a reason.
    pub fn arguments(&self) -> &'a Value {
        self.arguments
    }

    /// Returns true if a tool makes this call, and not the model.
    pub fn is_nested(&self) -> bool {
        self.context.above().is_some()
    }
}

impl fmt::Debug for Inspection<'_> {
    /// The arguments are left out, since they may hold secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Inspection")
            .field("call_id", &self.call_id())
            .field("tool", &self.tool().name())
            .finish_non_exhaustive()
    }
}

/// An inspector made from a closure that returns its verdict synchronously.
///
/// ```
/// use serde_json::json;
/// use toolkit::prelude::*;
/// use toolkit::inspection::{CallbackInspector, Verdict};
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
// Without a type parameter, so that a closure that returns something else is one compile error, where it is written.
pub struct CallbackInspector(Box<Judge>);

type Judge = dyn Fn(&Inspection<'_>) -> Result<Verdict, ToolError> + Send + Sync;

impl CallbackInspector {
    /// Creates an inspector that calls `judge` for each call. `judge` must not block the thread.
    pub fn new<V: IntoVerdict>(judge: impl Fn(&Inspection<'_>) -> V + Send + Sync + 'static) -> Self {
        Self(Box::new(move |call| judge(call).into_verdict()))
    }
}

#[diagnostic::do_not_recommend]
impl Inspector for CallbackInspector {
    fn inspect<'a>(&'a self, call: &'a Inspection<'a>) -> Inspecting<'a> {
        Box::pin(std::future::ready((self.0)(call)))
    }
}

impl fmt::Debug for CallbackInspector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CallbackInspector")
    }
}

//! An approver made of a closure.

use super::{Answering, Approver};
use crate::closure_future::ClosureFuture;
use std::fmt;
use toolkit_core::ask::{Answer, PendingAsk, Reply};

/// The value that the closure of a [`CallbackApprover`] returns: an [`Answer`], an `Option` of one, or a [`Reply`] that names the person.
#[diagnostic::on_unimplemented(
    message = "the closure of an approver must return an `Answer`",
    label = "it returns `{Self}`, which is not an `Answer`",
    note = "return an `Answer`: `|ask| if ask.origin().tool == \"read\" {{ Answer::allow() }} else {{ Answer::deny() }}`, or `Some(answer)`; `None` means that the answer comes from elsewhere",
    note = "a closure that waits goes to the other function: `CallbackApprover::from_async(|ask| async move {{ Answer::allow() }})`",
    note = "`Answer` is in `toolkit::approval`"
)]
pub trait IntoAnswer {
    #[doc(hidden)]
    fn into_reply(self) -> Option<Reply>;
}

#[diagnostic::do_not_recommend]
impl IntoAnswer for Answer {
    fn into_reply(self) -> Option<Reply> {
        Some(self.into())
    }
}

#[diagnostic::do_not_recommend]
impl IntoAnswer for Option<Answer> {
    fn into_reply(self) -> Option<Reply> {
        self.map(Reply::from)
    }
}

#[diagnostic::do_not_recommend]
impl IntoAnswer for Reply {
    fn into_reply(self) -> Option<Reply> {
        Some(self)
    }
}

/// Asks through a closure, which returns an [`Answer`], or `None` when the answer will come from elsewhere.
///
/// [`PendingAsk::scopes`] lists the scopes in which the question can be allowed; an answer with a longer
/// scope is reduced to the longest of these.
///
/// ```
/// use toolkit::approval::{Answer, CallbackApprover, PendingAsk, Reply};
///
/// // A rule.
/// let only_here = CallbackApprover::new(|ask| match ask.origin().agent.as_deref() {
///     // For the session: exactly this will not be asked again until it ends.
///     Some("ada") => Answer::allow_for_session(),
///     _ => Answer::deny_saying("only ada may do this"),
/// });
/// // A queue to wherever the person is; the answer is awaited.
/// let remote = CallbackApprover::from_async(|ask: PendingAsk| async move {
///     let text = ask.to_text();
///     // send it, await the answer, and name the person whom the host knows to have sent it …
///     # drop(text);
///     Reply::new(Answer::Declined).by("ada")
/// });
/// ```
pub struct CallbackApprover(Box<dyn Fn(&PendingAsk) -> Answering<'static> + Send + Sync>);

impl CallbackApprover {
    /// Uses a closure that answers immediately, on the thread of the call; it must not block.
    pub fn new<A: IntoAnswer>(answer: impl Fn(&PendingAsk) -> A + Send + Sync + 'static) -> Self {
        Self(Box::new(move |ask| {
            let answer = answer(ask).into_reply();
            Box::pin(std::future::ready(answer))
        }))
    }

    /// Uses a closure whose answer is awaited. Its future is dropped when the answer is no longer needed.
    pub fn from_async<F>(answer: impl Fn(PendingAsk) -> F + Send + Sync + 'static) -> Self
    where
        F: ClosureFuture<Value: IntoAnswer> + Send + 'static,
    {
        Self(Box::new(move |ask| {
            let answer = answer(ask.clone()).boxed();
            Box::pin(async move { answer.await.into_reply() })
        }))
    }
}

#[diagnostic::do_not_recommend]
impl Approver for CallbackApprover {
    fn ask<'a>(&'a self, ask: &'a PendingAsk) -> Answering<'a> {
        (self.0)(ask)
    }
}

impl fmt::Debug for CallbackApprover {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CallbackApprover")
    }
}

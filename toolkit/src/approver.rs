//! Approvers: they answer the questions of tools.

mod allow_all;
mod callback;
mod none;
mod scripted;
#[cfg(feature = "runtime")]
mod terminal;

pub use allow_all::AllowAll;
pub use callback::{CallbackApprover, IntoAnswer};
pub use none::NoApprover;
pub use scripted::ScriptedApprover;
#[cfg(feature = "runtime")]
pub use terminal::TerminalApprover;

use std::pin::Pin;
use std::sync::Arc;
use toolkit_core::ask::{PendingAsk, Reply};

/// The future of an approver's answer.
pub type Answering<'a> = Pin<Box<dyn Future<Output = Option<Reply>> + Send + 'a>>;

/// Brings questions to a person, and their answers back.
///
/// [`CallbackApprover`] makes one of a closure, [`TerminalApprover`] asks on the terminal, [`ScriptedApprover`] answers
/// in tests, [`NoApprover`] denies, [`AllowAll`] allows during development.
#[diagnostic::on_unimplemented(
    message = "this is not an approver",
    label = "not an `Approver`",
    note = "of a closure: `CallbackApprover::new(|ask| Answer::allow())`, or `CallbackApprover::from_async(|ask| async move {{ Answer::allow() }})` if it waits; both names are in `toolkit::approval`",
    note = "on a terminal: `TerminalApprover::new()`; to allow everything during development: `toolkit::AllowAll`"
)]
pub trait Approver: Send + Sync + 'static {
    /// Asks the person. `None` means that the answer will come from elsewhere: the question stays on the list of pending
    /// ones until it is answered with [`Asks::answer`](crate::approval::Asks::answer).
    ///
    /// An answer may take hours; do not block the thread. When the answer is no longer needed, because one came from
    /// elsewhere or the call ended, the future is dropped: then remove the question from the screen, and leave nothing
    /// running. A panic denies. Several questions may be asked at once.
    ///
    /// The person may allow the question for longer than once, as [`PendingAsk::scopes`] says. Offer no longer scope than
    /// these, and show what will be remembered: the patterns, and the workspace of the [origin](PendingAsk::origin). Calls
    /// that ask the same at the same time are one question here.
    ///
    /// If the host knows which person answers, the [`Reply`] names it; otherwise it is the answer alone, `answer.into()`.
    ///
    /// Show the question through [`PendingAsk::to_text`], or escape each part of it.
    fn ask<'a>(&'a self, ask: &'a PendingAsk) -> Answering<'a>;
}

#[diagnostic::do_not_recommend]
impl<T: Approver + ?Sized> Approver for Arc<T> {
    fn ask<'a>(&'a self, ask: &'a PendingAsk) -> Answering<'a> {
        (**self).ask(ask)
    }
}

#[diagnostic::do_not_recommend]
impl<T: Approver + ?Sized> Approver for Box<T> {
    fn ask<'a>(&'a self, ask: &'a PendingAsk) -> Answering<'a> {
        (**self).ask(ask)
    }
}

//! The record of questions that a host keeps, so that after a crash it knows which calls it may begin again.

use std::pin::Pin;
use toolkit_core::ask::{PendingAsk, Reply};

/// The future of a record: an error says why it could not be made.
pub type Journaling<'a> = Pin<Box<dyn Future<Output = Result<(), String>> + Send + 'a>>;

/// Records the questions of one call that come before anything of its function has been done: those of the runtime itself, and those that a
/// tool declares so ([`Ask::before_acting`](crate::Ask::before_acting)).
///
/// A host that keeps its calls on a disk knows then, after a crash, which of them did nothing yet: one with a question and without an answer
/// can be begun again, and every other one that had started cannot. The call waits for each record. If one cannot be made, the call fails,
/// and nothing more of it is done.
///
/// ```
/// use std::sync::Mutex;
/// use toolkit::approval::{AskJournal, Journaling, PendingAsk, Reply};
///
/// #[derive(Default)]
/// struct Lines(Mutex<Vec<String>>);
///
/// impl AskJournal for Lines {
///     fn asked<'a>(&'a self, ask: &'a PendingAsk) -> Journaling<'a> {
///         self.0.lock().unwrap().push(format!("asked {}", ask.id()));
///         Box::pin(async { Ok(()) })
///     }
///
///     fn answered<'a>(&'a self, ask: &'a PendingAsk, _reply: &'a Reply) -> Journaling<'a> {
///         self.0.lock().unwrap().push(format!("answered {}", ask.id()));
///         Box::pin(async { Ok(()) })
///     }
/// }
/// ```
pub trait AskJournal: Send + Sync + 'static {
    /// Records that the call waits for a person.
    fn asked<'a>(&'a self, ask: &'a PendingAsk) -> Journaling<'a>;

    /// Records the answer, and who gave it, before the call goes on.
    fn answered<'a>(&'a self, ask: &'a PendingAsk, reply: &'a Reply) -> Journaling<'a>;

    /// Records that the function of the call begins, after all questions of the runtime: from now on it may act without a question. A host that has the
    /// call begin again because of a question needs it, since the call may not be asked about this time: an approval or a rule may allow it now.
    /// Records nothing by default.
    fn begins(&self) -> Journaling<'_> {
        Box::pin(async { Ok(()) })
    }
}

//! The store of pending questions that a host keeps, so that a person can answer one while no call waits for it.

use std::pin::Pin;
use std::sync::Arc;
use toolkit_core::ask::{PendingAsk, Reply};

/// The future of a step of an [`AskStore`]: an error says why it failed.
pub type Keeping<'a, T> = Pin<Box<dyn Future<Output = Result<T, String>> + Send + 'a>>;

/// Keeps the pending questions of calls, so that a person can answer them after the process that asked has ended. Without one, a question ends
/// with the process. A host sets it with [`Builder::ask_store`](crate::Builder::ask_store).
///
/// Each question is kept under a digest, in hexadecimal digits, of what the person reads and of the call: the question
/// ([`Question::digest`](crate::approval::Question::digest)); session and workspace; the asker (agent, channel, conversation, sender, and the
/// agents above); the tool with its source; arguments and id of the call. A host with transcripts begins a call again that waited when its
/// process ended. If the call then asks the same, the kept answer decides it and no person is asked. If anything has changed, the digest is
/// another one, and a person is asked anew.
///
/// # Which questions are kept
///
/// Those after which a call can begin again: the questions of the runtime itself, and those that a tool asks
/// [before it acts](crate::Ask::before_acting); of calls that the host makes, not of calls that a function makes; in sessions that the host has
/// named.
///
/// # Contract
///
/// 1. [`put`](Self::put) is called before anyone can see the question: before the [`AskJournal`](crate::approval::AskJournal) has it answered,
///    the approver gets it, an event tells of it, or [`Asks`](crate::approval::Asks) lists it. Once it returns, the question survives the end of the process.
/// 2. A question that is there already, with or without an answer, is the same question: `put` keeps its answer, and replaces the rest, such as the id
///    under which `Asks` lists it now.
/// 3. A kept answer may come at any time, also while a call waits: the call takes it from [`answered`](Self::answered). It may also be answered by the
///    approver or by [`Asks::answer`](crate::approval::Asks::answer), as every question. The first answer counts.
/// 4. [`remove`](Self::remove) takes the question and its answer out in one step, durably. It is called when the question is decided, before anything
///    of the call's function is done; when the call is cancelled; and when the question expires. An answer therefore decides one call, once: of two calls
///    that take the same answer, the one whose `remove` returns false fails, and a later call with the same digest is asked about.
/// 5. A call that is dropped, as at the end of a process, leaves its question there. A host removes the questions of a call that does not begin
///    again: at the latest when the call has a result.
/// 6. A step that fails fails the call, and nothing of its function is done.
pub trait AskStore: Send + Sync + 'static {
    /// Keeps a question, and returns its answer if it has one.
    fn put<'a>(&'a self, digest: &'a str, ask: &'a PendingAsk) -> Keeping<'a, Option<Reply>>;

    /// Waits until the question has an answer in the store. Returns at once if it has one; the answer stays there. May be dropped at any time.
    fn answered<'a>(&'a self, digest: &'a str) -> Keeping<'a, Reply>;

    /// Removes a question and its answer. Returns false if it was not there.
    fn remove<'a>(&'a self, digest: &'a str) -> Keeping<'a, bool>;
}

/// A call whose questions are kept: the store, and the identity of the call.
#[derive(Clone)]
pub(crate) struct KeptCall {
    pub(crate) store: Arc<dyn AskStore>,
    /// The call as JSON text, without its questions.
    pub(crate) identity: Arc<str>,
}

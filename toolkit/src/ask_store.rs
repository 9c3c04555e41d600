//! The store of pending questions that a host keeps, so that a person can answer one while no call waits for it.

use std::collections::{BTreeMap, BTreeSet};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;
use tokio_util::sync::CancellationToken;
use toolkit_core::ask::{Origin, PendingAsk, Reply};
use toolkit_core::call::CallArguments;
use toolkit_core::caller::Caller;

/// The future of a step of an [`AskStore`]: an error says why it failed.
pub type Keeping<'a, T> = Pin<Box<dyn Future<Output = Result<T, String>> + Send + 'a>>;

/// Keeps the pending questions of calls, so that a person can answer them after the process that asked has ended. Without one, a question ends
/// with the process. A host sets it with [`Builder::ask_store`](crate::Builder::ask_store).
///
/// Each question is kept under a digest, in hexadecimal digits, of what the person reads and of the call: the question
/// ([`Question::digest`](crate::approval::Question::digest)); session and workspace; the asker (agent, channel, conversation, sender, and the
/// agents above); the tool with its source and its definition; arguments and id of the call. A host with transcripts begins a call again that
/// waited when its process ended. If the call then asks the same, the kept answer decides it and no person is asked. If anything has changed,
/// the digest is another one, and a person is asked anew.
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
///    under which `Asks` lists it now. The call reads it with [`get`](Self::get) first, so that a question that is put again is as old as when it was
///    asked first, and expires then. A call that waits together with another one puts its question again with the id that is listed.
/// 3. A kept answer may come at any time, also while a call waits: the call takes it from [`answered`](Self::answered). It may also be answered by the
///    approver or by [`Asks::answer`](crate::approval::Asks::answer), as every question. The first answer counts. The store notes when the answer
///    came: after [`expires_at`](PendingAsk::expires_at) it denies, as no answer does.
/// 4. [`remove`](Self::remove) takes the question and its answer out in one step, durably. It is called when the question is decided, before anything
///    of the call's function is done. An answer therefore decides one call, once: a later call with the same digest is asked about. Of two processes that
///    take the same answer, the one whose `remove` returns false fails its call. Two calls that run at the same time have a digest each.
/// 5. A call that asks another question before it acts has its earlier questions of that kind put again, with their answers
///    ([`put_answered`](Self::put_answered)), until the new one is decided: if the process ends meanwhile, the call that begins again is asked nothing twice.
///    Once the new one is decided, all questions of the call that were [asked before](PendingAsk::asked_at) it are taken out
///    ([`remove_call`](Self::remove_call) with a time), also those that the call did not ask again.
/// 6. [`remove_call`](Self::remove_call) without a time takes out all questions of a call that has a result, in whatever way it came: also those of an
///    earlier process that the call did not ask this time. It comes after each call of a named session, so it has to be cheap where there is nothing.
///    Questions stay of a call that is dropped, as at the end of a process, and of one that is [interrupted](crate::CallOptions::interrupt)
///    while it waits for an answer. A host that gives such a call a result without making it again calls
///    [`Toolkit::forget_asks`](crate::Toolkit::forget_asks); one that removes a session removes its questions, by their
///    [origin](PendingAsk::origin).
/// 7. A step that fails before the function acts fails the call, and nothing of the function is done. A `remove_call` that fails is logged.
/// 8. The future of a step may be dropped before it is done, with the call that was cancelled: what the store does in another thread must not
///    come after a `remove_call` of the same call that began later. A question whose `put` is done after its call is over is removed.
///
/// The ids of the calls of one turn must differ, and so must those of a session whose host names no [turns](crate::CallOptions::turn), while any of
/// them is under way or waits in the store: `remove_call` cannot tell them apart.
pub trait AskStore: Send + Sync + 'static {
    /// Returns a kept question.
    fn get<'a>(&'a self, digest: &'a str) -> Keeping<'a, Option<PendingAsk>>;

    /// Keeps a question, and returns its answer if it has one.
    fn put<'a>(&'a self, digest: &'a str, ask: &'a PendingAsk) -> Keeping<'a, Option<KeptAnswer>>;

    /// Keeps a question that was decided, with its answer.
    fn put_answered<'a>(
        &'a self,
        digest: &'a str,
        ask: &'a PendingAsk,
        answer: &'a KeptAnswer,
    ) -> Keeping<'a, ()>;

    /// Waits until the question has an answer in the store. Returns at once if it has one; the answer stays there. May be dropped at any time.
    fn answered<'a>(&'a self, digest: &'a str) -> Keeping<'a, KeptAnswer>;

    /// Removes a question and its answer. Returns false if it was not there.
    fn remove<'a>(&'a self, digest: &'a str) -> Keeping<'a, bool>;

    /// Removes all questions of a call, with their answers: those whose [origin](PendingAsk::origin) [it is](AskingCall::is_origin). With a time, those alone
    /// that were [asked](PendingAsk::asked_at) before.
    fn remove_call<'a>(&'a self, call: &'a AskingCall, before: Option<SystemTime>) -> Keeping<'a, ()>;
}

/// A call in an [`AskStore`].
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct AskingCall {
    /// Its session.
    pub session_id: String,
    /// The [turn](crate::CallOptions::turn) in which the model made it, if the host has named it.
    pub turn: Option<String>,
    /// Its id.
    pub call_id: String,
}

impl AskingCall {
    /// Creates the name of a call whose host names no turns.
    pub fn new(session_id: impl Into<String>, call_id: impl Into<String>) -> Self {
        Self { session_id: session_id.into(), turn: None, call_id: call_id.into() }
    }

    /// Sets the turn.
    #[must_use]
    pub fn with_turn(self, turn: impl Into<String>) -> Self {
        Self { turn: Some(turn.into()), ..self }
    }

    /// Returns true if a question of this origin is one of the call.
    pub fn is_origin(&self, origin: &Origin) -> bool {
        let Self { session_id, turn, call_id } = self;
        origin.session_id.as_ref() == Some(session_id) && origin.turn == *turn && origin.call_id == *call_id
    }

    /// Returns a call of a caller; `None` in a session without a name, which no later call is in.
    pub(crate) fn of(caller: &Caller, turn: Option<String>, call_id: &str) -> Option<Self> {
        Some(Self { session_id: caller.session_id.clone()?, turn, call_id: call_id.to_owned() })
    }
}

/// An answer in an [`AskStore`].
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct KeptAnswer {
    /// The answer, with who gave it.
    pub reply: Reply,
    /// The time at which it was given.
    pub at: SystemTime,
}

impl KeptAnswer {
    /// Creates an answer that was given at this time.
    pub fn new(reply: impl Into<Reply>, at: SystemTime) -> Self {
        Self { reply: reply.into(), at }
    }
}

/// The store of a toolkit, with the calls under way whose questions it keeps.
#[derive(Clone)]
pub(crate) struct AskKeeper {
    pub(crate) store: Arc<dyn AskStore>,
    live: Arc<Mutex<LiveCalls>>,
}

#[derive(Default)]
struct LiveCalls {
    /// The calls under way.
    calls: BTreeMap<AskingCall, LiveEntry>,
    /// Those that asked: what they are, with the number that tells equal ones apart.
    asking: BTreeSet<(String, usize)>,
}

/// The calls under way with one name.
#[derive(Default)]
struct LiveEntry {
    count: usize,
    changing: Changing,
}

/// Held while questions of the calls with one name are put, and while all of them are removed: a removal takes no question out that one of them puts
/// meanwhile.
pub(crate) type Changing = Arc<tokio::sync::Mutex<()>>;

impl AskKeeper {
    pub(crate) fn new(store: Arc<dyn AskStore>) -> Self {
        Self { store, live: Arc::default() }
    }

    fn lock(&self) -> MutexGuard<'_, LiveCalls> {
        // Each change is one step.
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that a call is under way.
    fn enter(&self, call: &AskingCall) -> Changing {
        let mut live = self.lock();
        let entry = live.calls.entry(call.clone()).or_default();
        entry.count += 1;
        Arc::clone(&entry.changing)
    }

    /// Returns the number of calls under way with this name.
    pub(crate) fn live(&self, call: &AskingCall) -> usize {
        self.lock().calls.get(call).map_or(0, |entry| entry.count)
    }

    /// Notes that a call is over.
    pub(crate) fn leave(&self, call: &AskingCall, asking: Option<&(String, usize)>) {
        let mut live = self.lock();
        if let Some(asking) = asking {
            live.asking.remove(asking);
        }
        if let Some(entry) = live.calls.get_mut(call) {
            entry.count -= 1;
            if entry.count == 0 {
                live.calls.remove(call);
            }
        }
    }

    /// Returns the lowest number that no equal call under way has, which is taken then.
    pub(crate) fn number(&self, identity: &str) -> usize {
        let mut live = self.lock();
        let numbers = live.asking.range((identity.to_owned(), 0)..);
        let taken = numbers.take_while(|(other, _)| other == identity).map(|(_, number)| *number);
        let free = taken.zip(0..).take_while(|(taken, place)| taken == place).count();
        live.asking.insert((identity.to_owned(), free));
        free
    }
}

/// A call under way whose questions are kept.
pub(crate) struct KeptCall {
    pub(crate) keeper: AskKeeper,
    pub(crate) call: AskingCall,
    pub(crate) changing: Changing,
    pub(crate) arguments: CallArguments,
    /// The token of an interruption.
    pub(crate) interrupt: Option<CancellationToken>,
    state: Mutex<KeptState>,
}

/// The questions of a call so far.
#[derive(Default)]
pub(crate) struct KeptState {
    /// The description of the call, and its number among equal ones; `None` before its first question.
    pub(crate) identity: Option<(String, usize)>,
    /// The digests of the questions that are kept and not decided.
    pub(crate) open: BTreeSet<String>,
    pub(crate) decided: Vec<DecidedAsk>,
    /// True once the call is over: work of its function that goes on keeps no question any more.
    pub(crate) is_over: bool,
}

/// A question that was decided.
#[derive(Clone)]
pub(crate) struct DecidedAsk {
    pub(crate) digest: String,
    pub(crate) ask: PendingAsk,
    pub(crate) answer: KeptAnswer,
    /// True while it is in the store again.
    pub(crate) is_put_again: bool,
}

impl KeptCall {
    pub(crate) fn new(
        keeper: &AskKeeper,
        call: AskingCall,
        arguments: CallArguments,
        interrupt: Option<CancellationToken>,
    ) -> Self {
        let changing = keeper.enter(&call);
        Self { keeper: keeper.clone(), call, changing, arguments, interrupt, state: Mutex::default() }
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, KeptState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

//! Simultaneous equal questions: the effects of dropping waiters at different times, and the delivery of the answer.

use super::*;
use crate::approvals::{Approvals, Asker};
use crate::approver::{CallbackApprover, ScriptedApprover};
use crate::asks::AskLimits;
use crate::session::Session;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Waker;
use std::time::Duration;
use tokio::sync::Notify;
use tokio::task::{JoinHandle, yield_now};
use tokio::time::{Instant, timeout};
use toolkit_core::ask::{Ask, DeniedBy, Origin, Put};

fn asker(agent: &str) -> Asker {
    Asker {
        tool: "edit".to_owned(),
        source: "fixture".to_owned(),
        agent: Some(agent.to_owned()),
        channel: None,
        conversation: None,
        sender: None,
        sandboxed: false,
        delegated_by: Vec::new(),
    }
}

fn memory() -> Memory {
    Memory::new(asker("ada"), Session::unnamed(), Approvals::default(), Path::new("."))
}

fn ask() -> Ask {
    Ask::new("edit", "write").with_pattern("a").with_text("x", "1")
}

fn with(change: impl FnOnce(&mut Ask)) -> Ask {
    let mut ask = ask();
    change(&mut ask);
    ask
}

fn put(ask: Ask) -> Put {
    Put::remembered(Origin::new("call", "edit"), Question::Approve(ask), None)
}

/// An approver that waits before it answers, counts its questions, and tracks if its question is shown.
#[derive(Clone, Default)]
struct Slow {
    asked: Arc<AtomicUsize>,
    shown: Arc<AtomicUsize>,
}

struct Shown(Arc<AtomicUsize>);

impl Drop for Shown {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Slow {
    fn answering(&self, answer: Answer) -> Arc<dyn Approver> {
        let this = self.clone();
        Arc::new(CallbackApprover::from_async(move |_| {
            this.asked.fetch_add(1, Ordering::SeqCst);
            this.shown.fetch_add(1, Ordering::SeqCst);
            let (shown, answer) = (Shown(Arc::clone(&this.shown)), answer.clone());
            async move {
                for _ in 0..3 {
                    yield_now().await;
                }
                drop(shown);
                answer
            }
        }))
    }

    fn counts(&self) -> (usize, usize) {
        (self.asked.load(Ordering::SeqCst), self.shown.load(Ordering::SeqCst))
    }
}

fn poll(joined: &mut Joined) -> Option<Answer> {
    match Pin::new(joined).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(reply) => Some(reply.answer),
        Poll::Pending => None,
    }
}

fn join(asks: &Asks, approver: &Arc<dyn Approver>, memory: &Memory, ask: Ask) -> Joined {
    let Ok(joined) = asks.ask_together(Arc::clone(approver), asks.pending(put(ask)).unwrap(), None, memory)
    else {
        panic!("refused")
    };
    joined
}

#[track_caller]
fn expect_nothing_left(asks: &Asks) {
    let state = asks.lock();
    assert_eq!((state.pending.len(), state.joined), (0, 0));
}

/// Three calls, polled in turn; some are dropped before some poll. The remaining ones get the answer, which was given
/// once.
#[tokio::test]
async fn whoever_is_dropped_at_any_poll_the_others_have_the_answer() {
    for answer in [Answer::allow(), Answer::deny_saying("no"), Answer::allow_for_session()] {
        for dropped in 0..8_usize {
            for at in 0..14 {
                let (asks, slow, memory) = (Asks::default(), Slow::default(), memory());
                let approver = slow.answering(answer.clone());
                let mut waiting: Vec<Option<Joined>> =
                    (0..3).map(|_| Some(join(&asks, &approver, &memory, ask()))).collect();
                assert_eq!((asks.list(None).len(), asks.lock().joined), (1, 2));
                let mut answers = vec![None; 3];
                for turn in 0..60 {
                    if turn == at {
                        for (place, joined) in waiting.iter_mut().enumerate() {
                            if dropped & (1 << place) != 0 {
                                *joined = None;
                            }
                        }
                        if dropped == 7 {
                            expect_nothing_left(&asks);
                            assert_eq!(slow.counts().1, 0, "the question is off the screen");
                        }
                    }
                    let place = turn % 3;
                    if let Some(joined) = &mut waiting[place]
                        && let Some(answer) = poll(joined)
                    {
                        answers[place] = Some(answer);
                        waiting[place] = None;
                    }
                }
                for (place, given) in answers.into_iter().enumerate() {
                    if dropped & (1 << place) == 0 {
                        assert_eq!(given.as_ref(), Some(&answer), "{dropped:03b} at {at}");
                    }
                }
                assert!(slow.counts().0 <= 1 && slow.counts().1 == 0, "{dropped:03b} at {at}");
                expect_nothing_left(&asks);
            }
        }
    }
}

/// A task that is woken but no longer polls the question does not keep the others from it.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn who_is_not_polled_any_more_is_not_waited_for() {
    for _ in 0..50 {
        let (asks, memory) = (Asks::default(), memory());
        let nobody: Arc<dyn Approver> = Arc::new(CallbackApprover::new(|_| None));
        let mut idle: Vec<Joined> = (0..3).map(|_| join(&asks, &nobody, &memory, ask())).collect();
        let other = tokio::spawn(join(&asks, &nobody, &memory, ask()));
        let runtime = tokio::runtime::Handle::current();
        let polled = std::thread::spawn(move || {
            let _runtime = runtime.enter();
            for joined in &mut idle {
                assert_eq!(poll(joined), None);
            }
            idle
        });
        let id = asks.list(None)[0].id().to_owned();
        let idle = polled.join().unwrap();
        asks.answer(&id, Answer::deny()).unwrap();
        let answer = timeout(Duration::from_secs(20), other).await.expect("it is never woken").unwrap();
        assert_eq!(answer, Answer::deny().into());
        drop(idle);
        expect_nothing_left(&asks);
    }
}

/// In tasks that are polled only when woken.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn who_remains_is_woken() {
    for round in 0..200_usize {
        let (asks, memory, notify) = (Asks::default(), memory(), Arc::new(Notify::new()));
        let approver: Arc<dyn Approver> = Arc::new(CallbackApprover::from_async({
            let notify = Arc::clone(&notify);
            move |_| {
                let notify = Arc::clone(&notify);
                async move {
                    notify.notified().await;
                    Answer::allow()
                }
            }
        }));
        let tasks: Vec<_> = (0..4).map(|_| tokio::spawn(join(&asks, &approver, &memory, ask()))).collect();
        if round % 2 == 0 {
            yield_now().await;
        }
        let id = asks.list(None)[0].id().to_owned();
        // The first task polled the question; aborting it must not lose the answer.
        tasks[0].abort();
        tasks[round % 3].abort();
        if round % 4 < 2 {
            notify.notify_one();
        } else {
            asks.answer(&id, Answer::allow()).unwrap();
        }
        for (place, task) in tasks.into_iter().enumerate() {
            let done = timeout(Duration::from_secs(20), task).await.expect("it is never woken");
            match done {
                Ok(answer) => assert_eq!(answer, Answer::allow().into()),
                Err(error) => assert!(error.is_cancelled() && (place == 0 || place == round % 3)),
            }
        }
        expect_nothing_left(&asks);
    }
}

#[tokio::test]
async fn only_the_same_of_the_same_is_asked_once() {
    let (slow, ours) = (Slow::default(), memory());
    let approver = slow.answering(Answer::allow());
    let session = Session::unnamed();
    let of = |agent: &str, session: &Arc<Session>| {
        Memory::new(asker(agent), Arc::clone(session), Approvals::default(), Path::new("."))
    };
    let one = of("ada", &session);
    for (what, memory, other, expected) in [
        ("the same", one.clone(), ask(), 1),
        ("made again", of("ada", &session), ask(), 1),
        ("what the model says of it", one.clone(), ask().with_claim("harmless"), 1),
        ("another agent", of("kid", &session), ask(), 2),
        ("another session", ours, ask(), 2),
        ("another kind", one.clone(), with(|ask| ask.kind = "exec".to_owned()), 2),
        ("another title", one.clone(), with(|ask| ask.title = "Write".to_owned()), 2),
        ("another pattern", one.clone(), ask().with_pattern("b"), 2),
        ("another detail", one.clone(), ask().with_text("x", "1"), 2),
        ("raised", one.clone(), ask().raised(), 2),
        ("once only", one.clone(), ask().once_only(), 2),
    ] {
        let asks = Asks::default();
        let first = join(&asks, &approver, &one, ask());
        let second = join(&asks, &approver, &memory, other);
        assert_eq!(asks.list(None).len(), expected, "{what}");
        assert_eq!(first.ask().id() == second.ask().id(), expected == 1, "{what}");
    }
}

/// A call is dropped after the answer was given and before it is delivered.
#[tokio::test]
async fn who_comes_after_the_answer_asks_anew_unless_it_lasts() {
    for (answer, expected) in
        [(Answer::allow(), 2), (Answer::deny(), 2), (Answer::Cancelled, 2), (Answer::allow_for_session(), 1)]
    {
        let (asks, slow, memory) = (Asks::default(), Slow::default(), memory());
        let approver = slow.answering(Answer::deny());
        let mut first = join(&asks, &approver, &memory, ask());
        assert_eq!(poll(&mut first), None);
        let id = first.ask().id().to_owned();
        asks.answer(&id, answer.clone()).unwrap();
        let mut late = join(&asks, &approver, &memory, ask());
        assert_eq!(late.ask().id() == id, expected == 1, "{answer:?}");
        assert_eq!(poll(&mut first), Some(answer.clone()));
        drop(first);
        match expected {
            1 => {
                assert_eq!(poll(&mut late), Some(answer));
                drop(late);
            }
            _ => assert_eq!(late.await, Answer::deny().into()),
        }
        assert_eq!(slow.counts().0, expected);
        let after = join(&asks, &approver, &memory, ask()).await;
        assert_eq!(after, if expected == 1 { Answer::allow().into() } else { Answer::deny().into() });
        assert_eq!(
            slow.counts().0,
            expected + usize::from(expected == 2),
            "what was remembered is not asked"
        );
        expect_nothing_left(&asks);
    }
}

fn nobody() -> Arc<dyn Approver> {
    Arc::new(CallbackApprover::new(|_| None))
}

/// Asks, or joins, with so much time left; returns the answer and when it came.
fn with_time_left(asks: &Asks, memory: &Memory, left: u64) -> JoinHandle<(Answer, u64)> {
    let begun = Instant::now();
    let pending = asks.pending(put(ask())).unwrap();
    let Ok(joined) = asks.ask_together(nobody(), pending, Some(Duration::from_secs(left)), memory) else {
        panic!("refused")
    };
    tokio::spawn(async move { (joined.await.answer, begun.elapsed().as_secs()) })
}

#[tokio::test(start_paused = true)]
async fn each_waits_until_its_own_time_is_over() {
    let too_late = Answer::denied_by(DeniedBy::TimeOut, "no answer within 1 min");
    // Which of them has more time, and which of them came first, does not matter.
    for (first, pause, second) in [(60, 30, 60), (60, 30, 10), (10, 5, 60), (20, 5, 15)] {
        let (asks, memory) = (Asks::with_limits(AskLimits::new().age(Duration::from_mins(1))), memory());
        let one = with_time_left(&asks, &memory, first);
        tokio::time::sleep(Duration::from_secs(pause)).await;
        let other = with_time_left(&asks, &memory, second);
        assert_eq!(asks.list(None).len(), 1);
        assert_eq!(one.await.unwrap(), (too_late.clone(), first), "{first} {second}");
        assert_eq!(other.await.unwrap(), (too_late.clone(), second), "{first} {second}");
        expect_nothing_left(&asks);
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_after_the_time_of_one_of_them_is_for_the_other() {
    let (asks, memory) = (Asks::default(), memory());
    let (one, other) = (with_time_left(&asks, &memory, 10), with_time_left(&asks, &memory, 100));
    assert!(matches!(one.await.unwrap(), (Answer::Deny { by: DeniedBy::TimeOut, .. }, 10)));
    let id = asks.list(None)[0].id().to_owned();
    asks.answer(&id, Answer::allow()).unwrap();
    assert_eq!(other.await.unwrap().0, Answer::allow());
    expect_nothing_left(&asks);
}

#[tokio::test]
async fn a_question_is_listed_until_the_time_of_the_last_of_them() {
    let (asks, memory) = (Asks::default(), memory());
    let first = join(&asks, &nobody(), &memory, ask());
    let later = asks.pending(put(ask())).unwrap();
    let much_later = later.expires_at() + Duration::from_hours(1);
    let later = PendingAsk::new("ask_x".to_owned(), (later.asked_at(), much_later), put(ask()));
    let Ok(second) = asks.ask_together(nobody(), later.clone(), None, &memory) else { panic!("refused") };
    let [listed] = &*asks.list(None) else { panic!("{asks:?}") };
    assert_eq!((listed.id(), listed.expires_at()), (first.ask().id(), later.expires_at()));
    assert_eq!(second.ask(), listed);
    drop((first, second));
    expect_nothing_left(&asks);
}

/// An answer that is accepted while the time of the last of them ends is heard.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn an_answer_that_was_accepted_is_heard() {
    for round in 0..400 {
        let (asks, memory) = (Asks::default(), memory());
        let pending = asks.pending(put(ask())).unwrap();
        let (id, left) = (pending.id().to_owned(), Duration::from_millis(1));
        let Ok(joined) = asks.ask_together(nobody(), pending, Some(left), &memory) else { panic!("refused") };
        let waiting = tokio::spawn(joined);
        let answering = {
            let asks = asks.clone();
            tokio::spawn(async move {
                tokio::time::sleep(Duration::from_millis(1)).await;
                for _ in 0..round % 7 {
                    yield_now().await;
                }
                asks.answer(&id, Answer::allow()).is_ok()
            })
        };
        let (answer, is_accepted) = (waiting.await.unwrap().answer, answering.await.unwrap());
        assert_eq!(answer == Answer::allow(), is_accepted, "{answer:?}");
        expect_nothing_left(&asks);
    }
}

/// The runtime of the first caller has ended, and the other one goes on waiting in its own.
#[test]
fn a_runtime_that_ends_takes_the_question_from_no_other() {
    let runtime = || tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let (asks, memory, first, second) = (Asks::default(), memory(), runtime(), runtime());
    let (one, other) = (join(&asks, &nobody(), &memory, ask()), join(&asks, &nobody(), &memory, ask()));
    let id = one.ask().id().to_owned();
    first.block_on(async {
        let asking = tokio::spawn(one);
        yield_now().await;
        assert!(!asking.is_finished());
    });
    drop(first);
    let answer = second.block_on(async {
        let waiting = tokio::spawn(other);
        yield_now().await;
        asks.answer(&id, Answer::allow()).unwrap();
        timeout(Duration::from_secs(20), waiting).await.expect("it is never woken").unwrap()
    });
    assert_eq!(answer.answer, Answer::allow());
    expect_nothing_left(&asks);
}

/// The timer of the question was made in a runtime that has ended.
#[test]
fn a_question_is_denied_whose_own_runtime_has_ended() {
    let runtime = || tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let (asks, memory, first, second) = (Asks::default(), memory(), runtime(), runtime());
    let mut asking = join(&asks, &nobody(), &memory, ask());
    first.block_on(async { assert_eq!(poll(&mut asking), None) });
    drop(first);
    let reply = second.block_on(async { timeout(Duration::from_secs(20), &mut asking).await });
    let answer = reply.map(|reply| reply.answer);
    let Ok(Answer::Deny { by: DeniedBy::Fault, .. }) = answer else { panic!("{answer:?}") };
    drop(asking);
    expect_nothing_left(&asks);
}

#[tokio::test]
async fn those_who_join_count_and_are_bounded() {
    let (asks, memory) = (Asks::with_limits(AskLimits::new().count(3)), memory());
    let nobody: Arc<dyn Approver> = Arc::new(CallbackApprover::new(|_| None));
    let mut waiting: Vec<Joined> = (0..3).map(|_| join(&asks, &nobody, &memory, ask())).collect();
    for other in [ask(), ask().with_pattern("b")] {
        let refused =
            asks.ask_together(Arc::clone(&nobody), asks.pending(put(other)).unwrap(), None, &memory).err();
        let Some(Answer::Deny { by: DeniedBy::Limit, .. }) = refused else { panic!("{refused:?}") };
    }
    waiting.remove(0);
    assert_eq!(asks.list(None).len(), 1, "the others still ask");
    // The first caller counts as waiting as long as its question exists.
    waiting.remove(0);
    waiting.push(join(&asks, &nobody, &memory, ask()));
    drop(waiting);
    expect_nothing_left(&asks);
}

#[tokio::test]
async fn an_approver_that_fails_denies_all_of_them() {
    let (asks, memory) = (Asks::default(), memory());
    let panics: Arc<dyn Approver> = Arc::new(CallbackApprover::from_async(|_| async {
        yield_now().await;
        panic!("on purpose");
        #[expect(unreachable_code, reason = "it gives the type")]
        Answer::allow()
    }));
    let (one, other) = (join(&asks, &panics, &memory, ask()), join(&asks, &panics, &memory, ask()));
    for answer in [one.await, other.await] {
        let Answer::Deny { by: DeniedBy::Fault, .. } = answer.answer else { panic!("{answer:?}") };
    }
    // The next caller is asked again.
    let allows: Arc<dyn Approver> = Arc::new(ScriptedApprover::always(Answer::allow()));
    assert_eq!(join(&asks, &allows, &memory, ask()).await, Answer::allow().into());
    expect_nothing_left(&asks);
}

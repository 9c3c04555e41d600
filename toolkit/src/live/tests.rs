//! Tests giving away and getting back resources, one step at a time. Turn-taking of whole calls is tested in
//! `tests/turns.rs` and `tests/aside.rs`.

use super::*;
use std::pin::pin;
use std::sync::atomic::AtomicUsize;
use std::task::Wake;

const NOTHING: Given = Given { pass: false, place: false };
const PASS: Given = Given { pass: true, place: false };
const PLACE: Given = Given { pass: false, place: true };
const BOTH: Given = Given { pass: true, place: true };

/// A waker that counts how often it is woken.
#[derive(Default)]
struct Woken(AtomicUsize);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

impl Woken {
    fn new() -> (Arc<Self>, Waker) {
        let woken = Arc::new(Self::default());
        (Arc::clone(&woken), woken.into())
    }

    /// Returns how often it was woken since the last call of this method.
    fn take(&self) -> usize {
        self.0.swap(0, Ordering::Relaxed)
    }
}

fn live() -> Arc<Live> {
    Arc::new(Live::new(CancellationToken::new(), None))
}

fn with(absence: Absence) -> Arc<Live> {
    Arc::new(Live { absence: Mutex::new(absence), ..Live::new(CancellationToken::new(), None) })
}

#[test]
fn calls_within_a_call_are_counted_from_one_and_share_a_gate() {
    let live = live();
    assert_eq!([live.next_child(), live.next_child(), live.next_child()], [1, 2, 3]);
    assert!(std::ptr::eq(live.children(), live.children()));
}

#[test]
fn what_was_given_away_comes_back_once_somebody_needs_it() {
    for (aside, calling, returning, idle, given, duty) in [
        (0, 0, 0, false, NOTHING, Duty::None),
        (1, 0, 0, true, NOTHING, Duty::None),
        (1, 0, 1, false, NOTHING, Duty::None),
        (1, 0, 0, true, BOTH, Duty::None),
        (0, 1, 0, false, PLACE, Duty::None),
        (1, 1, 0, true, BOTH, Duty::None),
        // There are no waits, and none ended: every wait was dropped.
        (0, 0, 0, false, BOTH, Duty::RestoreFirst),
        (0, 0, 0, false, PASS, Duty::RestoreFirst),
        (0, 0, 0, false, PLACE, Duty::RestoreFirst),
        (0, 0, 1, false, BOTH, Duty::Restore),
        (1, 0, 1, false, PASS, Duty::Restore),
        (0, 1, 1, false, PLACE, Duty::Restore),
        // A call that it made goes on, and needs the passes of all above it.
        (0, 1, 0, false, PASS, Duty::Restore),
        (1, 1, 0, false, BOTH, Duty::Restore),
    ] {
        let live = with(Absence { aside, calling, idle, returning, given, ..Absence::default() });
        assert_eq!(live.duty(), duty, "{aside} {calling} {returning} {idle} {given:?}");
    }
}

#[test]
fn a_place_that_another_call_may_have_is_not_missed() {
    for (calling, given, missing) in [
        (0, NOTHING, NOTHING),
        (0, PASS, PASS),
        (0, PLACE, PLACE),
        (0, BOTH, BOTH),
        (1, BOTH, PASS),
        (2, PLACE, NOTHING),
        (1, NOTHING, NOTHING),
    ] {
        let live = with(Absence { calling, given, ..Absence::default() });
        assert_eq!(live.missing(&mut Context::from_waker(Waker::noop())), missing, "{calling} {given:?}");
    }
}

#[test]
fn only_what_is_wanted_and_there_is_given_away() {
    for (wanted, has, before, gives, after) in [
        (BOTH, BOTH, NOTHING, BOTH, BOTH),
        // No call that waits for the pass has a place.
        (PASS, BOTH, NOTHING, BOTH, BOTH),
        (PLACE, BOTH, NOTHING, PLACE, PLACE),
        (BOTH, PASS, NOTHING, PASS, PASS),
        (BOTH, PLACE, NOTHING, PLACE, PLACE),
        (BOTH, NOTHING, NOTHING, NOTHING, NOTHING),
        (NOTHING, BOTH, NOTHING, NOTHING, NOTHING),
        (PASS, PLACE, NOTHING, NOTHING, NOTHING),
        (PASS, PASS, PLACE, PASS, BOTH),
        (PLACE, PLACE, PASS, PLACE, BOTH),
        (NOTHING, BOTH, BOTH, NOTHING, BOTH),
    ] {
        let live = with(Absence { wanted, given: before, ..Absence::default() });
        assert_eq!(live.take_wanted(has), gives, "{wanted:?} of {has:?}");
        assert_eq!(live.lock().given, after, "{wanted:?} of {has:?}, {before:?} before");
        assert_eq!(live.take_wanted(BOTH), NOTHING, "it was asked for once");
    }
}

#[test]
fn what_is_back_is_no_longer_given_away() {
    for (given, back, left) in [
        (BOTH, BOTH, NOTHING),
        (BOTH, PASS, PLACE),
        (BOTH, PLACE, PASS),
        (BOTH, NOTHING, BOTH),
        (PASS, BOTH, NOTHING),
        (NOTHING, BOTH, NOTHING),
        (NOTHING, NOTHING, NOTHING),
    ] {
        let (woken, waker) = Woken::new();
        let live = with(Absence { given, returners: vec![waker], ..Absence::default() });
        live.restored(back);
        assert_eq!(live.lock().given, left, "{given:?} {back:?}");
        assert_eq!(woken.take(), 1, "whoever waits for it looks again");
    }
}

#[derive(Debug, Clone, Copy)]
enum Step {
    /// The function asks a person, or makes a call.
    Leaves(Reason),
    /// A call made by this call becomes idle, or active.
    Idles(bool),
    /// The runner gives away the wanted resources.
    Gives,
    /// A question or a call is over.
    Ends(Reason),
}

#[test]
fn what_is_asked_for_follows_from_who_is_away() {
    use Reason::{Aside, Calling};
    use Step::{Ends, Gives, Idles, Leaves};
    let table: &[(&[Step], (u32, u32), Given)] = &[
        (&[Leaves(Aside)], (1, 0), BOTH),
        (&[Leaves(Calling)], (0, 1), PLACE),
        (&[Leaves(Aside), Leaves(Aside)], (2, 0), BOTH),
        (&[Leaves(Calling), Leaves(Calling)], (0, 2), PLACE),
        // The call still needs the pass.
        (&[Leaves(Calling), Leaves(Aside)], (1, 1), PLACE),
        (&[Leaves(Aside), Leaves(Calling)], (1, 1), PLACE),
        (&[Leaves(Calling), Idles(true)], (0, 1), BOTH),
        (&[Leaves(Calling), Idles(true), Idles(false)], (0, 1), PLACE),
        // The other call still needs the pass.
        (&[Leaves(Calling), Leaves(Calling), Idles(true)], (0, 2), PLACE),
        (&[Leaves(Calling), Leaves(Calling), Idles(true), Idles(true)], (0, 2), BOTH),
        (&[Leaves(Calling), Leaves(Aside), Idles(true)], (1, 1), BOTH),
        (&[Leaves(Calling), Idles(true), Leaves(Calling)], (0, 2), PLACE),
        (&[Leaves(Calling), Idles(true), Leaves(Aside)], (1, 1), BOTH),
        (&[Leaves(Aside), Gives, Leaves(Calling)], (1, 1), PLACE),
        (&[Leaves(Aside), Ends(Aside)], (0, 0), NOTHING),
        (&[Leaves(Calling), Ends(Calling)], (0, 0), NOTHING),
        (&[Leaves(Aside), Gives, Ends(Aside)], (0, 0), NOTHING),
        // After a wait aside the function works, as far as is known.
        (&[Leaves(Aside), Leaves(Aside), Ends(Aside)], (1, 0), PLACE),
        (&[Leaves(Aside), Leaves(Aside), Gives, Ends(Aside)], (1, 0), NOTHING),
        (&[Leaves(Calling), Leaves(Calling), Ends(Calling)], (0, 1), PLACE),
        (&[Leaves(Calling), Leaves(Calling), Gives, Ends(Calling)], (0, 1), NOTHING),
        (&[Leaves(Calling), Leaves(Aside), Ends(Aside)], (0, 1), PLACE),
        // Only the question needs the pass given away now.
        (&[Leaves(Calling), Leaves(Aside), Gives, Ends(Calling)], (1, 0), BOTH),
        (&[Leaves(Calling), Leaves(Calling), Leaves(Aside), Gives, Ends(Calling)], (1, 1), NOTHING),
        // The call that remains is idle.
        (&[Leaves(Calling), Leaves(Calling), Idles(true), Gives, Ends(Calling)], (0, 1), BOTH),
        (&[Leaves(Calling), Leaves(Aside), Idles(true), Ends(Aside)], (0, 1), PLACE),
        // The call that ended was idle.
        (&[Leaves(Calling), Idles(true), Idles(false), Ends(Calling)], (0, 0), NOTHING),
    ];
    for (steps, away, wanted) in table {
        let mut absence = Absence::default();
        for step in *steps {
            absence.news = false;
            match *step {
                Leaves(reason) => drop(absence.leave(reason)),
                Idles(idle) => absence.call_became(idle),
                Gives => {
                    absence.wanted = NOTHING;
                    continue;
                }
                Ends(reason) => {
                    absence.become_active();
                    absence.end(reason, true);
                    if reason == Calling {
                        absence.settle();
                    }
                }
            }
            assert!(absence.news, "{step:?} is news to the runner");
        }
        assert_eq!(((absence.aside, absence.calling), absence.wanted), (*away, *wanted), "{steps:?}");
    }
}

#[test]
fn whoever_comes_back_waits_for_what_it_needs() {
    let mut task = Context::from_waker(Waker::noop());
    for (given, calling, is_back) in [
        (NOTHING, 0, true),
        (PASS, 0, false),
        (PLACE, 0, false),
        (BOTH, 0, false),
        // The other call may be waiting for the place.
        (PLACE, 1, true),
        (PASS, 1, false),
        (BOTH, 1, false),
    ] {
        for over in [false, true] {
            let live = with(Absence { calling, given, over, ..Absence::default() });
            let polled = live.poll_return(&mut task);
            assert_eq!(polled.is_ready(), is_back || over, "{given:?} {calling} {over}");
            assert_eq!(live.lock().returners.len(), usize::from(polled.is_pending()));
        }
    }
}

#[test]
fn a_returner_is_woken_once_however_often_it_looks() {
    let (woken, waker) = Woken::new();
    let (other, other_waker) = Woken::new();
    let live = with(Absence { given: BOTH, ..Absence::default() });
    for waker in [&waker, &waker, &other_waker] {
        assert!(live.poll_return(&mut Context::from_waker(waker)).is_pending());
    }
    live.restored(PASS);
    assert_eq!((woken.take(), other.take()), (1, 1));
    live.restored(PLACE);
    assert_eq!((woken.take(), other.take()), (0, 0), "nobody looked again");
}

#[test]
fn the_runner_hears_of_everybody_who_leaves_and_comes_back() {
    let (woken, waker) = Woken::new();
    let live = live();
    live.set_runner(&waker);
    let away = live.leave(Reason::Aside);
    assert_eq!(woken.take(), 1);
    assert_eq!(live.take_wanted(BOTH), BOTH);
    live.restored(NOTHING);
    assert_eq!(woken.take(), 0, "nothing came back that the runner does not know of");
    let mut coming = pin!(away.come_back());
    let mut task = Context::from_waker(Waker::noop());
    assert!(coming.as_mut().poll(&mut task).is_pending());
    assert_eq!(woken.take(), 1);
    assert_eq!((live.duty(), live.lock().returning), (Duty::Restore, 1));
    live.restored(BOTH);
    woken.take();
    assert!(coming.as_mut().poll(&mut task).is_ready());
    assert_eq!(woken.take(), 1);
    assert_eq!((live.duty(), live.lock().returning), (Duty::None, 0));
}

#[test]
fn the_runner_that_polls_last_is_woken() {
    let live = live();
    let ((first, first_waker), (second, second_waker)) = (Woken::new(), Woken::new());
    live.set_runner(&first_waker);
    live.set_runner(&second_waker);
    drop(live.leave(Reason::Calling));
    assert_eq!((first.take(), second.take()), (0, 2));
    live.stopped(&first_waker);
    drop(live.leave(Reason::Calling));
    assert_eq!((first.take(), second.take()), (2, 0));
}

#[test]
fn a_question_frees_every_call_above_and_a_call_does_not() {
    let (top, top_waker) = Woken::new();
    let grandparent = live();
    grandparent.set_runner(&top_waker);
    let [parent, child] = below(&grandparent);
    let _calls = [grandparent.leave(Reason::Calling), parent.leave(Reason::Calling)];
    top.take();
    let idle = || [&grandparent, &parent, &child].map(|live| live.lock().idle);
    let stands = || [&grandparent, &parent, &child].map(|live| live.lock().stopped_at.is_some());
    let calling = child.leave(Reason::Calling);
    assert_eq!((idle(), stands()), ([false; 3], [false; 3]));
    drop(calling);
    assert_eq!(top.take(), 0);
    let aside = child.leave(Reason::Aside);
    assert_eq!((idle(), stands()), ([true; 3], [true; 3]));
    assert_eq!([&grandparent, &parent, &child].map(|live| live.lock().wanted), [BOTH; 3]);
    assert!(top.take() > 0);
    drop(aside);
    // It was given up: the last call goes on once it has looked whether all is back.
    assert_eq!((idle(), stands()), ([false; 3], [false, false, true]));
    assert!(top.take() > 0 && child.duty() == Duty::RestoreFirst);
    assert!(!child.waits_above(&mut Context::from_waker(Waker::noop())));
    assert_eq!((child.duty(), stands()), (Duty::None, [false; 3]));
}

/// Ends a wait for which nothing was given away.
fn ends(away: Away) {
    let mut task = Context::from_waker(Waker::noop());
    assert!(pin!(away.come_back()).poll(&mut task).is_ready());
}

/// Returns a call that the first one made, and a call that this one made.
fn below(first: &Arc<Live>) -> [Arc<Live>; 2] {
    let below = |live: &Arc<Live>| Arc::new(Live::new(CancellationToken::new(), Some(Arc::clone(live))));
    let second = below(first);
    let third = below(&second);
    [second, third]
}

#[test]
fn a_call_is_idle_once_each_call_that_it_made_is() {
    let top = live();
    let children = [(); 3].map(|()| Arc::new(Live::new(CancellationToken::new(), Some(Arc::clone(&top)))));
    let mut calls: Vec<_> = children.iter().map(|_| top.leave(Reason::Calling)).collect();
    let [first, second, third] = children;
    let mut waits = [&first, &first, &second].map(|live| Some(live.leave(Reason::Aside)));
    assert!(!top.lock().idle, "the third call works");
    third.end();
    ends(calls.pop().unwrap());
    assert!(top.lock().idle && top.lock().wanted == BOTH);
    ends(waits[0].take().unwrap());
    assert!(!top.lock().idle && !top.lock().wanted.pass, "the first call works");
    waits[0] = Some(first.leave(Reason::Aside));
    assert!(top.lock().idle, "the first call only waits");
    drop(waits[1].take());
    assert!(!top.lock().idle, "the first call gave a wait up and works, though another one goes on");
    first.end();
    ends(calls.pop().unwrap());
    assert!(top.lock().idle);
    second.end();
    assert!(!top.lock().idle);
    waits[0].take();
    waits[2].take();
    ends(calls.pop().unwrap());
    let absence = top.lock();
    assert_eq!((absence.calling, absence.idle_calls, absence.idle, absence.gave_up), (0, 0, false, false));
}

#[test]
fn a_call_whose_wait_is_over_goes_on_once_every_pass_above_is_back() {
    let mut task = Context::from_waker(Waker::noop());
    let (woken, waker) = Woken::new();
    let top = live();
    let [middle, last] = below(&top);
    let _calls = [top.leave(Reason::Calling), middle.leave(Reason::Calling)];
    for is_dropped in [false, true] {
        let aside = last.leave(Reason::Aside);
        for live in [&top, &middle, &last] {
            assert!(live.take_wanted(BOTH).pass);
        }
        let mut coming = if is_dropped {
            drop(aside);
            None
        } else {
            Some(Box::pin(aside.come_back()))
        };
        let mut waits = |live: &Arc<Live>, task: &mut Context<'_>| match &mut coming {
            Some(coming) => coming.as_mut().poll(task).is_pending(),
            None => live.waits_above(task),
        };
        assert!(waits(&last, &mut task));
        for live in [&last, &top] {
            assert_ne!(live.duty(), Duty::None);
            live.restored(BOTH);
            assert!(waits(&last, &mut Context::from_waker(&waker)), "the middle pass is not back");
        }
        assert_eq!(middle.duty(), Duty::Restore);
        woken.take();
        middle.restored(BOTH);
        assert_eq!(woken.take(), 1);
        assert!(!waits(&last, &mut task));
    }
}

#[test]
fn whoever_waits_for_a_place_looks_again_when_a_call_may_have_it() {
    let (woken, waker) = Woken::new();
    let live = with(Absence { given: PLACE, ..Absence::default() });
    let mut task = Context::from_waker(&waker);
    assert!(live.poll_return(&mut task).is_pending());
    let aside = live.leave(Reason::Aside);
    assert_eq!(woken.take(), 0);
    drop(aside);
    let _calling = live.leave(Reason::Calling);
    assert_eq!(woken.take(), 1);
    assert!(live.poll_return(&mut task).is_ready());
}

#[test]
fn a_call_that_gave_its_wait_up_does_not_go_on_without_a_pass_that_the_runner_did_not_see() {
    let (woken, waker) = Woken::new();
    let live = live();
    let aside = live.leave(Reason::Aside);
    assert_eq!(live.take_wanted(BOTH), BOTH);
    drop(aside);
    for back in [PLACE, PASS] {
        assert!(live.waits_above(&mut Context::from_waker(&waker)));
        assert_eq!((woken.take(), live.duty()), (1, Duty::RestoreFirst), "the runner looks again");
        live.restored(back);
    }
    assert!(!live.waits_above(&mut Context::from_waker(&waker)));
    assert_eq!((woken.take(), live.duty()), (0, Duty::None));
}

#[test]
fn a_call_that_is_made_waits_until_every_pass_is_back() {
    let mut task = Context::from_waker(Waker::noop());
    let live = live();
    let aside = live.leave(Reason::Aside);
    let calling = live.leave(Reason::Calling);
    assert!(pin!(calling.has_passes()).poll(&mut task).is_ready(), "none was given away yet");
    assert_eq!(live.take_wanted(BOTH), PLACE, "and it stays");
    drop((calling, aside));

    let top = self::live();
    let [middle, _] = below(&top);
    let (woken, waker) = Woken::new();
    top.set_runner(&waker);
    let _call = top.leave(Reason::Calling);
    let _asking = middle.leave(Reason::Aside);
    assert_eq!([&top, &middle].map(|live| live.take_wanted(PASS)), [PASS; 2]);
    woken.take();
    let calling = middle.leave(Reason::Calling);
    assert_eq!(woken.take(), 1);
    assert_eq!([&top, &middle].map(|live| live.duty()), [Duty::Restore; 2]);
    let mut needs = pin!(calling.has_passes());
    assert!(needs.as_mut().poll(&mut task).is_pending());
    middle.restored(PASS);
    assert!(needs.as_mut().poll(&mut task).is_pending());
    top.restored(PASS);
    assert!(needs.as_mut().poll(&mut task).is_ready());
}

#[test]
fn nobody_waits_for_a_call_that_is_over() {
    let (woken, waker) = Woken::new();
    let live = with(Absence { given: BOTH, ..Absence::default() });
    let mut task = Context::from_waker(&waker);
    assert!(live.poll_return(&mut task).is_pending());
    assert!(!live.is_over() && !live.token.is_cancelled());
    live.end();
    assert_eq!(woken.take(), 1);
    assert!(live.is_over() && live.token.is_cancelled());
    assert!(live.poll_return(&mut task).is_ready());
}

#[tokio::test(start_paused = true)]
async fn the_clock_stands_still_from_a_question_until_the_pass_is_back() {
    let seconds = |seconds| tokio::time::advance(Duration::from_secs(seconds));
    let (woken, waker) = Woken::new();
    let live = live();
    let stopped = |live: &Live| {
        let (length, is_stopped) = live.stopped(&waker);
        (length.as_secs(), is_stopped)
    };
    assert_eq!(stopped(&live), (0, false));
    let calling = live.leave(Reason::Calling);
    seconds(1).await;
    assert_eq!(stopped(&live), (0, false), "a call is the tool's own time");
    ends(calling);

    let aside = live.leave(Reason::Aside);
    seconds(2).await;
    let second = live.leave(Reason::Aside);
    seconds(2).await;
    assert_eq!(stopped(&live), (0, true));
    ends(second);
    assert_eq!(stopped(&live), (4, false), "it works, as far as is known");
    ends(aside);
    assert_eq!(stopped(&live), (4, false));

    let aside = live.leave(Reason::Aside);
    live.take_wanted(BOTH);
    seconds(8).await;
    drop(aside);
    seconds(16).await;
    assert_eq!(stopped(&live), (4, true), "it waits for the pass");
    live.restored(PLACE);
    assert_eq!(stopped(&live), (4, true));
    woken.take();
    live.restored(PASS);
    assert_eq!(stopped(&live), (4, true), "it looks whether those above are back");
    assert!(!live.waits_above(&mut Context::from_waker(Waker::noop())));
    assert_eq!(woken.take(), 1, "its timer goes on");
    assert_eq!(stopped(&live), (28, false));
    live.restored(BOTH);
    assert_eq!((woken.take(), stopped(&live)), (0, (28, false)));
}

#[test]
fn what_is_told_adds_up() {
    let live = live();
    live.tell(|told| told.title = Some("a".into()));
    live.tell(|told| drop(told.metadata.insert("b".into(), 1.into())));
    let told = live.told();
    assert_eq!((told.title.as_deref(), &told.metadata["b"]), (Some("a"), &Value::from(1)));
}

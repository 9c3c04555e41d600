//! The list of pending questions, and the waiting for their answers.

use super::*;
use crate::approver::{Answering, Approver, CallbackApprover, NoApprover, ScriptedApprover};
use serde_json::{Value, json};
use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Waker};
use tokio::task::JoinHandle;
use toolkit_core::ask::{Ask, Elicitation, Origin};
use toolkit_core::error::ToolErrorKind;

fn origin(session: &str) -> Origin {
    Origin::new("call", "tool").with_session(session)
}

fn permission(title: &str) -> Question {
    Question::Approve(Ask::new("edit", title))
}

fn port() -> Elicitation {
    let schema = json!({
        "type": "object",
        "properties": {"port": {"type": "integer", "maximum": 10}},
        "required": ["port"],
        "additionalProperties": false,
    });
    Elicitation::new("which port?", schema).unwrap()
}

/// Returns an approver that leaves the answer to others.
fn elsewhere() -> CallbackApprover {
    CallbackApprover::new(|_| None)
}

fn spawn(asks: &Asks, approver: impl Approver, question: Question) -> JoinHandle<Answer> {
    let asks = asks.clone();
    tokio::spawn(async move { asks.ask(&approver, origin("s"), question).await })
}

/// Waits for the only question, and returns it.
async fn only(asks: &Asks) -> PendingAsk {
    loop {
        if let [ask] = asks.list(None).as_slice() {
            return ask.clone();
        }
        tokio::task::yield_now().await;
    }
}

fn by(answer: &Answer) -> DeniedBy {
    let Answer::Deny { by, .. } = answer else { panic!("{answer:?}") };
    *by
}

#[tokio::test]
async fn an_approver_answers() {
    let asks = Asks::default();
    for (approver, expected) in [
        (Box::new(CallbackApprover::new(|_| Answer::allow())) as Box<dyn Approver>, Ok(())),
        (Box::new(CallbackApprover::from_async(|_| async { Answer::allow() })), Ok(())),
        (
            Box::new(CallbackApprover::from_async(|ask: PendingAsk| async move {
                tokio::task::yield_now().await;
                Answer::deny_saying(ask.origin().tool.clone())
            })),
            Err("denied it and replied: tool\n"),
        ),
        (Box::new(ScriptedApprover::always(Answer::allow())), Ok(())),
        (Box::new(ScriptedApprover::new([Answer::deny()])), Err("the person denied it")),
        (Box::new(ScriptedApprover::new([])), Err("the script of answers ended before question 1")),
        (
            Box::new(NoApprover),
            Err("(`toolkit::AllowAll` during development), or allow it with the setting `permission.edit`"),
        ),
        (Box::new(CallbackApprover::new(|_| Answer::value(1))), Err("the approver gave an invalid answer")),
        (
            Box::new(CallbackApprover::new(|_| -> Answer { panic!("on purpose") })),
            Err("stopped on an internal error"),
        ),
        (
            Box::new(CallbackApprover::from_async(|_| async {
                tokio::task::yield_now().await;
                panic!("on purpose");
                #[expect(unreachable_code, reason = "it gives the type")]
                Answer::allow()
            })),
            Err("stopped on an internal error"),
        ),
    ] {
        let outcome = asks.approve(&approver, origin("s"), Ask::new("edit", "x")).await;
        match (outcome, expected) {
            (Ok(()), Ok(())) => {}
            (Err(error), Err(expected)) => {
                assert_eq!(error.kind(), ToolErrorKind::Denied);
                assert!(error.message().to_lowercase().contains(&expected.to_lowercase()), "{error}");
            }
            other => panic!("{other:?}"),
        }
        assert_eq!((asks.list(None), asks.lock().bytes), (Vec::new(), 0));
    }
}

#[tokio::test]
async fn a_script_is_followed_and_remembers() {
    let script = ScriptedApprover::new([Answer::allow(), Answer::deny()])
        .with_rule(|ask| matches!(ask.question(), Question::Elicit(_)), Answer::Declined);
    let asks = Asks::default();
    assert_eq!(asks.ask(&script, origin("s"), permission("a")).await, Answer::allow());
    assert_eq!(asks.ask(&script, origin("s"), Question::Elicit(port())).await, Answer::Declined);
    assert_eq!(asks.ask(&script.clone(), origin("s"), permission("b")).await, Answer::deny());
    let questions: Vec<Question> = script.asked().iter().map(|ask| ask.question().clone()).collect();
    assert_eq!(questions, [permission("a"), Question::Elicit(port()), permission("b")]);
    assert_eq!(script.remaining(), 0);
}

#[tokio::test]
async fn a_value_must_fit() {
    let fits = Answer::value(json!({"port": 1}));
    let wrong = || Answer::value(json!({"port": 11}));
    for (script, expected, times) in [
        (vec![fits.clone()], Ok(Some(json!({"port": 1}))), 1),
        (vec![Answer::value(json!({"port": 2.0}))], Ok(Some(json!({"port": 2}))), 1),
        (vec![wrong(), wrong(), fits.clone()], Ok(Some(json!({"port": 1}))), 3),
        (
            vec![wrong(), wrong(), wrong(), fits.clone()],
            Err("3 answers in a row did not fit, the last one: /port"),
            3,
        ),
        (vec![wrong(), Answer::Declined], Ok(None), 2),
        (vec![Answer::allow()], Err("give or decline one"), 1),
    ] {
        let (asks, script) = (Asks::default(), ScriptedApprover::new(script));
        let outcome = asks.elicit(&script, origin("s"), port()).await;
        match (outcome, expected) {
            (Ok(value), Ok(expected)) => assert_eq!(value, expected),
            (Err(error), Err(expected)) => assert!(error.message().contains(expected), "{error}"),
            other => panic!("{other:?}"),
        }
        let asked = script.asked();
        assert_eq!(asked.len(), times);
        assert_eq!(asked[0].problem(), None);
        assert!(asked[1..].iter().all(|again| again.id() == asked[0].id()));
        let problem = "/port: expected an integer of at most 10, got the number 11";
        assert!(asked[1..].iter().all(|again| again.problem() == Some(problem)));
    }
}

#[tokio::test]
async fn an_answer_may_come_from_elsewhere() {
    let asks = Asks::default();
    let task = spawn(&asks, elsewhere(), Question::Elicit(port()));
    let ask = only(&asks).await;
    assert_eq!(asks.get(ask.id()), Some(ask.clone()));
    assert_eq!(asks.list(Some("s")), std::slice::from_ref(&ask));
    assert_eq!(asks.list(Some("other")), []);
    let id = ask.id().to_owned();

    let problem = "/port: expected an integer of at most 10, got the string \"x\"".to_owned();
    assert_eq!(asks.answer(&id, Answer::value(json!({"port": "x"}))), Err(AnswerError::Unfit { problem }));
    assert!(matches!(asks.answer(&id, Answer::allow()), Err(AnswerError::WrongKind { .. })));
    let unknown = AnswerError::Unknown { id: "ask_x".to_owned() };
    assert_eq!(asks.answer("ask_x", Answer::allow()), Err(unknown));
    assert_eq!(asks.answer(&id, Answer::value(json!({"port": 2}))), Ok(()));
    let answered = Err(AnswerError::AlreadyAnswered { id: id.clone() });
    assert_eq!(asks.answer(&id, Answer::Declined), answered);
    assert_eq!(task.await.unwrap(), Answer::value(json!({"port": 2})));
    assert_eq!(asks.answer(&id, Answer::Declined), answered);
    assert_eq!(asks.list(None), []);
}

#[tokio::test]
async fn an_answer_from_elsewhere_ends_the_approvers_own_asking() {
    struct Shows(Arc<AtomicUsize>);
    impl Approver for Shows {
        fn ask<'a>(&'a self, _ask: &'a PendingAsk) -> Answering<'a> {
            struct Shown<'a>(&'a AtomicUsize);
            impl Drop for Shown<'_> {
                fn drop(&mut self) {
                    self.0.fetch_sub(1, Ordering::SeqCst);
                    // The answer is used even if the approver panics in its destructors.
                    std::panic::panic_any("on purpose");
                }
            }
            self.0.fetch_add(1, Ordering::SeqCst);
            let shown = Shown(&self.0);
            Box::pin(async move {
                let _shown = shown;
                std::future::pending().await
            })
        }
    }
    let (asks, shown) = (Asks::default(), Arc::new(AtomicUsize::new(0)));
    let task = spawn(&asks, Shows(Arc::clone(&shown)), permission("x"));
    let ask = only(&asks).await;
    assert_eq!(shown.load(Ordering::SeqCst), 1);
    asks.answer(ask.id(), Answer::allow()).unwrap();
    assert_eq!(task.await.unwrap(), Answer::allow());
    assert_eq!(shown.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn a_dropped_question_is_withdrawn() {
    let asks = Asks::default();
    let task = spawn(&asks, elsewhere(), permission("x"));
    let id = only(&asks).await.id().to_owned();
    task.abort();
    assert!(task.await.unwrap_err().is_cancelled());
    assert_eq!((asks.list(None), asks.lock().bytes), (Vec::new(), 0));
    let error = asks.answer(&id, Answer::allow()).unwrap_err();
    assert_eq!(error, AnswerError::Withdrawn { id });
}

#[tokio::test(start_paused = true)]
async fn a_question_grows_too_old() {
    for (age, expected) in [
        (Duration::from_hours(24), "no answer within 24 h"),
        (Duration::from_secs(90), "no answer within 90 s"),
        (Duration::from_mins(5), "no answer within 5 min"),
    ] {
        let asks = Asks::with_limits(AskLimits { age, ..AskLimits::default() });
        let task = spawn(&asks, elsewhere(), permission("x"));
        let ask = only(&asks).await;
        assert_eq!(ask.expires_at().duration_since(ask.asked_at()).unwrap(), age);
        tokio::time::sleep(age.saturating_sub(Duration::from_secs(1))).await;
        assert_eq!(asks.list(None), std::slice::from_ref(&ask));
        assert_eq!(task.await.unwrap(), Answer::denied_by(DeniedBy::TimeOut, expected));
        let id = ask.id().to_owned();
        assert_eq!(asks.answer(&id, Answer::allow()), Err(AnswerError::Withdrawn { id }));
    }
}

#[tokio::test]
async fn too_many_and_too_large_are_denied() {
    let asks = Asks::with_limits(AskLimits { count: 2, bytes: 10_000, ..AskLimits::default() });
    let large = Question::Approve(Ask::new("edit", "x").with_diff("f", "+".repeat(10_000)));
    let answer = asks.ask(&elsewhere(), origin("s"), large).await;
    assert_eq!(by(&answer), DeniedBy::Limit);
    assert_eq!(asks.lock().bytes, 0);

    let first = spawn(&asks, elsewhere(), permission("1"));
    let id = only(&asks).await.id().to_owned();
    let second = spawn(&asks, elsewhere(), permission("2"));
    while asks.list(None).len() < 2 {
        tokio::task::yield_now().await;
    }
    let answer = asks.ask(&ScriptedApprover::always(Answer::allow()), origin("s"), permission("3")).await;
    assert_eq!(answer, Answer::denied_by(DeniedBy::Limit, "2 questions are already pending"));
    asks.answer(&id, Answer::allow()).unwrap();
    first.await.unwrap();
    let answer = asks.ask(&ScriptedApprover::always(Answer::allow()), origin("s"), permission("3")).await;
    assert_eq!(answer, Answer::allow());
    second.abort();
}

#[test]
fn without_a_runtime_what_has_to_wait_is_denied() {
    let (asks, approver) = (Asks::default(), elsewhere());
    let mut asking = asks.ask(&approver, origin("s"), permission("x"));
    let Poll::Ready(answer) = asking.as_mut().poll(&mut Context::from_waker(Waker::noop())) else { panic!() };
    assert_eq!(by(&answer), DeniedBy::Fault);
    let allowing = ScriptedApprover::always(Answer::allow());
    let mut asking = asks.ask(&allowing, origin("s"), permission("x"));
    let answer = asking.as_mut().poll(&mut Context::from_waker(Waker::noop()));
    assert_eq!(answer, Poll::Ready(Answer::allow()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_many_answers_exactly_one_wins() {
    let asks = Asks::default();
    for _ in 0..200 {
        // The approver answers concurrently too.
        let approver = CallbackApprover::from_async(|_| async {
            tokio::task::yield_now().await;
            Answer::deny_saying("0")
        });
        let task = spawn(&asks, approver, permission("x"));
        let ask = only_or_done(&asks, &task).await;
        let Some(id) = ask.map(|ask| ask.id().to_owned()) else { continue };
        let racers: Vec<_> = (1..=4)
            .map(|racer| {
                let (asks, id) = (asks.clone(), id.clone());
                tokio::spawn(async move { asks.answer(&id, Answer::deny_saying(racer.to_string())).is_ok() })
            })
            .collect();
        let mut winners = Vec::new();
        for (number, racer) in racers.into_iter().enumerate() {
            if racer.await.unwrap() {
                winners.push(number + 1);
            }
        }
        let Answer::Deny { message: Some(winner), .. } = task.await.unwrap() else { panic!() };
        let expected: Vec<usize> = winner.parse().ok().filter(|winner| *winner > 0).into_iter().collect();
        assert_eq!(winners, expected, "{winner}");
    }
}

async fn only_or_done(asks: &Asks, task: &JoinHandle<Answer>) -> Option<PendingAsk> {
    while !task.is_finished() {
        if let Some(ask) = asks.list(None).into_iter().next() {
            return Some(ask);
        }
        tokio::task::yield_now().await;
    }
    None
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn two_thousand_at_once() {
    const COUNT: usize = 2_000;
    let asks = Asks::with_limits(AskLimits { count: COUNT, ..AskLimits::default() });
    let tasks: Vec<_> = (0..COUNT).map(|n| spawn(&asks, elsewhere(), permission(&n.to_string()))).collect();
    while asks.list(None).len() < COUNT {
        tokio::task::yield_now().await;
    }
    let pending = asks.list(None);
    let ids: HashSet<&str> = pending.iter().map(PendingAsk::id).collect();
    assert_eq!(ids.len(), COUNT);
    assert!(
        pending
            .windows(2)
            .all(|pair| pair[0].id() < pair[1].id() && pair[0].asked_at() <= pair[1].asked_at())
    );
    for (number, ask) in pending.iter().enumerate() {
        if number % 2 == 0 {
            let Question::Approve(question) = ask.question() else { panic!() };
            asks.answer(ask.id(), Answer::deny_saying(question.title.clone())).unwrap();
        }
    }
    let dropped: HashSet<String> = pending.iter().skip(1).step_by(2).map(title).collect();
    for (number, task) in tasks.into_iter().enumerate() {
        if dropped.contains(&number.to_string()) {
            task.abort();
        } else {
            assert_eq!(task.await.unwrap(), Answer::deny_saying(number.to_string()));
        }
    }
    while !asks.list(None).is_empty() {
        tokio::task::yield_now().await;
    }
    assert_eq!(asks.lock().bytes, 0);
    assert!(asks.lock().gone.len() <= MAX_REMEMBERED);
}

fn title(ask: &PendingAsk) -> String {
    let Question::Approve(question) = ask.question() else { panic!() };
    question.title.clone()
}

#[test]
fn ids_grow_and_are_not_to_be_guessed() {
    let mut state = State::default();
    let now = SystemTime::now();
    // Ids within one millisecond, and after the clock was set back.
    let ids: Vec<String> = (0..100_000_u64)
        .map(|n| state.next_id(now - Duration::from_millis(n), [u8::try_from(n % 251).unwrap(); 12]))
        .collect();
    assert!(ids.windows(2).all(|pair| pair[0] < pair[1]));
    assert_eq!(ids[0].len(), "ask_".len() + 32);

    let asks = Asks::default();
    let tails: HashSet<String> = (0..1_000)
        .map(|_| {
            let Ok(waiting) = asks.register(Put::once(origin("s"), permission("x"))) else { panic!() };
            waiting.ask.id()["ask_".len() + 13..].to_owned()
        })
        .collect();
    assert_eq!(tails.len(), 1_000);
}

#[test]
fn json_of_a_pending_question_holds_what_a_form_needs() {
    let asks = Asks::default();
    let Ok(waiting) = asks.register(Put::once(origin("s"), Question::Elicit(port()))) else { panic!() };
    let json: Value = serde_json::to_value(&waiting.ask).unwrap();
    assert_eq!(json["question"]["type"], "elicit");
    assert_eq!(json["question"]["schema"]["required"], json!(["port"]));
    assert_eq!(json["id"], waiting.ask.id());
}

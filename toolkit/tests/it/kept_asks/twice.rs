//! Questions that are asked more than once: the second one of a call, one that expires, the same one of two calls.

use super::shop::{Shop, a_boat, caller, make, silent};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, SystemTime};
use tokio::sync::Notify;
use toolkit::approval::{Answer, AskLimits, CallbackApprover, PendingAsk, ScriptedApprover};
use toolkit::prelude::*;

const DAY: Duration = Duration::from_hours(24);

fn trade(one: &str) -> ToolCall {
    ToolCall::new("1", "trade", json!({ "one": one, "other": "it" }))
}

/// Makes a call that has its first question answered, and drops it at the second one. Returns its digest.
async fn dropped_at_the_second(shop: &Shop, one: &str) -> String {
    let asked = Arc::new(Notify::new());
    let approver = {
        let (asked, one) = (Arc::clone(&asked), one.to_owned());
        CallbackApprover::new(move |ask| {
            let is_first = format!("{:?}", ask.question()).contains(&format!("{one:?}"));
            if is_first {
                return Some(Answer::allow());
            }
            asked.notify_one();
            None
        })
    };
    let toolkit = shop.toolkit(&shop.files(), approver);
    tokio::select! {
        result = make(&toolkit, trade(one)) => panic!("{result:?}"),
        () = asked.notified() => {}
    }
    let files = shop.files();
    let open: Vec<String> =
        files.digests().into_iter().filter(|digest| files.kept_answer(digest).is_none()).collect();
    let [digest] = &*open else { panic!("{open:?}") };
    digest.clone()
}

#[tokio::test]
async fn a_call_that_is_dropped_at_its_second_question_is_not_asked_the_first_one_again() {
    let shop = Shop::new();
    let digest = dropped_at_the_second(&shop, "a coin").await;
    assert_eq!(shop.made_again(trade("a coin")).await, 1);
    assert_eq!((shop.done.lines(), shop.files().digests()), (vec!["a coin for it".to_owned()], vec![]));

    assert_eq!(dropped_at_the_second(&shop, "a coin").await, digest);
    shop.files().answer(&digest, &Answer::allow());
    assert_eq!(shop.made_again(trade("a coin")).await, 0);
    assert_eq!((shop.done.lines().len(), shop.files().digests().len()), (2, 0));
}

#[tokio::test]
async fn answers_of_a_call_that_has_acted_decide_nothing() {
    let shop = Shop::new();
    let digest = dropped_at_the_second(&shop, "an end").await;
    shop.files().answer(&digest, &Answer::allow());
    let toolkit = shop.toolkit(&shop.files(), ScriptedApprover::new([]));
    // It acts, and is dropped then.
    tokio::select! {
        result = make(&toolkit, trade("an end")) => panic!("{result:?}"),
        () = async {
            while shop.done.lines().is_empty() {
                tokio::task::yield_now().await;
            }
        } => {}
    }
    assert_eq!(shop.files().digests(), [""; 0]);
}

/// Its first question was answered, and put back while the second one waited; this time, nobody asks it.
#[tokio::test]
async fn an_answer_to_a_question_that_is_not_asked_again_does_not_outlive_the_next_decision() {
    let shop = Shop::new();
    dropped_at_the_second(&shop, "an end").await;
    assert_eq!(shop.files().digests().len(), 2);
    shop.done.skips_first.store(true, Ordering::SeqCst);
    let toolkit = shop.toolkit(&shop.files(), ScriptedApprover::new([Answer::allow()]));
    // It acts, and is dropped then.
    tokio::select! {
        result = make(&toolkit, trade("an end")) => panic!("{result:?}"),
        () = async {
            while shop.done.lines().is_empty() {
                tokio::task::yield_now().await;
            }
        } => {}
    }
    assert_eq!(shop.files().digests(), [""; 0]);
}

#[tokio::test]
async fn a_question_that_is_asked_again_is_as_old_as_before() {
    let shop = Shop::new();
    let digest = shop.dropped_while_it_asks(a_boat()).await;
    let first = shop.files().ask(&digest).unwrap();
    tokio::time::sleep(Duration::from_millis(2)).await;
    let asked = Arc::new(Notify::new());
    let toolkit = shop.toolkit(&shop.files(), silent(&asked));
    let check = async {
        asked.notified().await;
        let again = shop.files().ask(&digest).unwrap();
        assert_eq!((again.asked_at(), again.expires_at()), (first.asked_at(), first.expires_at()));
        let [listed] = &*toolkit.asks().list(None) else { panic!("{:?}", toolkit.asks()) };
        assert_eq!((listed.id(), listed.expires_at()), (again.id(), first.expires_at()));
    };
    tokio::select! {
        result = make(&toolkit, a_boat()) => panic!("{result:?}"),
        () = check => {}
    }
}

#[tokio::test]
async fn an_answer_after_the_time_denies_and_one_in_time_counts_whenever_it_is_read() {
    // The question is a day old; `Some(age)` is how long after it the answer came.
    for (answered, expected) in [
        (Some(Duration::from_hours(23)), "bought a boat"),
        (Some(Duration::from_hours(25)), "no answer within 24 h"),
        (None, "no answer within 24 h"),
    ] {
        let shop = Shop::new();
        let digest = shop.dropped_while_it_asks(a_boat()).await;
        let files = shop.files();
        let asked_at = SystemTime::now() - 2 * DAY;
        let milliseconds =
            |time: SystemTime| time.duration_since(SystemTime::UNIX_EPOCH).unwrap().as_millis();
        let mut row = files.read(&digest).unwrap();
        row["ask"]["askedAt"] = u64::try_from(milliseconds(asked_at)).unwrap().into();
        row["ask"]["expiresAt"] = u64::try_from(milliseconds(asked_at + DAY)).unwrap().into();
        files.write(&digest, &row).unwrap();
        if let Some(age) = answered {
            files.answer_at(&digest, &Answer::allow(), asked_at + age);
        }
        let nobody = Arc::new(ScriptedApprover::new([]));
        let result = make(&shop.toolkit(&files, Arc::clone(&nobody)), a_boat()).await;
        assert!(result.text().contains(expected), "{answered:?}: {}", result.text());
        assert_eq!((nobody.asked().len(), files.digests().len()), (0, 0));
    }
}

#[tokio::test(start_paused = true)]
async fn a_question_that_is_asked_again_expires_when_it_would_have_before() {
    let shop = Shop::new();
    let digest = shop.dropped_while_it_asks(a_boat()).await;
    let asked = Arc::new(Notify::new());
    // It lasts for longer now, but it was asked before.
    let builder = super::shop::builder(shop.files(), Arc::clone(&shop.done), silent(&asked));
    let toolkit = builder.ask_limits(AskLimits::new().age(7 * DAY)).build().unwrap();
    let begun = tokio::time::Instant::now();
    let result = make(&toolkit, a_boat()).await;
    assert!(result.text().contains("no answer within"), "{}", result.text());
    assert!(begun.elapsed() <= DAY, "{:?}", begun.elapsed());
    assert!(!shop.files().digests().contains(&digest));
}

#[tokio::test]
async fn a_question_that_waits_with_another_one_is_kept_with_the_id_that_is_listed() {
    let shop = Shop::new();
    let (files, asked) = (shop.files(), Arc::new(Notify::new()));
    let toolkit = shop.toolkit(&files, silent(&asked));
    let mut events = toolkit.events();
    let toolbox = toolkit.toolbox(&caller()).await;
    let sell = |id: &str| {
        let (toolbox, id) = (toolbox.clone(), id.to_owned());
        let call = ToolCall::new(id, "sell", json!({ "what": "it", "price": 7 }));
        tokio::spawn(async move { toolbox.call(call).await })
    };
    let first = sell("1");
    asked.notified().await;
    let second = sell("2");
    let mut told = 0;
    while told < 2 {
        let event = events.next().await.unwrap();
        told += usize::from(matches!(event.event, toolkit::events::Event::Asked { .. }));
    }
    let [listed] = &*toolkit.asks().list(None) else { panic!("{:?}", toolkit.asks()) };
    let kept: Vec<_> = files.digests().iter().map(|digest| files.ask(digest).unwrap()).collect();
    let ids: Vec<_> = kept.iter().map(PendingAsk::id).collect();
    assert_eq!(ids, [listed.id(), listed.id()]);
    assert_ne!(kept[0].origin().call_id, kept[1].origin().call_id);
    toolkit.asks().answer(listed.id(), Answer::allow()).unwrap();
    assert_eq!(
        (first.await.unwrap().text(), second.await.unwrap().text()),
        ("sold it".into(), "sold it".into())
    );
    assert_eq!(files.digests(), [""; 0]);
}

#[tokio::test]
async fn equal_calls_at_the_same_time_have_a_question_each() {
    let shop = Shop::new();
    let (files, asked) = (shop.files(), Arc::new(Notify::new()));
    let toolkit = shop.toolkit(&files, silent(&asked));
    let toolbox = toolkit.toolbox(&caller()).await;
    let buy = || {
        let toolbox = toolbox.clone();
        tokio::spawn(async move { toolbox.call(a_boat()).await })
    };
    let first = buy();
    asked.notified().await;
    let one = files.digests();
    let second = buy();
    for _ in 0..1_000 {
        tokio::task::yield_now().await;
    }
    assert_eq!(files.digests().len(), 2);
    // The end of the first one takes nothing from the second one.
    files.answer(&one[0], &Answer::deny());
    assert!(first.await.unwrap().is_error());
    let [other] = &*files.digests() else { panic!("{:?}", files.digests()) };
    files.answer(other, &Answer::allow());
    assert_eq!(second.await.unwrap().text(), "bought a boat");
    assert_eq!((files.digests(), shop.done.lines().len()), (vec![], 1));
}

//! The meter: reservations, budgets, failures, and counts that survive the process.

use crate::clients::{Wire, ask as answer_of};
use crate::failures::{hello, server};
use crate::servers::{Reply, Said};
use proptest::prelude::*;
use serde_json::json;
use std::sync::{Arc, Mutex};
use toolkit::CancellationToken;
use toolkit_models::{
    Account, AccountPeriod, Answer, AssistantMessage, Budget, Fallback, Measure, Message, Meter, MeterCounts,
    MeterError, MeterStore, Model, ModelError, ModelEvent, OpenRequest, Opening, Price, Request, Scope,
    Scripted, ScriptedReply, SettledRequest, Thinking, TotalUsage, Usage,
};

fn agent() -> Account {
    Account::agent("main")
}

fn scope() -> Scope {
    Scope::new().with(agent()).with(Account::session("s"))
}

fn question() -> Request {
    Request::new([Message::user("What is it?")]).max_tokens(100)
}

async fn ask(meter: &Meter, model: &dyn Model) -> Result<Answer, ModelError> {
    meter.respond(&scope(), model, &question(), Some(50), &mut |_| {}).await
}

fn used(meter: &Meter) -> TotalUsage {
    meter.usage(&agent(), "").used
}

fn tokens(tokens: u64) -> TotalUsage {
    TotalUsage::of_request(None, &Usage::new(tokens, 0), None)
}

/// Nothing is reserved any more, in any account.
fn assert_settled(meter: &Meter) {
    let counts = meter.counts();
    assert_eq!(counts.open_requests(), []);
    assert!(counts.accounts().all(|account| account.reserved == TotalUsage::default()), "{counts:?}");
}

fn broken(partial: &str) -> ModelError {
    let partial = Box::new(AssistantMessage::text(partial));
    ModelError::Stream { model: "m".into(), message: "reset".into(), partial }
}

#[tokio::test]
async fn an_answer_counts_in_each_account_with_what_the_provider_reports() {
    let meter = Meter::new();
    let usage = Usage::new(70, 5).with_cached_tokens(60);
    let model = Scripted::new([Answer::text("a").with_usage(usage), Answer::text("b")])
        .with_price(Price::new(1_000_000.0, 2_000_000.0));
    ask(&meter, &model).await.unwrap();
    for account in [agent(), Account::session("s")] {
        let counted = meter.usage(&account, "").used;
        assert_eq!((counted.tokens, counted.cost, counted.unknown_requests), (usage, Some(80.0), 0));
    }
    // The provider is silent: the estimate counts, apart.
    ask(&meter, &model).await.unwrap();
    let counted = used(&meter);
    assert_eq!((counted.requests, counted.unknown_requests, counted.tokens), (2, 1, usage));
    assert!((51..60).contains(&counted.estimated_tokens), "{counted:?}");
    assert_eq!(meter.usage(&Account::agent("other"), "").used, TotalUsage::default());
    assert_settled(&meter);
}

#[tokio::test]
async fn a_report_of_zeros_is_none() {
    let answer = |input, output| Answer::text("word ".repeat(40)).with_usage(Usage::new(input, output));
    let counted = async |answer: Answer| {
        let meter = Meter::new();
        let model = Scripted::new([answer]).with_price(Price::new(1_000_000.0, 2_000_000.0));
        ask(&meter, &model).await.unwrap();
        assert_settled(&meter);
        used(&meter)
    };
    let of_zeros = counted(answer(0, 0)).await;
    assert_eq!((of_zeros.unknown_requests, of_zeros.total_tokens()), (1, 0));
    assert!((80..150).contains(&of_zeros.estimated_tokens), "{of_zeros:?}");
    // The provider counts the answer alone.
    let of_answer = counted(answer(0, 500)).await;
    assert_eq!((of_answer.estimated_tokens, of_answer.counted_cost()), (550, Some(1_050.0)));
    // It counts the request alone.
    let of_request = counted(answer(70, 0)).await;
    assert_eq!((of_request.tokens, of_request.unknown_requests), (Usage::new(70, 0), 0));
    let estimated = of_zeros.estimated_tokens - 50;
    assert_eq!(of_request.estimated_tokens, estimated);
    assert!(of_request.counted_cost() > Some(70.0 + 60.0), "{of_request:?}");
}

#[tokio::test]
async fn a_failed_request_counts_what_may_be_charged() {
    let meter = Meter::new();
    let refused = ModelError::Unauthorized { model: "m".into(), message: "no key".into() };
    let model = Scripted::new([ScriptedReply::from(refused), broken("").into(), broken("some words").into()]);
    ask(&meter, &model).await.unwrap_err();
    assert_eq!(used(&meter), TotalUsage::default());
    ask(&meter, &model).await.unwrap_err();
    let first = used(&meter);
    assert_eq!((first.requests, first.unknown_requests), (1, 1));
    ask(&meter, &model).await.unwrap_err();
    assert!(used(&meter).estimated_tokens > 2 * first.estimated_tokens, "{:?}", used(&meter));
    assert_settled(&meter);
}

#[tokio::test]
async fn a_withheld_answer_and_a_failure_of_the_server_count_the_request() {
    let (model, message) = ("m".to_owned(), "no".to_owned());
    let refused = ModelError::Refused { model: model.clone(), message: message.clone() };
    let status = |status| {
        let (model, message) = (model.clone(), message.clone());
        ModelError::Status { model, status, message, retry_after: None }
    };
    for (error, counted) in [
        (refused, 50),
        (status(500), 50),
        (status(502), 50),
        (status(503), 0),
        (status(529), 0),
        (status(404), 0),
    ] {
        let (meter, case) = (Meter::new(), error.to_string());
        ask(&meter, &Scripted::new([error])).await.unwrap_err();
        assert_eq!(used(&meter).estimated_tokens, counted, "{case}");
        assert_settled(&meter);
    }
}

#[tokio::test]
async fn a_dropped_request_counts_what_had_arrived_and_one_that_never_began_counts_nothing() {
    let meter = Meter::new();
    let said = ModelEvent::Text("word ".repeat(40));
    let stall = || ScriptedReply::Events(vec![said.clone()], Box::new(ScriptedReply::Stall));
    let model = Scripted::new([stall(), stall()]);
    let (scope, request) = (scope(), question());
    let mut ignored = |_| {};
    drop(meter.respond(&scope, &model, &request, Some(50), &mut ignored));
    assert_eq!(used(&meter), TotalUsage::default());
    let mut ignored = |_| {};
    let mut responding = meter.respond(&scope, &model, &request, Some(50), &mut ignored);
    // The events come before the first wait.
    assert!(is_pending(&mut responding).await);
    assert_eq!(meter.usage(&agent(), "").reserved.counted_tokens(), 150);
    drop(responding);
    let counted = used(&meter);
    assert_eq!((counted.requests, counted.unknown_requests), (1, 1));
    assert!(counted.estimated_tokens >= 80 && counted.estimated_tokens < 150, "{counted:?}");
    assert_settled(&meter);
    // Cancelled before it was sent.
    let cancel = CancellationToken::new();
    cancel.cancel();
    let request = question().cancel(cancel);
    let cancelled = meter.respond(&scope, &model, &request, None, &mut |_| {}).await;
    assert!(matches!(cancelled, Err(ModelError::Cancelled { .. })));
    assert_eq!(used(&meter), counted);
}

/// Polls a future once; returns true if it is not ready.
async fn is_pending<T>(future: &mut (impl Future<Output = T> + Unpin)) -> bool {
    std::future::poll_fn(|context| {
        let poll = std::pin::Pin::new(&mut *future).poll(context);
        std::task::Poll::Ready(poll.is_pending())
    })
    .await
}

#[tokio::test]
async fn another_model_that_answered_counts_with_its_own_price() {
    let meter = Meter::new();
    let down = ModelError::Quota { model: "first".into(), message: "no credit".into() };
    let first = Scripted::new([down]).named("first").with_price(Price::new(100.0, 100.0));
    let usage = Usage::new(1_000_000, 0);
    let other =
        Scripted::new([Answer::text("a").with_usage(usage)]).named("other").with_price(Price::new(3.0, 1.0));
    let model = Fallback::new(Arc::new(first), [Arc::new(other) as Arc<dyn Model>]);
    ask(&meter, &model).await.unwrap();
    assert_eq!((used(&meter).cost, used(&meter).requests), (Some(3.0), 1));
}

#[tokio::test]
async fn a_refusal_says_which_budget_how_much_and_what_to_do() {
    let budgets = |account: &Account| match &*account.kind {
        "agent" => vec![
            Budget::unlimited().max_tokens(10_000),
            Budget::unlimited().period("2026-11-29", "2026-11-30").max_tokens(200),
        ],
        "session" => vec![Budget::unlimited()],
        _ => vec![],
    };
    let meter = Meter::builder().budgets(budgets).build();
    let model = Scripted::new([Answer::text("a").with_usage(Usage::new(90, 10)), Answer::text("b")]);
    let open = meter.reserve(&Scope::new().with(agent()), tokens(60)).await.unwrap();
    let error = ask(&meter, &model).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "request to model `scripted` was not sent: the budget of agent `main` for 2026-11-29 is 200 tokens, of which 0 tokens are used \
         and 60 tokens reserved, and the request needs up to 150 tokens; try again when the open requests have ended"
    );
    assert!(!error.is_retryable() && !error.is_of_this_model());
    open.release();
    ask(&meter, &model).await.unwrap();
    let error = ask(&meter, &model).await.unwrap_err();
    assert!(error.to_string().ends_with("; wait until 2026-11-30, or raise the budget"), "{error}");
    let ModelError::Budget { exceeded, .. } = error else { panic!("{error}") };
    assert_eq!((exceeded.measure, exceeded.most, exceeded.used), (Measure::Tokens, 200.0, 100.0));
    assert_eq!(model.requests().len(), 1);
    // A refusal reserves nothing, also in accounts that allow the request.
    assert_eq!(meter.usage(&Account::session("s"), "").used.requests, 1);
    assert_settled(&meter);
    assert_eq!(meter.usage(&agent(), "").used, meter.usage(&agent(), "2026-11-29").used);
    assert!(meter.forget(&agent(), "2026-11-29"));
    assert_eq!(meter.usage(&agent(), "2026-11-29").used, TotalUsage::default());
}

#[tokio::test]
async fn a_request_whose_answer_has_no_limit_is_open_alone_where_tokens_or_cost_are_limited() {
    let of = |budget: Budget| Meter::builder().budgets(move |_| vec![budget.clone()]).build();
    let stalled = || Scripted::new([ScriptedReply::Stall]).with_price(Price::new(1.0, 1.0));
    let unlimited = Request::new([Message::user("What is it?")]);
    let (scope, limited) = (scope(), question());
    for (budget, is_alone) in [
        (Budget::unlimited().max_tokens(1_000_000), true),
        (Budget::unlimited().max_cost(1_000.0), true),
        (Budget::unlimited().max_requests(9), false),
        (Budget::unlimited(), false),
    ] {
        for (first, second) in [(&unlimited, &unlimited), (&unlimited, &limited), (&limited, &unlimited)] {
            let (meter, model) = (of(budget.clone()), stalled());
            let mut ignored = |_| {};
            let mut open = meter.respond(&scope, &model, first, Some(50), &mut ignored);
            assert!(is_pending(&mut open).await);
            let other = Scripted::new(["a", "b"]).with_price(Price::new(1.0, 1.0));
            let answer = meter.respond(&scope, &other, second, Some(50), &mut |_| {}).await;
            match answer {
                Err(ModelError::Budget { exceeded, .. }) => assert!(is_alone && exceeded.is_passing()),
                answer => assert!(!is_alone, "{budget:?}: {answer:?}"),
            }
            drop(open);
            assert_eq!(used(&meter).unlimited_requests, 0);
            meter.respond(&scope, &other, second, Some(50), &mut |_| {}).await.unwrap();
            assert_settled(&meter);
        }
    }
}

#[tokio::test]
async fn cost_and_requests_are_limited() {
    let of = |budget: Budget| Meter::builder().budgets(move |_| vec![budget.clone()]).build();
    let priced = || {
        let answer = || Answer::text("a").with_usage(Usage::new(50, 0));
        Scripted::new([answer(), answer()]).with_price(Price::new(10_000.0, 0.0))
    };
    let meter = of(Budget::unlimited().max_cost(0.75));
    ask(&meter, &priced()).await.unwrap();
    let error = ask(&meter, &priced()).await.unwrap_err().to_string();
    assert!(error.contains("is 0.75 of cost, of which 0.5 of cost are used"), "{error}");
    // A limit of cost has no effect on requests without a price.
    ask(&meter, &Scripted::new(["a"])).await.unwrap();
    let meter = of(Budget::unlimited().max_requests(1));
    ask(&meter, &priced()).await.unwrap();
    let error = ask(&meter, &priced()).await.unwrap_err().to_string();
    assert!(error.contains("is 1 requests, of which 1 requests are used"), "{error}");
}

#[tokio::test]
async fn a_tally_counts_the_requests_of_an_account_while_it_lives() {
    let meter = Meter::new();
    let answer = |tokens| Answer::text("a").with_usage(Usage::new(tokens, 0));
    let model = Scripted::new([answer(1), answer(2), answer(4)]);
    ask(&meter, &model).await.unwrap();
    let (tally, other) = (meter.tally(&Account::session("s")), meter.tally(&Account::session("t")));
    ask(&meter, &model).await.unwrap();
    let second = meter.tally(&Account::session("s"));
    ask(&meter, &model).await.unwrap();
    let totals = [&tally, &second, &other].map(|tally| tally.used().total_tokens());
    assert_eq!(totals, [6, 4, 0]);
}

/// Keeps records as a host that is killed between any two of them would find them again.
#[derive(Default)]
struct Kept {
    counts: Mutex<MeterCounts>,
    fails: bool,
}

impl MeterStore for Kept {
    fn open<'a>(&'a self, request: &'a OpenRequest) -> Opening<'a> {
        Box::pin(async move {
            tokio::task::yield_now().await;
            if self.fails {
                return Err(MeterError::Store { reason: "no space is left".to_owned() });
            }
            self.counts.lock().unwrap().open(request.clone());
            Ok(())
        })
    }

    fn settle(&self, request: SettledRequest) {
        self.counts.lock().unwrap().settle(&request);
    }
}

#[tokio::test]
async fn requests_that_a_crash_left_open_stay_counted() {
    let store = Arc::new(Kept::default());
    let meter = Meter::builder().store(Arc::clone(&store) as _).build();
    let model = Scripted::new([Answer::text("a").with_usage(Usage::new(7, 3))]);
    ask(&meter, &model).await.unwrap();
    let open = meter.reserve(&scope(), tokens(500)).await.unwrap();
    let kept = store.counts.lock().unwrap().clone();
    assert_eq!(kept, meter.counts());
    let kept: MeterCounts = serde_json::from_str(&serde_json::to_string(&kept).unwrap()).unwrap();
    assert_eq!(kept, meter.counts());
    let next = Meter::builder().counts(kept).build();
    assert_eq!((used(&next).total_tokens(), used(&next).estimated_tokens), (10, 500));
    assert_settled(&next);
    open.release();
    assert_eq!(store.counts.lock().unwrap().open_requests(), []);
    assert_eq!(used(&meter).counted_tokens(), 10);
}

#[tokio::test]
async fn a_request_whose_record_cannot_be_kept_is_not_sent() {
    let meter = Meter::builder().store(Arc::new(Kept { fails: true, ..Kept::default() })).build();
    let model = Scripted::new(["a"]);
    let error = ask(&meter, &model).await.unwrap_err().to_string();
    assert!(error.contains("no space is left") && error.contains("check the disk"), "{error}");
    assert!(model.requests().is_empty());
    assert_eq!(used(&meter), TotalUsage::default());
    assert_settled(&meter);
    // Also one that is dropped while its record is written.
    let meter = Meter::builder().store(Arc::new(Kept::default())).build();
    let scope = scope();
    let mut reserving = Box::pin(meter.reserve(&scope, tokens(5)));
    assert!(is_pending(&mut reserving).await);
    drop(reserving);
    assert_settled(&meter);
    assert_eq!(used(&meter), TotalUsage::default());
}

#[tokio::test]
async fn accounts_without_a_limit_are_bounded() {
    let meter = Meter::builder()
        .budgets(|account| match &*account.kind {
            "agent" => vec![Budget::unlimited().max_tokens(u64::MAX)],
            _ => vec![Budget::unlimited()],
        })
        .build();
    let reserve = async |number: usize| {
        let scope = Scope::new().with(agent()).with(Account::session(number.to_string()));
        meter.reserve(&scope, tokens(1)).await.unwrap()
    };
    let open = reserve(0).await;
    for number in 1..6_000 {
        reserve(number).await.settle(tokens(1));
    }
    open.settle(tokens(1));
    assert!(meter.counts().accounts().count() <= 4_098);
    assert_eq!(used(&meter).requests, 6_000);
    assert_eq!(meter.usage(&Account::session("5999"), "").used.requests, 1);
    assert_eq!(meter.usage(&Account::session("0"), "").used.requests, 1);
    assert_eq!(meter.usage(&Account::session("1"), "").used.requests, 0);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// Threads reserve and settle at once; no account is ever beyond its budget, and in the end the counts are the sum of what was settled.
    #[test]
    fn requests_at_once_never_pass_a_budget_together(
        most in 1_u64..400,
        threads in prop::collection::vec(prop::collection::vec((1_u64..60, 0_u64..60, 0_u8..3, 0_u8..4), 1..12), 2..6),
    ) {
        let budgets = move |_: &Account| vec![Budget::unlimited().max_tokens(most)];
        let meter = Meter::builder().budgets(budgets).build();
        let runtime = || tokio::runtime::Builder::new_current_thread().build().unwrap();
        let settled = Mutex::new(std::collections::BTreeMap::<String, u64>::new());
        let (meter, settled) = (&meter, &settled);
        std::thread::scope(|scope| {
            for requests in threads {
                scope.spawn(move || runtime().block_on(async {
                    let mut open = Vec::new();
                    for (wanted, used, account, end) in requests {
                        let names = [vec!["a"], vec!["b"], vec!["a", "b"]][usize::from(account)].clone();
                        let scope = names.iter().fold(Scope::new(), |scope, name| scope.with(Account::agent(*name)));
                        let Ok(reservation) = meter.reserve(&scope, tokens(wanted)).await else { continue };
                        for account in meter.counts().accounts() {
                            let counted = account.used.counted_tokens() + account.reserved.counted_tokens();
                            assert!(counted <= most, "{account:?}");
                        }
                        let used = used.min(wanted);
                        let counted = match end {
                            0 => { reservation.settle(tokens(used)); used }
                            1 => { reservation.release(); 0 }
                            2 => { drop(reservation); wanted }
                            _ => { open.push(reservation); wanted }
                        };
                        for name in names {
                            *settled.lock().unwrap().entry(name.to_owned()).or_default() += counted;
                        }
                    }
                }));
            }
        });
        assert_settled(meter);
        for (name, counted) in &*settled.lock().unwrap() {
            let of = AccountPeriod::new(Account::agent(name), "");
            prop_assert_eq!(meter.counts().account(&of).used.counted_tokens(), *counted);
        }
    }
}

#[tokio::test]
async fn a_meter_reserves_at_least_the_limit_that_is_sent() {
    let said = |wire: Wire| Reply::stream(&wire.stream(&Said::text("Hi")));
    let limits = [None, Some(100), Some(20_000)];
    let thoughts = [None, Some(Thinking::Low), Some(Thinking::Medium), Some(Thinking::High)];
    for wire in Wire::ALL {
        for name in ["claude-3-opus", "claude-sonnet-4-5", "claude-opus-5"] {
            let server = server(vec![said(wire)]).await;
            for limit in limits {
                for thinking in thoughts {
                    let model = wire.model_at(server.url(), json!({"model": name, "maxTokens": limit}));
                    let mut request = hello();
                    request.thinking = thinking;
                    answer_of(&*model, &request).await.0.unwrap();
                    let body = server.requests().pop().unwrap().body;
                    let places = [
                        "/max_tokens",
                        "/max_completion_tokens",
                        "/max_output_tokens",
                        "/generationConfig/maxOutputTokens",
                    ];
                    let sent = places.iter().find_map(|place| body.pointer(place)?.as_u64());
                    let reserved = model.most_answer_tokens(&request);
                    let case = format!("{name} {limit:?} {thinking:?}: {body}");
                    assert!(sent.is_none_or(|sent| sent <= reserved), "{reserved} for {case}");
                    assert!(sent.is_some() || (wire != Wire::Anthropic && limit.is_none()), "{case}");
                }
            }
        }
    }
}

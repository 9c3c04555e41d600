//! `/v1/budgets`, and exhausted budgets in the status.

use toolkit_gateway::{NewMessage, NewRequest, ReserveOutcome, SessionKey};
use toolkit_models::{TotalUsage, Usage};

use super::*;
use crate::budgets::budgets;

impl Gateway {
    async fn reserve(&self, id: &str, session: &SessionKey, tokens: u64) -> bool {
        let most = TotalUsage::of_request(Some(&Usage::new(tokens, 0)), &Usage::default(), None);
        let request = NewRequest::new(id, most).with_session(session.clone());
        self.sessions.store().reserve(request).await.unwrap() == ReserveOutcome::Reserved
    }

    async fn used(&self, id: &str, session: &SessionKey, tokens: u64) {
        assert!(self.reserve(id, session, tokens).await);
        let used = TotalUsage::of_request(Some(&Usage::new(tokens, 0)), &Usage::default(), None);
        self.sessions.store().settle(id, used).await.unwrap();
    }
}

#[tokio::test]
async fn the_owner_sees_all_budgets_and_others_their_own() {
    let gateway = Gateway::start().await;
    let (ada, bob) = (gateway.person("ada").await, gateway.person("bob").await);
    let section = json!({ "everything": { "day": { "tokens": 1_000, "runs": 9 } }, "people": { "ada": { "month": { "cost": 2.5 } } } });
    gateway.sessions.store().set_budgets(budgets(section));
    let session = |name: &str| SessionKey::person("main", name).unwrap();
    for name in ["ada", "bob"] {
        let message = NewMessage::new("test", name, session(name), json!({ "text": "plain" }));
        gateway.sessions.send(message.with_person(name)).await.unwrap();
        gateway.used(name, &session(name), 100).await;
    }
    assert!(gateway.reserve("open", &session("ada"), 50).await);

    let seen = gateway.get("/v1/budgets", &gateway.owner).await;
    let named: Vec<_> = seen["budgets"]
        .as_array()
        .unwrap()
        .iter()
        .map(|budget| format!("{} {}", budget["kind"].as_str().unwrap(), budget["name"].as_str().unwrap()))
        .collect();
    assert_eq!(
        named,
        [
            "agent main",
            "everything ",
            "person ada",
            "person bob",
            "session agent:main:person:ada",
            "session agent:main:person:bob",
        ]
    );
    let everything = &seen["budgets"][1];
    let day = &everything["day"];
    assert_eq!(
        (&day["period"], &day["beginsAt"], &day["endsAt"]),
        (&json!("2027-01-15"), &json!(1_799_971_200_000_i64), &json!(1_800_057_600_000_i64))
    );
    assert_eq!(
        (&day["tokens"], &day["reservedTokens"], &day["limits"]),
        (&json!(200), &json!(50), &json!({ "tokens": 1_000, "runs": 9 }))
    );
    assert_eq!(
        (&everything["month"]["period"], &everything["month"]["limits"]),
        (&json!("2027-01"), &json!({}))
    );
    assert_eq!((&seen["timezone"], &seen["hasMore"]), (&json!("UTC"), &json!(false)));

    let seen = gateway.get("/v1/budgets", &ada).await;
    let of: Vec<_> = seen["budgets"].as_array().unwrap().iter().map(|budget| &budget["name"]).collect();
    assert_eq!(of, ["ada", "agent:main:person:ada"]);
    assert_eq!(seen["budgets"][0]["month"]["limits"], json!({ "cost": 2.5 }));
    assert_eq!(gateway.get("/v1/budgets?kind=everything", &bob).await["budgets"], json!([]));

    // Page by page.
    let (mut paged, mut next) = (Vec::new(), String::new());
    loop {
        let page = gateway.get(&format!("/v1/budgets?limit=1{next}"), &gateway.owner).await;
        paged.extend(page["budgets"].as_array().unwrap().clone());
        let Some(after) = page["next"].as_str() else { break };
        next = format!("&after={}", toolkit_gateway::client::path_part(after));
    }
    assert_eq!(paged.len(), named.len());
    for wrong in ["?kind=team", "?after=x", "?limit=0", "?period=day"] {
        let (status, problem) = gateway.call("GET", &format!("/v1/budgets{wrong}"), &ada, None).await;
        assert_eq!(status, 400, "{wrong}: {problem}");
    }
    let (status, _) = gateway.call("POST", "/v1/budgets", &gateway.owner, Some(json!({}))).await;
    assert_eq!(status, 405);
}

#[tokio::test]
async fn a_budget_that_is_used_up_is_in_the_status_until_its_period_ends() {
    let gateway = Gateway::start().await;
    let ada = gateway.person("ada").await;
    let section =
        json!({ "everything": { "day": { "tokens": 10 } }, "people": { "ada": { "day": { "tokens": 5 } } } });
    gateway.sessions.store().set_budgets(budgets(section));
    let session = SessionKey::person("main", "ada").unwrap();
    let message =
        NewMessage::new("test", "1", session.clone(), json!({ "text": "plain" })).with_person("ada");
    gateway.sessions.send(message).await.unwrap();
    gateway.used("r1", &session, 5).await;
    // Much is left of a budget that refuses one large request.
    assert!(!gateway.reserve("r2", &SessionKey::main("main").unwrap(), 6).await);
    let exhausted = async |token: &str| gateway.get("/v1/status", token).await["exhaustedBudgets"].clone();
    let of_ada = json!({
        "kind": "person", "name": "ada", "period": "2027-01-15", "measure": "tokens", "limit": 5.0, "endsAt": 1_800_057_600_000_i64,
    });
    assert_eq!(exhausted(&ada).await, json!([of_ada]));
    assert_eq!(exhausted(&gateway.owner).await, json!([of_ada]));
    gateway.used("r3", &SessionKey::main("main").unwrap(), 5).await;
    assert_eq!(exhausted(&ada).await, json!([of_ada]));
    assert_eq!(exhausted(&gateway.owner).await.as_array().unwrap().len(), 2);
    gateway.clock.set(toolkit_gateway::Moment(1_800_057_600_000));
    assert_eq!(exhausted(&gateway.owner).await, json!([]));
}

#[tokio::test]
async fn the_use_of_days_is_shown_for_an_account_that_one_sees() {
    const DAY: i64 = 24 * 3_600_000;
    let gateway = Gateway::start().await;
    let (ada, bob) = (gateway.person("ada").await, gateway.person("bob").await);
    let session = SessionKey::person("main", "ada").unwrap();
    let message = NewMessage::new("test", "1", session.clone(), json!({ "text": "plain" }));
    gateway.sessions.send(message.with_person("ada")).await.unwrap();
    gateway.used("first", &session, 100).await;
    gateway.clock.set(toolkit_gateway::Moment(START.0 + 2 * DAY));
    gateway.used("second", &session, 30).await;

    let seen = gateway.get("/v1/usage?days=3", &gateway.owner).await;
    let days: Vec<_> = seen["days"]
        .as_array()
        .unwrap()
        .iter()
        .map(|day| (day["period"].clone(), day["tokens"].clone()))
        .collect();
    let of = |day: &str, tokens: u64| (json!(day), json!(tokens));
    assert_eq!(days, [of("2027-01-15", 100), of("2027-01-16", 0), of("2027-01-17", 30)]);
    assert_eq!(gateway.get("/v1/usage", &gateway.owner).await["days"].as_array().unwrap().len(), 30);
    // Their own account, without a name.
    assert_eq!(gateway.get("/v1/usage?days=1", &ada).await["days"][0]["tokens"], 30);
    assert_eq!(gateway.get("/v1/usage?days=1", &bob).await["days"][0]["tokens"], 0);
    let of_session = format!("/v1/usage?kind=session&name={session}&days=1");
    assert_eq!(gateway.get(&of_session, &ada).await["days"][0]["tokens"], 30);
    for hidden in [&of_session, "/v1/usage?kind=everything", "/v1/usage?kind=person&name=ada"] {
        assert_eq!(gateway.call("GET", hidden, &bob, None).await.0, 404, "{hidden}");
    }
    for wrong in ["/v1/usage?days=63", "/v1/usage?days=0", "/v1/usage?kind=agent", "/v1/usage?kind=other"] {
        assert_eq!(gateway.call("GET", wrong, &gateway.owner, None).await.0, 400, "{wrong}");
    }
}

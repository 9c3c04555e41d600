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

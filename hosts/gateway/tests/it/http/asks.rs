use super::*;
use crate::questions;

/// A gateway whose agent asks before it pays.
async fn asking() -> Gateway {
    let directory = tempfile::tempdir().unwrap();
    let transcripts = Transcripts::new(directory.path().join("transcripts"));
    let agents =
        |_: &Path, ledger: &Arc<Ledger>, asks: &Questions| questions::agents(ledger, asks, transcripts);
    // The time of a question is over by the system's clock.
    Gateway::with(directory, Clock::system(), SessionsOptions::new(), agents).await
}

/// The codes of the questions that a person sees, each with the right to answer it.
async fn seen(gateway: &Gateway, token: &str) -> Vec<(String, bool)> {
    let asks = gateway.get("/v1/asks", token).await["asks"].clone();
    let code = |ask: &Value| (ask["code"].as_str().unwrap().to_owned(), ask["mayAnswer"].as_bool().unwrap());
    asks.as_array().unwrap().iter().map(code).collect()
}

#[tokio::test]
async fn a_question_is_answered_by_those_who_may_and_once() {
    let gateway = asking().await;
    let ada = gateway.person("ada").await;
    let carol = gateway.person("carol").await;
    let approver = gateway.token(json!({ "name": "bob", "role": "approver" })).await;
    let other = gateway.token(json!({ "name": "dan", "role": "approver", "agent": "other" })).await;
    let limited = gateway.token(json!({ "name": "phone", "person": "bob", "role": "user" })).await;
    let mut of_approver = gateway.events("", &approver, None).await;
    let mut of_carol = gateway.events("", &carol, None).await;
    let id = gateway.message("main", &ada, "pay 5").await;
    // An approver hears of the question, and of nothing else in that session.
    let asked = of_approver.next().await.unwrap();
    assert_eq!((asked.kind.as_str(), &asked.data["data"]["tool"]), ("ask.asked", &json!("pay")));
    let code = asked.data["data"]["code"].as_str().unwrap().to_owned();
    let of = |may| vec![(code.clone(), may)];
    assert_eq!(seen(&gateway, &ada).await, of(false));
    assert_eq!((seen(&gateway, &approver).await, seen(&gateway, &gateway.owner).await), (of(true), of(true)));
    for token in [&carol, &other, &limited] {
        assert_eq!(seen(&gateway, token).await, []);
    }

    let path = format!("/v1/asks/{code}");
    let answer = async |token: &str, answer: Value| gateway.call("POST", &path, token, Some(answer)).await.0;
    let allow = || serde_json::to_value(toolkit::approval::Answer::allow()).unwrap();
    let refused =
        [answer(&ada, allow()).await, answer(&carol, allow()).await, answer(&limited, allow()).await];
    assert_eq!(refused, [403, 404, 404]);
    assert_eq!(
        [answer(&other, allow()).await, answer(&approver, json!({ "type": "maybe" })).await],
        [404, 422]
    );
    assert_eq!(gateway.call("GET", &path, &carol, None).await.0, 404);
    assert_eq!(gateway.ledger.lines(), [""; 0]);
    assert_eq!(answer(&approver, allow()).await, 200);
    let again = answer(&gateway.owner, allow()).await;
    assert!([404, 409].contains(&again), "the run has taken the answer, or not yet: {again}");
    assert_eq!(gateway.outcome("main", &ada, id).await["text"], "paid pay 5");
    assert_eq!(gateway.ledger.lines(), ["pay 5"]);
    let answered = of_approver.next().await.unwrap();
    assert_eq!((answered.kind.as_str(), &answered.data["data"]["by"]), ("ask.answered", &json!("bob")));
    // The session is no more theirs than before.
    assert_eq!(gateway.call("GET", "/v1/sessions/agent:main:person:ada", &approver, None).await.0, 404);
    gateway.message("main", &carol, "plain").await;
    assert_eq!(of_carol.next().await.unwrap().data["session"], "agent:main:person:carol");
}

//! Which sessions a session sees.

use serde_json::{Value, json};
use toolkit::{Caller, ToolCall};
use toolkit_gateway::{PeerKind, Scope, SessionKey, caller_in};

use super::{Bench, key, person};

fn keys(listed: &Value) -> Vec<String> {
    let sessions = listed["sessions"].as_array().unwrap().iter();
    let mut keys: Vec<_> =
        sessions.map(|session| session["sessionKey"].as_str().unwrap().to_owned()).collect();
    keys.sort();
    keys
}

fn sorted<const N: usize>(expected: [&SessionKey; N]) -> Vec<String> {
    let mut keys: Vec<_> = expected.iter().map(ToString::to_string).collect();
    keys.sort();
    keys
}

#[tokio::test]
async fn each_scope_shows_its_sessions() {
    let bench = Bench::new(1).await;
    let ada = person("ada");
    let thread = SessionKey::peer("main", "chat", "one", PeerKind::Direct, "ada", Some("t")).unwrap();
    let of_other = SessionKey::person("other", "ada").unwrap();
    let below = SessionKey::sub("main", "1").unwrap();
    let group = SessionKey::peer("main", "chat", "one", PeerKind::Group, "g", None).unwrap();
    let own = Some("ada".to_owned());
    bench.store().open_session(thread.clone(), own.clone(), None).await.unwrap();
    bench.store().open_session(of_other.clone(), own.clone(), None).await.unwrap();
    bench.store().open_session(below.clone(), own, Some(ada.clone())).await.unwrap();
    bench.store().open_session(group.clone(), None, None).await.unwrap();
    let list = async |key: &SessionKey| keys(&bench.call(key, "sessions_list", json!({})).await.unwrap());
    for (scope, expected) in [
        (Scope::Own, sorted([&ada])),
        (Scope::Tree, sorted([&ada, &below])),
        (Scope::Agent, sorted([&ada, &below, &thread])),
        (Scope::All, sorted([&ada, &below, &thread, &of_other])),
    ] {
        bench.set(|settings| settings.visibility = scope);
        assert_eq!(list(&ada).await, expected, "{scope:?}");
        assert_eq!(list(&group).await, sorted([&group]), "{scope:?}");
        // Those that are listed can be read, and no others.
        for key in [&ada, &below, &thread, &of_other, &group, &person("bob"), &key("main")] {
            let read = bench.call(&ada, "session_status", json!({ "sessionKey": key })).await;
            assert_eq!(read.is_ok(), expected.contains(&key.to_string()), "{scope:?} {key}");
        }
    }
    let all = [
        &ada,
        &below,
        &thread,
        &of_other,
        &group,
        &person("bob"),
        &key("main"),
        &key("other"),
        &key("third"),
    ];
    assert_eq!(list(&key("main")).await, sorted(all), "the owner sees all");
    bench.set(|settings| settings.owner_visibility = Scope::Tree);
    assert_eq!(list(&key("main")).await, sorted([&key("main")]));
}

#[tokio::test]
async fn a_sub_agent_sees_no_more_than_the_agents_above_it() {
    let bench = Bench::new(1).await;
    bench.set(|settings| {
        for (agent, scope) in [("main", Scope::Tree), ("other", Scope::Agent), ("third", Scope::All)] {
            settings.agents.entry(agent.to_owned()).or_default().visibility = Some(scope);
        }
    });
    let owner = Some("owner".to_owned());
    let sub = async |agent: &str, id: &str, parent: &SessionKey| {
        let key = SessionKey::sub(agent, id).unwrap();
        bench.store().open_session(key.clone(), owner.clone(), Some(parent.clone())).await.unwrap();
        key
    };
    let below_main = sub("other", "1", &key("main")).await;
    let deep = sub("third", "2", &below_main).await;
    let below_other = sub("third", "3", &key("other")).await;
    let below_third = sub("main", "4", &key("third")).await;
    for (from, to, is_seen) in [
        (&below_main, &deep, true),
        (&below_main, &key("other"), false),
        (&deep, &key("third"), false),
        (&below_other, &key("third"), true),
        (&below_other, &key("main"), false),
        (&below_third, &key("main"), false),
        (&key("third"), &key("main"), true),
    ] {
        let read = bench.call(from, "session_status", json!({ "sessionKey": to })).await;
        assert_eq!(read.is_ok(), is_seen, "{from} {to}");
    }
    // The agents to which a run delegates stand below its own.
    let delegate = caller_in(Caller::new().with_session("s"), &key("third")).delegated().with_agent("main");
    for (caller, is_seen) in
        [(caller_in(Caller::new().with_session("s"), &key("third")), true), (delegate, false)]
    {
        let toolbox = bench.toolkit.toolbox(&caller).await;
        let call = ToolCall::new("1", "session_status", json!({ "sessionKey": key("other") }));
        assert_eq!(!toolbox.call(call).await.is_error(), is_seen, "{caller:?}");
    }
}

#[tokio::test]
async fn a_list_is_narrowed_and_has_messages() {
    let bench = Bench::new(1).await;
    bench.answer(&person("ada"), "plain one").await;
    bench.answer(&person("ada"), "plain two").await;
    let list = async |arguments: Value| bench.call(&key("main"), "sessions_list", arguments).await.unwrap();
    let listed = list(json!({ "kinds": ["direct"], "messageLimit": 2, "limit": 1 })).await;
    let ada = &listed["sessions"][0];
    assert_eq!((&ada["sessionKey"], &ada["messageCount"]), (&json!(person("ada")), &json!(4)));
    assert_eq!((&ada["kind"], &ada["status"]), (&json!("direct"), &json!("idle")));
    // The agent of the owner reads them as what they are: words of somebody else.
    let texts = ada["messages"].as_array().unwrap().iter().map(|message| message["text"].as_str().unwrap());
    for (text, expected) in texts.zip(["plain two", "answer to plain two"]) {
        assert!(
            text.starts_with("<untrusted-content-") && text.contains("another person's session"),
            "{text}"
        );
        assert_eq!(text.lines().nth(3), Some(expected), "{text}");
    }
    assert_eq!(ada["messages"].as_array().unwrap().len(), 2);
    assert_eq!(listed["sessions"].as_array().unwrap().len(), 1);
    assert_eq!(keys(&list(json!({ "filter": "active" })).await), [""; 0]);
    let id = bench.tell(&key("other"), super::call("hold", &json!({ "id": "x" }))).await;
    crate::agents::in_time(bench.ledger.held.cancelled()).await;
    assert_eq!(keys(&list(json!({ "filter": "active" })).await), [key("other").to_string()]);
    bench.ledger.released.cancel();
    bench.ended(id).await;
    let history = json!({ "sessionKey": person("ada"), "limit": 3 });
    let history = bench.call(&key("main"), "sessions_history", history).await.unwrap();
    assert_eq!((history["messages"].as_array().unwrap().len(), &history["hasMore"]), (3, &json!(true)));
    let history = json!({ "sessionKey": key("other"), "includeTools": true });
    let history = bench.call(&key("main"), "sessions_history", history).await.unwrap();
    assert_eq!(history["messages"][1]["toolCalls"][0]["name"], "hold");
    assert_eq!(
        history["messages"][2],
        json!({ "role": "tool", "text": "held x", "truncated": null, "toolCalls": null })
    );
}

#[tokio::test]
async fn an_error_does_not_say_that_a_session_is_there() {
    let bench = Bench::new(1).await;
    for tool in ["session_status", "sessions_history"] {
        let error = async |key: SessionKey| {
            let error = bench.call(&person("ada"), tool, json!({ "sessionKey": key })).await.unwrap_err();
            error.replace(key.as_str(), "KEY")
        };
        assert_eq!(error(person("bob")).await, error(person("nobody")).await);
    }
    let own = bench.call(&person("ada"), "session_status", json!({})).await.unwrap();
    assert_eq!(
        (&own["sessionKey"], &own["agentId"], &own["status"]),
        (&json!(person("ada")), &json!("main"), &json!("idle"))
    );
    let agents = async |key: &SessionKey| {
        let agents = bench.call(key, "agents_list", json!({})).await.unwrap()["agents"].clone();
        agents
            .as_array()
            .unwrap()
            .iter()
            .map(|agent| agent["id"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(agents(&person("ada")).await, ["main"]);
    assert_eq!(agents(&key("main")).await, ["main", "other", "third"]);
}

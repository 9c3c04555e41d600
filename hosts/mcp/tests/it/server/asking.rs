//! Calls that ask the client, in both generations of the protocol.

use super::{Connected, GENERATIONS, Person, accept, connect, connect_with, nothing, params, text};
use rmcp::model::{
    CallToolResponse, ElicitRequestParams, ElicitResult, ElicitationAction, InputRequest,
    InputRequiredResult, InputResponses, ProtocolVersion, ServerResult,
};
use rmcp::service::PeerRequestOptions;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use toolkit::prelude::*;
use toolkit::{
    Ask, Builder,
    approval::Answer,
    config::{Configuration, LoadOptions},
    tool_ref,
};
use toolkit_mcp::ServerOptions;

type Log = Mutex<Vec<String>>;

/// Deploys the site.
#[tool(asks)]
async fn deploy(
    ctx: &ToolContext,
    log: State<Log>,
    /** Where to. */
    host: String,
) -> Result<String, ToolError> {
    log.lock().unwrap().push(format!("asks for {host}"));
    let asked =
        ctx.ask(Ask::new("deploy", format!("Put the site on {host}")).with_pattern(host.clone())).await;
    log.lock().unwrap().push(format!("{host}: {}", asked.is_ok()));
    asked?;
    Ok(format!("deployed to {host}"))
}

#[toolkit::args]
struct Place {
    /// Where to.
    host: String,
    /// At which port.
    port: Option<u16>,
}

/// Asks for a place.
#[tool(read_only)]
async fn wants(ctx: &ToolContext) -> Result<String, ToolError> {
    Ok(match ctx.elicit::<Place>("Where to?").await? {
        Some(Place { host, port }) => format!("{host}:{port:?}"),
        None => "nowhere".to_owned(),
    })
}

/// Asks twice at once.
#[tool(asks)]
async fn asks_twice(ctx: &ToolContext) -> Result<String, ToolError> {
    let (one, other) = tokio::join!(ctx.ask(Ask::new("x", "one")), ctx.ask(Ask::new("x", "other")));
    Ok(format!("{} {}", one.is_ok(), other.is_ok()))
}

/// Empties the bin.
#[tool]
async fn empty_bin() -> &'static str {
    "emptied"
}

/// Reads a secret.
#[tool(read_only, asks)]
async fn peek(ctx: &ToolContext) -> Result<&'static str, ToolError> {
    ctx.ask(Ask::new("sensitive", "Read .env").with_pattern(".env")).await?;
    Ok("secret")
}

/// Runs a command that reads a secret.
#[tool(asks)]
async fn print_secret(ctx: &ToolContext) -> Result<&'static str, ToolError> {
    ctx.ask(Ask::new("print_secret", "cat .env").with_pattern("cat .env").guarded()).await?;
    Ok("secret")
}

fn builder(log: &Arc<Log>) -> Builder {
    Toolkit::empty()
        .tool(tool_ref!(deploy).with_shared_state(Arc::clone(log)))
        .tool(tool_ref!(wants))
        .tool(tool_ref!(asks_twice))
        .tool(tool_ref!(empty_bin))
        .tool(tool_ref!(peek))
        .tool(tool_ref!(print_secret))
}

async fn asking(
    version: &ProtocolVersion,
    answers: impl IntoIterator<Item = ElicitResult>,
) -> (Connected, Person, Arc<Log>) {
    let (person, log) = (Person::answering(answers), Arc::new(Log::default()));
    (connect(version, person.clone(), builder(&log)).await, person, log)
}

#[tokio::test]
async fn the_client_allows_and_denies() {
    for version in &GENERATIONS {
        let answers = [
            accept(nothing()),
            ElicitResult::new(ElicitationAction::Decline),
            ElicitResult::new(ElicitationAction::Cancel),
            accept(json!({"allow": "for ever"})),
            accept(json!({"allow": "session"})),
        ];
        let (connected, person, log) = asking(version, answers).await;
        let mut results = Vec::new();
        for host in ["a", "b", "c", "d", "e", "e"] {
            results.push(connected.call("deploy", json!({"host": host})).await);
        }
        let told: Vec<bool> = results.iter().map(|result| result.is_error == Some(true)).collect();
        assert_eq!(told, [false, true, true, true, false, false], "{results:?}");
        assert_eq!(text(&results[0]), "deployed to a");
        for (index, said) in [(1, "denied it"), (2, "dismissed"), (3, "not in the form")] {
            assert!(text(&results[index]).contains(said), "{}", text(&results[index]));
        }
        // A call that was allowed for the session is not asked about again.
        let asked = person.asked();
        assert_eq!(asked.len(), 5, "{asked:?}");
        assert!(asked[0].contains("Put the site on a"), "{}", asked[0]);
        let begun = log.lock().unwrap().iter().filter(|line| line.starts_with("asks for")).count();
        assert_eq!(begun, 6, "each call runs once, however often its client comes back");
    }
}

#[tokio::test]
async fn the_form_says_for_how_long() {
    for version in &GENERATIONS {
        let (connected, person, _) = asking(version, [accept(nothing())]).await;
        connected.call("deploy", json!({"host": "a"})).await;
        let asked = person.asked.lock().unwrap();
        let ElicitRequestParams::FormElicitationParams { requested_schema, .. } = &asked[0] else {
            panic!("no form")
        };
        let schema = serde_json::to_value(requested_schema).unwrap();
        assert_eq!(schema["properties"]["allow"]["enum"], json!(["once", "session"]), "{schema}");
        assert_eq!(schema["properties"]["allow"]["default"], json!("once"), "{schema}");
        assert!(schema.get("required").is_none_or(|required| *required == json!([])), "{schema}");
    }
}

#[tokio::test]
async fn values_come_typed() {
    for version in &GENERATIONS {
        let answers = [
            accept(json!({"host": "a", "port": 80})),
            ElicitResult::new(ElicitationAction::Decline),
            ElicitResult::new(ElicitationAction::Cancel),
            // Asked again until it fits.
            accept(json!({"host": 1})),
            accept(json!({"host": "b"})),
        ];
        let (connected, person, _) = asking(version, answers).await;
        assert_eq!(text(&connected.call("wants", nothing()).await), "a:Some(80)");
        assert_eq!(text(&connected.call("wants", nothing()).await), "nowhere");
        assert_eq!(connected.call("wants", nothing()).await.is_error, Some(true));
        assert_eq!(text(&connected.call("wants", nothing()).await), "b:None");
        assert!(person.asked()[0].contains("Where to?"));
    }
}

#[tokio::test]
async fn a_client_that_cannot_be_asked_is_nobody() {
    for version in &GENERATIONS {
        let person = Person { cannot_be_asked: true, ..Person::default() };
        let connected = connect(version, person, builder(&Arc::default())).await;
        let denied = connected.call("deploy", json!({"host": "a"})).await;
        assert_eq!(denied.is_error, Some(true));
        assert!(text(&denied).contains("elicitation"), "{}", text(&denied));
        assert!(text(&denied).contains("allow it with the setting `permission.deploy`"), "{}", text(&denied));
        assert!(text(&denied).contains("--client-approves"), "{}", text(&denied));
        let secret = text(&connected.call("print_secret", nothing()).await);
        assert!(secret.contains("elicitation") && !secret.contains("--client-approves"), "{secret}");
        // A tool that could only be denied is not shown, and a call of it says what would allow it.
        assert!(!names(&connected).await.contains(&"empty_bin".to_owned()));
        let denied = connected.call("empty_bin", nothing()).await;
        assert_eq!(denied.is_error, Some(true));
        for way_out in [
            "`permission.empty_bin = \"allow\"`",
            "use a client that does",
            "--client-approves",
            "`ServerOptions::client_approves`",
        ] {
            assert!(text(&denied).contains(way_out), "{}", text(&denied));
        }
        let connected = connect(version, Person::default(), builder(&Arc::default())).await;
        assert!(names(&connected).await.contains(&"empty_bin".to_owned()));
    }
}

async fn names(connected: &Connected) -> Vec<String> {
    let tools = connected.client.list_all_tools().await.unwrap();
    tools.into_iter().map(|tool| tool.name.into_owned()).collect()
}

#[tokio::test]
async fn the_clients_own_approval_counts_where_the_server_relies_on_it() {
    let rules = Configuration::load(LoadOptions::new().set("permission.empty_bin=deny")).unwrap();
    for (version, cannot_be_asked) in
        GENERATIONS.iter().flat_map(|version| [(version, true), (version, false)])
    {
        let person = Person { cannot_be_asked, ..Person::answering([accept(nothing()), accept(nothing())]) };
        let toolkit = builder(&Arc::default()).configuration(rules.clone());
        let options = ServerOptions::new().client_approves(true);
        let connected = connect_with(version, person.clone(), toolkit, options).await;
        assert!(
            names(&connected).await.contains(&"empty_bin".to_owned()),
            "it is a matter of rules, not of the client"
        );
        assert_eq!(text(&connected.call("deploy", json!({"host": "a"})).await), "deployed to a");
        assert_eq!(text(&connected.call("asks_twice", nothing()).await), "true true");
        assert!(person.asked().is_empty());
        // A call that a rule denies stays denied, and one about secrets is asked about, if the client can be asked.
        assert_eq!(connected.call("empty_bin", nothing()).await.is_error, Some(true));
        for tool in ["peek", "print_secret"] {
            let result = connected.call(tool, nothing()).await;
            assert_eq!(result.is_error, Some(cannot_be_asked), "{}", text(&result));
        }
        assert_eq!(person.asked().len(), if cannot_be_asked { 0 } else { 2 });
    }
}

/// In the versions in which the server asks by requests of its own.
#[tokio::test]
async fn a_question_whose_answer_is_no_longer_needed_is_taken_back() {
    let person = Person { never_answers: true, ..Person::default() };
    let connected = connect(&GENERATIONS[0], person.clone(), builder(&Arc::default())).await;
    let until_asked = || async {
        while connected.toolkit.asks().list(None).is_empty() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let call = || {
        let request = rmcp::model::CallToolRequest::new(params("deploy", json!({"host": "a"})));
        connected.client.send_cancellable_request(request.into(), PeerRequestOptions::no_options())
    };
    let taken_back = || tokio::time::timeout(Duration::from_secs(10), person.questions_cancelled.notified());
    // Its call is cancelled.
    let handle = call().await.unwrap();
    until_asked().await;
    handle.cancel(None).await.unwrap();
    taken_back().await.expect("the client is told");
    // It is answered elsewhere.
    let handle = call().await.unwrap();
    until_asked().await;
    let ask = connected.toolkit.asks().list(None).remove(0);
    connected.toolkit.asks().answer(ask.id(), Answer::allow()).unwrap();
    taken_back().await.expect("the client is told");
    let ServerResult::CallToolResult(done) = handle.await_response().await.unwrap() else {
        panic!("no result")
    };
    assert_eq!(text(&done), "deployed to a");
}

#[tokio::test]
async fn several_questions_of_one_call_are_all_asked() {
    for version in &GENERATIONS {
        let (connected, person, _) =
            asking(version, [accept(nothing()), ElicitResult::new(ElicitationAction::Decline)]).await;
        let result = text(&connected.call("asks_twice", nothing()).await);
        assert!(matches!(&*result, "true false" | "false true"), "{result}");
        assert_eq!(person.asked().len(), 2);
    }
}

/// The first answer of a call by hand: what it asks, and its state.
async fn begin(connected: &Connected, host: &str) -> (InputRequiredResult, String, String) {
    let response = connected.client.call_tool_once(params("deploy", json!({"host": host}))).await.unwrap();
    let CallToolResponse::InputRequired(required) = response else { panic!("{response:?}") };
    let state = required.request_state.clone().unwrap();
    let requests = required.input_requests.as_ref().unwrap();
    let (name, request) = requests.first_key_value().unwrap();
    assert!(matches!(request, InputRequest::Elicitation(_)));
    let name = name.clone();
    (required, state, name)
}

fn responses(name: &str, result: &ElicitResult) -> InputResponses {
    [(name.to_owned(), serde_json::to_value(result).unwrap())].into_iter().collect()
}

async fn come_back(
    connected: &Connected,
    arguments: Value,
    state: &str,
    responses: InputResponses,
) -> Result<CallToolResponse, String> {
    let params = params("deploy", arguments).with_input_responses(responses).with_request_state(state);
    connected.client.call_tool_once(params).await.map_err(|error| error.to_string())
}

#[tokio::test]
async fn a_state_counts_once_for_the_same_call_alone() {
    let (connected, _, log) = asking(&ProtocolVersion::V_2026_07_28, []).await;
    let (_, state, name) = begin(&connected, "a").await;
    let yes = responses(&name, &accept(nothing()));
    // Of other arguments, forged, or cut.
    for (arguments, state) in [
        (json!({"host": "b"}), state.clone()),
        (json!({"host": "a"}), state.to_uppercase()),
        (json!({"host": "a"}), state[1..].to_owned()),
        (json!({"host": "a"}), String::new()),
    ] {
        let refused = come_back(&connected, arguments, &state, yes.clone()).await.unwrap_err();
        assert!(refused.contains("no call waits"), "{refused}");
    }
    // Another tool.
    let other = params("wants", json!({"host": "a"})).with_request_state(state.clone());
    assert!(connected.client.call_tool_once(other).await.is_err());
    assert_eq!(*log.lock().unwrap(), ["asks for a"], "nothing went on");
    let done = come_back(&connected, json!({"host": "a"}), &state, yes.clone()).await.unwrap();
    assert!(
        matches!(&done, CallToolResponse::Complete(result) if text(result) == "deployed to a"),
        "{done:?}"
    );
    let again = come_back(&connected, json!({"host": "a"}), &state, yes).await.unwrap_err();
    assert!(again.contains("valid once"), "{again}");
    assert_eq!(*log.lock().unwrap(), ["asks for a", "a: true"]);
}

#[tokio::test]
async fn who_comes_back_without_an_answer_is_asked_again() {
    let (connected, _, log) = asking(&ProtocolVersion::V_2026_07_28, []).await;
    let (_, state, name) = begin(&connected, "a").await;
    let again = come_back(&connected, json!({"host": "a"}), &state, InputResponses::new()).await.unwrap();
    let CallToolResponse::InputRequired(again) = again else { panic!("{again:?}") };
    let next = again.request_state.unwrap();
    assert_ne!(next, state);
    let wrong: InputResponses = [(name.clone(), json!({"action": "maybe"}))].into_iter().collect();
    let denied = come_back(&connected, json!({"host": "a"}), &next, wrong).await.unwrap();
    assert!(
        matches!(&denied, CallToolResponse::Complete(result) if result.is_error == Some(true)),
        "{denied:?}"
    );
    assert_eq!(*log.lock().unwrap(), ["asks for a", "a: false"]);
}

#[tokio::test]
async fn a_call_that_nobody_comes_back_for_is_over() {
    let log = Arc::new(Log::default());
    let options = ServerOptions::new().answer_within(Duration::from_millis(50));
    let connected =
        connect_with(&ProtocolVersion::V_2026_07_28, Person::default(), builder(&log), options).await;
    let mut events = connected.toolkit.events();
    let (_, state, name) = begin(&connected, "a").await;
    let finished = tokio::time::timeout(Duration::from_secs(10), async {
        while let Some(event) = events.next().await {
            if let toolkit::events::Event::Finished { result, .. } = event.event {
                return result.error().map(toolkit::ToolError::kind);
            }
        }
        None
    });
    assert_eq!(finished.await.unwrap(), Some(toolkit::ToolErrorKind::Aborted));
    assert!(
        come_back(&connected, json!({"host": "a"}), &state, responses(&name, &accept(nothing())))
            .await
            .is_err()
    );
    assert!(connected.toolkit.asks().list(None).is_empty());
}

#[tokio::test]
async fn so_many_calls_wait_and_no_more() {
    let log = Arc::new(Log::default());
    let options = ServerOptions::new().most_waiting(2);
    let connected =
        connect_with(&ProtocolVersion::V_2026_07_28, Person::default(), builder(&log), options).await;
    begin(&connected, "a").await;
    let (_, state, name) = begin(&connected, "b").await;
    let denied = connected.client.call_tool_once(params("deploy", json!({"host": "c"}))).await.unwrap();
    let CallToolResponse::Complete(denied) = denied else { panic!("{denied:?}") };
    assert!(text(&denied).contains("2 calls wait"), "{}", text(&denied));
    // One that comes back makes room.
    let yes = responses(&name, &accept(nothing()));
    come_back(&connected, json!({"host": "b"}), &state, yes).await.unwrap();
    begin(&connected, "d").await;
}

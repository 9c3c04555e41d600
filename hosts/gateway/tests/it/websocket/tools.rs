//! Tools of clients in the sessions that they are attached to.

use serde_json::{Value, json};
use toolkit::events::Event;
use toolkit::{CallOptions, Caller, CancellationToken, ToolCall, ToolErrorKind};
use toolkit_gateway::caller_in;

use super::{Client, Place, call, main, names, of_ada, text, tool};
use crate::agents::in_time;

fn to(sessions: &[&str], name: &str) -> Value {
    json!({ "sessions": sessions, "name": name })
}

#[tokio::test]
async fn a_client_serves_tools_to_its_sessions_alone_and_their_list_may_change() {
    let place = Place::new().await;
    let toolkit = place.toolkit();
    let tools = json!([tool("page_one"), tool("page_two")]);
    let mut client = Client::serving(&place, &place.owner, to(&["main"], "tab"), tools).await;
    assert_eq!(client.welcome["client"], "owner.tab");
    assert_eq!(names(&toolkit, &main()).await, ["page_one", "page_two"]);
    assert!(names(&toolkit, &of_ada()).await.is_empty());

    let calling = tokio::spawn(call(toolkit.clone(), main(), "page_one", json!({ "a": [1, "ä\n"] })));
    let request = client.request("tools/call").await;
    assert_eq!(request["params"]["arguments"], json!({ "a": [1, "ä\n"] }));
    client.answer(&request, text("done\u{2028}")).await;
    assert_eq!(calling.await.unwrap().text(), "done\u{2028}");

    client.mcp(json!({ "method": "notifications/tools/list_changed" })).await;
    let told = client.list(json!([tool("page_three")])).await;
    assert_eq!(told["tools"], json!(["page_three"]));
    assert_eq!(names(&toolkit, &main()).await, ["page_three"]);
    client.close().await;
    in_time(async {
        while !names(&toolkit, &main()).await.is_empty() {
            tokio::task::yield_now().await;
        }
    })
    .await;
    place.stop().await;
}

#[tokio::test]
async fn progress_and_cancellation_pass_over_the_socket() {
    let place = Place::new().await;
    let toolkit = place.toolkit();
    let mut client =
        Client::serving(&place, &place.owner, to(&["main"], "tab"), json!([tool("page_slow")])).await;
    let toolbox = toolkit.toolbox(&caller_in(Caller::new().with_session("s"), &main())).await;
    let mut events = toolbox.events();
    let cancel = CancellationToken::new();
    let options = CallOptions::new().cancel(cancel.clone());
    let calling = tokio::spawn(async move {
        let call = ToolCall::new("7", "page_slow", json!({}));
        toolbox.call_with(call, options).await
    });
    let request = client.request("tools/call").await;
    let token = &request["params"]["_meta"]["progressToken"];
    let progress = json!({ "progressToken": token, "progress": 1, "total": 2, "message": "half" });
    client.mcp(json!({ "method": "notifications/progress", "params": progress })).await;
    let seen = in_time(async {
        loop {
            if let Event::Progress(progress) = events.next().await.unwrap().event {
                return progress;
            }
        }
    })
    .await;
    assert_eq!((seen.total, seen.message.as_deref()), (Some(2.0), Some("half")));
    cancel.cancel();
    assert_eq!(calling.await.unwrap().error().unwrap().kind(), ToolErrorKind::Aborted);
    let cancelled = client.request("notifications/cancelled").await;
    assert_eq!(cancelled["params"]["requestId"], request["id"]);
    place.stop().await;
}

#[tokio::test]
async fn a_client_asks_no_other_person_than_its_own() {
    let place = Place::new().await;
    let (toolkit, ada) = (place.toolkit(), place.ada("phone").await);
    let tools = || json!([tool("page_ask")]);
    let mut of_owner = Client::serving(&place, &place.owner, to(&["main"], "tab"), tools()).await;
    let mut of_ada_s = Client::serving(&place, &ada, to(&["main"], "tab"), tools()).await;
    let elicit = json!({
        "id": "ask", "method": "elicitation/create",
        "params": { "message": "Which?", "requestedSchema": { "type": "object", "properties": { "page": { "type": "string" } } } },
    });
    // Questions of Ada's session are the owner's to answer.
    let calling = tokio::spawn(call(toolkit.clone(), of_ada(), "page_ask", json!({})));
    let request = of_ada_s.request("tools/call").await;
    of_ada_s.mcp(elicit.clone()).await;
    let refused = of_ada_s.find(|frame| frame["message"]["id"] == "ask").await;
    assert_eq!(refused["message"]["error"]["code"], -32601, "{refused}");
    of_ada_s.answer(&request, text("done")).await;
    assert_eq!(calling.await.unwrap().text(), "done");

    let calling = tokio::spawn(call(toolkit.clone(), main(), "page_ask", json!({})));
    let request = of_owner.request("tools/call").await;
    of_owner.mcp(elicit).await;
    let code = place.asked(&place.owner).await.remove(0);
    let answer = json!({ "type": "value", "value": { "page": "one" } });
    let path = format!("/v1/asks/{code}");
    assert_eq!(place.http("POST", &path, &place.owner, Some(answer)).await.0, 200);
    let answered = of_owner.find(|frame| frame["message"]["id"] == "ask").await;
    assert_eq!(answered["message"]["result"]["content"], json!({ "page": "one" }), "{answered}");
    of_owner.answer(&request, text("done")).await;
    assert_eq!(calling.await.unwrap().text(), "done");
    place.stop().await;
}

#[tokio::test]
async fn clients_of_two_sessions_have_tools_of_one_name_and_in_one_session_the_first_has_it() {
    let place = Place::new().await;
    let (toolkit, ada) = (place.toolkit(), place.ada("phone").await);
    let tools = || json!([tool("page_act")]);
    let mut of_owner = Client::serving(&place, &place.owner, to(&["main"], "tab"), tools()).await;
    let mut of_ada_s = Client::serving(&place, &ada, to(&["main"], "tab"), tools()).await;
    assert_eq!(of_ada_s.welcome["sessions"], json!([of_ada().to_string()]), "her own main session");
    for (client, session, answer) in [(&mut of_owner, main(), "owner's"), (&mut of_ada_s, of_ada(), "Ada's")]
    {
        let calling = tokio::spawn(call(toolkit.clone(), session, "page_act", json!({})));
        let request = client.request("tools/call").await;
        client.answer(&request, text(answer)).await;
        assert_eq!(calling.await.unwrap().text(), answer);
    }
    let mut later = Client::hello(&place, &place.owner, to(&["main"], "other")).await.unwrap();
    let told = later.begin(tools()).await;
    assert!(told["notices"][0].as_str().unwrap().contains("page_act"), "{told}");
    let calling = tokio::spawn(call(toolkit.clone(), main(), "page_act", json!({})));
    let request = of_owner.request("tools/call").await;
    of_owner.answer(&request, text("the first one")).await;
    assert_eq!(calling.await.unwrap().text(), "the first one");
    // Once the first one is gone, the later one has the name.
    of_owner.close().await;
    let calling = tokio::spawn(async move {
        loop {
            let result = call(toolkit.clone(), main(), "page_act", json!({})).await;
            if result.error().is_none() {
                return result;
            }
        }
    });
    let request = later.request("tools/call").await;
    later.answer(&request, text("the later one")).await;
    assert_eq!(in_time(calling).await.unwrap().text(), "the later one");
    place.stop().await;
}

#[tokio::test]
async fn a_tool_whose_schema_lies_is_left_out_and_arguments_are_checked_here() {
    let place = Place::new().await;
    let toolkit = place.toolkit();
    let schema = json!({ "type": "object", "properties": { "n": { "type": "integer" } }, "required": ["n"] });
    let bad = |name: &str, schema: Value| json!({ "name": name, "description": "x", "inputSchema": schema });
    let tools = json!([
        bad("page_good", schema),
        bad("page_none", Value::Null),
        bad("page_text", json!("object")),
        bad("page_array", json!({ "type": "array" })),
        bad("page_kind", json!({ "type": "object", "properties": { "a": { "type": "nothing" } } })),
        { "description": "no name", "inputSchema": { "type": "object" } },
        { "name": "page_loose", "inputSchema": { "type": "object" }, "annotations": { "readOnlyHint": true } },
    ]);
    let mut client = Client::hello(&place, &place.owner, to(&["main"], "tab")).await.unwrap();
    let told = client.begin(tools).await;
    let notices = told["notices"].to_string();
    for name in ["page_none", "page_text", "page_array", "page_kind"] {
        assert!(notices.contains(name), "{name}: {notices}");
    }
    assert_eq!(names(&toolkit, &main()).await, ["page_good", "page_loose"]);
    let wrong = call(toolkit.clone(), main(), "page_good", json!({ "n": "seven" })).await;
    assert_eq!(wrong.error().unwrap().kind(), ToolErrorKind::InvalidArguments);
    let calling = tokio::spawn(call(toolkit, main(), "page_good", json!({ "n": 7 })));
    let request = client.request("tools/call").await;
    assert_eq!(request["params"]["arguments"], json!({ "n": 7 }), "the first call that the client hears of");
    client.answer(&request, json!({ "content": [{ "type": "text", "text": "no" }], "isError": true })).await;
    assert!(calling.await.unwrap().error().unwrap().message().contains("no"));
    place.stop().await;
}

#[tokio::test]
async fn rules_name_the_tools_of_a_client_by_its_person_and_name() {
    let place = Place::new().await;
    let ada = place.ada("phone").await;
    let (toolkit, tools) = (place.toolkit(), || json!([tool("page_act")]));
    let _of_owner = Client::serving(&place, &place.owner, to(&["main"], "denied"), tools()).await;
    assert!(names(&toolkit, &main()).await.is_empty(), "a rule denies what this client of the owner offers");
    let mut of_ada_s = Client::serving(&place, &ada, to(&["main"], "denied"), tools()).await;
    let calling = tokio::spawn(call(toolkit, of_ada(), "page_act", json!({})));
    let request = of_ada_s.request("tools/call").await;
    of_ada_s.answer(&request, text("another client")).await;
    assert_eq!(calling.await.unwrap().text(), "another client");
    place.stop().await;
}

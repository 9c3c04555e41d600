//! Connections that drop, and come back.

use std::time::Duration;

use serde_json::{Value, json};
use toolkit::ToolErrorKind;
use toolkit_gateway::ClientLimits;

use crate::agents::in_time;

use super::{Client, Place, call, main, names, text, tool};

fn hello() -> Value {
    json!({ "sessions": ["main"], "name": "tab" })
}

#[tokio::test]
async fn a_call_goes_on_over_a_connection_that_drops_and_comes_back() {
    let place = Place::new().await;
    let toolkit = place.toolkit();
    let mut client = Client::serving(&place, &place.owner, hello(), json!([tool("page_act")])).await;
    let calling = tokio::spawn(call(toolkit.clone(), main(), "page_act", json!({ "n": 1 })));
    let request = client.request("tools/call").await;
    let mut client = client.come_back(&place, &place.owner, json!(["main"])).await;
    assert_eq!(client.welcome["resumed"], true);
    client.answer(&request, text("once")).await;
    assert_eq!(calling.await.unwrap().text(), "once");

    // A request that was on its way when the connection dropped comes over the next one.
    let calling = tokio::spawn(call(toolkit.clone(), main(), "page_act", json!({ "n": 2 })));
    in_time(client.socket.get_ref().readable()).await.unwrap();
    let mut client = client.come_back(&place, &place.owner, json!(["main"])).await;
    let request = client.request("tools/call").await;
    assert_eq!(request["params"]["arguments"]["n"], 2);
    client.answer(&request, text("also once")).await;
    assert_eq!(calling.await.unwrap().text(), "also once");

    // All before was confirmed by the answers, so that a client that has forgotten it cannot go on.
    let resume = client.welcome["resume"].clone();
    let calling = tokio::spawn(call(toolkit, main(), "page_act", json!({ "n": 3 })));
    client.request("tools/call").await;
    drop(client);
    let received = json!({ "sessions": ["main"], "resume": resume, "received": 0 });
    let lost = Client::hello(&place, &place.owner, received).await.err().unwrap();
    assert_eq!(lost.0, 4410, "{lost:?}");
    assert_eq!(calling.await.unwrap().error().unwrap().kind(), ToolErrorKind::Unavailable);
    place.stop().await;
}

#[tokio::test]
async fn tools_of_a_client_that_does_not_come_back_are_gone_and_its_calls_end() {
    let mut limits = ClientLimits::default();
    limits.resume_within = Duration::from_millis(1);
    let place = Place::with(limits).await;
    let toolkit = place.toolkit();
    let mut client = Client::serving(&place, &place.owner, hello(), json!([tool("page_act")])).await;
    let calling = tokio::spawn(call(toolkit.clone(), main(), "page_act", json!({})));
    client.request("tools/call").await;
    drop(client);
    assert_eq!(calling.await.unwrap().error().unwrap().kind(), ToolErrorKind::Unavailable);
    assert!(names(&toolkit, &main()).await.is_empty());
    place.stop().await;
}

#[tokio::test]
async fn a_call_in_flight_ends_when_its_client_closes_the_connection() {
    let place = Place::new().await;
    let toolkit = place.toolkit();
    let mut client = Client::serving(&place, &place.owner, hello(), json!([tool("page_act")])).await;
    let calling = tokio::spawn(call(toolkit.clone(), main(), "page_act", json!({})));
    client.request("tools/call").await;
    client.close().await;
    assert_eq!(calling.await.unwrap().error().unwrap().kind(), ToolErrorKind::Unavailable);
    place.stop().await;
}

#[tokio::test]
async fn a_client_that_comes_back_takes_the_place_of_its_own_socket_and_of_no_others() {
    let place = Place::new().await;
    let ada = place.ada("phone").await;
    let first = Client::serving(&place, &place.owner, hello(), json!([tool("page_act")])).await;
    let (resume, received) = (first.welcome["resume"].clone(), first.received);
    let of_ada = json!({ "sessions": ["main"], "name": "tab", "resume": resume, "received": received });
    let other = Client::hello(&place, &ada, of_ada).await.unwrap();
    assert_eq!(other.welcome["resumed"], false, "the id says nothing to another person");
    let again = json!({ "sessions": ["main"], "name": "tab", "resume": resume, "received": received });
    let second = Client::hello(&place, &place.owner, again).await.unwrap();
    assert_eq!(second.welcome["resumed"], true);
    assert_eq!(first.closed().await.0, 4409);
    assert_eq!(names(&place.toolkit(), &main()).await, ["page_act"]);
    place.stop().await;
}

#[tokio::test]
async fn at_the_end_of_the_gateway_clients_are_told_to_come_back() {
    let place = Place::new().await;
    let client = Client::serving(&place, &place.owner, hello(), json!([])).await;
    let (closed, ()) = tokio::join!(client.closed(), place.stop());
    assert_eq!(closed.0, 1001, "{closed:?}");
}

//! The list of a server's tools: read once the server is connected, and again after each change.

use super::connection::Connection;
use super::failure;
use super::names;
use super::server::{FIRST_WAIT, LeftOut, Server, State};
use super::tools;
use rmcp::model::{
    ClientRequest, ListToolsRequest, PaginatedRequestParams, ServerResult, SubscriptionFilter,
};
use rmcp::service::{Subscription, SubscriptionEnd};
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, timeout};
use toolkit::Tool;

/// The longest wait between two attempts.
pub(super) const LONGEST_WAIT: Duration = Duration::from_mins(5);
/// Duration of a connection after which the delay before reconnecting is reset.
pub(super) const GOOD: Duration = Duration::from_mins(1);
/// Maximum number of pages of a list.
const MAX_PAGES: usize = 1_000;
/// Maximum number of bytes of a tool's definition.
const LARGEST_TOOL: usize = 256 << 10;
/// Maximum number of bytes of a list that are read.
const LARGEST_LIST: usize = 32 << 20;
/// Delay between a change of a list and reading the list again, since changes come in bursts.
const SETTLE: Duration = Duration::from_millis(50);
/// Maximum delay while changes keep coming.
const LONGEST_SETTLE: Duration = Duration::from_secs(10);
/// Time without a change of the list after which the delay is reset to its initial value.
const CALM: Duration = Duration::from_secs(5);

/// The callers that the listed tools are for.
pub(super) trait Shelf: Send + Sync {
    /// Sets the tools of a server. Returns those that are left out.
    fn put(&self, tools: Vec<Tool>) -> Vec<Refused>;
}

/// A tool that is left out.
pub(super) struct Refused {
    pub(super) tool: String,
    pub(super) why: String,
}

/// A connection that has just come about.
pub(super) struct Begun {
    pub(super) connection: Connection,
    /// The subscription to changes of the list, if the protocol has a request for it.
    subscription: Option<Subscription>,
    /// Number of tools.
    tools: usize,
}

/// Lists the tools of a connection. Notifications of changes are requested first, so that none is missed in between.
pub(super) async fn begin(
    server: &Arc<Server>,
    connection: Connection,
    shelf: &dyn Shelf,
) -> Result<Begun, String> {
    let subscription = subscribed(server, &connection).await;
    let listed = list(server, &connection, shelf).await;
    let tools = listed.map_err(|why| why + &connection.about.last_words())?;
    Ok(Begun { connection, subscription, tools })
}

/// Serves a connection until it ends. Returns the reason for which it ended.
pub(super) async fn attend(server: &Arc<Server>, begun: Begun, shelf: &dyn Shelf) -> String {
    let Begun { connection, subscription, tools } = begun;
    let about = Arc::clone(&connection.about);
    let peer = connection.peer.clone();
    server.set_state(State::Ready { peer: peer.clone(), tools, about: Arc::clone(&about) });
    let listening = async {
        let mut settle = SETTLE;
        loop {
            let waited = Instant::now();
            server.list_changed.notified().await;
            // One that changes all the time is read less and less often.
            settle = if waited.elapsed() > CALM { SETTLE } else { LONGEST_SETTLE.min(settle * 2) };
            tokio::time::sleep(settle).await;
            match timeout(server.options.start_within, list(server, &connection, shelf)).await {
                Ok(Ok(tools)) => {
                    let (peer, about) = (peer.clone(), Arc::clone(&about));
                    server.set_state(State::Ready { peer, tools, about });
                }
                Ok(Err(why)) => server.tell(why),
                Err(_) => server.tell("it reported changed tools, but did not list them in time"),
            }
        }
    };
    tokio::select! {
        () = connection.ended() => {}
        () = hear(server, &connection, subscription) => {}
        () = listening => {}
    }
    format!("the connection ended{}", about.last_words())
}

/// Waits for changes of the list, if the protocol has a subscription request; otherwise waits forever.
async fn hear(server: &Server, connection: &Connection, subscription: Option<Subscription>) {
    let mut wait = FIRST_WAIT;
    let mut listening = subscription;
    while let Some(mut subscription) = listening.take() {
        let begun = Instant::now();
        while let Ok(Some(_)) = subscription.next().await {
            server.list_changed.notify_one();
        }
        if matches!(subscription.end(), Some(SubscriptionEnd::Cancelled | SubscriptionEnd::Graceful(_))) {
            break;
        }
        // Notifications came faster than they were read, or the stream broke: changes in between were missed.
        if begun.elapsed() >= GOOD {
            wait = FIRST_WAIT;
        }
        tokio::time::sleep(wait).await;
        wait = LONGEST_WAIT.min(wait * 2);
        listening = subscribed(server, connection).await;
        server.list_changed.notify_one();
    }
    std::future::pending::<()>().await;
}

/// Subscribes to changes of the list, if the protocol has a subscription request.
async fn subscribed(server: &Server, connection: &Connection) -> Option<Subscription> {
    if !connection.about.has_subscriptions() {
        return None;
    }
    let filter = SubscriptionFilter::builder().tools_list_changed().build();
    let listening = connection.peer.listen(filter).await;
    listening
        .inspect_err(|error| {
            server.tell(format!("changes of its tools cannot be followed: {}", failure::of_request(error)));
        })
        .ok()
}

/// Lists the server's tools, and registers them.
async fn list(server: &Arc<Server>, connection: &Connection, shelf: &dyn Shelf) -> Result<usize, String> {
    if !connection.about.has_tools() {
        return Ok(register(server, &[], LeftOut::default(), shelf));
    }
    let most = server.options.most_tools;
    let mut listed: Vec<Value> = Vec::new();
    let (mut cursor, mut read) = (None, 0);
    let mut pages = 0;
    let mut left_out = LeftOut::default();
    let rest = loop {
        let params = cursor.take().map(|cursor| PaginatedRequestParams::default().with_cursor(Some(cursor)));
        let request = ListToolsRequest { params, ..ListToolsRequest::default() };
        let answer = connection.peer.send_request(ClientRequest::ListToolsRequest(request)).await;
        let unlisted = |why: String| format!("its tools cannot be listed: {why}");
        // A list with an invalid tool does not parse as a whole: the other tools are used all the same.
        let mut page = match answer.map_err(|error| unlisted(failure::of_request(&error)))? {
            ServerResult::ListToolsResult(page) => serde_json::to_value(page).unwrap_or_default(),
            ServerResult::CustomResult(page) => page.0,
            _ => return Err(unlisted("it answers with something else".to_owned())),
        };
        cursor = page.get("nextCursor").and_then(Value::as_str).map(str::to_owned);
        let Some(Value::Array(tools)) = page.get_mut("tools").map(Value::take) else {
            return Err(unlisted("the answer has no list of tools".to_owned()));
        };
        for tool in tools {
            let bytes = tools::bytes(&tool);
            read += bytes;
            if bytes > LARGEST_TOOL {
                let name = tool.get("name").and_then(Value::as_str).unwrap_or_default();
                let why = format!("its definition has {bytes} bytes; the maximum is {LARGEST_TOOL}");
                left_out.add(names::names(&server.prefix, &[name]).remove(0), &*why);
                let name: String = name.chars().take(100).collect();
                server.tell(format!("its tool {name:?} is left out: {why}"));
            } else {
                listed.push(tool);
            }
        }
        pages += 1;
        if listed.len() > most {
            listed.truncate(most);
            break Some(format!("more than {most} tools"));
        }
        if cursor.is_none() {
            break None;
        }
        if read > LARGEST_LIST {
            break Some(format!("more than {LARGEST_LIST} bytes"));
        }
        if pages == MAX_PAGES {
            break Some(format!("more than {MAX_PAGES} pages"));
        }
    };
    if let Some(what) = &rest {
        server.tell(format!("its list of tools has {what}; the rest is left out"));
    }
    left_out.rest = rest;
    Ok(register(server, &listed, left_out, shelf))
}

fn register(server: &Arc<Server>, listed: &[Value], mut left_out: LeftOut, shelf: &dyn Shelf) -> usize {
    let (tools, mut problems) = tools::tools(server, listed, &mut left_out);
    let count = tools.len();
    let refused = shelf.put(tools);
    let failed = refused.len();
    for Refused { tool, why } in refused {
        left_out.add(tool, &*why);
        problems.push(why);
    }
    server.set_left_out(left_out);
    for problem in problems {
        server.tell(problem);
    }
    count - failed.min(count)
}

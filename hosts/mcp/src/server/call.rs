//! `tools/call`: from the protocol to the one call path, and back.

use super::sessions::is_stateless;
use super::suspended::{Fingerprint, Next, Running};
use super::telling::Telling;
use super::{ToolServer, result};
use crate::turns::Turn;
use rmcp::RoleServer;
use rmcp::model::{CallToolRequestParams, CallToolResponse, ErrorData};
use rmcp::service::RequestContext;
use serde_json::Value;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use toolkit::{CallOptions, ToolCall, Toolbox};

pub(super) async fn call(
    server: &ToolServer,
    request: CallToolRequestParams,
    context: RequestContext<RoleServer>,
) -> Result<CallToolResponse, ErrorData> {
    let CallToolRequestParams { name, arguments, input_responses, request_state, .. } = request;
    let arguments = Value::Object(arguments.unwrap_or_default());
    let turn = context.extensions.get::<Turn>().cloned();
    if let Some(state) = request_state {
        // The call has begun already.
        if let Some(turn) = &turn {
            turn.pass();
        }
        let fingerprint = Fingerprint::of(&name, &arguments);
        let running = server.0.suspended.take(&state, &fingerprint, server.0.principal())?;
        let running = running.answered(input_responses.unwrap_or_default());
        // The call's own session, which differs if the client returned by another connection.
        let server = running.server.clone();
        return drive(&server, running, fingerprint, &context).await;
    }
    if let Some(turn) = &turn {
        turn.comes().await;
    }
    let toolbox = current(server, &name, &context).await;
    let can_ask = server.0.asks_client(&context);
    let fingerprint = (can_ask && is_stateless(&context)).then(|| Fingerprint::of(&name, &arguments));
    let call = ToolCall::new(call_id(), name, arguments);
    if let Some(fingerprint) = fingerprint {
        let running = Running::start(server.clone(), toolbox, call, context.peer.clone(), turn);
        return drive(server, running, fingerprint, &context).await;
    }
    let options = CallOptions::new().reads_beside_changes().never_begins_again().cancel(context.ct.clone());
    let options = options.attach(Arc::new(context.peer.clone()));
    let options = server.0.with_approver(options, can_ask.then_some(&context.peer));
    let shown = toolbox.defers().then(|| toolbox.shown().len());
    let result = match Telling::wanted(server, &context) {
        None => Turn::begin(turn, toolbox.call_with(call, options)).await,
        Some(telling) => {
            let notices = toolbox.notices(&*call.id);
            let call = Turn::begin(turn, toolbox.call_with(call, options));
            telling.during(notices, server, &context.peer, call).await
        }
    };
    // Tools that were found are in the list from now on. Clients without a session ask for the list when they need it.
    if shown.is_some_and(|before| toolbox.shown().len() != before) && !is_stateless(&context) {
        server.notify(context.peer.notify_tool_list_changed()).await;
    }
    Ok(result::result(server, &toolbox, result, &context).await.into())
}

/// The id of a call, unique in this process. The client's id of the request is not: two clients count from 1, and one may use
/// the number 1 and the string "1".
pub(super) fn call_id() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    format!("mcp_{}", NEXT.fetch_add(1, Ordering::Relaxed))
}

/// Returns the toolbox that the client was shown, or the present one if the former lacks the tool.
async fn current(server: &ToolServer, name: &str, context: &RequestContext<RoleServer>) -> Toolbox {
    let toolbox = server.toolbox(context).await;
    if toolbox.tool(name).is_some() { toolbox } else { server.renew(context).await }
}

/// Waits for the call, or for a question of it: then it is kept until the client returns.
async fn drive(
    server: &ToolServer,
    mut running: Running,
    fingerprint: Fingerprint,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResponse, ErrorData> {
    let toolbox = running.toolbox.clone();
    let next = match Telling::wanted(server, context) {
        None => until_asked(server, &mut running, context).await,
        Some(telling) => {
            let notices = toolbox.notices(&*running.call_id);
            telling.during(notices, server, &context.peer, until_asked(server, &mut running, context)).await
        }
    };
    match next {
        Next::Done(done) => Ok(result::result(server, &toolbox, *done, context).await.into()),
        Next::Asks => Ok(server.0.suspended.keep(running, fingerprint)),
        Next::Lost => Err(ErrorData::internal_error("the call ended without a result", None)),
    }
}

/// Waits until there is something to ask the client.
async fn until_asked(
    server: &ToolServer,
    running: &mut Running,
    context: &RequestContext<RoleServer>,
) -> Next {
    loop {
        match running.next(&context.ct).await {
            Next::Asks if !running.deny_formless() => {}
            Next::Asks => match server.0.suspended.full(server.0.session()) {
                Some(why) => running.deny(&why),
                None => return Next::Asks,
            },
            next => return next,
        }
    }
}

//! A call of a server's tool.

use super::asked;
use super::deferred::{self, DeferredCall, DeferredCalls, Noted};
use super::failure;
use super::handler::roots;
use super::http;
use super::media;
use super::offered::Offered;
use super::output;
use super::sampling;
use super::server::Server;
use super::unreadable;
use rmcp::RoleClient;
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CallToolResponse, CallToolResult, ClientRequest,
    ElicitationAction, ErrorCode, ErrorData, InputRequest, InputRequests, InputResponses,
    RequestParamsMeta as _, ServerResult,
};
use rmcp::service::{Peer, PeerRequestOptions, RequestHandle, ServiceError};
use serde_json::{Map, Value, json};
use std::sync::Arc;
use tokio::time::timeout;
use toolkit::{
    Ask, ToolContext, ToolError, ToolErrorKind, ToolOutput, descriptor::DynamicArgs, text::escape_line,
};

/// Maximum number of times that a server may ask for more input during one call.
pub(super) const MAX_ROUNDS: usize = 16;

/// The code of the error of a server that needs a person to visit an address first.
const URL_ELICITATION_REQUIRED: ErrorCode = ErrorCode(-32042);

/// The fault of a server that asks for what it may not.
const NOT_DECLARED: &str = "it requests a capability that this client did not declare";

/// Maximum number of questions in one of these rounds.
const MAX_AT_ONCE: usize = 16;

pub(super) async fn call(
    server: &Arc<Server>,
    offered: &Offered,
    context: &ToolContext,
    args: DynamicArgs,
) -> Result<ToolOutput, ToolError> {
    agree(server, offered, context).await?;
    if offered.is_deferred
        && let Some(calls) = &server.deferred
    {
        return call_deferred(server, calls, offered, context, args).await;
    }
    let peer = server.peer(context).await?;
    let params = CallToolRequestParams::new(offered.name.clone()).with_arguments(args.into_map());
    let output = complete(server, &peer, context, params).await?;
    Ok(media::check(context, output).await)
}

/// Calls a tool by the server's name of it.
pub(super) async fn call_by_name(
    server: &Arc<Server>,
    context: &ToolContext,
    name: &str,
    arguments: Map<String, Value>,
) -> Result<ToolOutput, ToolError> {
    let peer = server.peer(context).await?;
    let params = CallToolRequestParams::new(name.to_owned()).with_arguments(arguments);
    let output = complete(server, &peer, context, params).await?;
    Ok(media::check(context, output).await)
}

/// Calls a tool whose result comes later.
async fn call_deferred(
    server: &Arc<Server>,
    calls: &Arc<dyn DeferredCalls>,
    offered: &Offered,
    context: &ToolContext,
    args: DynamicArgs,
) -> Result<ToolOutput, ToolError> {
    let peer = server.peer(context).await?;
    let arguments = Value::Object(args.into_map());
    let DeferredCall { id, is_known } = calls.begin(context, &offered.here, &arguments).await?;
    if is_known {
        return Ok(deferred::pending(&id));
    }
    let noted = Noted::new(calls, &id);
    let Value::Object(arguments) = arguments else { return Err(fault(server, "arguments are gone")) };
    let mut params = CallToolRequestParams::new(offered.name.clone()).with_arguments(arguments);
    params.meta_mut().get_or_insert_default().0.insert(deferred::CALL.to_owned(), json!(id));
    let answer = timeout(server.timeout, complete(server, &peer, context, params)).await;
    let answer = answer.unwrap_or_else(|_| {
        let text = format!("{} did not take the call within {:?}", server.source, server.timeout);
        Err(ToolError::new(ToolErrorKind::TimedOut, text))
    });
    // The note is gone before anybody hears of the error, so that no result follows it. Until then the caller may go.
    let error = match answer {
        Err(error) if calls.forget(&id).await => Some(error),
        _ => None,
    };
    noted.keep();
    error.map_or_else(|| Ok(deferred::pending(&id)), Err)
}

/// Sends a call until it has a result, and answers what the server asks meanwhile.
async fn complete(
    server: &Arc<Server>,
    peer: &Peer<RoleClient>,
    context: &ToolContext,
    mut params: CallToolRequestParams,
) -> Result<ToolOutput, ToolError> {
    for _ in 0..MAX_ROUNDS {
        match once(server, peer, context, params.clone()).await? {
            CallToolResponse::Complete(result) => return output::output(result),
            CallToolResponse::InputRequired(needs) => {
                params.request_state = needs.request_state;
                params.input_responses = match needs.input_requests {
                    Some(requests) => Some(answers(server, context, requests).await?),
                    None => None,
                };
            }
            _ => return Err(fault(server, "it answered with a task, which was not asked for")),
        }
    }
    Err(fault(server, &format!("it requested input {MAX_ROUNDS} times without a result")))
}

/// Asks for approval of a tool whose definition has changed.
async fn agree(server: &Arc<Server>, offered: &Offered, context: &ToolContext) -> Result<(), ToolError> {
    let Some(change) = offered.change() else { return Ok(()) };
    let title = format!("call {} although {} has changed its definition", offered.here, server.source);
    let said = |text: &str| if text.is_empty() { "(nothing)".to_owned() } else { text.to_owned() };
    let mut ask = Ask::new(server.source.remote_kind().unwrap_or("mcp"), title)
        .with_pattern(&offered.here)
        .raised()
        .once_only();
    if change.before.description == change.now.description {
        ask = ask.with_text("changed", "its parameters, its annotations, or the end of its description");
    } else {
        ask = ask
            .with_text("before", said(&change.before.description))
            .with_text("now", said(&change.now.description));
    }
    context.ask_in_person(ask).await?;
    offered.agreed();
    if let Err(problem) = server.known.accept(&offered.here, &change.now) {
        server.tell(problem);
    }
    Ok(())
}

/// Sends one request for a call, and returns its answer.
async fn once(
    server: &Arc<Server>,
    peer: &Peer<RoleClient>,
    context: &ToolContext,
    params: CallToolRequestParams,
) -> Result<CallToolResponse, ToolError> {
    let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
    let answer = sent(server, peer, context, request).await?;
    if let Err(ServiceError::McpError(error)) = &answer
        && error.code == URL_ELICITATION_REQUIRED
    {
        return Err(sent_on(server, context, error).await?);
    }
    match answer.map_err(|error| failed(server, error))? {
        ServerResult::CallToolResult(result) => Ok(CallToolResponse::Complete(result)),
        ServerResult::InputRequiredResult(result) => Ok(CallToolResponse::InputRequired(result)),
        // Without any content it looks like others.
        ServerResult::EmptyResult(_) => Ok(CallToolResponse::Complete(CallToolResult::success(Vec::new()))),
        ServerResult::CustomResult(result) => output::with_unknown_blocks(result.0)
            .map(CallToolResponse::Complete)
            .map_err(|_| fault(server, "its answer is not a tool result")),
        _ => Err(fault(server, "its answer is not a tool result")),
    }
}

/// Sends the user to the URLs that must be visited before the tool can be called. Returns the text for the model.
async fn sent_on(
    server: &Arc<Server>,
    context: &ToolContext,
    error: &ErrorData,
) -> Result<ToolError, ToolError> {
    if !server.may_ask {
        return Err(fault(server, NOT_DECLARED));
    }
    let listed = error.data.as_ref().and_then(|data| data.get("elicitations")).and_then(Value::as_array);
    for one in listed.into_iter().flatten().take(MAX_AT_ONCE) {
        let params = serde_json::from_value(one.clone())
            .map_err(|_| fault(server, "it names no address that has to be visited"))?;
        let answer = asked::elicit(&server.source, context, params).await?;
        if answer.action != ElicitationAction::Accept {
            return Ok(ToolError::denied(format!(
                "{} needs a step in a browser first, and the user declined it",
                server.source
            )));
        }
    }
    Ok(ToolError::failed(format!(
        "{} needs a step in a browser first: {}. The user was told where; call the tool again \
         once the user says that it is done",
        server.source,
        escape_line(&error.message)
    )))
}

/// Sends a request for a call, and waits for its answer.
///
/// # Errors
///
/// When the call is cancelled.
pub(super) async fn sent(
    server: &Arc<Server>,
    peer: &Peer<RoleClient>,
    context: &ToolContext,
    request: ClientRequest,
) -> Result<Result<ServerResult, ServiceError>, ToolError> {
    // A request of the server may arrive before the confirmation that the call was sent.
    let begun = server.calls.begin(context);
    let sent = peer.send_cancellable_request(request, PeerRequestOptions::no_options()).await;
    let handle = match sent {
        Ok(handle) => handle,
        Err(error) => return Ok(Err(error)),
    };
    begun.has(handle.progress_token.clone());
    let mut waiting = Waiting(Some(handle));
    let Some(handle) = waiting.0.as_mut() else { return Err(fault(server, "the request is gone")) };
    let answer = tokio::select! {
        answer = &mut handle.rx => answer.unwrap_or(Err(ServiceError::TransportClosed)),
        () = context.cancellation_token().cancelled() => {
            return Err(ToolError::aborted(format!(
                "the call was cancelled, and {} was notified; the call may have been done in part", server.source
            )));
        }
    };
    waiting.0 = None;
    Ok(answer)
}

/// Cancels the request at the server when the call no longer waits for the answer.
struct Waiting(Option<RequestHandle<RoleClient>>);

impl Drop for Waiting {
    fn drop(&mut self) {
        if let (Some(handle), Ok(runtime)) = (self.0.take(), tokio::runtime::Handle::try_current()) {
            runtime.spawn(async move {
                let _ = handle.cancel(Some("nobody waits for it any more".to_owned())).await;
            });
        }
    }
}

pub(super) async fn answers(
    server: &Arc<Server>,
    context: &ToolContext,
    requests: InputRequests,
) -> Result<InputResponses, ToolError> {
    let mut answers = InputResponses::new();
    if requests.len() > MAX_AT_ONCE {
        let many = format!("it sent {} input requests at once; the maximum is {MAX_AT_ONCE}", requests.len());
        return Err(fault(server, &many));
    }
    for (name, request) in requests {
        let answer = match request {
            InputRequest::Elicitation(request) if server.may_ask => {
                asked::elicit(&server.source, context, request.params).await?
            }
            InputRequest::ListRoots(_) => {
                let roots = roots(server.workspace.as_deref());
                answers.insert(name, serde_json::to_value(roots).unwrap_or_else(|_| json!(null)));
                continue;
            }
            InputRequest::CreateMessage(request) if let Some(model) = &server.options.sampling => {
                let answer =
                    sampling::answer((&server.source, &server.name), model, context, request.params).await;
                let answer = answer.map_err(|error| {
                    ToolError::denied(format!("{} needs the model, and {}", server.source, error.message))
                })?;
                answers.insert(name, serde_json::to_value(answer).unwrap_or_else(|_| json!(null)));
                continue;
            }
            _ => {
                // The client did not declare this capability.
                return Err(fault(server, NOT_DECLARED));
            }
        };
        answers.insert(name, serde_json::to_value(answer).unwrap_or_else(|_| json!(null)));
    }
    Ok(answers)
}

pub(super) fn fault(server: &Server, what: &str) -> ToolError {
    ToolError::failed(format!("{} violates the protocol: {what}", server.source))
}

/// Returns the end of a sentence about a lost connection.
fn after_loss(server: &Server) -> &'static str {
    if server.reconnects() { "; the next call reconnects" } else { "" }
}

/// Converts the error of a failed request to an error for the model.
pub(super) fn failed(server: &Server, error: ServiceError) -> ToolError {
    let source = &server.source;
    match error {
        ServiceError::McpError(ref error) if let Some(why) = unreadable::reason(error) => {
            ToolError::failed(format!(
                "the call failed: the answer of {source} {}. The tool may have done its work",
                escape_line(why)
            ))
        }
        ServiceError::McpError(error) => {
            let message = escape_line(&error.message).into_owned();
            ToolError::failed(format!("{source} refused the call: {message} (code {})", error.code.0))
        }
        ServiceError::TransportSend(ref refused)
            if let Some(challenge) = http::challenge(refused, &server.name) =>
        {
            let challenge = server.without_address(challenge);
            let challenge = escape_line(&challenge);
            ToolError::new(ToolErrorKind::Unavailable, format!("{source} {challenge}"))
        }
        ServiceError::TransportSend(ref error) => {
            server.look();
            let why = server.without_address(failure::of_cause(&*error.error));
            ToolError::new(
                ToolErrorKind::Unavailable,
                format!(
                    "{source}{} could not be reached for the call: {}. It is unknown if the call had effects{}",
                    server.at(),
                    escape_line(&(why + &server.last_words())),
                    after_loss(server)
                ),
            )
        }
        ServiceError::TransportClosed | ServiceError::Cancelled { .. } => {
            server.look();
            ToolError::new(
                ToolErrorKind::Unavailable,
                format!(
                    "the connection to {source} ended during the call{}. It is unknown if the call had effects{}",
                    escape_line(&server.last_words()),
                    after_loss(server)
                ),
            )
        }
        other => fault(server, &failure::of_request(&other)),
    }
}

//! Parsing of a JSON line to a message of the protocol.

use crate::server::faults::is_list;
use crate::server::no_message;
use rmcp::model::{
    CallToolRequest, CallToolRequestMethod, CallToolRequestParams, ClientRequest, CustomRequest, Extensions,
    GetExtensions as _, JsonObject, JsonRpcMessage, JsonRpcVersion2_0, MetaObject, RequestId,
    RequestMetaObject,
};
use rmcp::service::{RoleServer, RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::async_rw::{JsonRpcMessageCodec, JsonRpcMessageCodecError};
use serde::Deserialize;
use serde_json::error::Category;
use tokio_util::bytes::BytesMut;
use tokio_util::codec::Decoder as _;
use toolkit::memory::ReservedMemory;

/// A message from a client.
pub(super) type Message = RxJsonRpcMessage<RoleServer>;

/// The content of a line.
#[derive(Debug)]
pub(super) enum Line {
    Message(Box<Message>),
    /// JSON, or the beginning of a JSON object, that is not a message of the protocol, with the error to send.
    Invalid(Box<TxJsonRpcMessage<RoleServer>>),
    /// Other text, or a notification that rmcp does not know.
    Ignored,
}

impl Line {
    /// Reserves memory for as long as the request in the line is handled.
    pub(super) fn holding(mut self, memory: ReservedMemory) -> Self {
        if let Self::Message(message) = &mut self
            && let JsonRpcMessage::Request(request) = &mut **message
        {
            request.request.extensions_mut().insert(memory);
        }
        self
    }
}

/// Parses a line, with or without its line feed.
pub(super) fn parse(line: &[u8]) -> Line {
    if let Some(call) = plain_call(line) {
        return Line::Message(Box::new(call));
    }
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    let mut bytes = BytesMut::with_capacity(line.len() + 1);
    bytes.extend_from_slice(line);
    bytes.extend_from_slice(b"\n");
    match JsonRpcMessageCodec::<Message>::new().decode(&mut bytes) {
        Ok(Some(message)) => Line::Message(Box::new(with_params(message, line))),
        Ok(None) => Line::Ignored,
        Err(JsonRpcMessageCodecError::Serde(error)) if error.classify() == Category::Data => {
            tracing::debug!("the client sent JSON that is no message of the protocol: {error}");
            Line::Invalid(Box::new(no_message::response(line)))
        }
        // Without an answer, a client would wait for the end of its request.
        Err(error) if line.trim_ascii_start().starts_with(b"{") => {
            tracing::debug!("the client sent JSON that cannot be read: {error}");
            Line::Invalid(Box::new(no_message::response(line)))
        }
        Err(error) => {
            tracing::debug!("the client sent a line that is no JSON, which is ignored: {error}");
            Line::Ignored
        }
    }
}

/// Restores the parameters of a list that rmcp left out, since they are invalid: the request becomes a custom one, whose parameters the
/// server refuses.
fn with_params(message: Message, line: &[u8]) -> Message {
    #[derive(Deserialize)]
    struct Params {
        params: serde_json::Value,
    }
    let JsonRpcMessage::Request(mut request) = message else { return message };
    let method = request.request.method();
    if is_list(method)
        && !has_params(&request.request)
        // Few requests for a list have one: the others are not parsed twice.
        && memchr::memmem::find(line, b"\"cursor\"").is_some()
        && let Ok(Params { params }) = serde_json::from_slice(line)
    {
        request.request = ClientRequest::CustomRequest(CustomRequest::new(method, Some(params)));
    }
    JsonRpcMessage::Request(request)
}

fn has_params(list: &ClientRequest) -> bool {
    match list {
        ClientRequest::ListToolsRequest(list) => list.params.is_some(),
        ClientRequest::ListPromptsRequest(list) => list.params.is_some(),
        ClientRequest::ListResourcesRequest(list) => list.params.is_some(),
        ClientRequest::ListResourceTemplatesRequest(list) => list.params.is_some(),
        _ => true,
    }
}

/// A `tools/call` with nothing but the members that most have.
///
/// rmcp determines the kind of a request by trying one type after the other on a copy of the message. That takes longer than
/// many tools do, so the most frequent request is read directly. A message with other members is left to rmcp.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PlainCall {
    #[serde(rename = "jsonrpc")]
    _version: JsonRpcVersion2_0,
    id: RequestId,
    #[serde(rename = "method")]
    _method: CallToolRequestMethod,
    params: PlainParams,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PlainParams {
    #[serde(rename = "_meta")]
    meta: Option<JsonObject>,
    name: String,
    arguments: Option<JsonObject>,
}

fn plain_call(line: &[u8]) -> Option<Message> {
    let PlainCall { id, params, .. } = serde_json::from_slice(line).ok()?;
    let PlainParams { meta, name, arguments } = params;
    let mut request = CallToolRequest::new(CallToolRequestParams::new(name));
    request.params.arguments = arguments;
    if let Some(meta) = meta {
        let mut extensions = Extensions::new();
        extensions.insert(RequestMetaObject(MetaObject(meta)));
        request.extensions = extensions;
    }
    Some(JsonRpcMessage::request(ClientRequest::CallToolRequest(request), id))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Parses a line with rmcp's own codec.
    fn of_rmcp(line: &str) -> Option<Message> {
        let mut bytes = BytesMut::from(format!("{line}\n").as_bytes());
        JsonRpcMessageCodec::<Message>::new().decode(&mut bytes).ok().flatten()
    }

    #[test]
    fn a_call_is_read_as_rmcp_reads_it() {
        let plain = [
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read","arguments":{"a":1}}}"#,
            r#"{"method":"tools/call","params":{"arguments":{"a":[1,2.5,-3,"x\n",null,{"b":true}]},"name":"é\u00e9"},"id":"one","jsonrpc":"2.0"}"#,
            r#"{"jsonrpc":"2.0","id":-7,"method":"tools/call","params":{"name":"read"}}"#,
            r#"{"jsonrpc":"2.0","id":0,"method":"tools/call","params":{"name":"read","arguments":null}}"#,
            r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"read","_meta":{"progressToken":"p","x":{}},"arguments":{}}}"#,
            r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"_meta":null,"name":"read","arguments":{"a":1,"a":2}}}"#,
            r#" {"jsonrpc" : "2.0", "id": 18446744073709551615, "method": "tools/call", "params": {"name": "r"}} "#,
            r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"r","arguments":{"big":123456789012345678901234567890,"f":1e300}}}"#,
        ];
        for line in plain {
            let (ours, theirs) = (plain_call(line.as_bytes()), of_rmcp(line));
            assert_eq!(meta(ours.as_ref()), meta(theirs.as_ref()), "{line}");
            assert_eq!(json(ours.as_ref()), json(theirs.as_ref()), "{line}");
        }
        assert!(plain_call(plain[0].as_bytes()).is_some());
        assert!(meta(plain_call(plain[4].as_bytes()).as_ref()).unwrap().get_progress_token().is_some());
    }

    fn json(message: Option<&Message>) -> serde_json::Value {
        serde_json::to_value(message).unwrap()
    }

    fn meta(message: Option<&Message>) -> Option<RequestMetaObject> {
        let Some(JsonRpcMessage::Request(request)) = message else { return None };
        let ClientRequest::CallToolRequest(call) = &request.request else { return None };
        call.extensions.get::<RequestMetaObject>().cloned()
    }

    #[test]
    fn what_has_other_members_is_left_to_rmcp() {
        for line in [
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read","requestState":"s"}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read","inputResponses":{}}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read"},"more":1}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        ] {
            assert!(plain_call(line.as_bytes()).is_none(), "{line}");
            let Line::Message(message) = parse(line.as_bytes()) else { panic!("{line}") };
            assert_eq!(json(Some(&message)), json(of_rmcp(line).as_ref()), "{line}");
        }
    }

    #[test]
    fn a_list_keeps_parameters_that_are_invalid() {
        for method in ["tools/list", "prompts/list", "resources/list", "resources/templates/list"] {
            let parsed = |params: &str| {
                let line = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{params}}}"#);
                let Line::Message(message) = parse(line.as_bytes()) else { panic!("{line}") };
                let JsonRpcMessage::Request(request) = *message else { panic!("{line}") };
                request.request
            };
            let ClientRequest::CustomRequest(custom) = parsed(r#"{"cursor":5}"#) else { panic!("{method}") };
            assert_eq!((&*custom.method, custom.params), (method, Some(serde_json::json!({"cursor": 5}))));
            for params in [r#"{"cursor":"a"}"#, r#"{"cursor":null}"#, "{}", r#"{"_meta":{"cursor":5}}"#] {
                assert!(!matches!(parsed(params), ClientRequest::CustomRequest(_)), "{method} {params}");
            }
        }
    }

    #[test]
    fn what_is_no_message_is_told_apart_from_what_is_no_json() {
        for line in ["{}", r#"{"x":1}"#, "[]", " {", r#"{"id":1,"method":"#] {
            assert!(matches!(parse(line.as_bytes()), Line::Invalid(_)), "{line}");
        }
        for line in ["hello", "\u{0}"] {
            assert!(matches!(parse(line.as_bytes()), Line::Ignored), "{line}");
        }
    }
}

//! Detection of invalid parameters in a request: which one is wrong.
//!
//! rmcp takes such a request for one of an unknown method.

use rmcp::model::{
    CallToolRequestParams, CustomRequest, ErrorCode, ErrorData, GetPromptRequestParams,
    InitializeRequestParams, PaginatedRequestParams, ReadResourceRequestParams, RequestId, RequestMetaObject,
    SetLevelRequestParams, SubscriptionsListenRequestParams,
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use toolkit::text::escape_line;

/// The method with which a session begins.
pub(crate) const INITIALIZE: &str = "initialize";

/// Returns the error for an invalid request: its parameters are wrong, or the method does not exist.
pub(super) fn refusal(request: &CustomRequest) -> ErrorData {
    let CustomRequest { method, params, .. } = request;
    match look(method, params.as_ref()) {
        Look::NoMethod => {
            let message = format!("there is no method `{}`", escape_line(method));
            ErrorData::new(ErrorCode::METHOD_NOT_FOUND, message, None)
        }
        Look::Fine => invalid_params(method, "they are not those of the method"),
        Look::Faulty(why) => invalid_params(method, &why),
    }
}

/// Returns true if rmcp leaves out invalid parameters of the method: a handler gets the request as if it had none.
pub(crate) fn is_list(method: &str) -> bool {
    matches!(method, "tools/list" | "prompts/list" | "resources/list" | "resources/templates/list")
}

/// Returns the error for the parameters of a method, if they cannot be read.
pub(crate) fn invalid(method: &str, params: Option<&Value>) -> Option<ErrorData> {
    match look(method, params) {
        Look::Faulty(why) => Some(invalid_params(method, &why)),
        Look::Fine | Look::NoMethod => None,
    }
}

/// The error for a request whose ID another request uses.
pub(crate) fn in_use(id: &RequestId) -> ErrorData {
    let message = format!("a request with the ID {id} is in progress; use another ID");
    ErrorData::invalid_request(message, None)
}

/// The error for a request beyond those that may wait. Such a request is read, and so refused, while the client reads its answers or calls
/// wait for answers of the client.
pub(crate) fn too_many_requests(max: usize) -> ErrorData {
    let message = format!(
        "too many requests wait: {max}, or 32 MiB of them; answer the server's own requests, if there are any, and send this request again \
         after answers to earlier ones have come"
    );
    ErrorData::internal_error(message, None)
}

/// The error for a subscription beyond the limit.
pub(crate) fn too_many_subscriptions(max: usize) -> ErrorData {
    ErrorData::internal_error(format!("the client has {max} subscriptions already; cancel one first"), None)
}

fn invalid_params(method: &str, why: &str) -> ErrorData {
    ErrorData::invalid_params(format!("invalid parameters of `{method}`: {why}"), None)
}

/// Result of checking the parameters of a request.
enum Look {
    /// The server does not have the method.
    NoMethod,
    Fine,
    /// The problem, with its position.
    Faulty(String),
}

fn look(method: &str, params: Option<&Value>) -> Look {
    let none = json!({});
    let params = params.unwrap_or(&none);
    let of_params = match method {
        INITIALIZE => problem::<InitializeRequestParams>(params),
        "tools/call" => problem::<CallToolRequestParams>(params),
        list if is_list(list) => problem::<PaginatedRequestParams>(params),
        "prompts/get" => problem::<GetPromptRequestParams>(params),
        "resources/read" => problem::<ReadResourceRequestParams>(params),
        "logging/setLevel" => problem::<SetLevelRequestParams>(params),
        "subscriptions/listen" => problem::<SubscriptionsListenRequestParams>(params),
        "ping" | "server/discover" => problem::<serde_json::Map<String, Value>>(params),
        _ => return Look::NoMethod,
    };
    let of_meta = || {
        let why = problem::<RequestMetaObject>(params.get("_meta")?)?;
        Some(match why.split_once(": ") {
            Some((place, why)) if place.starts_with('/') => format!("/_meta{place}: {why}"),
            _ => format!("/_meta: {why}"),
        })
    };
    of_params.or_else(of_meta).map_or(Look::Fine, Look::Faulty)
}

/// Returns the reason for which a value is not a valid `T`, with the position as a JSON pointer.
fn problem<T: DeserializeOwned>(value: &Value) -> Option<String> {
    if !value.is_object() {
        return Some("an object is expected".to_owned());
    }
    let error = serde_path_to_error::deserialize::<_, T>(value).err()?;
    let mut place = String::new();
    for step in error.path() {
        place.push('/');
        place.push_str(&escape_line(&step.to_string()));
    }
    let why = error.into_inner().to_string();
    let why = escape_line(&why);
    Some(if place.is_empty() { why.into_owned() } else { format!("{place}: {why}") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_of_what_is_wrong_is_named() {
        for (method, params, expected) in [
            ("tools/call", json!({}), "missing field `name`"),
            ("tools/call", json!({"name": 5}), "/name: invalid type: integer `5`, expected a string"),
            (
                "tools/call",
                json!({"name": "a", "arguments": "b"}),
                "/arguments: invalid type: string \"b\", expected a map",
            ),
            ("tools/call", json!([]), "an object is expected"),
            ("tools/list", json!({"cursor": 1}), "/cursor: invalid type"),
            ("prompts/get", json!({"name": null}), "/name: invalid type: null"),
            ("resources/read", json!({"url": "x"}), "missing field `uri`"),
            ("logging/setLevel", json!({"level": "loud"}), "/level: unknown variant `loud`"),
            ("initialize", json!({"protocolVersion": "2025-11-25"}), "missing field"),
            ("ping", json!({"_meta": 5}), "/_meta: an object is expected"),
        ] {
            let request = CustomRequest::new(method, Some(params));
            let error = refusal(&request);
            assert_eq!(error.code, ErrorCode::INVALID_PARAMS, "{method}: {error}");
            let start = format!("invalid parameters of `{method}`: ");
            let why = error.message.strip_prefix(&start).unwrap_or_else(|| panic!("{error}"));
            assert!(why.starts_with(expected), "{method}: {why}");
        }
        for method in ["tools/cal", "", "completion/complete", "a\nb"] {
            let error = refusal(&CustomRequest::new(method, None));
            assert_eq!(error.code, ErrorCode::METHOD_NOT_FOUND, "{method}");
            assert!(!error.message.contains('\n'), "{error}");
        }
    }
}

//! `POST /v1/tools/{name}/call`, the keys of calls, and the files of their results.

use crate::accept::{AcceptsJson, Form};
use crate::access::Access;
use crate::answer::Answer;
use crate::body;
use crate::clients::Client;
use crate::events::{self, Queue};
use crate::keys::{Fingerprint, Found, Stage};
use crate::limits::{MAX_KEY_CHARS, MAX_RESERVED_BYTES};
use crate::problems::{bad_request, lost, no_room, not_found, unknown_tool};
use crate::result::Delivery;
use crate::room::holding;
use crate::running::Planned;
use crate::web::Web;
use bytes::Bytes;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::{CancellationToken, DropGuard};
use toolkit_serve::axum::Json;
use toolkit_serve::axum::extract::rejection::{BytesRejection, PathRejection};
use toolkit_serve::axum::extract::{Path, State};
use toolkit_serve::axum::http::header::{
    CONTENT_DISPOSITION, CONTENT_SECURITY_POLICY, CONTENT_TYPE, X_CONTENT_TYPE_OPTIONS,
};
use toolkit_serve::axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, Uri};
use toolkit_serve::axum::response::{IntoResponse, Response};
use toolkit_serve::{Problem, Query, in_pieces};

/// The header of a keyed call.
pub(crate) const KEY: HeaderName = HeaderName::from_static("idempotency-key");
/// Time after which a client may ask again for the answer of a call that runs.
const AGAIN: Duration = Duration::from_secs(1);

pub(crate) async fn call(
    State(web): State<Web>,
    access: Access,
    path: Result<Path<String>, PathRejection>,
    uri: Uri,
    headers: HeaderMap,
    bytes: Result<Bytes, BytesRejection>,
) -> Result<Response, Problem> {
    let Path(name) = path?;
    let form = Form::of(&headers)?;
    let delivery = delivery(&uri, &access)?;
    let key = key(&headers)?;
    let client = web.inner.clients.of(&access)?;
    let (arguments, memory) = body::arguments(&headers, &bytes?, &client.read)?;
    let cancel = CancellationToken::new();
    // Before the tool is looked for: the answer of a key is there also if its tool is not any more.
    let reserved = match &key {
        None => None,
        Some(key) => match client.keys.begin(key, fingerprint(&name, &arguments), cancel.clone()) {
            Found::New(reserved) => Some(reserved),
            Found::Kept(answer) => return Ok(in_form(answer.sent_in(&client.sent)?, form)),
            other => return Err(refused_key(&other)),
        },
    };
    let Ok(place) = Arc::clone(&client.places).try_acquire_owned() else {
        let text =
            format!("{} calls of this client run already; let one of them end", web.inner.options.max_calls);
        return Err(Problem::new(StatusCode::TOO_MANY_REQUESTS, text).retry_after(AGAIN));
    };
    // Before the call: a client that reads no answers begins nothing.
    let room = client.sent.take(MAX_RESERVED_BYTES).ok_or_else(no_room)?;
    let toolbox = web.inner.toolbox(&access, &client).await;
    if !web.inner.is_visible(&toolbox, &access, &name) {
        web.inner.metrics.note_refused(StatusCode::NOT_FOUND.as_u16());
        return Err(unknown_tool(&name));
    }
    // A keyed call goes on without its client.
    let guard = reserved.is_none().then(|| cancel.clone().drop_guard());
    let queue = (form == Form::Events).then(|| Arc::new(Queue::new(client.sent.clone())));
    let (web, key) = (Arc::clone(&web.inner), reserved);
    let keep_alive = web.options.keep_alive;
    let queued = queue.clone();
    let planned = Planned {
        web,
        toolbox,
        client,
        access,
        name,
        arguments,
        delivery,
        cancel,
        key,
        queue: queued,
        room,
        _memory: memory,
        _place: place,
    };
    let answer = planned.start();
    match queue {
        Some(queue) => Ok(events::response(queue, keep_alive, guard)),
        None => {
            let answer = answer.await.map_err(|_| lost())?;
            let _ = guard.map(DropGuard::disarm);
            Ok(answer.into_response())
        }
    }
}

fn in_form(answer: Answer, form: Form) -> Response {
    match form {
        Form::Json => answer.into_response(),
        Form::Events => events::one(&answer),
    }
}

fn refused_key(found: &Found) -> Problem {
    match found {
        Found::Running => {
            let text = "the call with this key runs still; send it again for its answer";
            Problem::new(StatusCode::CONFLICT, text).retry_after(AGAIN)
        }
        Found::Other => {
            let text = "this key belongs to a call of another tool or with other arguments; take a new key for this call";
            Problem::new(StatusCode::UNPROCESSABLE_ENTITY, text)
        }
        Found::NotKept => {
            let text = "the call with this key has ended, and its answer is not kept; it is not run again under this key";
            Problem::new(StatusCode::GONE, text)
        }
        Found::Unknown => {
            let text = "the call with this key ended without a result, so its outcome is unknown; it is not run again under this key";
            Problem::new(StatusCode::GONE, text)
        }
        _ => {
            let text =
                "no further key can be kept; wait until calls with a key have ended, or call without one";
            Problem::new(StatusCode::SERVICE_UNAVAILABLE, text).retry_after(AGAIN)
        }
    }
}

fn delivery(uri: &Uri, access: &Access) -> Result<Delivery, Problem> {
    let [media] = Query::of(uri).only(["media"])?;
    match media.as_deref() {
        None | Some("inline") => Ok(Delivery::Inline),
        Some("reference") if access.may_keep_files() => Ok(Delivery::Reference),
        Some("reference") => {
            let text =
                "this server keeps no files of results for this client; call without `media=reference`";
            Err(Problem::new(StatusCode::FORBIDDEN, text))
        }
        Some(_) => Err(bad_request("the parameter `media` is `inline` or `reference`")),
    }
}

/// Returns the key of a call, if it has one.
fn key(headers: &HeaderMap) -> Result<Option<String>, Problem> {
    let mut values = headers.get_all(&KEY).iter();
    let Some(value) = values.next() else { return Ok(None) };
    let wrong = || {
        bad_request(format!(
            "a request has one header `Idempotency-Key`, of 1 to {MAX_KEY_CHARS} visible characters of ASCII"
        ))
    };
    let text = value.to_str().ok().filter(|text| is_key(text)).ok_or_else(wrong)?;
    if values.next().is_some() { Err(wrong()) } else { Ok(Some(text.to_owned())) }
}

fn is_key(text: &str) -> bool {
    (1..=MAX_KEY_CHARS).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic())
}

/// Returns a digest of a tool and its arguments, whatever the order of their members is.
fn fingerprint(name: &str, arguments: &Value) -> Fingerprint {
    let mut digest = Sha256::new();
    digest.update((name.len() as u64).to_be_bytes());
    digest.update(name.as_bytes());
    digest_sorted(arguments, &mut digest);
    digest.finalize().into()
}

/// Adds a value to a digest, with the members of objects in the order of their names.
fn digest_sorted(value: &Value, digest: &mut Sha256) {
    match value {
        Value::Object(members) => {
            let mut members: Vec<_> = members.iter().collect();
            members.sort_by_key(|(name, _)| *name);
            digest.update(b"{");
            for (name, value) in members {
                digest.update((name.len() as u64).to_be_bytes());
                digest.update(name);
                digest_sorted(value, digest);
            }
            digest.update(b"}");
        }
        Value::Array(items) => {
            digest.update(b"[");
            for item in items {
                digest_sorted(item, digest);
            }
            digest.update(b"]");
        }
        Value::String(text) => {
            digest.update(b"\"");
            digest.update((text.len() as u64).to_be_bytes());
            digest.update(text);
        }
        other => {
            digest.update(other.to_string());
            digest.update(b",");
        }
    }
}

pub(crate) async fn show_key(
    State(web): State<Web>,
    access: Access,
    _: AcceptsJson,
    path: Result<Path<String>, PathRejection>,
    uri: Uri,
) -> Result<Json<Value>, Problem> {
    let [] = Query::of(&uri).only([])?;
    with_key(&web, &access, path, |client, key| client.keys.stage(key))
}

pub(crate) async fn cancel_key(
    State(web): State<Web>,
    access: Access,
    _: AcceptsJson,
    path: Result<Path<String>, PathRejection>,
    uri: Uri,
) -> Result<Json<Value>, Problem> {
    let [] = Query::of(&uri).only([])?;
    with_key(&web, &access, path, |client, key| client.keys.cancel(key))
}

fn with_key(
    web: &Web,
    access: &Access,
    path: Result<Path<String>, PathRejection>,
    work: impl FnOnce(&Client, &str) -> Option<Stage>,
) -> Result<Json<Value>, Problem> {
    let Path(key) = path?;
    let client = web.inner.clients.of(access)?;
    let state = match work(&client, &key) {
        Some(Stage::Running) => "running",
        Some(Stage::Ended) => "ended",
        Some(Stage::Unknown) => "unknown",
        None => {
            return Err(not_found(format!("no call of this client has the key `{}`", key.escape_debug())));
        }
    };
    Ok(Json(json!({ "key": key, "state": state })))
}

pub(crate) async fn file(
    State(web): State<Web>,
    access: Access,
    path: Result<Path<(String, String)>, PathRejection>,
    uri: Uri,
) -> Result<Response, Problem> {
    let [] = Query::of(&uri).only([])?;
    let Path((id, number)) = path?;
    let client = web.inner.clients.of(&access)?;
    let found = number.parse().ok().and_then(|number| client.media.get(&id, number));
    let Some(medium) = found else {
        return Err(not_found(
            "there is no such file of a result of this client, or it is not kept any more",
        ));
    };
    let share = client.sent.take(medium.data.len()).ok_or_else(no_room)?;
    let mut response = Response::new(in_pieces(holding(medium.data, share)));
    let headers = response.headers_mut();
    let kind = HeaderValue::from_str(&medium.mime_type)
        .unwrap_or(HeaderValue::from_static("application/octet-stream"));
    headers.insert(CONTENT_TYPE, kind);
    // A document of a tool is not one of this server.
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static("default-src 'none'; sandbox"));
    if let Some(name) = medium.name {
        let name = percent_encoded(&name);
        if let Ok(value) = HeaderValue::from_str(&format!("attachment; filename*=UTF-8''{name}")) {
            headers.insert(CONTENT_DISPOSITION, value);
        }
    }
    Ok(response)
}

fn percent_encoded(text: &str) -> String {
    use std::fmt::Write as _;
    let mut encoded = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b".-_".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            let _ = write!(encoded, "%{byte:02X}");
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_of_members_is_no_difference_between_calls() {
        let of = |name: &str, text: &str| fingerprint(name, &serde_json::from_str(text).unwrap());
        assert_eq!(of("a", r#"{"x":1,"y":{"b":[1],"a":2}}"#), of("a", r#"{"y":{"a":2,"b":[1]},"x":1}"#));
        assert_ne!(of("a", r#"{"x":1}"#), of("b", r#"{"x":1}"#));
        for (one, other) in [
            (r#"{"x":[1,2]}"#, r#"{"x":[2,1]}"#),
            (r#"{"x":[1,2]}"#, r#"{"x":[12]}"#),
            (r#"{"x":[[1],2]}"#, r#"{"x":[[1,2]]}"#),
            (r#"{"x":"1"}"#, r#"{"x":1}"#),
            (r#"{"x":["a","b"]}"#, r#"{"x":["a\"b"]}"#),
            (r#"{"x":{"y":1}}"#, r#"{"x":{},"y":1}"#),
        ] {
            assert_ne!(of("a", one), of("a", other));
        }
    }

    #[test]
    fn a_key_is_visible_and_short() {
        assert!(is_key("a") && is_key(&"a".repeat(MAX_KEY_CHARS)));
        assert!(!is_key("") && !is_key("a b") && !is_key(&"a".repeat(MAX_KEY_CHARS + 1)));
    }
}

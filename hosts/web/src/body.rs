//! Bodies of requests: JSON, checked more strictly than `serde_json` does.

use crate::limits::MAX_CLIENT_READ_BYTES;
use crate::problems::bad_request;
use crate::room::{Share, Shared};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::time::Duration;
use toolkit::arguments::CallArguments;
use toolkit::memory::{self, ReservedMemory};
use toolkit_serve::Problem;
use toolkit_serve::axum::http::header::{CONTENT_ENCODING, CONTENT_TYPE};
use toolkit_serve::axum::http::{HeaderMap, StatusCode};

/// Time after which a request that takes much memory may be sent again.
const AGAIN: Duration = Duration::from_secs(5);

/// The memory of a body that is read, until this is dropped.
#[derive(Debug)]
pub(crate) struct OfBody {
    _share: Share,
    _reserved: ReservedMemory,
}

/// Returns the arguments in a body: a JSON object, or nothing for no arguments. `read` is the room of the client for what is read.
pub(crate) fn arguments(
    headers: &HeaderMap,
    body: &[u8],
    read: &Shared,
) -> Result<(Value, Option<OfBody>), Problem> {
    if body.is_empty() {
        return Ok((Value::Object(serde_json::Map::new()), None));
    }
    match value(headers, body, read)? {
        (object @ Value::Object(_), memory) => Ok((object, Some(memory))),
        _ => Err(bad_request("the body is a JSON object, whose members are the arguments")),
    }
}

/// Returns the value in a body.
pub(crate) fn typed<T: DeserializeOwned>(
    headers: &HeaderMap,
    body: &[u8],
    read: &Shared,
) -> Result<T, Problem> {
    let (value, _memory) = value(headers, body, read)?;
    serde_json::from_value(value).map_err(|error| {
        Problem::new(StatusCode::UNPROCESSABLE_ENTITY, format!("the body does not fit: {error}"))
    })
}

/// Takes the memory that the values of a body need, before they are made: many small values take far more than their text.
fn memory_of(body: &[u8], read: &Shared) -> Result<OfBody, Problem> {
    let bytes = memory::of_json(body);
    let needed = usize::try_from(bytes).unwrap_or(usize::MAX);
    if needed > MAX_CLIENT_READ_BYTES {
        let text = format!(
            "the body has too many values: reading them takes about {} MiB of memory, and {} MiB is the limit; send fewer values in one request",
            needed >> 20,
            MAX_CLIENT_READ_BYTES >> 20
        );
        return Err(Problem::new(StatusCode::PAYLOAD_TOO_LARGE, text));
    }
    let busy = |text: String| Problem::new(StatusCode::SERVICE_UNAVAILABLE, text).retry_after(AGAIN);
    let share = read.take(needed).ok_or_else(|| {
        busy(
            "the arguments of other calls take the memory for this request; send it when they have ended"
                .to_owned(),
        )
    })?;
    let reserved = memory::reserve(bytes)
        .map_err(|full| busy(format!("there is not enough memory for the request: {full}")))?;
    Ok(OfBody { _share: share, _reserved: reserved })
}

fn value(headers: &HeaderMap, body: &[u8], read: &Shared) -> Result<(Value, OfBody), Problem> {
    check_type(headers)?;
    let memory = memory_of(body, read)?;
    let text = std::str::from_utf8(body).map_err(|error| {
        bad_request(format!("the body is not UTF-8: byte {} is wrong", error.valid_up_to()))
    })?;
    // Refuses a key that an object has twice, and nesting that is too deep.
    let parsed: CallArguments = serde_json::from_str(text).map_err(|error| not_json(&error))?;
    if let CallArguments::Json(value) = parsed {
        check_integers(text)?;
        return Ok((value, memory));
    }
    let value = serde_json::from_str(text).map_err(|error| not_json(&error))?;
    Ok((value, memory))
}

fn not_json(error: &serde_json::Error) -> Problem {
    let said = error.to_string();
    // The parser's own words name no surrogate.
    let why = if said.contains("hex escape") {
        let (line, column) = (error.line(), error.column());
        format!(
            "an escape is half of a surrogate pair, or has fewer than four digits, at line {line} column {column}"
        )
    } else {
        said
    };
    bad_request(format!("the body is not JSON that can be used: {why}"))
}

/// Refuses an integer that would be rounded.
fn check_integers(text: &str) -> Result<(), Problem> {
    let mut is_string = false;
    let mut rest = text.as_bytes();
    while let Some((byte, after)) = rest.split_first() {
        rest = after;
        match byte {
            b'\\' => rest = rest.get(1..).unwrap_or_default(),
            b'"' => is_string = !is_string,
            b'-' | b'0'..=b'9' if !is_string => {
                let is_part = |byte: &u8| matches!(byte, b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-');
                let length = after.iter().position(|byte| !is_part(byte)).unwrap_or(after.len());
                let start = text.len() - after.len() - 1;
                let number = &text[start..=start + length];
                let is_integer = !number.contains(['.', 'e', 'E']);
                if is_integer && number.parse::<i64>().is_err() && number.parse::<u64>().is_err() {
                    let line = 1 + text[..start].matches('\n').count();
                    let what = "an integer has more than 64 bits; give it as a string, or as a number with an exponent";
                    return Err(bad_request(format!("{what} (line {line})")));
                }
                rest = &after[length..];
            }
            _ => {}
        }
    }
    Ok(())
}

fn check_type(headers: &HeaderMap) -> Result<(), Problem> {
    let unsupported = |text: String| Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, text);
    let is_plain = |value: &str| value.trim().eq_ignore_ascii_case("identity");
    if headers.get_all(CONTENT_ENCODING).iter().any(|value| !value.to_str().is_ok_and(is_plain)) {
        return Err(unsupported("the body is sent as it is, without `Content-Encoding`".to_owned()));
    }
    let wrong = || unsupported("a body has the header `Content-Type: application/json`".to_owned());
    let mut types = headers.get_all(CONTENT_TYPE).iter();
    let (Some(kind), None) = (types.next(), types.next()) else { return Err(wrong()) };
    let kind = kind.to_str().map_err(|_| wrong())?.to_ascii_lowercase();
    let mut parts = kind.split(';').map(str::trim);
    if parts.next() != Some("application/json") {
        return Err(wrong());
    }
    let mut charsets =
        parts.filter_map(|part| part.strip_prefix("charset=")).map(|value| value.trim_matches('"'));
    match charsets.find(|value| !matches!(*value, "utf-8" | "utf8")) {
        None => Ok(()),
        Some(_) => Err(unsupported("JSON is UTF-8; send it without another `charset`".to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::room::Room;
    use serde_json::json;
    use toolkit_serve::axum::http::HeaderValue;

    /// Reads arguments with much room.
    fn arguments(headers: &HeaderMap, body: &[u8]) -> Result<Value, Problem> {
        let read = Shared::new(usize::MAX, Room::new(usize::MAX));
        super::arguments(headers, body, &read).map(|(arguments, _)| arguments)
    }

    fn refused(kind: &'static str, body: &[u8]) -> Option<(u16, String)> {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
        let problem = arguments(&headers, body).err()?;
        Some((problem.status().as_u16(), problem.detail().to_owned()))
    }

    #[test]
    fn a_body_that_is_not_a_json_object_is_refused_with_the_reason() {
        let deep = format!("{}{}", "{\"a\":".repeat(200), "1");
        for (body, part) in [
            (&b"{"[..], "EOF while parsing"),
            (b"{} {}", "trailing characters"),
            (b"[1]", "is a JSON object"),
            (b"null", "is a JSON object"),
            (b"\"{}\"", "is a JSON object"),
            (b"{\"a\":1,\"a\":2}", "is repeated"),
            (b"{\"a\":{\"b\":1,\"b\":2}}", "is repeated"),
            (b"{\"a\":\"\\ud800\"}", "surrogate"),
            (b"{\"a\":1e999}", "number out of range"),
            (
                b"{\"a\":\"9\",\n\"b\":99999999999999999999}",
                "more than 64 bits; give it as a string, or as a number with an exponent (line 2)",
            ),
            (b"{\"a\":\"\xff\"}", "not UTF-8: byte 6"),
            (deep.as_bytes(), "recursion limit"),
        ] {
            let (status, text) = refused("application/json", body).unwrap();
            assert!(status == 400 && text.contains(part), "{text}");
        }
    }

    #[test]
    fn the_type_is_json_in_utf_8() {
        for kind in
            ["application/json", "Application/JSON; charset=UTF-8", "application/json;charset=\"utf-8\""]
        {
            assert_eq!(refused(kind, b"{}"), None, "{kind}");
        }
        for kind in ["text/plain", "application/json; charset=latin1", "", "application/jsonx"] {
            assert_eq!(refused(kind, b"{}").unwrap().0, 415, "{kind}");
        }
        assert_eq!(arguments(&HeaderMap::new(), b"").unwrap(), json!({}));
        assert!(arguments(&HeaderMap::new(), b"{}").is_err());
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        assert_eq!(arguments(&headers, b"{}").unwrap_err().status(), 415);
    }

    #[test]
    fn numbers_within_the_limits_stay_as_they_are() {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let text = r#"{"a":[18446744073709551615,-9223372036854775808,1e300,99999999999999999999.0],"b":"\"99999999999999999999"}"#;
        assert_eq!(
            arguments(&headers, text.as_bytes()).unwrap(),
            serde_json::from_str::<Value>(text).unwrap()
        );
    }
}

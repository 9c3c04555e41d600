//! The media type of an answer, by the header `Accept`.

use crate::problems::bad_request;
use toolkit_serve::Problem;
use toolkit_serve::axum::extract::FromRequestParts;
use toolkit_serve::axum::http::header::ACCEPT;
use toolkit_serve::axum::http::request::Parts;
use toolkit_serve::axum::http::{HeaderMap, StatusCode};

/// The form of the answer to a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    Json,
    Events,
}

const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream";

/// A range of media types, with its weight in thousandths.
struct Range {
    kind: String,
    subkind: String,
    weight: u16,
}

impl Form {
    /// Returns the form that a client prefers. JSON, if it prefers none.
    pub(crate) fn of(headers: &HeaderMap) -> Result<Self, Problem> {
        let Some(ranges) = ranges(headers)? else { return Ok(Self::Json) };
        let (json, events) = (weight(&ranges, JSON), weight(&ranges, EVENTS));
        if json == 0 && events == 0 {
            return Err(not_acceptable("`application/json` or `text/event-stream`"));
        }
        // A client that names both alike can read a stream.
        let names_events = ranges.iter().any(|range| range.subkind == "event-stream");
        Ok(if events > json || events == json && names_events { Self::Events } else { Self::Json })
    }
}

/// An extractor that refuses a request whose answer cannot be JSON.
pub(crate) struct AcceptsJson;

impl<S: Sync> FromRequestParts<S> for AcceptsJson {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Problem> {
        match ranges(&parts.headers)? {
            Some(ranges) if weight(&ranges, JSON) == 0 => Err(not_acceptable("`application/json`")),
            _ => Ok(Self),
        }
    }
}

fn not_acceptable(kinds: &str) -> Problem {
    let text =
        format!("the answer is {kinds}, and the header `Accept` of this request takes neither of them");
    Problem::new(StatusCode::NOT_ACCEPTABLE, text.replace(" takes neither of them", " does not take it"))
}

/// Returns the ranges of the headers; `None` without one.
fn ranges(headers: &HeaderMap) -> Result<Option<Vec<Range>>, Problem> {
    let mut ranges = Vec::new();
    for value in headers.get_all(ACCEPT) {
        let text = value.to_str().map_err(|_| malformed())?;
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            ranges.push(range(part).ok_or_else(malformed)?);
        }
    }
    Ok((!ranges.is_empty()).then_some(ranges))
}

fn malformed() -> Problem {
    bad_request("the header `Accept` is malformed; it lists media types, such as `application/json`")
}

fn range(text: &str) -> Option<Range> {
    let mut parts = text.split(';').map(str::trim);
    let (kind, subkind) = parts.next()?.split_once('/')?;
    if kind.is_empty() || subkind.is_empty() || subkind.contains('/') || kind == "*" && subkind != "*" {
        return None;
    }
    let weight = match parts.find_map(|part| part.strip_prefix("q=").or_else(|| part.strip_prefix("Q="))) {
        None => 1_000,
        Some(weight) => thousandths(weight)?,
    };
    Some(Range { kind: kind.to_ascii_lowercase(), subkind: subkind.to_ascii_lowercase(), weight })
}

/// Reads a weight: `0.5`, with up to three digits behind the point.
fn thousandths(text: &str) -> Option<u16> {
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let is_number = part.len() <= 3 && part.bytes().all(|byte| byte.is_ascii_digit());
    let part: u16 = if is_number { format!("{part:0<3}").parse().ok()? } else { return None };
    match whole {
        "0" => Some(part),
        "1" if part == 0 => Some(1_000),
        _ => None,
    }
}

/// Returns the weight of a media type: that of the most specific range.
fn weight(ranges: &[Range], wanted: &str) -> u16 {
    let (kind, subkind) = wanted.split_once('/').unwrap_or_default();
    let specificity = |range: &&Range| match (&*range.kind, &*range.subkind) {
        (one, other) if one == kind && other == subkind => Some(2),
        (one, "*") if one == kind => Some(1),
        ("*", "*") => Some(0),
        _ => None,
    };
    let fitting = ranges.iter().filter_map(|range| Some((specificity(&range)?, range.weight)));
    fitting.max().map_or(0, |(_, weight)| weight)
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolkit_serve::axum::http::HeaderValue;

    fn form(accept: &'static str) -> Result<Form, u16> {
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, HeaderValue::from_static(accept));
        Form::of(&headers).map_err(|problem| problem.status().as_u16())
    }

    #[test]
    fn the_form_is_the_one_that_the_client_prefers() {
        for (accept, expected) in [
            ("", Ok(Form::Json)),
            ("*/*", Ok(Form::Json)),
            ("application/*", Ok(Form::Json)),
            ("application/json", Ok(Form::Json)),
            ("text/event-stream", Ok(Form::Events)),
            ("Text/Event-Stream; charset=utf-8", Ok(Form::Events)),
            ("application/json, text/event-stream", Ok(Form::Events)),
            ("application/json, text/event-stream;q=0.5", Ok(Form::Json)),
            ("text/event-stream;q=0, */*", Ok(Form::Json)),
            ("text/html, */*;q=0.1", Ok(Form::Json)),
            ("text/html", Err(406)),
            ("application/json;q=0", Err(406)),
            ("json", Err(400)),
            ("application/json;q=2", Err(400)),
            ("*/json", Err(400)),
        ] {
            assert_eq!(form(accept), expected, "{accept}");
        }
        assert_eq!(Form::of(&HeaderMap::new()).ok(), Some(Form::Json));
    }
}

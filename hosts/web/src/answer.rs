//! The answer to a call: its status and its JSON.

use crate::room::Taken;
use bytes::Bytes;
use futures_util::stream::unfold;
use serde_json::Value;
use std::convert::Infallible;
use std::sync::Arc;
use toolkit_serve::Problem;
use toolkit_serve::axum::body::Body;
use toolkit_serve::axum::http::header::CONTENT_TYPE;
use toolkit_serve::axum::http::{HeaderValue, StatusCode};
use toolkit_serve::axum::response::{IntoResponse, Response};

/// Bytes of a piece of a large answer.
const PIECE: usize = 64 << 10;

/// An answer that is sent, and may be kept under a key. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    status: StatusCode,
    json: Bytes,
    /// The room that its data takes on its way.
    room: Option<Arc<(Taken, Taken)>>,
}

impl Answer {
    pub(crate) fn new(status: StatusCode, json: &Value) -> Self {
        Self { status, json: Bytes::from(json.to_string()), room: None }
    }

    /// Holds the room that its data takes, until it is sent.
    pub(crate) fn holding(self, room: Option<(Taken, Taken)>) -> Self {
        Self { room: room.map(Arc::new), ..self }
    }

    /// Returns the room that its data takes on its way.
    pub(crate) fn room(&self) -> Option<Arc<(Taken, Taken)>> {
        self.room.clone()
    }

    /// Returns the answer as it is kept, which is not on its way.
    pub(crate) fn kept(&self) -> Self {
        Self { room: None, ..self.clone() }
    }

    pub(crate) fn status(&self) -> u16 {
        self.status.as_u16()
    }

    /// Returns true if it is a result, and not a problem.
    pub(crate) fn is_result(&self) -> bool {
        self.status.is_success()
    }

    /// The JSON, on one line.
    pub(crate) fn json(&self) -> &Bytes {
        &self.json
    }

    /// The number of bytes that it takes.
    pub(crate) fn bytes(&self) -> usize {
        self.json.len()
    }
}

impl From<&Problem> for Answer {
    fn from(problem: &Problem) -> Self {
        Self::new(problem.status(), &problem.to_json())
    }
}

impl Answer {
    /// Returns the JSON as a body. A large one is sent in pieces, each of which has the room of the whole.
    fn into_body(self) -> Body {
        let Self { json, room: Some(room), .. } = self else { return Body::from(self.json) };
        Body::from_stream(unfold(holding(json, room), async |mut rest| {
            let piece = piece_of(&mut rest)?;
            Some((Ok::<_, Infallible>(piece), rest))
        }))
    }
}

/// Bytes on their way, with the room that they take.
struct OnTheirWay {
    bytes: Bytes,
    _room: Arc<(Taken, Taken)>,
}

impl AsRef<[u8]> for OnTheirWay {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

/// Returns bytes that take room until the last part of them is dropped, wherever that is: a part keeps the whole in memory.
pub(crate) fn holding(bytes: Bytes, room: Arc<(Taken, Taken)>) -> Bytes {
    Bytes::from_owner(OnTheirWay { bytes, _room: room })
}

/// Takes the next piece of a text; `None` at its end.
pub(crate) fn piece_of(rest: &mut Bytes) -> Option<Bytes> {
    let piece = rest.split_to(rest.len().min(PIECE));
    (!piece.is_empty()).then_some(piece)
}

impl IntoResponse for Answer {
    fn into_response(self) -> Response {
        let kind = if self.is_result() { "application/json" } else { "application/problem+json" };
        let status = self.status;
        let mut response = Response::new(self.into_body());
        *response.status_mut() = status;
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::room::{Room, Shared};
    use http_body_util::BodyExt as _;
    use serde_json::json;

    #[tokio::test]
    async fn an_answer_takes_room_until_the_last_piece_of_it_is_dropped() {
        let all = Room::new(1_000_000);
        let room = Shared::new(1_000_000, Arc::clone(&all)).take(500_000);
        let answer = Answer::new(StatusCode::OK, &json!("x".repeat(PIECE + 1))).holding(room);
        let mut body = answer.into_body();
        let first = body.frame().await.unwrap().unwrap();
        let last = body.frame().await.unwrap().unwrap();
        assert!(body.frame().await.is_none());
        drop((body, first));
        // A connection that was left has it still.
        assert_eq!(all.taken(), 500_000);
        drop(last);
        assert_eq!(all.taken(), 0);
    }
}

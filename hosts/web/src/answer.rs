//! The answer to a request: its status and its JSON.

use crate::problems::no_room;
use crate::room::{Share, Shared, holding};
use bytes::Bytes;
use serde_json::Value;
use std::sync::Arc;
use toolkit_serve::axum::http::header::CONTENT_TYPE;
use toolkit_serve::axum::http::{HeaderValue, StatusCode};
use toolkit_serve::axum::response::{IntoResponse, Response};
use toolkit_serve::{Problem, in_pieces};

/// An answer that is sent, and may be kept under a key. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    status: StatusCode,
    json: Bytes,
    /// The room that it takes on its way.
    shares: Arc<Vec<Share>>,
}

impl Answer {
    pub(crate) fn new(status: StatusCode, json: &Value) -> Self {
        Self { status, json: Bytes::from(json.to_string()), shares: Arc::default() }
    }

    /// Returns a successful answer that takes its room until the client has read it.
    pub(crate) fn ok(json: &Value, sent: &Shared) -> Result<Self, Problem> {
        Self::new(StatusCode::OK, json).sent_in(sent)
    }

    /// Returns the answer with the room that it takes until the client has read it.
    pub(crate) fn sent_in(self, sent: &Shared) -> Result<Self, Problem> {
        let share = sent.take(self.bytes()).ok_or_else(no_room)?;
        Ok(self.taking(vec![share]))
    }

    /// Returns the answer with the room that it takes until the client has read it.
    pub(crate) fn taking(self, shares: Vec<Share>) -> Self {
        Self { shares: Arc::new(shares), ..self }
    }

    /// Returns bytes, made from the JSON, that take the room of the answer.
    pub(crate) fn in_its_room(&self, bytes: Bytes) -> Bytes {
        if self.shares.is_empty() { bytes } else { holding(bytes, Arc::clone(&self.shares)) }
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

impl IntoResponse for Answer {
    fn into_response(self) -> Response {
        let kind = if self.is_result() { "application/json" } else { "application/problem+json" };
        let status = self.status;
        let mut response = Response::new(in_pieces(self.in_its_room(self.json.clone())));
        *response.status_mut() = status;
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
        response
    }
}

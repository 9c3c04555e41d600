//! The requests of a client that wait for a place.

use rmcp::model::{ClientRequest, JsonRpcRequest, RequestId};
use std::collections::VecDeque;

/// Maximum number of requests that wait.
pub(super) const MAX_QUEUED: usize = 8192;

/// Maximum size of the requests that wait together, in bytes of their lines. The first may be larger.
pub(super) const MAX_QUEUED_BYTES: usize = 32 << 20;

type Request = JsonRpcRequest<ClientRequest>;

/// Requests in the order in which the client sent them.
#[derive(Debug, Default)]
pub(super) struct Queue {
    requests: VecDeque<(Request, usize)>,
    bytes: usize,
}

impl Queue {
    pub(super) fn is_empty(&self) -> bool {
        self.requests.is_empty()
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.requests.len()
    }

    /// Returns true if nothing more may be added.
    pub(super) fn is_full(&self) -> bool {
        self.requests.len() >= MAX_QUEUED || self.bytes >= MAX_QUEUED_BYTES
    }

    /// Adds a request, whose line has `bytes` bytes.
    pub(super) fn add(&mut self, request: Request, bytes: usize) {
        self.bytes += bytes;
        self.requests.push_back((request, bytes));
    }

    /// Removes the request that has waited longest.
    pub(super) fn next(&mut self) -> Option<Request> {
        let (request, bytes) = self.requests.pop_front()?;
        self.bytes -= bytes;
        Some(request)
    }

    /// Removes a request that was cancelled.
    pub(super) fn remove(&mut self, id: &RequestId) {
        let index = self.requests.iter().position(|(request, _)| request.id == *id);
        if let Some((_, bytes)) = index.and_then(|index| self.requests.remove(index)) {
            self.bytes -= bytes;
        }
    }
}

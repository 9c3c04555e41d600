//! Why a socket is closed, as its client learns it.

use toolkit_serve::Problem;
use toolkit_serve::axum::http::StatusCode;
use toolkit_serve::websocket::{CloseFrame, Error, Message};

/// The longest reason that a frame has room for, in bytes.
const MAX_REASON_BYTES: usize = 123;

/// The reason of a socket that has done what it was for.
const DONE: &str = "done";

/// The code with which a client closes a connection to which it comes back.
pub(super) const COMES_BACK: u16 = 4000;

/// A code and a reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Closing {
    code: u16,
    reason: String,
    /// The client has closed the connection itself, and does not come back.
    pub(super) is_by_client: bool,
}

impl Closing {
    fn new(code: u16, reason: impl Into<String>) -> Self {
        Self { code, reason: reason.into(), is_by_client: false }
    }

    /// The reason, for those who wait for the client.
    pub(super) fn reason(&self) -> &str {
        if self.reason.is_empty() { "the client closed it" } else { &self.reason }
    }

    /// The client has gone.
    pub(super) fn by_client(code: Option<u16>) -> Self {
        Self { is_by_client: code != Some(COMES_BACK), ..Self::new(1000, "") }
    }

    /// The stream has ended without a word.
    pub(super) fn dropped() -> Self {
        Self::new(1006, "the connection dropped")
    }

    pub(super) fn stopping() -> Self {
        Self::new(1001, "the gateway stops; come back")
    }

    /// A frame is not one of the protocol.
    pub(super) fn malformed(reason: impl Into<String>) -> Self {
        Self::new(4400, reason)
    }

    /// There is no token that counts.
    pub(super) fn unauthorized(reason: impl Into<String>) -> Self {
        Self::new(4401, reason)
    }

    /// The node was revoked.
    pub(super) fn revoked() -> Self {
        Self::new(4403, "this node was revoked")
    }

    /// All is said.
    pub(super) fn done() -> Self {
        Self::new(1000, DONE)
    }

    /// The gateway itself failed.
    pub(super) fn failed(reason: impl Into<String>) -> Self {
        Self::new(1011, reason)
    }

    pub(super) fn not_found(reason: impl Into<String>) -> Self {
        Self::new(4404, reason)
    }

    /// The client is too slow.
    pub(super) fn late(reason: impl Into<String>) -> Self {
        Self::new(4408, reason)
    }

    /// Another socket of the same client has taken the place of this one.
    pub(super) fn replaced() -> Self {
        Self::new(4409, "the client has come back over another connection")
    }

    /// The link has ended: the client begins anew.
    pub(super) fn ended(reason: impl Into<String>) -> Self {
        Self::new(4410, reason)
    }

    pub(super) fn too_large(reason: impl Into<String>) -> Self {
        Self::new(1009, reason)
    }

    pub(super) fn too_many(reason: impl Into<String>) -> Self {
        Self::new(4429, reason)
    }

    /// The socket that was read failed.
    pub(super) fn of_error(error: &Error, max_message: usize) -> Self {
        match error {
            Error::Capacity(_) => {
                Self::too_large(format!("a message is longer than {max_message} bytes, the limit"))
            }
            Error::Protocol(error) => Self::new(1002, error.to_string()),
            Error::Utf8(_) => Self::new(1007, "a text is not UTF-8"),
            _ => Self::dropped(),
        }
    }

    /// Something the client asked for at the beginning failed.
    pub(super) fn of_problem(problem: &Problem) -> Self {
        let code = match problem.status() {
            StatusCode::NOT_FOUND => 4404,
            StatusCode::UNAUTHORIZED => 4401,
            StatusCode::TOO_MANY_REQUESTS => 4429,
            status if status.is_client_error() => 4400,
            _ => 1011,
        };
        Self::new(code, problem.detail())
    }

    /// The frame that tells the client; `None` if it has closed the connection itself.
    pub(super) fn message(&self) -> Option<Message> {
        let is_told = self.code != 1006 && (self.code != 1000 || self.reason == DONE);
        if self.is_by_client || !is_told {
            return None;
        }
        let end = self.reason.floor_char_boundary(MAX_REASON_BYTES);
        Some(Message::Close(Some(CloseFrame { code: self.code.into(), reason: self.reason[..end].into() })))
    }
}

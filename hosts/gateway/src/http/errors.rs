//! Errors of the gateway as problems.

use toolkit_serve::Problem;
use toolkit_serve::axum::http::StatusCode;

use crate::store::StoreError;
use crate::{KeyError, PeopleError};

impl From<StoreError> for Problem {
    /// Returns a problem that names no file: the log does.
    fn from(error: StoreError) -> Self {
        use crate::Problem::{Closed, Full, Refused};
        match error.problem {
            Refused(reason) => Self::new(StatusCode::UNPROCESSABLE_ENTITY, reason),
            Closed => Self::new(StatusCode::SERVICE_UNAVAILABLE, "the gateway is ending; try again later"),
            Full => {
                tracing::error!(%error, "a request failed");
                let text = "the disk of the gateway is full: nothing of this request was stored; make room, and send it again";
                Self::new(StatusCode::INSUFFICIENT_STORAGE, text)
            }
            _ => {
                tracing::error!(%error, "a request failed");
                let text = "the store of the gateway failed: nothing of this request was stored; the log of the gateway says why";
                Self::new(StatusCode::INTERNAL_SERVER_ERROR, text)
            }
        }
    }
}

impl From<PeopleError> for Problem {
    fn from(error: PeopleError) -> Self {
        match error {
            PeopleError::Store(error) => error.into(),
            PeopleError::OwnerToken => Self::new(StatusCode::CONFLICT, error.to_string()),
            _ => {
                tracing::error!(%error, "a request failed");
                Self::new(StatusCode::INTERNAL_SERVER_ERROR, "this failed; the log of the gateway says why")
            }
        }
    }
}

impl From<KeyError> for Problem {
    fn from(error: KeyError) -> Self {
        Self::new(StatusCode::BAD_REQUEST, error.to_string())
    }
}

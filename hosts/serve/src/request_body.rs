//! Bodies of requests, read within limits.

use crate::problem::Problem;
use bytes::Bytes;
use http::StatusCode;
use http_body::Body;
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use std::error::Error;
use std::time::Duration;

/// Limits of the body of a request.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct BodyLimits {
    /// Maximum number of bytes; 4 MiB by default.
    pub max_bytes: usize,
    /// Time within which the whole body must arrive; 30 seconds by default.
    pub within: Duration,
}

impl Default for BodyLimits {
    fn default() -> Self {
        Self { max_bytes: 4 << 20, within: Duration::from_secs(30) }
    }
}

impl BodyLimits {
    /// Returns limits of a size and a time.
    pub fn new(max_bytes: usize, within: Duration) -> Self {
        Self { max_bytes, within }
    }
}

/// Reads the body of a request to its end.
///
/// # Errors
///
/// A problem with status 413 if the body is longer than the limit, of which then no more is read; 408 if it takes longer; 400 if it ends early.
pub async fn whole<B>(body: B, limits: BodyLimits) -> Result<Bytes, Problem>
where
    B: Body<Data: Send> + Send,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    let BodyLimits { max_bytes, within } = limits;
    let too_large =
        || Problem::new(StatusCode::PAYLOAD_TOO_LARGE, format!("a request has {max_bytes} bytes at most"));
    // A body that is announced as too large is not read.
    if body.size_hint().lower() > max_bytes as u64 {
        return Err(too_large());
    }
    match tokio::time::timeout(within, Limited::new(body, max_bytes).collect()).await {
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(too_large()),
        Ok(Err(_)) => Err(Problem::new(StatusCode::BAD_REQUEST, "the request is incomplete")),
        Err(_) => Err(Problem::new(StatusCode::REQUEST_TIMEOUT, "the request took too long to come")),
    }
}

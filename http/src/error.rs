//! Errors of connecting and fetching.

use crate::limits::MAX_HEADERS;
use crate::{Host, Refused};
use std::time::Duration;

/// An error of [`Guard::connect`](crate::Guard::connect).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// The guard refuses the URL or an address.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// The name has no address.
    #[error("`{host}` was not found: its name could not be resolved; check the spelling, or try again later")]
    NotFound {
        /// The host.
        host: Host,
    },
    /// No connection was established.
    #[error("no connection to `{host}`: {reason}")]
    Failed {
        /// The host.
        host: Host,
        /// The reason, of the last address that was tried.
        reason: String,
    },
    /// The proxy failed.
    #[error("no connection to `{host}`: the configured proxy failed: {reason}")]
    Proxy {
        /// The host.
        host: Host,
        /// The reason.
        reason: String,
    },
    /// Time is over.
    #[error("no connection to `{host}` within {within:?}")]
    TimedOut {
        /// The host.
        host: Host,
        /// The limit.
        within: Duration,
    },
}

/// A part of a request that has a time limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Phase {
    /// Connecting, TLS included.
    Connect,
    /// Waiting for the response's headers.
    FirstByte,
    /// Waiting for more of the body.
    Idle,
    /// The whole request.
    Total,
}

/// An error of [`Client::send`](crate::Client::send).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FetchError {
    /// The guard refuses the URL, or the address that its host has.
    #[error("{0}")]
    Refused(Refused),
    /// The guard refuses the target of a redirect.
    #[error("{from} redirects to a place that is not allowed: {refused}")]
    RedirectRefused {
        /// The URL that redirects.
        from: String,
        /// The rule.
        refused: Refused,
    },
    /// No connection was established.
    #[error(transparent)]
    Connect(ConnectError),
    /// TLS failed: the certificate, mostly.
    #[error("no secure connection to `{host}`: {reason}")]
    Tls {
        /// The host.
        host: Host,
        /// The reason.
        reason: String,
    },
    /// Time is over.
    #[error("{}", timed_out(*phase, *within))]
    TimedOut {
        /// The part that took too long.
        phase: Phase,
        /// The limit.
        within: Duration,
    },
    /// The response is not valid HTTP.
    #[error("the server's answer cannot be read: {0}")]
    Malformed(String),
    /// The connection ended before the body did.
    #[error("the answer is incomplete: the connection ended before the whole body arrived")]
    Incomplete,
    /// The response has too many or too long headers.
    #[error("the answer's headers are larger than {limit} bytes, or more than {} of them", MAX_HEADERS)]
    HeadersTooLarge {
        /// The limit.
        limit: usize,
    },
    /// The body is too large.
    #[error("the answer is larger than {limit} bytes{}", if *compressed { " after decompression" } else { "" })]
    BodyTooLarge {
        /// The limit.
        limit: usize,
        /// True if the body was compressed.
        compressed: bool,
    },
    /// The body has an encoding that was not requested.
    #[error("the answer is compressed as `{0}`, which was not requested")]
    Encoding(String),
    /// The body cannot be decompressed.
    #[error("the answer cannot be decompressed: its data is damaged")]
    Decompression,
    /// The maximum number of redirects was exceeded.
    #[error("more than {limit} redirects; the last one led to {last}")]
    TooManyRedirects {
        /// The limit.
        limit: usize,
        /// The URL that was not requested, since the limit was reached.
        last: String,
    },
    /// A redirect leads to a URL that was requested before.
    #[error("the redirects go in a loop: {0} was requested before")]
    RedirectLoop(String),
    /// A redirect names no URL.
    #[error("{from} redirects to nowhere: its Location header is missing or is not a URL")]
    RedirectNowhere {
        /// The URL that redirects.
        from: String,
    },
}

fn timed_out(phase: Phase, within: Duration) -> String {
    match phase {
        Phase::Connect => format!("no connection within {within:?}"),
        Phase::FirstByte => format!("the server did not begin to answer within {within:?}"),
        Phase::Idle => format!("the server stopped sending: nothing came for {within:?}"),
        Phase::Total => format!("the answer was not complete within {within:?}"),
    }
}

//! How a host wants a call to be run.

use crate::context::Above;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// How a host wants a call to be run.
///
/// ```
/// use std::time::Duration;
/// use toolkit::{CallOptions, CancellationToken};
///
/// let options = CallOptions::new().cancel(CancellationToken::new()).timeout(Duration::from_secs(30));
/// # drop(options);
/// ```
#[derive(Debug, Clone, Default)]
pub struct CallOptions {
    pub(crate) cancel: Option<CancellationToken>,
    pub(crate) timeout: Option<Duration>,
    pub(crate) above: Option<Above>,
    pub(crate) within_read_only: bool,
}

impl CallOptions {
    /// Nothing special.
    pub fn new() -> Self {
        Self::default()
    }

    /// What ends the call: its result is then `Aborted`.
    #[must_use]
    pub fn cancel(mut self, token: CancellationToken) -> Self {
        self.cancel = Some(token);
        self
    }

    /// How long the call may take, whatever the tool says of itself. [`Duration::MAX`] is no limit.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }
}

impl From<CancellationToken> for CallOptions {
    fn from(token: CancellationToken) -> Self {
        Self::new().cancel(token)
    }
}

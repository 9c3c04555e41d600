//! What a host decides for all calls of its toolkit.

use crate::policy::Policy;
use std::sync::Arc;
use std::time::Duration;

/// How long a call may take unless its tool or the host says otherwise.
pub(crate) const TIMEOUT: Duration = Duration::from_mins(10);

/// What a host decides for all calls of its toolkit.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    pub(crate) timeout: Duration,
    pub(crate) policy: Option<Arc<dyn Policy>>,
}

impl Default for Settings {
    fn default() -> Self {
        Self { timeout: TIMEOUT, policy: None }
    }
}

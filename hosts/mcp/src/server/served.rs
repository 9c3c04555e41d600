//! The tools that a server serves of those that its caller may use.

use std::fmt;
use std::sync::Arc;
use toolkit::{Caller, Tool, Toolbox, Toolkit};

/// A choice of tools.
#[derive(Clone)]
pub(crate) struct Served {
    is_served: Arc<dyn Fn(&Tool) -> bool + Send + Sync>,
    why: Arc<str>,
}

impl Served {
    pub(super) fn new(is_served: impl Fn(&Tool) -> bool + Send + Sync + 'static, why: String) -> Self {
        Self { is_served: Arc::new(is_served), why: why.into() }
    }

    /// Creates the toolbox of a caller, with all tools if there is no choice.
    pub(super) async fn toolbox(served: Option<&Self>, toolkit: &Toolkit, caller: &Caller) -> Toolbox {
        match served {
            Some(Self { is_served, why }) => toolkit.toolbox_of(caller, |tool| is_served(tool), why).await,
            None => toolkit.toolbox(caller).await,
        }
    }
}

impl fmt::Debug for Served {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Served").field("why", &self.why).finish_non_exhaustive()
    }
}

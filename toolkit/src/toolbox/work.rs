//! Work of a session that goes on when its call is over.

use crate::registry::Toolkit;
use crate::tool::context::ToolContext;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Marks that a session has work that goes on when the call is over, such as a command in the background. Dropping it ends the mark.
///
/// A host that has to end one of many sessions ends one without such work, as [`Toolkit::has_background_work`] tells.
#[derive(Debug)]
#[must_use = "dropping it ends the mark"]
pub struct BackgroundWork(Arc<AtomicUsize>);

impl Drop for BackgroundWork {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl ToolContext {
    /// Marks that the session has work that goes on, until the value is dropped. It does not keep the session: state of a tool that holds it
    /// ends with the session.
    pub fn background_work(&self) -> BackgroundWork {
        let work = Arc::clone(self.scope().session.work());
        work.fetch_add(1, Ordering::Relaxed);
        BackgroundWork(work)
    }
}

impl Toolkit {
    /// Returns true if a session has [work that goes on](ToolContext::background_work), such as a command in the background.
    pub fn has_background_work(&self, session_id: &str) -> bool {
        let session = self.0.sessions.get(session_id);
        session.is_some_and(|session| session.work().load(Ordering::Relaxed) > 0)
    }
}

//! A host's settings for all calls of its toolkit.

use crate::approvals::Approvals;
use crate::approver::{Approver, NoApprover};
use crate::ask_store::AskKeeper;
use crate::asks::Asks;
use crate::cut::{CutHint, OutputLimits};
use crate::history::History;
use crate::hooks::Hooks;
use crate::lifecycle::EndHooks;
use crate::output_store::OutputStore;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use toolkit_core::arguments::Repairing;
use toolkit_core::redact::Redactor;

/// The default time limit of a call.
pub(crate) const TIMEOUT: Duration = Duration::from_mins(10);

/// The default time limit for preparing tools for a caller.
pub(crate) const PREPARE_TIMEOUT: Duration = Duration::from_secs(5);

/// A host's settings for all calls of its toolkit.
#[derive(Clone)]
pub(crate) struct Settings {
    pub(crate) timeout: Duration,
    pub(crate) prepare_timeout: Duration,
    /// True if the host ends with its call.
    pub(crate) is_for_one_call: bool,
    pub(crate) workspace: Option<PathBuf>,
    pub(crate) repairing: Repairing,
    pub(crate) limits: OutputLimits,
    pub(crate) outputs: OutputStore,
    pub(crate) hint: Option<CutHint>,
    pub(crate) asks: Asks,
    /// The store of the host for pending questions.
    pub(crate) ask_store: Option<AskKeeper>,
    pub(crate) approvals: Approvals,
    /// How long approvals for named sessions are kept beyond the process; `None` for not at all.
    pub(crate) session_approvals_lifetime: Option<Duration>,
    pub(crate) approver: Option<Arc<dyn Approver>>,
    pub(crate) history: Option<Arc<dyn History>>,
    pub(crate) redactor: Redactor,
    pub(crate) hooks: Hooks,
    pub(crate) end_hooks: EndHooks,
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settings")
            .field("timeout", &self.timeout)
            .field("repairing", &self.repairing)
            .field("limits", &self.limits)
            .field("outputs", &self.outputs)
            .field("asks", &self.asks)
            .field("history", &self.history)
            .finish_non_exhaustive()
    }
}

impl Settings {
    /// Loads and keeps approvals in the data directory.
    pub(crate) fn find_approvals(&mut self, data_dir: Option<&Path>) {
        self.approvals = Approvals::new(data_dir).keeping_sessions(self.session_approvals_lifetime);
    }

    /// Returns the approver, for a question that several calls share.
    pub(crate) fn shared_approver(&self) -> Arc<dyn Approver> {
        self.approver.clone().unwrap_or_else(|| Arc::new(NoApprover))
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            timeout: TIMEOUT,
            prepare_timeout: PREPARE_TIMEOUT,
            is_for_one_call: false,
            workspace: None,
            repairing: Repairing::On,
            limits: OutputLimits::default(),
            outputs: OutputStore::default(),
            hint: None,
            asks: Asks::default(),
            ask_store: None,
            approvals: Approvals::default(),
            session_approvals_lifetime: None,
            approver: None,
            history: None,
            redactor: Redactor::default(),
            hooks: Hooks::default(),
            end_hooks: EndHooks::default(),
        }
    }
}

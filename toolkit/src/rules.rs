//! The part of a toolkit that its configuration decides, and that a reload replaces as a whole.

use crate::config::Configuration;
use crate::loop_guard::LoopGuard;
use crate::permission::{OwnDirs, Permissions};
use crate::policy::Policy;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};

/// Policy, permissions, directories and limits. A toolbox keeps those that were in effect when it was created.
#[derive(Clone, Default)]
pub(crate) struct Rules {
    pub(crate) policy: Option<Arc<dyn Policy>>,
    pub(crate) permissions: Permissions,
    pub(crate) own_dirs: OwnDirs,
    /// Directories that count as part of the workspace.
    pub(crate) further_dirs: Vec<PathBuf>,
    pub(crate) loop_guard: LoopGuard,
    pub(crate) configuration: Configuration,
}

impl fmt::Debug for Rules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rules").field("policy", &self.policy).finish_non_exhaustive()
    }
}

/// The rules that are in effect now.
#[derive(Debug, Default)]
pub(crate) struct CurrentRules(RwLock<Arc<Rules>>);

impl CurrentRules {
    pub(crate) fn new(rules: Rules) -> Self {
        Self(RwLock::new(Arc::new(rules)))
    }

    pub(crate) fn get(&self) -> Arc<Rules> {
        Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn replace(&self, rules: Rules) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(rules);
    }
}

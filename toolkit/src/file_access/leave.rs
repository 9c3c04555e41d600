//! Permission to use a path: the decision, the questions to ask, and the permissions granted so far.

use super::Surroundings;
use crate::permission::{DecidedPath, PathDecision};
use crate::shown_path::shown_path;
use crate::tool::context::ToolContext;
use crate::workspace::{Look, Place};
use std::cell::LazyCell;
use std::path::{Path, PathBuf};
use tokio::runtime::Handle;
use toolkit_core::ask::{Access, AllowScope, Ask};
use toolkit_core::error::ToolError;
use toolkit_core::escape::escape_line;

/// The most times that a path is resolved again, after a question or outside the workspace.
pub(crate) const MAX_LOOKS: u32 = 8;
/// The kind of permission to write files that run commands or lift restrictions.
pub(crate) const PROTECTED: &str = "protected";

/// The permissions that a person granted for one path.
#[derive(Debug, Clone)]
pub(crate) struct Granted {
    pub(crate) kind: String,
    pub(crate) patterns: Vec<String>,
}

/// The decision about a path, given the permissions granted so far.
#[derive(Debug)]
pub(crate) enum Weighed {
    /// It is a whole output of the same session.
    OwnOutput(PathBuf),
    /// Permission is given, as far as the rules are concerned.
    Allowed(Box<(DecidedPath, Place)>),
    /// A person has to be asked.
    Asks(Box<Asked>),
}

/// A question about a path, to be asked.
#[derive(Debug)]
pub(crate) struct Asked {
    pub(crate) ask: Ask,
    pub(crate) granted: Granted,
    /// The target of the path, as far as it is resolved.
    pub(crate) place: Place,
}

impl ToolContext {
    /// Resolves a path and decides, on a blocking thread if there is one. Asks nothing.
    pub(crate) async fn weigh_path(
        &self,
        path: &Path,
        access: Access,
        granted: &[Granted],
    ) -> Result<Weighed, ToolError> {
        if Handle::try_current().is_err() {
            return self.weigh_path_now(path, access, granted, || self.scope().surroundings());
        }
        let (ctx, path, granted) = (self.clone(), path.to_owned(), granted.to_vec());
        let weigh = move |_: &_| ctx.weigh_path_now(&path, access, &granted, || ctx.scope().surroundings());
        self.blocking(weigh).await
    }

    /// Resolves a path and decides. Blocks. `around` returns the directories if they are needed.
    pub(crate) fn weigh_path_now(
        &self,
        path: &Path,
        access: Access,
        granted: &[Granted],
        around: impl FnOnce() -> Result<Surroundings, ToolError>,
    ) -> Result<Weighed, ToolError> {
        let own_output = |path: &Path| {
            let is_read = access == Access::Read;
            is_read.then(|| self.scope().own_output(self.gated_session_id(), path)).flatten()
        };
        let (mut from, mut look) = (path.to_owned(), Look::Inside);
        let around = LazyCell::new(around);
        let mut is_link = false;
        for _ in 0..MAX_LOOKS {
            if let Some(path) = own_output(&from) {
                return Ok(Weighed::OwnOutput(path));
            }
            let around = around.as_ref().map_err(ToolError::clone)?;
            let (decided, mut place) = self.scope().look_at(self.tool(), &from, access, look, around)?;
            // The next step starts at the target of the previous one.
            is_link |= place.is_link;
            place.is_link = is_link;
            match &decided.decision {
                PathDecision::Allow => {}
                PathDecision::Deny { reason } => return Err(denied(path, access, reason)),
                PathDecision::Ask { kind, reason } => {
                    let covers = |granted: &Granted| {
                        granted.kind == *kind
                            && decided.patterns.iter().all(|pattern| granted.patterns.contains(pattern))
                    };
                    if !granted.iter().any(covers) {
                        let ask = question(&decided, kind, reason, access);
                        let granted = Granted { kind: kind.clone(), patterns: decided.patterns };
                        return Ok(Weighed::Asks(Box::new(Asked { ask, granted, place })));
                    }
                }
            }
            if place.is_inside() || look == Look::Everywhere {
                return Ok(Weighed::Allowed(Box::new((decided, place))));
            }
            (from, look) = (place.real, Look::Everywhere);
        }
        Err(restless(path))
    }
}

/// Returns the error for a path that changes while it is being resolved.
pub(crate) fn restless(path: &Path) -> ToolError {
    ToolError::failed(format!(
        "{} changes its target on every access; something else is changing it",
        escape_line(&shown_path(path))
    ))
}

fn question(decided: &DecidedPath, kind: &str, reason: &str, access: Access) -> Ask {
    let verb = if access == Access::Read { "read" } else { "write" };
    let named = decided.patterns.first().map_or("", String::as_str);
    // If no person can be asked, the error must say which setting would allow it.
    let why = if reason.is_empty() { String::new() } else { format!(", {reason}") };
    let title = format!("{verb} {named}{why} (permission.{kind})");
    let ask = Ask::new(kind, title).with_path(&decided.path, access);
    // Writing files that run commands or lift restrictions is asked again in each session, whatever was
    // answered before.
    let ask = if kind == PROTECTED { ask.at_most(AllowScope::Session) } else { ask };
    decided.patterns.iter().fold(ask, Ask::with_pattern)
}

pub(crate) fn denied(path: &Path, access: Access, reason: &str) -> ToolError {
    let verb = if access == Access::Read { "read" } else { "written" };
    let path = escape_line(&shown_path(path)).into_owned();
    ToolError::denied(format!(
        "{path} must not be {verb}: {reason}. Continue without it, or ask the person what they want"
    ))
}

//! Leave to use a path: what is decided, what has to be asked, and what was granted so far.

use super::Surroundings;
use crate::ask::{Access, AllowScope, Ask};
use crate::context::ToolContext;
use crate::error::ToolError;
use crate::escape::escape_line;
use crate::permission::{DecidedPath, PathDecision};
use crate::shown_path::shown_path;
use crate::workspace::{Look, Place};
use std::cell::LazyCell;
use std::path::{Path, PathBuf};
use tokio::runtime::Handle;

/// How often it is looked anew where a path leads, after a question or outside the workspace.
pub(crate) const MAX_LOOKS: u32 = 8;
/// The kind of permission to write what runs commands or lifts bounds.
pub(crate) const PROTECTED: &str = "protected";

/// What a person allowed of one path.
#[derive(Debug, Clone)]
pub(crate) struct Granted {
    pub(crate) kind: String,
    pub(crate) patterns: Vec<String>,
}

/// What is decided of a path, given what was granted so far.
#[derive(Debug)]
pub(crate) enum Weighed {
    /// It is a whole output of the same session.
    OwnOutput(PathBuf),
    /// It may be used, as far as permission goes.
    Allowed(Box<(DecidedPath, Place)>),
    /// A person has to be asked.
    Asks(Box<Asked>),
}

/// A question about a path.
#[derive(Debug)]
pub(crate) struct Asked {
    pub(crate) ask: Ask,
    pub(crate) granted: Granted,
    /// Where it leads, as far as it was looked.
    pub(crate) place: Place,
}

impl ToolContext {
    /// Looks where a path leads, and decides, where blocking is allowed, if that is to be had. It asks nothing.
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

    /// The same. Blocks. `around` says where the directories are, if that is needed.
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
            // A further look begins where the one before came to.
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

/// What changes under the eyes of who looks at it.
pub(crate) fn restless(path: &Path) -> ToolError {
    ToolError::failed(format!(
        "{} leads elsewhere each time it is looked at; something else is changing it",
        escape_line(&shown_path(path))
    ))
}

fn question(decided: &DecidedPath, kind: &str, reason: &str, access: Access) -> Ask {
    let verb = match access {
        Access::Read => "read",
        Access::Write => "write",
    };
    let named = decided.patterns.first().map_or("", String::as_str);
    // Who cannot be asked has to know which setting answers.
    let why = if reason.is_empty() { String::new() } else { format!(", {reason}") };
    let title = format!("{verb} {named}{why} (permission.{kind})");
    let ask = Ask::new(kind, title).with_path(&decided.path, access);
    // What runs commands or lifts bounds is asked again in each session, whatever was answered before.
    let ask = if kind == PROTECTED { ask.at_most(AllowScope::Session) } else { ask };
    decided.patterns.iter().fold(ask, Ask::with_pattern)
}

pub(crate) fn denied(path: &Path, access: Access, reason: &str) -> ToolError {
    let verb = match access {
        Access::Read => "read",
        Access::Write => "written",
    };
    let path = escape_line(&shown_path(path)).into_owned();
    ToolError::denied(format!(
        "{path} must not be {verb}: {reason}. Do without it, or ask the person what they want"
    ))
}

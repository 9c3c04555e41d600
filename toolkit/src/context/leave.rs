//! Leave to use a path: what is decided, what has to be asked, and what was granted so far.

use super::ToolContext;
use super::files::Looked;
use crate::ask::{Access, AllowScope, Ask};
use crate::error::ToolError;
use crate::escape::escape_line;
use crate::permission::{DecidedPath, PathDecision, shown_path};
use crate::workspace::{Look, Place};
use std::path::{Path, PathBuf};

/// How often it is looked anew where a path leads, after a question or outside the workspace.
pub(crate) const MOST_LOOKS: u32 = 8;
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
    /// Looks where a path leads, and decides. It asks nothing.
    pub(crate) async fn weigh_path(
        &self,
        path: &Path,
        access: Access,
        granted: &[Granted],
    ) -> Result<Weighed, ToolError> {
        let (mut from, mut look) = (path.to_owned(), Look::Inside);
        let mut is_link = false;
        for _ in 0..MOST_LOOKS {
            let (decided, mut place) = match self.look_elsewhere(from.clone(), access, look).await? {
                Looked::OwnOutput(path) => return Ok(Weighed::OwnOutput(path)),
                Looked::At(seen) => *seen,
            };
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

//! Several files that are written together, with one question.

use super::Workspace;
use super::target::{Proposal, Target};
use crate::file_access::leave::{Asked, MAX_LOOKS, PROTECTED, Weighed, denied, restless};
use std::path::Path;
use toolkit_core::ask::{Access, Ask};
use toolkit_core::error::ToolError;

/// The most paths that a title names.
const MAX_NAMED: usize = 3;

impl Workspace {
    /// Gets permission for several files with one question, if any has to be asked about; `show` completes it with
    /// the changes. The targets are in the order of the proposals.
    ///
    /// Each path is decided on its own, so one that is denied denies all. The question has the strictest kind of
    /// permission that any of its paths needs, and the patterns of all paths that need one.
    ///
    /// # Errors
    ///
    /// As [`Proposal::ask`].
    pub async fn ask_all(
        &self,
        mut proposals: Vec<Proposal>,
        show: impl Fn(Ask) -> Ask + Send + Sync,
    ) -> Result<Vec<Target>, ToolError> {
        // No test counts how often it looks again: links would have to change all the time.
        for _ in 0..2 * MAX_LOOKS {
            let mut asked: Vec<&Asked> = Vec::new();
            for proposal in &proposals {
                match &proposal.weighed {
                    Weighed::OwnOutput(path) => {
                        let why = "it is a stored output, which tools cannot change";
                        return Err(denied(path, Access::Write, why));
                    }
                    Weighed::Asks(one) => asked.push(one),
                    Weighed::Allowed(_) => {}
                }
            }
            if asked.is_empty() {
                let mut targets = Vec::with_capacity(proposals.len());
                for proposal in &proposals {
                    targets.extend(proposal.bind().await?);
                }
                if targets.len() == proposals.len() {
                    return Ok(targets);
                }
            } else {
                let ask = together(&asked);
                self.ctx.ask_person(show(ask), "tool").await?;
            }
            for proposal in &mut proposals {
                proposal.look_again().await?;
            }
        }
        Err(restless(proposals.first().map_or(Path::new("."), Proposal::path)))
    }
}

impl Proposal {
    /// Opens the place that was allowed; returns `None` if there is a symlink by now.
    async fn bind(&self) -> Result<Option<Target>, ToolError> {
        let Weighed::Allowed(seen) = &self.weighed else { return Ok(None) };
        let (workspace, place, repaired) = (self.workspace.clone(), seen.1.clone(), self.repaired.clone());
        self.workspace.ctx.blocking(move |_| Target::bind(workspace, place, repaired)).await
    }

    /// Records that the question is granted, and resolves the path again: the answer may have taken long, and the
    /// path may lead elsewhere by now.
    async fn look_again(&mut self) -> Result<(), ToolError> {
        if let Weighed::Asks(asked) = &self.weighed {
            self.granted.push(asked.granted.clone());
        }
        self.weighed = self.workspace.ctx.weigh_path(&self.path, Access::Write, &self.granted).await?;
        Ok(())
    }
}

/// Combines several questions into one.
fn together(asked: &[&Asked]) -> Ask {
    let strictest = asked.iter().find(|one| one.ask.kind == PROTECTED).unwrap_or(&asked[0]);
    if asked.len() == 1 {
        return strictest.ask.clone();
    }
    let first = asked.iter().filter_map(|one| one.granted.patterns.first()).take(MAX_NAMED);
    let named: Vec<&str> = first.map(String::as_str).collect();
    let more = match asked.len() - named.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let kind = &strictest.ask.kind;
    let title = format!("write {} files: {}{more} (permission.{kind})", asked.len(), named.join(", "));
    let mut whole = Ask::new(kind, title);
    for one in asked {
        // The title of a single question says why its path is special.
        if one.ask.title.contains(", which") {
            whole = whole.with_text("one of them", &one.ask.title);
        }
        whole.details.extend(one.ask.details.iter().cloned());
        whole.at_most = whole.at_most.min(one.ask.at_most);
        for pattern in &one.ask.patterns {
            if !whole.patterns.contains(pattern) {
                whole.patterns.push(pattern.clone());
            }
        }
    }
    whole
}

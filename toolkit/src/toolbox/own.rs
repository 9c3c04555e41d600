//! What one toolbox has of its own: tools that were made ready for its caller.

use super::at_once::{Job, at_once};
use super::{Scope, Toolbox};
use crate::diagnostic::{Diagnostic, Level};
use crate::error::ToolError;
use crate::prepare::{Preparation, PrepareFn, Prepared, fill};
use crate::tool::Tool;
use std::collections::HashMap;
use std::sync::Arc;

/// What one toolbox has of its own.
#[derive(Debug, Default)]
pub(crate) struct Own {
    /// The toolkit's tools that are not here as the toolkit has them, by name.
    changed: HashMap<Box<str>, Changed>,
    /// All that is here, by name.
    listed: Vec<Tool>,
    diagnostics: Vec<Diagnostic>,
}

#[derive(Debug)]
enum Changed {
    Made(Tool),
    /// It is not there, and why.
    Left(String),
}

impl Own {
    /// All that is here, by name.
    pub(super) fn listed(&self) -> &[Tool] {
        &self.listed
    }

    pub(super) fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    /// Whether what the tool says of itself was said for this caller.
    pub(super) fn is_made(&self, tool: &Tool) -> bool {
        self.changed.contains_key(tool.name())
    }

    /// What became of a tool of the toolkit's.
    fn of<'a>(&'a self, tool: &'a Tool) -> Result<&'a Tool, &'a str> {
        match self.changed.get(tool.name()) {
            None => Ok(tool),
            Some(Changed::Made(tool)) => Ok(tool),
            Some(Changed::Left(why)) => Err(why),
        }
    }
}

impl Toolbox {
    /// Makes everything ready for the caller, all at once.
    pub(crate) async fn ready(mut self) -> Self {
        if let Some(own) = self.make().await
            && let Some(scope) = Arc::get_mut(&mut self.0)
        {
            scope.own = Some(Box::new(own));
        }
        self
    }

    async fn make(&self) -> Option<Own> {
        let Scope { toolkit, .. } = &*self.0;
        if !toolkit.prepares() {
            return None;
        }
        let preparing: Vec<(&Tool, PrepareFn)> =
            self.tools().filter_map(|tool| Some((tool, tool.stated().prepare?))).collect();
        let jobs = preparing
            .iter()
            .map(|(tool, prepare)| Job {
                name: tool.name(),
                future: Some(Box::pin(self.prepare(tool, *prepare))),
            })
            .collect();
        let prepared = at_once(jobs, toolkit.settings.prepare_timeout).await;
        let mut own = Own::default();
        for ((tool, _), prepared) in preparing.into_iter().zip(prepared) {
            let changed = match prepared {
                Ok(Prepared { hidden: Some(why), .. }) => {
                    let why = format!("it is not there for this caller: {why}");
                    own.tell(Level::Info, tool, &why);
                    Changed::Left(why)
                }
                Ok(prepared) => match tool.prepared(prepared) {
                    Ok(tool) => Changed::Made(tool),
                    Err(error) => own.fail(tool, &error),
                },
                Err(error) => own.fail(tool, &error.redacted(&toolkit.settings.redactor)),
            };
            own.changed.insert(tool.name().into(), changed);
        }
        own.listed = self.tools().filter_map(|tool| own.of(tool).ok()).cloned().collect();
        Some(own)
    }

    async fn prepare(&self, tool: &Tool, prepare: PrepareFn) -> Result<Prepared, ToolError> {
        let Scope { toolkit, caller, .. } = &*self.0;
        let description = fill(tool.description(), caller).into_owned();
        let mut preparation =
            Preparation::new(tool)?.with_services(&toolkit.services).with_description(description);
        prepare(caller, &mut preparation).await?;
        Ok(preparation.finish())
    }

    /// The tool that this toolbox has of its own in the place of the toolkit's; none where it has nothing of its own.
    pub(super) fn own(&self, name: &str) -> Option<Result<&Tool, ToolError>> {
        let own = self.0.own.as_deref()?;
        Some(self.place(name).and_then(|place| {
            own.of(&self.0.toolkit.tools[place])
                .map_err(|why| ToolError::denied(format!("`{name}` cannot be used here: {why}")))
        }))
    }
}

impl Own {
    fn fail(&mut self, tool: &Tool, error: &ToolError) -> Changed {
        let why = format!("it could not be made ready for this caller: {error}");
        self.tell(Level::Error, tool, &why);
        Changed::Left(why)
    }

    fn tell(&mut self, level: Level, tool: &Tool, why: &str) {
        self.diagnostics.push(Diagnostic {
            level,
            source: tool.crate_name().to_owned(),
            message: format!("the tool `{}` is left out: {why}", tool.name()),
            location: tool.location().map(|location| location.to_string()),
        });
    }
}

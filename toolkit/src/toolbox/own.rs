//! The tools of one toolbox only: tools that were prepared for its caller, that factories created for it, and that sources have for it.

use super::only::Others;
use super::{Scope, Toolbox};
use crate::at_once::{Job, at_once};
use crate::policy::check;
use crate::registry::Tools;
use crate::service::{FactoryDef, Making, ServiceHost, ensure};
use crate::tool::Tool;
use crate::tool::prepare::{Preparation, PrepareFn, Prepared, fill, has_placeholder};
use std::collections::HashMap;
use std::sync::Arc;
use toolkit_core::caller::Caller;
use toolkit_core::diagnostic::{Diagnostic, Level};
use toolkit_core::error::ToolError;
use toolkit_core::plugin::id_of;

/// The maximum number of tools of one factory.
const MAX_PRODUCTS: usize = 10_000;

/// The result of a job.
enum Made {
    Ready(Prepared),
    Products(Vec<Tool>),
}

impl Made {
    /// Returns the prepared tool, or the reason why it is hidden.
    fn ready(self, tool: &Tool) -> Result<Result<Tool, String>, ToolError> {
        let Self::Ready(prepared) = self else { return Err(ToolError::failed("it was not prepared")) };
        match prepared.hidden {
            Some(why) => Ok(Err(why)),
            None => tool.prepared(prepared).map(Ok),
        }
    }

    fn products(self) -> Vec<Tool> {
        match self {
            Self::Products(tools) => tools,
            Self::Ready(_) => Vec::new(),
        }
    }
}

/// The tools that were created or left out for the caller of one toolbox.
#[derive(Debug, Default)]
pub(crate) struct Own {
    /// The tools that are left out, with the reasons.
    left: HashMap<Box<str>, String>,
    diagnostics: Vec<Diagnostic>,
}

impl Own {
    pub(super) fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    /// Returns the reason why the tool was left out, if it was.
    pub(super) fn why_left(&self, tool: &Tool) -> Option<&str> {
        self.left.get(tool.name()).map(String::as_str)
    }

    pub(super) fn note(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    /// Adds the diagnostics of a preparation.
    fn say(&mut self, tool: &Tool, said: &[(Level, String)]) {
        for (level, message) in said {
            self.diagnostics.push(of_tool(tool, *level, message.clone()));
        }
    }

    pub(super) fn leave(&mut self, level: Level, tool: &Tool, why: String) {
        self.diagnostics.push(of_tool(tool, level, format!("the tool `{}` is left out: {why}", tool.name())));
        self.left.insert(tool.name().into(), why);
    }

    fn say_of(&mut self, factory: &FactoryDef, what: &str) {
        let message = format!("the tool factory `{}`: {}", factory.name, in_one_line(what));
        let diagnostic = Diagnostic::new(Level::Error, factory.location.crate_name(), message);
        self.diagnostics
            .push(diagnostic.with_plugin(id_of(&factory.location)).with_location(factory.location));
    }

    fn fail(&mut self, tool: &Tool, error: &ToolError) {
        self.leave(Level::Error, tool, format!("it could not be made ready for this caller: {error}"));
    }
}

impl Toolbox {
    /// Prepares everything for the caller, concurrently.
    pub(crate) async fn ready(self) -> Self {
        self.ready_without(None).await
    }

    /// Prepares everything for the caller as [`ready`](Self::ready) does, without the tools that `others` leaves out.
    pub(super) async fn ready_without(mut self, others: Option<Others<'_>>) -> Self {
        let Scope { toolkit, tools, caller, .. } = &*self.0;
        let of_sources = toolkit.tools_for(caller);
        if (tools.prepare() || !toolkit.factories.is_empty() || !of_sources.is_empty())
            && let (own, tools) = self.make(of_sources).await
            && let Some(scope) = Arc::get_mut(&mut self.0)
        {
            scope.allowed = Some(scope.still_allowed(&tools, &own));
            scope.tools = tools;
            scope.own = Some(Box::new(own));
        }
        self.leave_out_what_cannot_run();
        if let Some(others) = others {
            self.leave_out_others(&others);
        }
        self.disclose();
        self
    }

    async fn make(&self, of_sources: Vec<Tool>) -> (Own, Tools) {
        let Scope { toolkit, tools, caller, .. } = &*self.0;
        let preparing: Vec<(&Tool, PrepareFn)> =
            self.tools().filter_map(|tool| Some((tool, tool.stated().prepare?))).collect();
        let mut jobs: Vec<Job<'_, Made>> = preparing
            .iter()
            .map(|(tool, prepare)| Job::new(tool.name(), self.prepare(tool, *prepare)))
            .collect();
        jobs.extend(toolkit.factories.iter().map(|factory| Job::new(factory.name, self.produce(factory))));
        let mut results = at_once(jobs, toolkit.settings.prepare_timeout)
            .await
            .into_iter()
            .map(|result| result.map_err(|error| error.redacted(&toolkit.settings.redactor)));
        let mut own = Own::default();
        let mut made: Vec<Tool> = self.tools().filter_map(|tool| filled(tool, caller)).collect();
        for ((tool, _), result) in preparing.into_iter().zip(&mut results) {
            if let Ok(Made::Ready(prepared)) = &result {
                own.say(tool, &prepared.said);
            }
            match result.and_then(|result| result.ready(tool)) {
                Ok(Ok(ready)) => made.push(ready),
                Ok(Err(why)) => {
                    own.leave(Level::Info, tool, format!("it is not available to this caller: {why}"));
                }
                Err(error) => own.fail(tool, &error),
            }
        }
        let mut products: Vec<(Tool, &FactoryDef)> = Vec::new();
        for (factory, result) in toolkit.factories.iter().zip(results) {
            match result.map(Made::products) {
                Ok(tools) => {
                    if tools.len() > MAX_PRODUCTS {
                        let more = format!("it made {}, and the limit is {MAX_PRODUCTS}", tools.len());
                        own.say_of(factory, &format!("the last tools are left out: {more}"));
                    }
                    products.extend(tools.into_iter().take(MAX_PRODUCTS).map(|tool| (tool, *factory)));
                }
                Err(error) => own.say_of(factory, &format!("its tools are left out: {error}")),
            }
        }
        let tools = tools.for_one_toolbox(&toolkit.origins, |edit, origins| {
            for tool in made {
                if let Some(place) = edit.place(tool.name()) {
                    edit.put(place, tool);
                }
            }
            for (tool, factory) in products {
                let added = toolkit.product(&tool, factory).and_then(|tool| edit.add(tool, origins));
                if let Err(error) = added {
                    own.say_of(factory, &error.to_string());
                }
            }
            for tool in of_sources {
                let source = tool.source().to_string();
                let added = toolkit.made_ready(tool).and_then(|tool| edit.add(tool, origins));
                if let Err(error) = added {
                    own.note(Diagnostic::new(Level::Warning, source, in_one_line(&error.to_string())));
                }
            }
        });
        (own, tools)
    }

    async fn produce(&self, factory: &'static FactoryDef) -> Result<Made, ToolError> {
        let Scope { toolkit, caller, .. } = &*self.0;
        let host: Arc<dyn ServiceHost> = toolkit.clone();
        ensure(factory.needs, &toolkit.services, &host, caller).await?;
        let making = Making::new(&host, caller, factory.location);
        Ok(Made::Products((factory.run)(&making)?.await?))
    }

    async fn prepare(&self, tool: &Tool, prepare: PrepareFn) -> Result<Made, ToolError> {
        let Scope { toolkit, caller, .. } = &*self.0;
        let services = if tool.services().is_empty() { &toolkit.services } else { tool.services() };
        let host: Arc<dyn ServiceHost> = toolkit.clone();
        ensure(tool.service_defs(), services, &host, caller).await?;
        let description = fill(tool.description(), caller).into_owned();
        let mut preparation =
            Preparation::new(tool)?.with_services(&toolkit.services).with_description(description);
        preparation = preparation.with_toolkit(toolkit.clone());
        prepare(caller, &mut preparation).await?;
        Ok(Made::Ready(preparation.finish()))
    }
}

/// Returns a text with a list in it as one line, which a diagnostic has.
fn in_one_line(text: &str) -> String {
    text.replace(":\n- ", ": ").replace("\n- ", "; ")
}

fn of_tool(tool: &Tool, level: Level, message: String) -> Diagnostic {
    let diagnostic = Diagnostic::new(level, tool.source().to_string(), message);
    let diagnostic = tool.location().into_iter().fold(diagnostic, Diagnostic::with_location);
    tool.plugin_id().into_iter().fold(diagnostic, Diagnostic::with_plugin)
}

/// Returns the tool with its placeholders filled in, if it needs no other preparation.
fn filled(tool: &Tool, caller: &Caller) -> Option<Tool> {
    let is_all = tool.def()?.prepare.is_none() && has_placeholder(tool.description());
    is_all.then(|| tool.described(fill(tool.description(), caller)))
}

impl Scope {
    /// Returns the indices in `tools` of allowed tools: those that were allowed before and still exist.
    fn still_allowed(&self, tools: &Tools, own: &Own) -> Vec<usize> {
        let is_allowed = |tool: &Tool| {
            let policy = self.rules.policy.as_ref();
            match self.tools.place(tool.name()) {
                Some(place) => self.is_allowed(place),
                // A tool of this toolbox only.
                None => policy.is_none_or(|policy| check(&**policy, &self.caller, tool).is_ok()),
            }
        };
        (0..tools.len())
            .filter(|place| own.why_left(&tools[*place]).is_none() && is_allowed(&tools[*place]))
            .collect()
    }
}

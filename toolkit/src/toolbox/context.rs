//! The toolbox as the host of its calls.

use super::Scope;
use crate::events::Hub;
use crate::output_store::owner_name;
use crate::session::Session;
use crate::sink::OutputSink;
use crate::tool::Tool;
use crate::tool::context::{Asking, CallHost, Called, ToolContext};
use std::any::Any;
use std::sync::Arc;
use toolkit_core::ask::Ask;
use toolkit_core::caller::Caller;
use toolkit_core::redact::Redactor;
use toolkit_core::state::Services;
use toolkit_core::truncate::Truncate;

impl CallHost for Scope {
    fn caller(&self) -> &Caller {
        &self.caller
    }

    fn tool(&self, place: usize) -> &Tool {
        &self.tools[place]
    }

    fn services(&self) -> &Services {
        &self.toolkit.services
    }

    fn session(&self) -> &Session {
        &self.session
    }

    fn redactor(&self) -> &Redactor {
        &self.toolkit.settings.redactor
    }

    fn events(&self) -> &Arc<Hub> {
        &self.toolkit.events
    }

    fn open_output(&self, truncate: Option<Truncate>, session: &str) -> OutputSink {
        let settings = &self.toolkit.settings;
        let limits = settings.limits.of(truncate).unwrap_or(settings.limits);
        OutputSink::new(&limits, settings.outputs.clone(), Some(owner_name(session, &self.caller)))
    }

    fn is_for_one_call(&self) -> bool {
        self.toolkit.settings.is_for_one_call
    }

    fn ask<'a>(&self, context: &'a ToolContext, ask: Ask) -> Asking<'a> {
        Box::pin(context.ask_unless_decided(ask))
    }

    fn tools(&self) -> Vec<&Tool> {
        self.allowed_tools().collect()
    }

    fn find_tools(&self, query: &str, limit: usize) -> Vec<&Tool> {
        self.search(query, limit).into_iter().map(|hit| hit.tool).collect()
    }

    fn reveal_tools(&self, names: &[&str]) -> Vec<String> {
        self.reveal(names.iter().copied()).into_iter().map(str::to_owned).collect()
    }
}

impl ToolContext {
    /// Creates a context outside any toolkit, for calling a tool function directly, as in tests.
    ///
    /// ```
    /// use toolkit::prelude::*;
    ///
    /// /// Names the agent.
    /// #[tool(read_only)]
    /// async fn whoami(ctx: &ToolContext) -> String {
    ///     ctx.agent().unwrap_or("nobody").to_owned()
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() {
    /// let ctx = ToolContext::detached(Caller::new().with_agent("ada"));
    /// assert_eq!(whoami(&ctx).await, "ada");
    /// # }
    /// ```
    pub fn detached(caller: Caller) -> Self {
        let name = "detached".to_owned();
        let tool = Called::Own(Tool::nameless().named("detached"));
        Self::of_call(name.clone(), name, tool, Scope::detached(caller), None, None, None)
    }

    pub(crate) fn scope(&self) -> &Scope {
        let host: &dyn Any = &**self.host();
        host.downcast_ref().expect("each context is made over a scope")
    }

    pub(crate) fn shared_scope(&self) -> Arc<Scope> {
        let host: Arc<dyn Any + Send + Sync> = self.host().clone();
        host.downcast().expect("each context is made over a scope")
    }
}

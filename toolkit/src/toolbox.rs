//! What one caller may use, and the one path that every call takes.

mod run;

use crate::arguments::{self, Arguments};
use crate::call::{CallArguments, ToolCall, ToolResult};
use crate::caller::Caller;
use crate::context::ToolContext;
use crate::definition::Definition;
use crate::error::{ToolError, ToolErrorKind};
use crate::name::nearest;
use crate::output::ToolOutput;
use crate::registry::Inner;
use crate::state::Services;
use crate::tool::Tool;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// What one caller may use: a snapshot that hands out definitions and runs calls. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Toolbox {
    toolkit: Arc<Inner>,
    caller: Arc<Caller>,
}

impl Toolbox {
    pub(crate) fn new(toolkit: Arc<Inner>, caller: Caller) -> Self {
        Self { toolkit, caller: Arc::new(caller) }
    }

    /// The tools, by name.
    pub fn tools(&self) -> impl ExactSizeIterator<Item = &Tool> {
        self.toolkit.tools.iter()
    }

    /// The tool of this name or alias.
    pub fn tool(&self, name: &str) -> Option<&Tool> {
        self.toolkit.index.get(name).map(|place| &self.toolkit.tools[*place])
    }

    /// Whom it is for.
    pub fn caller(&self) -> &Caller {
        &self.caller
    }

    /// The tools as a model sees them, by name.
    ///
    /// A tool whose types state a schema that is not valid is missing here; calling it says why.
    pub fn definitions(&self) -> Vec<Definition> {
        self.tools().filter_map(|tool| tool.definition().ok()).collect()
    }

    /// Runs a call. There is exactly one result, whatever happens.
    pub async fn call(&self, call: ToolCall) -> ToolResult {
        self.call_with(call, CancellationToken::new()).await
    }

    /// Runs a call that `cancel` ends.
    pub async fn call_with(&self, call: ToolCall, cancel: CancellationToken) -> ToolResult {
        let ToolCall { id, name, arguments } = call;
        let outcome = self.outcome(&id, &name, arguments, cancel).await;
        ToolResult::new(id, name, outcome)
    }

    async fn outcome(
        &self,
        id: &str,
        name: &str,
        arguments: CallArguments,
        cancel: CancellationToken,
    ) -> Result<ToolOutput, ToolError> {
        let tool = self.tool(name).ok_or_else(|| self.unknown(name))?;
        let arguments = prepare(tool, arguments)?;
        let context = ToolContext::new(
            id.to_owned(),
            tool.name().to_owned(),
            Arc::clone(&self.caller),
            self.services_of(tool),
            cancel,
        );
        run::run(tool, context, arguments).await
    }

    fn services_of(&self, tool: &Tool) -> Services {
        if tool.services().is_empty() {
            self.toolkit.services.clone()
        } else {
            self.toolkit.services.with(tool.services())
        }
    }

    fn unknown(&self, name: &str) -> ToolError {
        let names =
            self.tools().flat_map(|tool| std::iter::once(tool.name()).chain(tool.aliases().iter().copied()));
        let near: Vec<String> = nearest(name, names).into_iter().map(|near| format!("`{near}`")).collect();
        let advice =
            if near.is_empty() { String::new() } else { format!("; did you mean {}?", near.join(" or ")) };
        ToolError::new(
            ToolErrorKind::UnknownTool,
            format!(
                "there is no tool `{name}`{advice}\nIf a crate should have brought it, the program must name that crate in `toolkit::link!`."
            ),
        )
    }
}

/// Arguments that fit the tool, or every problem with them.
fn prepare(tool: &Tool, arguments: CallArguments) -> Result<Arguments, ToolError> {
    let compiled = tool.compiled()?;
    let value = match arguments {
        CallArguments::Json(value) => Ok(value),
        CallArguments::Text(text) => arguments::parse(&text),
    };
    value.and_then(|value| arguments::prepare(compiled, value)).map_err(|mut problems| {
        if problems.tool.is_empty() {
            tool.name().clone_into(&mut problems.tool);
            problems.signature = compiled.signature();
        }
        let worded = tool.def().format_error.map(|format| format(&problems));
        let error = ToolError::invalid_arguments(problems);
        match worded {
            Some(message) => error.with_message(message),
            None => error,
        }
    })
}

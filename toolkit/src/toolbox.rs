//! What one caller may use, and the one path that every call takes.

mod run;

use run::Prepared;

use crate::arguments::{self, Arguments, InvalidArguments};
use crate::call::{CallArguments, ToolCall, ToolResult};
use crate::caller::Caller;
use crate::context::ToolContext;
use crate::definition::Definition;
use crate::error::{ToolError, ToolErrorKind};
use crate::guard::guard;
use crate::name::{MAX_NAME_BYTES, nearest};
use crate::registry::Inner;
use crate::schema::Compiled;
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

    /// The tool of this name or alias, or the error that a call of it gets.
    ///
    /// # Errors
    ///
    /// `UnknownTool`, naming the nearest ones.
    pub fn find(&self, name: &str) -> Result<&Tool, ToolError> {
        self.tool(name).ok_or_else(|| self.unknown(name))
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
        let prepared = guard(&name, || self.begin(&id, &name, arguments, cancel));
        let outcome = match prepared {
            Ok(Ok(prepared)) => {
                let tool = prepared.tool.clone();
                prepared.run().await.map_err(|error| complete(&tool, error))
            }
            Ok(Err(error)) | Err(error) => Err(error),
        };
        ToolResult::new(id, name, outcome)
    }

    /// Everything before the function runs. Not async: the code of async functions is compiled again in every crate
    /// that calls them.
    fn begin(
        &self,
        id: &str,
        name: &str,
        arguments: CallArguments,
        cancel: CancellationToken,
    ) -> Result<Prepared, ToolError> {
        let tool = self.find(name)?;
        let arguments = prepare(tool, arguments)?;
        let context = ToolContext::new(
            id.to_owned(),
            tool.name().to_owned(),
            Arc::clone(&self.caller),
            if tool.services().is_empty() { self.toolkit.services.clone() } else { tool.services().clone() },
            cancel,
        );
        Ok(Prepared { tool: tool.clone(), context, arguments })
    }

    fn unknown(&self, name: &str) -> ToolError {
        let names = self.tools().flat_map(|tool| std::iter::once(tool.name()).chain(tool.aliases()));
        let near: Vec<String> = nearest(name, names).into_iter().map(|near| format!("`{near}`")).collect();
        let advice =
            if near.is_empty() { String::new() } else { format!("; did you mean {}?", near.join(" or ")) };
        ToolError::new(
            ToolErrorKind::UnknownTool,
            format!(
                "there is no tool `{}`{advice}\nIf a crate should have brought it, the program must name that crate in `toolkit::link!`.",
                cut(name)
            ),
        )
    }
}

/// A name that a model made up, at a length that it can read.
fn cut(name: &str) -> String {
    match name.char_indices().nth(MAX_NAME_BYTES) {
        None => name.to_owned(),
        Some((end, _)) => format!("{}…", &name[..end]),
    }
}

/// Arguments that fit the tool, or every problem with them.
fn prepare(tool: &Tool, arguments: CallArguments) -> Result<Arguments, ToolError> {
    let compiled = tool.compiled()?;
    let value = match arguments {
        CallArguments::Json(value) => Ok(value),
        CallArguments::Text(text) => arguments::parse(&text),
    };
    value.and_then(|value| arguments::prepare(compiled, value)).map_err(|problems| refuse(tool, problems))
}

/// What is wrong with the arguments, as the tool words it.
fn refuse(tool: &Tool, mut problems: InvalidArguments) -> ToolError {
    if problems.tool.is_empty() {
        tool.name().clone_into(&mut problems.tool);
        problems.signature = tool.compiled().map(Compiled::signature).unwrap_or_default();
    }
    let worded = tool.format_error().map(|format| format(&problems));
    let error = ToolError::invalid_arguments(problems);
    match worded {
        Some(message) => error.with_message(message),
        None => error,
    }
}

/// Completes what a type itself said of an argument while it was decoded.
fn complete(tool: &Tool, error: ToolError) -> ToolError {
    match error.problems() {
        Some(problems) if problems.tool.is_empty() => {
            guard(tool.name(), || refuse(tool, problems.clone())).unwrap_or_else(|panic| panic)
        }
        _ => error,
    }
}

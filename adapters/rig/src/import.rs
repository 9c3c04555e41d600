//! Tools of rig as tools of a toolkit.

use crate::imported_name::names;
use crate::imported_output::output;
use rig_agent::tool::{RegisteredTool, ToolSet};
use rig_core::effect::FamilyDescriptor;
use rig_core::tool::ToolContext as RigContext;
use serde_json::Value;
use std::collections::BTreeSet;
use std::sync::Arc;
use toolkit::{
    Tool, ToolBuilder, ToolContext, ToolError, ToolOutput,
    descriptor::{DynamicArgs, InvalidTool},
    registry::{Diagnostic, Level},
};

/// A tool of rig as one of a toolkit: `import(RegisteredTool::from_tool(Adder))`.
///
/// It keeps its name where that is [valid](toolkit::text::is_valid_name) here, else it is written with what is: `Add-Numbers` becomes
/// `add_numbers`, with its own name for a title. Its output stays text where it is text; one JSON value is structured data too.
///
/// An error of it is one here, of the kind that rig says, and else `Failed` with rig's error behind it. The model gets the feedback
/// that its author wrote, and the text of the error with its causes where there is none: rig's own `the tool failed` is nothing that it could
/// act on. Override [`Tool::map_error`](rig_core::tool::Tool::map_error) where that text is nobody's business.
///
/// A host gives it values of rig's context by attaching a [`ToolContext`](rig_core::tool::ToolContext) of rig to a call, with
/// [`CallOptions::attach`](toolkit::CallOptions::attach).
///
/// # Errors
///
/// When its schema cannot be enforced: it is not valid, is not that of an object, refers to another document, or leads round in a circle.
#[track_caller]
pub fn import(tool: RegisteredTool) -> Result<Tool, InvalidTool> {
    import_with(tool, |tool| tool)
}

/// The same with what rig does not know of a tool: `import_with(tool, |tool| tool.group("math").read_only())`.
///
/// # Errors
///
/// As [`import`], also where what is stated is wrong.
#[track_caller]
pub fn import_with(
    tool: RegisteredTool,
    state: impl FnOnce(ToolBuilder) -> ToolBuilder,
) -> Result<Tool, InvalidTool> {
    let name = names([tool.name().as_str()]).remove(0);
    made(tool, &name, state)
}

/// The tools of a set that can be had, and why the others cannot.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Imported {
    /// In the set's order: `builder.tools(imported.tools)`.
    pub tools: Vec<Tool>,
    /// One for each tool that was left out, and for each that has another name here.
    pub diagnostics: Vec<Diagnostic>,
}

/// All tools of a set of rig. A tool whose schema cannot be enforced is left out, and hides no other.
///
/// Where two names would be the same here, each is told apart by what it really is, so that neither depends on the other. What is true
/// of all of them is stated by `state`.
///
/// The set is taken as it is now. That of a [`ToolServerHandle`](rig_agent::tool::server::ToolServerHandle) is its `toolset()`.
///
/// ```
/// use rig_agent::tool::ToolSet;
/// use rig_core::message::ToolName;
/// use rig_core::tool::{DynamicTool, ToolOutput};
/// use serde_json::json;
/// use toolkit::prelude::*;
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let tool = |name: &str, schema| {
///     let name = ToolName::new(name)?;
///     Ok::<_, Box<dyn std::error::Error>>(DynamicTool::new(name, "Tells it.", schema, |_| {
///         Box::pin(async { Ok(ToolOutput::text("noon")) })
///     }))
/// };
/// let set = vec![tool("now", json!({"type": "object"}))?, tool("broken", json!({"type": "array"}))?];
/// let imported = toolkit_rig::import_set(&ToolSet::from_dynamic_tools(set), |tool| tool.group("clock").read_only());
/// assert!(imported.diagnostics[0].to_string().contains("`broken`"));
/// let toolkit = imported.tools.into_iter().fold(Toolkit::empty(), |toolkit, tool| toolkit.tool(tool)).build()?;
/// assert_eq!(toolkit.tools().len(), 1);
/// # Ok(()) }
/// ```
#[track_caller]
pub fn import_set(set: &ToolSet, state: impl Fn(ToolBuilder) -> ToolBuilder) -> Imported {
    let mut imported = Imported { tools: Vec::new(), diagnostics: Vec::new() };
    let names = names(set.names());
    let mut taken = BTreeSet::new();
    for ((original, tool), name) in set.iter().zip(names) {
        let mut tell = |level, message: String| {
            imported.diagnostics.push(Diagnostic::new(level, "rig", message));
        };
        // A hash can be written by hand.
        if (name != original && set.contains(&name)) || !taken.insert(name.clone()) {
            let message =
                format!("rig's tool {original:?} is left out: another of the set is called `{name}`");
            tell(Level::Error, message);
            continue;
        }
        if name != original {
            tell(Level::Info, format!("rig's tool {original:?} is called `{name}` here"));
        }
        match made(tool.clone(), &name, &state) {
            Ok(tool) => imported.tools.push(tool),
            Err(error) => tell(Level::Error, format!("rig's tool {original:?} is left out: {error}")),
        }
    }
    imported
}

#[track_caller]
fn made(
    tool: RegisteredTool,
    name: &str,
    state: impl FnOnce(ToolBuilder) -> ToolBuilder,
) -> Result<Tool, InvalidTool> {
    let original = tool.name();
    let mut builder = Tool::builder(name);
    // Every registration is that of a tool.
    if let FamilyDescriptor::Tool { description, mut parameters, .. } = tool.descriptor() {
        // Rig's own tools leave out what is true of all arguments.
        if let Value::Object(root) = &mut parameters {
            root.entry("type").or_insert_with(|| "object".into());
        }
        builder = builder.description(description).input_schema(parameters);
    }
    if name != original {
        builder = builder.title(original);
    }
    let tool = Arc::new(tool);
    state(builder).build(move |context, args| {
        let tool = Arc::clone(&tool);
        async move { call(&tool, &context, args).await }
    })
}

async fn call(
    tool: &RegisteredTool,
    context: &ToolContext,
    args: DynamicArgs,
) -> Result<ToolOutput, ToolError> {
    if !tool.is_live() {
        return Err(ToolError::unavailable(format!(
            "`{}` cannot be used now: what served it is gone; do without it",
            context.tool_name()
        )));
    }
    let attached = context.attached::<RigContext>();
    let mut inbound = attached.map_or_else(RigContext::new, |attached| attached.for_dispatch());
    let arguments = Value::Object(args.into_map()).to_string();
    output(tool.execute(arguments, &mut inbound).await)
}

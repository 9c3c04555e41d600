//! Those of what a builder makes: the toolkit, toolboxes and tools.

use crate::registry::Toolkit;
use crate::tool::{Tool, ToolBuilder};
use crate::toolbox::Toolbox;

#[diagnostic::on_unimplemented(
    message = "a `Toolkit` is made by its builder",
    label = "write `Toolkit::builder()`, and `.build()?` at the end",
    note = "`Toolkit::builder()` has the tools of all linked crates, `Toolkit::empty()` those that the host adds"
)]
pub trait MadeByBuilder<'a> {}

#[doc(hidden)]
#[expect(clippy::new_ret_no_self, reason = "nothing calls it")]
impl<'a> Toolkit
where
    Self: MadeByBuilder<'a>,
{
    pub fn new() {}
    pub fn default() {}
    pub fn create() {}
    pub fn load() {}
    pub fn init() {}
    pub fn linked() {}
    pub fn from_tools() {}
    pub fn with_tools() {}
}

#[diagnostic::on_unimplemented(
    message = "calls and definitions are those of a caller's toolbox",
    label = "write `toolkit.toolbox(&Caller::new()).await`, and call this method on the toolbox"
)]
pub trait IsToolbox<'a> {}

#[doc(hidden)]
impl<'a> Toolkit
where
    Self: IsToolbox<'a>,
{
    pub fn call(&self) {}
    pub fn call_tool(&self) {}
    pub fn execute(&self) {}
    pub fn invoke(&self) {}
    pub fn run(&self) {}
    pub fn run_tool(&self) {}
    pub fn definitions(&self) {}
    pub fn definitions_for(&self) {}
    pub fn tool_definitions(&self) {}
    pub fn schemas(&self) {}
    pub fn to_openai(&self) {}
    pub fn openai_tools(&self) {}
    pub fn to_anthropic(&self) {}
    pub fn to_json(&self) {}
    pub fn for_caller(&self) {}
    pub fn session(&self) {}
}

#[doc(hidden)]
impl<'a> Tool
where
    Self: IsToolbox<'a>,
{
    pub fn call(&self) {}
    pub fn execute(&self) {}
    pub fn invoke(&self) {}
    pub fn run(&self) {}
}

#[diagnostic::on_unimplemented(
    message = "a toolkit that is built adds a tool by `register`",
    label = "write `.register(tool)?`; of a function with `#[tool]`, `toolkit::tool_ref!(function)` is the tool"
)]
pub trait Registers<'a> {}

#[doc(hidden)]
impl<'a> Toolkit
where
    Self: Registers<'a>,
{
    pub fn add(&self) {}
    pub fn add_tool(&self) {}
    pub fn register_tool(&self) {}
    pub fn insert(&self) {}
}

#[diagnostic::on_unimplemented(
    message = "what a toolkit consists of is set before it is built",
    label = "write it before `.build()?`, on `Toolkit::builder()`"
)]
pub trait IsBuilder<'a> {}

#[doc(hidden)]
impl<'a> Toolkit
where
    Self: IsBuilder<'a>,
{
    pub fn service(&self) {}
    pub fn approver(&self) {}
    pub fn policy(&self) {}
    pub fn history(&self) {}
    pub fn timeout(&self) {}
    pub fn with_service(&self) {}
    pub fn with_approver(&self) {}
}

#[diagnostic::on_unimplemented(
    message = "a toolkit ends by `shutdown`",
    label = "write `.shutdown(deadline).await`, with a `Duration`"
)]
pub trait ShutsDown<'a> {}

#[doc(hidden)]
impl<'a> Toolkit
where
    Self: ShutsDown<'a>,
{
    pub fn close(&self) {}
    pub fn stop(&self) {}
}

#[diagnostic::on_unimplemented(
    message = "a toolkit is served by the crate `toolkit-mcp`",
    label = "write `toolkit_mcp::serve_stdio(toolkit, Caller::new()).await?`",
    note = "over HTTP: `toolkit_mcp::HttpService`; over HTTP with routes of your own: the crate `toolkit-serve`"
)]
pub trait IsServed<'a> {}

#[doc(hidden)]
impl<'a> Toolkit
where
    Self: IsServed<'a>,
{
    pub fn serve(&self) {}
    pub fn serve_stdio(&self) {}
    pub fn serve_mcp(&self) {}
    pub fn serve_http(&self) {}
    pub fn mcp(&self) {}
    pub fn stdio(&self) {}
    pub fn listen(&self) {}
}

#[diagnostic::on_unimplemented(
    message = "a toolbox runs a tool by `call`",
    label = "write `.call(ToolCall::new(id, name, arguments)).await`, with the id that the model gave the call, or any other"
)]
pub trait RunsByCall<'a> {}

#[doc(hidden)]
impl<'a> Toolbox
where
    Self: RunsByCall<'a>,
{
    pub fn execute(&self) {}
    pub fn execute_tool(&self) {}
    pub fn invoke(&self) {}
    pub fn call_tool(&self) {}
    pub fn call_json(&self) {}
    pub fn run(&self) {}
    pub fn run_tool(&self) {}
    pub fn dispatch(&self) {}
    pub fn handle(&self) {}
}

#[diagnostic::on_unimplemented(
    message = "a toolbox has the definitions in the form of a provider by `definitions_for`",
    label = "write `.definitions_for(Dialect::OpenAiChat).to_json()`; `Dialect` is in `toolkit::dialects`",
    note = "the others are `OpenAiResponses`, `Anthropic`, `Gemini` and `Mcp`; `.definitions()` returns them in no provider's form"
)]
pub trait DefinesFor<'a> {}

#[doc(hidden)]
impl<'a> Toolbox
where
    Self: DefinesFor<'a>,
{
    pub fn to_openai(&self) {}
    pub fn to_anthropic(&self) {}
    pub fn to_gemini(&self) {}
    pub fn to_mcp(&self) {}
    pub fn openai(&self) {}
    pub fn openai_tools(&self) {}
    pub fn anthropic(&self) {}
    pub fn anthropic_tools(&self) {}
    pub fn gemini(&self) {}
    pub fn to_json(&self) {}
    pub fn schema(&self) {}
    pub fn schemas(&self) {}
    pub fn json_schema(&self) {}
    pub fn tool_definitions(&self) {}
    pub fn tool_schemas(&self) {}
}

#[diagnostic::on_unimplemented(
    message = "a tool that is made at run time gets its arguments by a JSON Schema",
    label = "write `.input_schema(json!({{ \"type\": \"object\", \"properties\": {{ \"a\": {{ \"type\": \"number\" }} }} }}))`",
    note = "arguments of Rust types are those of a function with `#[tool]`"
)]
pub trait HasSchema<'a> {}

#[doc(hidden)]
impl<'a> ToolBuilder
where
    Self: HasSchema<'a>,
{
    pub fn parameter(self) {}
    pub fn param(self) {}
    pub fn parameters(self) {}
    pub fn arg(self) {}
    pub fn args(self) {}
    pub fn argument(self) {}
    pub fn schema(self) {}
    pub fn json_schema(self) {}
    pub fn properties(self) {}
    pub fn input(self) {}
}

#[diagnostic::on_unimplemented(
    message = "the function of a tool goes to `build`",
    label = "write `.build(|ctx, arguments| async move {{ .. }})?` at the end",
    note = "`arguments.required::<T>(\"name\")?` reads an argument"
)]
pub trait BuildsWithFunction<'a> {}

#[doc(hidden)]
impl<'a> ToolBuilder
where
    Self: BuildsWithFunction<'a>,
{
    pub fn handler(self) {}
    pub fn function(self) {}
    pub fn func(self) {}
    pub fn callback(self) {}
    pub fn run(self) {}
    pub fn call(self) {}
    pub fn execute(self) {}
    pub fn with_handler(self) {}
    pub fn on_call(self) {}
    pub fn body(self) {}
}

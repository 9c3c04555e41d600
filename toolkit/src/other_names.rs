//! Methods under names that a host may expect, and that have another name here: each is a compile error that says what to write.
//!
//! The bound is at the `impl` block, so that a call is refused by its name, whatever its arguments are, and nothing that follows from it is a
//! second error. It has a lifetime, because the compiler would refuse one without any where it is written. Nothing has the traits.

mod configuration;
mod settings;
#[cfg(feature = "testing")]
mod testing;
mod toolbox;

use crate::registry::Builder;

#[diagnostic::on_unimplemented(
    message = "a builder provides a value to the tools that take `State<T>` by `service`",
    label = "write `.service(value)`, or `.shared_service(value)` for an `Arc`"
)]
pub trait ProvidesState<'a> {}

#[doc(hidden)]
impl<'a> Builder
where
    Self: ProvidesState<'a>,
{
    pub fn state(self) {}
    pub fn with_state(self) {}
    pub fn with_service(self) {}
    pub fn services(self) {}
    pub fn extension(self) {}
    pub fn data(self) {}
    pub fn app_data(self) {}
    pub fn manage(self) {}
    pub fn provide(self) {}
    pub fn resource(self) {}
    pub fn inject(self) {}
    pub fn layer(self) {}
    pub fn dependency(self) {}
}

#[diagnostic::on_unimplemented(
    message = "a builder adds a tool by `tool`",
    label = "write `.tool(tool)`; of a function with `#[tool]`, `toolkit::tool_ref!(function)` is the tool",
    note = "`Toolkit::builder()` begins with the tools of the program and of the crates that `toolkit::link!` names: they need not be added"
)]
pub trait AddsTool<'a> {}

#[doc(hidden)]
impl<'a> Builder
where
    Self: AddsTool<'a>,
{
    pub fn register(self) {}
    pub fn register_tool(self) {}
    pub fn add_tool(self) {}
    pub fn add_tools(self) {}
    pub fn add(self) {}
    pub fn with_tool(self) {}
    pub fn with_tools(self) {}
    pub fn plugin(self) {}
    pub fn add_plugin(self) {}
    pub fn with_plugin(self) {}
    pub fn link(self) {}
}

#[diagnostic::on_unimplemented(
    message = "a builder adds the tools of a server or of another source by `tool_source`",
    label = "write `.tool_source(source)`, with `toolkit_mcp::McpServers` for MCP servers"
)]
pub trait AddsSource<'a> {}

#[doc(hidden)]
impl<'a> Builder
where
    Self: AddsSource<'a>,
{
    pub fn mcp(self) {}
    pub fn mcp_server(self) {}
    pub fn mcp_servers(self) {}
    pub fn with_mcp(self) {}
    pub fn servers(self) {}
    pub fn source(self) {}
    pub fn add_source(self) {}
    pub fn with_source(self) {}
}

#[diagnostic::on_unimplemented(
    message = "a builder takes a loaded configuration",
    label = "write `.configuration(Configuration::load(LoadOptions::of_process(\".\"))?)`; both names are in `toolkit::config`",
    note = "a file of the program's own: `LoadOptions::new().user_file(\"toolkit.json5\")`"
)]
pub trait TakesConfiguration<'a> {}

#[doc(hidden)]
impl<'a> Builder
where
    Self: TakesConfiguration<'a>,
{
    pub fn config(self) {}
    pub fn config_file(self) {}
    pub fn config_path(self) {}
    pub fn configuration_file(self) {}
    pub fn load_config(self) {}
    pub fn with_config(self) {}
    pub fn with_configuration(self) {}
    pub fn settings(self) {}
}

#[diagnostic::on_unimplemented(
    message = "a builder takes a policy, which decides the tools that exist for a caller",
    label = "write `.policy(ToolPolicy::new(settings))` after `settings.tools = ToolRules::default().deny([\"exec\"])`; the names are in `toolkit::policy`"
)]
pub trait TakesPolicy<'a> {}

#[doc(hidden)]
impl<'a> Builder
where
    Self: TakesPolicy<'a>,
{
    pub fn allow(self) {}
    pub fn deny(self) {}
    pub fn allow_tool(self) {}
    pub fn allow_tools(self) {}
    pub fn deny_tool(self) {}
    pub fn deny_tools(self) {}
    pub fn exclude(self) {}
    pub fn without_tool(self) {}
    pub fn profile(self) {}
}

#[diagnostic::on_unimplemented(
    message = "a builder takes an approver, which answers what a call asks",
    label = "write `.approver(toolkit::AllowAll)` to allow everything, or `.approver(TerminalApprover::new())` to ask at the terminal",
    note = "`TerminalApprover` and `CallbackApprover` are in `toolkit::approval`; a tool that is `read_only` or `auto_execute` needs no approval"
)]
pub trait TakesApprover<'a> {}

#[doc(hidden)]
impl<'a> Builder
where
    Self: TakesApprover<'a>,
{
    pub fn allow_all(self) {}
    pub fn auto_approve(self) {}
    pub fn approve_all(self) {}
    pub fn auto_allow(self) {}
    pub fn yolo(self) {}
    pub fn with_approver(self) {}
    pub fn approval(self) {}
    pub fn on_approval(self) {}
    pub fn approve(self) {}
    pub fn approval_handler(self) {}
    pub fn on_ask(self) {}
    pub fn permission_handler(self) {}
    pub fn interactive(self) {}
}

#[diagnostic::on_unimplemented(
    message = "a builder has the workspace of callers without one",
    label = "write `.default_workspace(directory)`"
)]
pub trait HasWorkspace<'a> {}

#[doc(hidden)]
impl<'a> Builder
where
    Self: HasWorkspace<'a>,
{
    pub fn working_dir(self) {}
    pub fn working_directory(self) {}
    pub fn current_dir(self) {}
    pub fn cwd(self) {}
    pub fn root(self) {}
    pub fn workspace(self) {}
    pub fn with_workspace(self) {}
}

#[diagnostic::on_unimplemented(
    message = "this is the builder of a toolkit, which has no tools to call yet",
    label = "write `.build()?` before it"
)]
pub trait Built<'a> {}

#[doc(hidden)]
impl<'a> Builder
where
    Self: Built<'a>,
{
    pub fn toolbox(self) {}
    pub fn call(self) {}
    pub fn definitions(self) {}
    pub fn serve(self) {}
    pub fn run(self) {}
}

#[diagnostic::on_unimplemented(
    message = "the events of a toolkit are a stream, which the host reads",
    label = "write `let mut events = toolkit.events();` after `.build()?`, and read it with `events.next().await`"
)]
pub trait ReadsEvents<'a> {}

#[doc(hidden)]
impl<'a> Builder
where
    Self: ReadsEvents<'a>,
{
    pub fn on_event(self) {}
    pub fn on_call(self) {}
    pub fn on_progress(self) {}
    pub fn event_handler(self) {}
    pub fn events(self) {}
    pub fn hook(self) {}
    pub fn before_call(self) {}
    pub fn after_call(self) {}
    pub fn middleware(self) {}
}

//! Functions under names that a host may expect of a client: each is a compile error that says what to write.
//!
//! The bound is at the `impl` block, so that a call is refused by its name, whatever its arguments are, and nothing that follows from it is a
//! second error. It has a lifetime, because the compiler would refuse one without any where it is written. Nothing has the traits.

use super::options::ClientOptions;
use super::servers::McpServers;

#[diagnostic::on_unimplemented(
    message = "MCP servers are those of the section `mcp` of the configuration",
    label = "write `McpServers::of(&configuration, ClientOptions::new())`, and give it to `.tool_source(servers)` of the builder",
    note = "in `toolkit.json5`: `mcp: {{ files: {{ command: \"npx\", args: [\"-y\", \"server\"] }} }}`; without a file: `LoadOptions::new().program(json!({{ \"mcp\": {{ .. }} }}))`",
    note = "`Configuration::load(LoadOptions::of_process(\".\"))?` loads it; the servers start with the first toolbox, or by `.start(&toolkit).await`"
)]
pub trait AreConfigured<'a> {}

#[doc(hidden)]
impl<'a> McpServers
where
    Self: AreConfigured<'a>,
{
    pub fn connect() {}
    pub fn connect_stdio() {}
    pub fn connect_http() {}
    pub fn connect_sse() {}
    pub fn stdio() {}
    pub fn http() {}
    pub fn sse() {}
    pub fn spawn() {}
    pub fn command() {}
    pub fn from_command() {}
    pub fn from_config() {}
    pub fn from_configuration() {}
    pub fn from_file() {}
    pub fn from_path() {}
    pub fn from_json() {}
    pub fn from_settings() {}
    pub fn load() {}
    pub fn open() {}
    pub fn builder() {}
    pub fn default() {}
    pub fn single() {}
    pub fn child_process() {}
}

#[diagnostic::on_unimplemented(
    message = "the tools of MCP servers are called through a toolkit",
    label = "write `Toolkit::builder().tool_source(servers).build()?`, then `toolkit.toolbox(&caller).await`"
)]
pub trait AreOfToolkit<'a> {}

#[doc(hidden)]
impl<'a> McpServers
where
    Self: AreOfToolkit<'a>,
{
    pub fn tools(&self) {}
    pub fn list_tools(&self) {}
    pub fn call(&self) {}
    pub fn call_tool(&self) {}
    pub fn tool(&self) {}
    pub fn connect_all(&self) {}
    pub fn initialize(&self) {}
    pub fn into_tools(&self) {}
    pub fn definitions(&self) {}
}

#[diagnostic::on_unimplemented(
    message = "a client says its name and version by `named`",
    label = "write `.named(\"acme\", \"1.0.0\")`"
)]
pub trait NamesClient<'a> {}

#[doc(hidden)]
impl<'a> ClientOptions
where
    Self: NamesClient<'a>,
{
    pub fn name(&self) {}
    pub fn with_name(&self) {}
    pub fn version(&self) {}
    pub fn client_info(&self) {}
    pub fn info(&self) {}
}

#[diagnostic::on_unimplemented(
    message = "how long servers may take is set by `start_within`",
    label = "write `.start_within(Duration::from_secs(30))`",
    note = "a call of one server: `timeoutMs` beside its `command` or `url` in the configuration"
)]
pub trait StartsWithin<'a> {}

#[doc(hidden)]
impl<'a> ClientOptions
where
    Self: StartsWithin<'a>,
{
    pub fn timeout(&self) {}
    pub fn with_timeout(&self) {}
    pub fn connect_timeout(&self) {}
    pub fn start_timeout(&self) {}
    pub fn request_timeout(&self) {}
}

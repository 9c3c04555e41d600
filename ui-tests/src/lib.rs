//! Functions that the cases share. The cases are in `pass/examples/` and `fail/`, one file each, named after the behaviour that they
//! show; `pass/tests/it.rs` and `tests/it.rs` run them.

use toolkit::{
    Caller, Tool, ToolCall, ToolResult, Toolkit,
    policy::{PolicySettings, ToolPolicy, ToolRules},
};

/// Calls a tool of this process by its name, as a host would.
///
/// # Panics
///
/// When the toolkit cannot start.
pub fn call(name: &str, arguments: &str) -> ToolResult {
    call_in(&toolkit(), name, arguments)
}

/// Calls a tool of a toolkit.
///
/// # Panics
///
/// When no runtime can start.
pub fn call_in(toolkit: &Toolkit, name: &str, arguments: &str) -> ToolResult {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime starts");
    runtime.block_on(async {
        let caller = Caller::new().with_channel("telegram");
        toolkit.toolbox(&caller).await.call(ToolCall::new("1", name, arguments)).await
    })
}

/// The text of the answer to a call that succeeds.
///
/// # Panics
///
/// When the call fails.
pub fn text(name: &str, arguments: &str) -> String {
    let result = call(name, arguments);
    assert!(!result.is_error(), "{name}: {}", result.text());
    result.text()
}

/// A tool of this process.
///
/// # Panics
///
/// When there is none of this name.
pub fn tool(name: &str) -> Tool {
    let toolkit = toolkit();
    toolkit
        .tool(name)
        .unwrap_or_else(|| panic!("there is no tool `{name}`, only {:?}", toolkit.tools()))
        .clone()
}

/// A tool's schema, as JSON.
///
/// # Panics
///
/// When there is no such tool, or its schema is not valid.
pub fn schema(name: &str) -> String {
    tool(name).input_schema().unwrap_or_else(|error| panic!("{name}: {error}")).to_string()
}

fn toolkit() -> Toolkit {
    // The optional ones too.
    let mut settings = PolicySettings::default();
    settings.tools = ToolRules::default().also_allow(["group:plugins"]);
    let builder = Toolkit::builder().without_asking_first().policy(ToolPolicy::new(settings));
    builder.build().unwrap_or_else(|error| panic!("{error}"))
}

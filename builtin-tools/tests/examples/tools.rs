//! The tools of the examples, where this crate has not got them: they ask as those will, and do nothing.
//!
//! This crate calls itself core, after `builtin_tools`: a tool that is there has its name, and the one here is left out.

use serde_json::{Value, json};
use toolkit::prelude::*;
use toolkit::{Ask, approval::Access, descriptor::Source};

/// Looks for files.
#[tool(group = "fs", read_only)]
async fn glob(pattern: Option<String>) {
    let _ = pattern;
}

/// Searches in files.
#[tool(group = "fs", read_only)]
async fn grep(pattern: Option<String>) {
    let _ = pattern;
}

/// Writes a file.
#[tool(group = "fs", permission = "edit", asks)]
async fn write(ctx: &ToolContext, file_path: &Path, content: String) -> Result<(), ToolError> {
    let _ = content;
    ctx.check_file_access(file_path, Access::Write).await.map(drop)
}

/// Changes a file.
#[tool(group = "fs", permission = "edit", asks)]
async fn edit(
    ctx: &ToolContext,
    file_path: &Path,
    old_string: String,
    new_string: String,
) -> Result<(), ToolError> {
    let _ = (old_string, new_string);
    ctx.check_file_access(file_path, Access::Write).await.map(drop)
}

/// Runs a command.
#[tool(group = "runtime", permission = "exec", asks)]
async fn exec(ctx: &ToolContext, command: String) -> Result<(), ToolError> {
    ctx.ask(Ask::new("exec", format!("run {command}")).with_pattern(command)).await
}

/// Looks after commands.
#[tool(group = "runtime", permission = "exec")]
async fn process() {}

/// Searches the web.
#[tool(group = "web")]
async fn web_search(query: Option<String>) {
    let _ = query;
}

/// Uses a browser.
#[tool(group = "ui", asks)]
async fn browser(ctx: &ToolContext, action: String, url: Option<String>) -> Result<(), ToolError> {
    let url = url.unwrap_or(action);
    ctx.ask(Ask::new("browser", format!("open {url}")).with_pattern(url)).await
}

/// Fetches a page.
#[tool(group = "web", asks)]
async fn web_fetch(ctx: &ToolContext, url: String) -> Result<(), ToolError> {
    ctx.ask(Ask::new("web_fetch", format!("fetch {url}")).with_pattern(url)).await
}

/// Lists conversations.
#[tool(group = "sessions", read_only)]
async fn sessions_list() {}

/// Shows a conversation.
#[tool(group = "sessions", read_only)]
async fn sessions_history() {}

/// Says what this conversation is.
#[tool(group = "sessions", read_only)]
async fn session_status() {}

/// Writes to another conversation.
#[tool(group = "sessions")]
async fn sessions_send() {}

/// Begins a conversation.
#[tool(group = "sessions")]
async fn sessions_spawn() {}

/// Lists agents.
#[tool(group = "sessions", read_only)]
async fn agents_list() {}

/// Sends a message.
#[tool(group = "messaging", asks)]
async fn message(ctx: &ToolContext, target: String, message: String) -> Result<(), ToolError> {
    let _ = message;
    ctx.ask(Ask::new("message", format!("write to {target}")).with_pattern(format!("telegram:{target}")))
        .await
}

/// Those that no core crate brings.
pub(crate) fn others() -> Vec<Tool> {
    let make = |name: &str, source: Source| {
        let tool = Tool::builder(name).description("Does what its name says.").read_only().source(source);
        tool.build(|_, _| async { "done" }).unwrap()
    };
    vec![
        make("forecast", Source::plugin("weather")),
        make("forecast_radar", Source::plugin("weather")).optional(),
        make("docs__search", Source::mcp("docs")),
        make("docs__publish", Source::mcp("docs")),
    ]
}

/// The arguments of a call that a document writes in one line.
pub(crate) fn arguments(tool: &str, argument: &str) -> Value {
    match tool {
        "image" => json!({ "prompt": argument }),
        "read" => json!({ "file_path": argument }),
        "write" => json!({ "file_path": argument, "content": "new" }),
        "edit" => json!({ "file_path": argument, "old_string": "old", "new_string": "new" }),
        "exec" => json!({ "command": argument }),
        "web_fetch" => json!({ "url": argument }),
        "browser" => json!({ "action": "navigate", "url": argument }),
        "web_search" => json!({ "query": "weather" }),
        "message" => json!({ "target": argument, "message": "Hello." }),
        #[cfg(feature = "sessions")]
        "sessions_history" => json!({ "sessionKey": "agent:main:main" }),
        #[cfg(feature = "sessions")]
        "sessions_send" => json!({ "sessionKey": "agent:main:main", "message": "hello" }),
        #[cfg(feature = "sessions")]
        "sessions_spawn" => json!({ "prompt": "look" }),
        _ => json!({}),
    }
}

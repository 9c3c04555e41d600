//! Calls on behalf of another tool.

use super::{Toolbox, ask_for};
use crate::tool::Tool;
use crate::tool::context::ToolContext;
use serde_json::{Map, Value};
use toolkit_core::error::ToolError;

impl ToolContext {
    /// Checks that this call may act as `tool`, which need not be registered: for a tool that serves several owners, each with its own
    /// rules.
    ///
    /// The policy decides if the caller has `tool`, and the permission rules decide if a person is asked, as before a call of `tool`
    /// with these arguments.
    ///
    /// ```
    /// use serde_json::Map;
    /// use toolkit::prelude::*;
    /// use toolkit::{ToolOutput, policy::{PolicySettings, ToolPolicy, ToolRules}, descriptor::Source};
    ///
    /// /// Reads something of a server.
    /// #[tool(read_only)]
    /// async fn fetch(ctx: &ToolContext, /** The server. */ server: String) -> Result<String, ToolError> {
    ///     let owned = Tool::builder(format!("{server}__fetch")).source(Source::mcp(server.as_str()));
    ///     let owned = owned.build(|_, _| async { ToolOutput::default() }).map_err(ToolError::wrap)?;
    ///     ctx.stand_in(&owned, &Map::new()).await?;
    ///     Ok(format!("fetched from {server}"))
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() {
    /// let mut settings = PolicySettings::default();
    /// settings.servers.insert("files".to_owned());
    /// settings.tools = ToolRules::default().deny(["mcp:files"]);
    /// let toolkit = Toolkit::empty().tool(toolkit::tool_ref!(fetch)).policy(ToolPolicy::new(settings));
    /// let toolkit = toolkit.without_asking_first().build().unwrap();
    /// let toolbox = toolkit.toolbox(&Caller::new()).await;
    /// let denied = toolbox.call(ToolCall::new("1", "fetch", r#"{"server": "files"}"#)).await;
    /// assert!(denied.is_error() && denied.text().contains("files__fetch"), "{}", denied.text());
    /// let mail = toolbox.call(ToolCall::new("2", "fetch", r#"{"server": "mail"}"#)).await;
    /// assert_eq!(mail.text(), "fetched from mail");
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// `Denied` when the policy withholds `tool` from the caller, or a rule or a person denies it.
    pub async fn stand_in(&self, tool: &Tool, arguments: &Map<String, Value>) -> Result<(), ToolError> {
        self.check_cancelled()?;
        Toolbox::of(self.shared_scope()).admits(tool)?;
        ask_for(self, tool, arguments).await
    }
}

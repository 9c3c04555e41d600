//! Access to the configuration of the called tool.

use crate::tool::context::ToolContext;
use toolkit_core::arg::ToolArg;
use toolkit_core::error::ToolError;

impl ToolContext {
    /// Returns the configuration section of this tool: the one that a [`ConfigSection`](crate::config::ConfigSection) declares for it,
    /// otherwise `tools.settings.<tool>` without `enabled` and `autoExecute`. An absent section decodes from `{}`.
    ///
    /// ```
    /// use toolkit::prelude::*;
    /// use toolkit::config::{Configuration, LoadOptions};
    ///
    /// #[toolkit::args]
    /// struct Settings {
    ///     /// The word to greet with.
    ///     #[arg(default = "Hello")]
    ///     word: String,
    /// }
    ///
    /// /// Greets somebody.
    /// #[tool(read_only)]
    /// async fn greet(ctx: &ToolContext, /** Whom. */ name: String) -> Result<String, ToolError> {
    ///     let settings: Settings = ctx.config()?;
    ///     Ok(format!("{}, {name}!", settings.word))
    /// }
    ///
    /// toolkit::config_section!(toolkit::config::ConfigSection::of_tool::<Settings>("greet"));
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let configuration = Configuration::load(LoadOptions::new().set("tools.settings.greet.word=Ahoy"))?;
    /// let toolkit = Toolkit::empty().tool(toolkit::tool_ref!(greet)).configuration(configuration).build()?;
    /// let toolbox = toolkit.toolbox(&Caller::new()).await;
    /// assert_eq!(toolbox.call(ToolCall::new("1", "greet", r#"{ "name": "Ada" }"#)).await.text(), "Ahoy, Ada!");
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// When the section does not match the type; the tool is then unavailable. A section is validated when the configuration is
    /// loaded, if a `ConfigSection` declares its type.
    pub fn config<T: ToolArg>(&self) -> Result<T, ToolError> {
        let configuration = &self.scope().rules.configuration;
        configuration.of_tool(self.tool_name()).map_err(|error| ToolError::unavailable(error.to_string()))
    }
    /// Returns a section of the configuration by its path with dots, for settings that several tools share. An absent section
    /// decodes from `{}`. A crate registers it with [`ConfigSection::at`](crate::config::ConfigSection::at).
    ///
    /// # Errors
    ///
    /// When the section does not match the type, or refers to a variable or a file that does not exist; the tool is then
    /// unavailable.
    pub fn config_section<T: ToolArg>(&self, path: &str) -> Result<T, ToolError> {
        let configuration = &self.scope().rules.configuration;
        configuration.section(path).map_err(|error| ToolError::unavailable(error.to_string()))
    }
}

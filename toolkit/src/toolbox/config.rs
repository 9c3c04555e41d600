//! What is configured of the tool that was called.

use crate::arg::ToolArg;
use crate::context::ToolContext;
use crate::error::ToolError;

impl ToolContext {
    /// The section of the configuration that belongs to this tool: the one that a
    /// [`ConfigSection`](crate::ConfigSection) names for it, else `tools.settings.<tool>` without `enabled` and
    /// `autoExecute`. One that is absent decodes from `{}`.
    ///
    /// ```
    /// use toolkit::prelude::*;
    /// use toolkit::{Configuration, LoadOptions};
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
    /// toolkit::config_section!(toolkit::ConfigSection::of_tool::<Settings>("greet"));
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
    /// It does not fit the type: the tool is unavailable. What is there is checked when the configuration is loaded, if a
    /// section says of which type it is.
    pub fn config<T: ToolArg>(&self) -> Result<T, ToolError> {
        let configuration = &self.scope().toolkit.settings.configuration;
        configuration.of_tool(self.tool_name()).map_err(|error| ToolError::unavailable(error.to_string()))
    }
    /// A section of the configuration by its path with dots, for what several tools share. One that is absent decodes from `{}`.
    /// A crate registers it with [`ConfigSection::at`](crate::ConfigSection::at).
    ///
    /// # Errors
    ///
    /// It does not fit the type, or it names a variable or a file that is not there: the tool is unavailable.
    pub fn config_section<T: ToolArg>(&self, path: &str) -> Result<T, ToolError> {
        let configuration = &self.scope().toolkit.settings.configuration;
        configuration.section(path).map_err(|error| ToolError::unavailable(error.to_string()))
    }
}

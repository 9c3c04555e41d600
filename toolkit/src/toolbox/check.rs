//! Checks arguments without a call.

use super::Toolbox;
use super::begin::prepare;
use serde_json::Value;
use toolkit_core::arguments::Repair;
use toolkit_core::call::IntoCallArguments;
use toolkit_core::error::ToolError;

impl Toolbox {
    /// Checks arguments as a call does, and returns them as the tool would get them, with the repairs that were made. No code of the tool runs but
    /// that of its types, and nothing is recorded.
    ///
    /// ```
    /// use serde_json::json;
    /// use toolkit::prelude::*;
    ///
    /// /// Waits.
    /// #[tool(read_only)]
    /// async fn wait(/** Seconds. */ seconds: u8) {}
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), toolkit::BuildError> {
    /// let toolbox = Toolkit::empty().tool(toolkit::tool_ref!(wait)).build()?.toolbox(&Caller::new()).await;
    /// let (arguments, repairs) = toolbox.check_arguments("wait", json!({ "seconds": "5" })).unwrap();
    /// assert_eq!((arguments, repairs.len()), (json!({ "seconds": 5 }), 1));
    /// assert!(toolbox.check_arguments("wait", json!({ "seconds": 900 })).is_err());
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// Returns the errors of [`find`](Self::find), `InvalidArguments` with every [problem](ToolError::problems), and `Unavailable` if the types of
    /// the tool produce an invalid schema.
    pub fn check_arguments(
        &self,
        name: &str,
        arguments: impl IntoCallArguments,
    ) -> Result<(Value, Vec<Repair>), ToolError> {
        let tool = self.find(name)?;
        let settings = &self.0.toolkit.settings;
        let (prepared, redactor) = prepare(tool, arguments.into_call_arguments(), settings);
        match prepared {
            Ok((mut arguments, repairs)) => Ok((arguments.take_all(), repairs)),
            Err(error) => Err(error.redacted(redactor.as_ref().unwrap_or(&settings.redactor))),
        }
    }
}

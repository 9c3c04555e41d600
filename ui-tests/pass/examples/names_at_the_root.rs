//! Names of a subject are found at the root and in the prelude, too.

use toolkit::context::ToolContext;
use toolkit::error::ToolError;
use toolkit::{
    CallbackApprover, Configuration, Dialect, LoadOptions, Progress, TerminalApprover, ToolPolicy,
};

mod by_the_prelude {
    use toolkit::prelude::*;

    /// Reports, and reads nothing.
    #[tool(asks)]
    pub async fn report(ctx: &ToolContext, path: &Path) -> Result<String, ToolError> {
        ctx.progress(Progress::new(1).with_total(2));
        ctx.log(LogMessage::new(LogLevel::Info, "begun"));
        let file = ctx.check_file_access(path, Access::Read).await?;
        Err(ToolError::unavailable(file.display().to_string()).with_retry(Retry::Now))
    }

    pub fn host() -> Result<Toolkit, Box<dyn std::error::Error>> {
        let mut settings = PolicySettings::default();
        settings.tools = ToolRules::default().deny(["report"]);
        let builder = Toolkit::builder().configuration(Configuration::load(LoadOptions::new())?);
        let builder = builder.policy(ToolPolicy::new(settings)).approver(AllowAll::new());
        Ok(builder.default_approver(CallbackApprover::new(|_| Answer::deny())).build()?)
    }
}

fn main() {
    drop(by_the_prelude::host());
    let _ = (by_the_prelude::report, std::any::type_name::<(ToolContext, ToolError, CallbackApprover)>());
    let _ =
        std::any::type_name::<(Configuration, Dialect, LoadOptions, Progress, TerminalApprover, ToolPolicy)>(
        );
}

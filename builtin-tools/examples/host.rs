//! A host: what stands on each line of its input is run in the background, one job a line, without a question; then it says
//! `ready`, and waits for what is done to it. With `bare` it never calls `toolkit_sandbox::init`, as hosts that don't know of it.
//!
//! Its first arguments are the directory of the workspace and that for its data.

use serde_json::json;
use std::error::Error;
use std::io::{Read as _, Write as _};
use toolkit::approval::{Answer, CallbackApprover};
use toolkit::prelude::*;

toolkit::link!(core: builtin_tools);

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [workspace, data, rest @ ..] = arguments.as_slice() else {
        toolkit_sandbox::init();
        return Err("a workspace and a directory for data are wanted".into());
    };
    if rest.iter().all(|word| word != "bare") {
        toolkit_sandbox::init();
    }
    let mut commands = String::new();
    std::io::stdin().read_to_string(&mut commands)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    runtime.block_on(async {
        let toolkit =
            Toolkit::builder().data_dir(data).approver(CallbackApprover::new(|_| Answer::allow())).build()?;
        let caller = Caller::new().with_session("s").with_workspace(workspace);
        let toolbox = toolkit.toolbox(&caller).await;
        for command in commands.lines() {
            let call = ToolCall::new("1", "exec", json!({ "command": command, "run_in_background": true }));
            let result = toolbox.call(call).await;
            let facts = match &result.outcome {
                Ok(output) => json!(output.metadata),
                Err(error) => json!({ "guarantee": error.metadata("guarantee"), "error": error.message() }),
            };
            writeln!(std::io::stdout(), "{facts}")?;
        }
        writeln!(std::io::stdout(), "ready")?;
        std::io::stdout().flush()?;
        std::future::pending::<()>().await;
        Ok(())
    })
}

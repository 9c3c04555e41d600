// errors: 1
use toolkit::prelude::*;

async fn host(toolkit: Toolkit) {
    let toolbox = toolkit.toolbox(&Caller::new());
    let _ = toolbox.call(ToolCall::new("1", "run", "{}")).await;
}

fn main() {}

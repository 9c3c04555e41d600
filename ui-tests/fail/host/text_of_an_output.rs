// errors: 2
use toolkit::prelude::*;

async fn call(toolbox: &Toolbox) -> Result<String, ToolError> {
    let result = toolbox.call(ToolCall::new("1", "greet", "{}")).await;
    println!("{}", result.text());
    Ok(result.outcome?.text())
}

fn main() {
    let output = ToolOutput::text("Hello");
    println!("{}", output.text());
}

// errors: 1
use toolkit::Tool;

#[toolkit::tool_factory(name = "tools")]
async fn tools() -> Vec<Tool> {
    Vec::new()
}

fn main() {}

// errors: 1
use toolkit::Tool;

#[toolkit::tool_factory]
async fn tools<T>() -> Vec<Tool> {
    Vec::new()
}

fn main() {}

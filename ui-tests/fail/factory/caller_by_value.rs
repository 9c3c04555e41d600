// errors: 1
use toolkit::Tool;
use toolkit::prelude::*;

#[toolkit::tool_factory]
async fn tools(caller: Caller) -> Vec<Tool> {
    drop(caller);
    Vec::new()
}

fn main() {}

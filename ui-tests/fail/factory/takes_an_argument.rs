// errors: 1
use toolkit::Tool;
use toolkit::prelude::*;

#[toolkit::tool_factory]
async fn tools(caller: &Caller, name: String) -> Vec<Tool> {
    drop((caller, name));
    Vec::new()
}

fn main() {}

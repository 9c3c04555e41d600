// errors: 1
#[toolkit::tool_factory]
async fn tools() {}

fn main() {}

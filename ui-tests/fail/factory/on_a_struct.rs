// errors: 1
#[toolkit::tool_factory]
struct Tools;

fn main() {}

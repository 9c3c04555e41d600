// errors: 1
use toolkit::{Config, Tool};

#[toolkit::args]
struct Settings {
    word: String,
}

#[toolkit::tool_factory]
async fn tools(one: Config<Settings>, other: Config<Settings>) -> Vec<Tool> {
    drop((one, other));
    Vec::new()
}

fn main() {}

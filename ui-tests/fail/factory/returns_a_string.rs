// errors: 1
#[toolkit::tool_factory]
async fn tools() -> String {
    String::new()
}

fn main() {}

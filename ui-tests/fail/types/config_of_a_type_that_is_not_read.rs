// errors: 1
use toolkit::prelude::*;
use toolkit::Config;

struct Settings;

/// Greets.
#[tool]
async fn greet(config: Config<Settings>) {
    drop(config);
}

fn main() {}

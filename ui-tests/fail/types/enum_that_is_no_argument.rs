// errors: 1
use toolkit::prelude::*;

enum Mode {
    Fast,
    Safe,
}

/// Runs.
#[tool]
async fn run(mode: Mode) -> &'static str {
    match mode {
        Mode::Fast => "fast",
        Mode::Safe => "safe",
    }
}

fn main() {}

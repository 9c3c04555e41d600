// errors: 5
use toolkit::prelude::*;
/// Reads a file.
#[tool]
async fn read1(value: Option<&ToolContext>) {
    let _ = value;
}

/// Reads a file.
#[tool]
async fn read2(value: std::sync::Arc<ToolContext>) {
    let _ = value;
}

/// Reads a file.
#[tool]
async fn read3(value: Option<ToolContext>) {
    let _ = value;
}

/// Reads a file.
#[tool]
async fn read4(value: &&ToolContext) {
    let _ = value;
}

/// Reads a file.
#[tool]
async fn read5(value: State<ToolContext>) {
    let _ = value;
}

fn main() {}

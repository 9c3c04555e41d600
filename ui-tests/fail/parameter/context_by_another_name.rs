// errors: 3
use toolkit::prelude::*;
use toolkit::ToolContext as Context;

type Ctx = toolkit::ToolContext;

/// Reads a file.
#[tool]
async fn read1(value: &Ctx) {
    let _ = value;
}

/// Reads a file.
#[tool]
async fn read2(value: &Context) {
    let _ = value;
}

/// Reads a file.
#[tool]
async fn read3(value: Ctx) {
    let _ = value;
}

fn main() {}

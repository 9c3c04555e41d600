// errors: 4
use toolkit::prelude::*;

struct CallToolResult;
struct ErrorData;
struct Parameters<T>(T);

#[toolkit::args]
struct Sum {
    /// A number.
    a: i32,
}

/// Adds.
#[tool(read_only)]
fn add1(Parameters(sum): Parameters<Sum>) -> String {
    sum.a.to_string()
}

/// Adds.
#[tool(read_only)]
fn add2(
    /// The numbers.
    sum: Parameters<Sum>,
) -> String {
    sum.0.a.to_string()
}

/// Adds.
#[tool(read_only)]
fn add3() -> CallToolResult {
    CallToolResult
}

/// Adds.
#[tool(read_only)]
async fn add4() -> Result<CallToolResult, ErrorData> {
    Ok(CallToolResult)
}

fn main() {}

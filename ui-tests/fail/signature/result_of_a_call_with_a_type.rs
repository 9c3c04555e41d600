// errors: 2
use toolkit::prelude::*;

/// Halves a number.
#[tool(read_only)]
async fn halve(number: u32) -> ToolResult<u32> {
    if number % 2 == 1 {
        return Err(ToolError::failed("`number` is odd; send an even one"));
    }
    Ok(number / 2)
}

/// Doubles a number.
#[tool(read_only)]
fn double(number: u32) -> toolkit::ToolResult<Vec<u32>, std::num::ParseIntError> {
    Ok(vec![number * 2])
}

fn main() {}

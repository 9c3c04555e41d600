// errors: 3
use toolkit::prelude::*;

/// Returns the port of a town.
#[tool(read_only)]
fn port(town: &str) -> Result<u16, ToolError> {
    match town {
        "Brest" => Ok(1),
        _ => Err(ToolError::new(format!("`{town}` has no port"))),
    }
}

/// Divides.
#[tool(read_only)]
fn divide(a: i64, b: i64) -> Result<i64, ToolError> {
    a.checked_div(b).ok_or_else(|| ToolError::new("`b` is 0"))
}

/// Fails.
#[tool(read_only)]
fn fail() -> Result<(), ToolError> {
    Err(ToolError::new("internal", "it failed"))
}

fn main() {}

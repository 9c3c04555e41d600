// errors: 4
use toolkit::prelude::*;

/// Divides two numbers.
#[tool(read_only)]
async fn divide(a: i64, b: i64) -> Result<i64, ToolError> {
    if b == 0 {
        return Err("`b` is 0".into());
    }
    Ok(a / b)
}

/// Returns the capital of a country.
#[tool(read_only)]
async fn capital(country: &str) -> Result<&'static str, ToolError> {
    match country {
        "France" => Ok("Paris"),
        other => Err(format!("`{other}` is not known")),
    }
}

/// Fails.
#[tool(read_only)]
fn fail_as_a_string() -> Result<(), ToolError> {
    Err("it failed".to_string())
}

/// Fails.
#[tool(read_only)]
fn fail(always: bool) -> Result<(), ToolError> {
    if always { Err("it failed") } else { Ok(()) }
}

fn main() {}

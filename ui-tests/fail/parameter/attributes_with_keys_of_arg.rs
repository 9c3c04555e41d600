// errors: 9
use toolkit::prelude::*;

/// Reads a file.
#[tool]
fn read(
    #[serde(default, rename = "first")] a: u32,
    #[serde(default = "five")] b: u32,
    #[schemars(range(min = 1, max = 5))] c: u32,
    #[schemars(regex(pattern = "^[a-z]+$"))] d: String,
    #[validate(length(min = 1))] e: String,
    #[schema(minimum = 1, maximum = 5)] f: u32,
    #[clap(long, default_value = "a")] g: String,
    #[serde(flatten)] h: u32,
    #[param(description = "A number.")] i: u32,
) -> String {
    format!("{a}{b}{c}{d}{e}{f}{g}{h}{i}")
}

fn main() {}

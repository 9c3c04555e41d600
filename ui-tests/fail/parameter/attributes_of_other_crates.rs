// errors: 6
use toolkit::prelude::*;
/// Reads a file.
#[tool]
fn read(
    #[description = "A path."] path: &str,
    #[schemars(description = "A number.")] first: u32,
    #[validate(range(min = 1))] second: u32,
    #[default = 5] third: u32,
    #[range(1..=5)] fourth: u32,
    #[optional] fifth: u32,
) {
    let _ = (path, first, second, third, fourth, fifth);
}

fn main() {}

// errors: 3
use toolkit::prelude::*;

/// Doubles a number.
#[tool(read_only)]
async fn double(number: String) -> String {
    let number: i64 = number.trim().parse()?;
    (number * 2).to_string()
}

/// Writes a file.
#[tool]
fn write(path: &Path, text: &str) {
    std::fs::write(path, text)?;
}

struct Store;

#[toolkit::tools]
impl Store {
    /// Lists names.
    #[tool(read_only)]
    async fn names(&self) -> Vec<String> {
        vec![std::fs::read_to_string("names")?]
    }
}

/// Adds numbers: these closures and blocks return results of their own.
#[tool(read_only)]
fn add(numbers: Vec<String>) -> String {
    let sum = || -> Result<i64, std::num::ParseIntError> { numbers.iter().map(|number| number.parse::<i64>()).sum() };
    let first = numbers.iter().map(|number| Some(number.parse::<i64>().ok()?.abs())).next();
    let block = || { Ok::<i64, std::num::ParseIntError>("1".parse::<i64>()?) };
    format!("{:?} {:?} {:?}", sum(), first, block())
}

fn main() {}

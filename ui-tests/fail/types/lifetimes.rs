// errors: 7
use toolkit::prelude::*;

/// Reads a file.
#[tool]
fn read1(lines: u32) -> &str {
    if lines > 5 { "many" } else { "few" }
}

/// Reads a file.
#[tool]
fn read2(lines: u32) -> Vec<&str> {
    if lines > 5 { vec!["many"] } else { Vec::new() }
}

/// Reads a file.
#[tool]
fn read3(lines: u32) -> &'a str {
    if lines > 5 { "many" } else { "few" }
}

/// Reads a file.
#[tool]
fn read4(path: &'a str) -> String {
    path.to_owned()
}

/// Reads a file.
#[tool]
async fn read5(path: Option<&'a str>) -> String {
    path.unwrap_or_default().to_owned()
}

macro_rules! reads {
    ($name:ident($taken:ty) -> $returned:ty) => {
        /// Reads a file.
        #[tool]
        fn $name(path: $taken) -> $returned {
            path.into()
        }
    };
}

reads!(read6(String) -> &str);
reads!(read7(&'a str) -> String);

fn main() {
    println!("{}", read1(5).len());
}

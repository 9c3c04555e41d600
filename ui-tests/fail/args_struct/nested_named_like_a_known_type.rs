// errors: 4
use toolkit::prelude::*;

struct Uuid;
struct Value;
struct Duration;
struct NaiveDate;

#[toolkit::args]
struct Arguments {
    id: Uuid,
    values: Vec<Value>,
    wait: Option<Duration>,
    day: Box<NaiveDate>,
}

/// Reads a file.
#[tool]
fn read(#[args] arguments: Arguments) -> String {
    drop(arguments);
    String::new()
}

fn main() {}

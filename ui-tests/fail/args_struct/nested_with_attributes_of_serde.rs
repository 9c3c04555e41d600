// errors: 4
use toolkit::prelude::*;

struct One;
struct Two;
struct Three;
struct Four;

#[toolkit::args]
#[serde(transparent)]
struct Transparent(One);

#[toolkit::args]
#[derive(serde::Deserialize)]
struct Derived {
    session: Two,
}

#[toolkit::args]
struct Arguments {
    #[serde(flatten)]
    flat: Three,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    session: Option<Four>,
    transparent: Transparent,
    derived: Derived,
}

/// Reads a file.
#[tool]
fn read(#[args] arguments: Arguments) -> String {
    drop(arguments);
    String::new()
}

fn main() {}

// errors: 1
use toolkit::prelude::*;
use toolkit::Config;

#[toolkit::args]
struct Settings {
    word: String,
}

/// Greets.
#[tool]
fn greet(one: Config<Settings>, other: &Config<Settings>) -> String {
    format!("{}{}", one.word, other.word)
}

fn main() {}

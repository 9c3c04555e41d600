// errors: 3
use toolkit::prelude::*;

#[toolkit::args]
enum Mode {
    Fast,
    Slow,
}

#[toolkit::args]
struct Pair(u8, u8);

#[toolkit::args]
struct Nothing;

/// Takes an enum.
#[tool]
fn mode(#[args] mode: Mode) -> String {
    drop(mode);
    String::new()
}

/// Takes two numbers.
#[tool]
fn pair(#[args] pair: Pair) -> String {
    drop(pair);
    String::new()
}

/// Takes nothing.
#[tool]
fn nothing(#[args] nothing: Nothing) -> String {
    drop(nothing);
    String::new()
}

fn main() {}

// errors: 1
use toolkit::prelude::*;

mod money {}

struct Money(u32);

#[toolkit::args]
struct Arguments {
    #[serde(with = "money")]
    price: Money,
}

/// Pays.
#[tool]
fn pay(#[args] arguments: Arguments) -> String {
    arguments.price.0.to_string()
}

fn main() {}

// errors: 1
use toolkit::prelude::*;

use toolkit::__private::serde;

struct Money(u32);

mod money {
    use super::{Money, serde};

    pub fn deserialize<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Money, D::Error> {
        serde::Deserialize::deserialize(from).map(Money)
    }

    pub fn serialize<S: serde::Serializer>(money: &Money, to: S) -> Result<S::Ok, S::Error> {
        serde::Serialize::serialize(&money.0, to)
    }
}

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

// errors: 2
use serde::Deserialize;
use toolkit::prelude::*;

#[derive(Deserialize)]
struct Payment {
    /// The sum in cents.
    #[arg(range(1..=100_000))]
    cents: u32,
}

/// Pays.
#[tool]
async fn pay(#[args] payment: Payment) -> u32 {
    payment.cents
}

fn main() {}

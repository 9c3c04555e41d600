// errors: 1
use toolkit::prelude::*;

/// Forecasts the weather.
#[tool]
fn forecast(city: String, _unit: String) -> String {
    city
}

fn main() {}

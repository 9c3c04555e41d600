//! Three functions that are tools.

use toolkit::prelude::*;

/// Tells how far it is from Vienna to a city, in kilometres.
#[tool(group = "travel", read_only)]
async fn distance(
    /** The city. */
    city: &str,
) -> Result<String, ToolError> {
    match city {
        "Graz" => Ok("200".to_owned()),
        "Linz" => Ok("185".to_owned()),
        _ => Err(ToolError::not_found(format!("there is no road to {city}; try Graz or Linz"))),
    }
}

/// Converts kilometres to miles.
#[tool(group = "travel", read_only)]
async fn miles(
    /** How many kilometres. */
    #[arg(range(0..))]
    kilometres: f64,
) -> String {
    format!("{:.1}", kilometres / 1.609_344)
}

/// Books a train. It is asked about first, so without anybody to ask it is denied.
#[tool(group = "travel")]
async fn book(
    /** Where to. */
    city: String,
) -> String {
    format!("booked a train to {city}")
}

// errors: 3
use toolkit::prelude::*;

/// Counts one visit.
#[tool(permission = "allow")]
fn count_visit() {}

/// Counts two visits.
#[tool(permission = "ask")]
fn count_two() {}

/// Counts three visits.
#[tool(permission = "deny")]
fn count_three() {}

fn main() {}

// errors: 2
use toolkit::prelude::*;
#[toolkit::args]
struct Query {
    text: String,
}

struct Parameters<T>(T);

/// Searches.
#[tool]
async fn search(Parameters(query): Parameters<Query>) -> String {
    query.text
}

/// Finds.
#[tool]
async fn find(Json(query): Json<Query>) -> String {
    query.text
}

fn main() {}

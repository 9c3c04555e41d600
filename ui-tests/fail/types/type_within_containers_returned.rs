// errors: 6
use std::collections::BTreeMap;
use toolkit::prelude::*;

struct Row;

/// Lists rows.
#[tool(read_only)]
async fn list() -> Option<Vec<Row>> {
    None
}

/// Lists rows.
#[tool(read_only)]
async fn json() -> Json<Row> {
    Json(Row)
}

/// Lists rows.
#[tool(read_only)]
async fn fallible() -> Result<Vec<Row>, String> {
    Ok(vec![])
}

/// Lists rows.
#[tool(read_only)]
async fn maybe() -> Result<Option<Row>, ToolError> {
    Ok(None)
}

/// Lists rows.
#[tool(read_only)]
async fn pairs() -> Json<Vec<(u32, Row)>> {
    Json(vec![])
}

/// Lists rows.
#[tool(read_only)]
async fn map() -> BTreeMap<String, Row> {
    BTreeMap::new()
}

fn main() {}

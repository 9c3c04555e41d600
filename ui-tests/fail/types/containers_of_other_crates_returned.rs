// errors: 2
use toolkit::prelude::*;

mod web {
    pub struct Json<T>(pub T);
}

#[toolkit::args]
struct Row {
    id: u32,
}

/// Returns a row.
#[tool(read_only)]
async fn row() -> web::Json<Row> {
    web::Json(Row { id: 1 })
}

/// Returns a row and a row by it.
#[tool(read_only)]
async fn by_row() -> std::collections::HashMap<Row, Row> {
    std::collections::HashMap::new()
}

fn main() {}

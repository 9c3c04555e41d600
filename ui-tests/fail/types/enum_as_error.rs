// errors: 1
use toolkit::prelude::*;

#[derive(Debug)]
enum Failure {
    NotThere,
}

/// Reads a file.
#[tool]
async fn read(path: String) -> Result<Json<Vec<String>>, Failure> {
    if path.is_empty() { Err(Failure::NotThere) } else { Ok(Json(vec![path])) }
}

fn main() {}

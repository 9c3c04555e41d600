// errors: 1
use toolkit::prelude::*;

#[tool]
async fn read(path: String) -> String {
    path
}

fn main() {
    drop(read(String::new()));
}

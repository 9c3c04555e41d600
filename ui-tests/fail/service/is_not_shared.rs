// errors: 1
use std::cell::Cell;

struct Store(Cell<u8>);

#[toolkit::service]
async fn store() -> Store {
    Store(Cell::new(1))
}

fn main() {}

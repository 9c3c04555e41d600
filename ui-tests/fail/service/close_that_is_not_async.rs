// errors: 1
use std::sync::Arc;

struct Db;

#[toolkit::service(close = disconnect)]
fn connect() -> Db {
    Db
}

fn disconnect(db: Arc<Db>) {
    drop(db);
}

fn main() {}

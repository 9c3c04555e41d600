// errors: 2
use toolkit::prelude::*;

use std::sync::Mutex;

static COUNT: Mutex<u32> = Mutex::new(0);

struct Db;

#[toolkit::service]
async fn open() -> Db {
    let count = COUNT.lock();
    std::future::ready(()).await;
    drop(count);
    Db
}

#[toolkit::tool_factory]
async fn tools() -> Vec<Tool> {
    let count = COUNT.lock();
    std::future::ready(()).await;
    drop(count);
    Vec::new()
}

fn main() {}

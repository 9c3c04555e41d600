// errors: 1
use toolkit::prelude::*;

struct Store;

#[toolkit::service]
async fn store(caller: &Caller) -> Store {
    let _ = caller;
    Store
}

fn main() {}

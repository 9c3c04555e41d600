// errors: 1
use toolkit::prelude::*;

#[toolkit::args]
struct Settings {
    name: String,
}

struct Store(String);

#[toolkit::service]
fn store(settings: Settings) -> Store {
    Store(settings.name)
}

/// Names the store.
#[tool(read_only)]
fn name(store: State<Store>) -> String {
    store.0.0.clone()
}

fn main() {}

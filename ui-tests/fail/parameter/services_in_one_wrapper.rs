// errors: 2
use toolkit::prelude::*;

struct Db;
struct Cache;

/// Counts.
#[tool(read_only)]
fn count(services: State<Db, Cache>) -> u32 {
    drop(services);
    1
}

/// Counts.
#[tool(read_only)]
fn count_again(settings: &Config<Db, Cache>) -> u32 {
    let _ = settings;
    1
}

fn main() {}

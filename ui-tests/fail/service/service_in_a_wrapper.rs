// errors: 4
use toolkit::prelude::*;
use std::sync::Arc;
use toolkit::Config;

struct Db;

struct Store;

struct Cache;

#[toolkit::args]
struct Settings {
    #[arg(default)]
    limit: u32,
}

#[toolkit::service]
fn store(db: Option<State<Db>>) -> Store {
    let _ = db;
    Store
}

#[toolkit::service]
async fn cache(db: State<Arc<Db>>, settings: Config<&Settings>) -> Cache {
    let _ = (db, settings);
    Cache
}

#[toolkit::tool_factory]
fn tools(settings: Arc<Config<Settings>>) -> Vec<toolkit::Tool> {
    let _ = settings;
    Vec::new()
}

fn main() {}

// errors: 3
use toolkit::prelude::*;

struct Db;

impl Db {
    #[toolkit::service]
    async fn open() -> Db {
        Db
    }

    #[toolkit::tool_factory]
    fn tools() -> Vec<Tool> {
        Vec::new()
    }
}

trait Opens {
    #[toolkit::service]
    async fn opened() -> Db {
        Db
    }
}

fn main() {}

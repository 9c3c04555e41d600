// errors: 2
use toolkit::prelude::*;

trait Store: Send + Sync {}

struct Db;

#[toolkit::service]
fn database() -> Option<Db> {
    None
}

#[toolkit::service]
fn store() -> Result<Box<dyn Store>, ToolError> {
    Err(ToolError::failed("none"))
}

fn main() {}

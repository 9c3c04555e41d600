// errors: 4
use toolkit::prelude::*;

#[derive(Debug)]
enum Fault {
    Disk,
}

fn text() -> Result<(), ToolError> {
    Err("no disk")?
}

fn boxed(error: Box<dyn std::error::Error>) -> Result<(), ToolError> {
    Err(error)?
}

fn own() -> Result<(), ToolError> {
    Err(Fault::Disk)?
}

fn from_text() -> ToolError {
    ToolError::from("no disk")
}

fn main() {}

//! Names, descriptions, titles and permissions as constant expressions.
use toolkit::prelude::*;

const NAME: &str = "read_file";

mod texts {
    pub const DESCRIPTION: &str = "Reads a file.";
}

/// An associated constant names a tool as well.
trait Named {
    const NAME: &'static str;
}

struct Write;

impl Named for Write {
    const NAME: &'static str = "write_file";
}

#[tool(name = NAME, description = texts::DESCRIPTION, title = concat!("Read", " ", "files"), permission = NAME)]
fn read(path: String) -> String {
    path
}

/// Writes a file.
#[tool(name = <Write as Named>::NAME)]
fn write(path: String) -> String {
    path
}

/// Appends to a file.
#[tool(name = concat!("append", "_", "file"))]
fn append(path: String) -> String {
    path
}

fn main() {
    let tool = ui_tests::tool("read_file");
    assert_eq!(tool.description(), "Reads a file.");
    assert_eq!(tool.title(), "Read files");
    assert_eq!(tool.permission(), "read_file");
    assert_eq!(ui_tests::text("write_file", r#"{"path": "w"}"#), "w");
    assert_eq!(ui_tests::text("append_file", r#"{"path": "a"}"#), "a");
}

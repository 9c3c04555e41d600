//! A tool takes no name beside its own, so that its module may have it, and is found through re-exports.
use toolkit::prelude::*;
use toolkit::tool_ref;

mod read {
    use toolkit::prelude::*;

    /// Reads a file.
    #[tool(name = "read_file")]
    pub async fn read(path: String) -> String {
        path
    }
}

mod facade {
    pub use super::read;
    pub mod deeper {
        pub use super::super::read as renamed;
        pub use crate::read::*;
    }
}

pub use facade::deeper::renamed::read as read_again;
pub use read::read;

/// Writes a file.
#[tool]
fn write(path: String) -> String {
    path
}

#[allow(non_camel_case_types)]
pub struct write {
    pub path: String,
}

fn main() {
    for tool in [
        tool_ref!(read),
        tool_ref!(read_again),
        tool_ref!(self::read::read),
        tool_ref!(crate::facade::deeper::read),
        tool_ref!(facade::read::read),
    ] {
        assert_eq!(tool.name(), "read_file");
    }
    assert_eq!(tool_ref!(write).name(), "write");
    drop(read(write { path: String::new() }.path));
    let toolkit = Toolkit::empty()
        .without_asking_first()
        .tool(tool_ref!(read_again).named("one"))
        .tool(tool_ref!(read).named("two"))
        .build()
        .unwrap();
    assert_eq!(toolkit.tools().len(), 2);
    assert_eq!(ui_tests::call_in(&toolkit, "two", r#"{"path": "x"}"#).text(), "x");
}

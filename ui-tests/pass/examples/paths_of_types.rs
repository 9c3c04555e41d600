//! Types by other paths than the prelude's.
use std::{option, path, string};

/// Takes types by their paths.
#[toolkit::tool]
async fn paths(
    ctx: &toolkit::ToolContext,
    store: toolkit::State<std::vec::Vec<u8>>,
    one: std::option::Option<string::String>,
    two: ::std::option::Option<&path::Path>,
    three: ::core::option::Option<&std::path::Path>,
    four: &std::primitive::str,
    five: &[std::string::String],
    six: path::PathBuf,
) -> std::result::Result<std::string::String, toolkit::ToolError> {
    let _: option::Option<&str> = one.as_deref();
    Ok(format!("{}{:?}{one:?}{two:?}{three:?}{four}{five:?}{six:?}", ctx.tool_name(), *store))
}

fn main() {
    let toolkit = toolkit::Toolkit::builder().without_asking_first().service(vec![1_u8]).build().unwrap();
    let result = ui_tests::call_in(&toolkit, "paths", r#"{"four": "4", "five": [], "six": "6", "two": "2"}"#);
    assert_eq!(result.text(), r#"paths[1]NoneSome("2")None4[]"6""#);
}

//! `#[args]` takes all arguments as one struct, by value and beside context and services.
use toolkit::prelude::*;

/// Where to read.
#[toolkit::args]
struct ReadArguments {
    /// The path.
    #[arg(rename = "file-path", alias = "path", length(1..))]
    file_path: PathBuf,
    /// The first line.
    #[arg(default = 1, range(1..))]
    offset: usize,
    limit: Option<u32>,
}

/// Reads a file.
#[tool]
async fn read(
    ctx: &ToolContext,
    #[args] ReadArguments { file_path, offset, limit }: ReadArguments,
) -> String {
    format!("{}{offset}{limit:?}{}", file_path.display(), ctx.tool_name())
}

/// Reads another file.
#[tool]
fn read_other(#[args] mut args: ReadArguments, suffix: State<String>) -> String {
    args.file_path.push(&*suffix);
    args.file_path.display().to_string()
}

fn main() {
    let toolkit = Toolkit::builder().without_asking_first().service("end".to_owned()).build().unwrap();
    let call = |name, arguments| ui_tests::call_in(&toolkit, name, arguments);
    assert_eq!(call("read", r#"{"path": "x"}"#).text(), "x1Noneread");
    assert_eq!(call("read_other", r#"{"file-path": "x"}"#).text(), "x/end");
    assert!(call("read", r#"{"path": ""}"#).is_error());
    assert!(call("read", r#"{"path": "x", "offset": 0}"#).is_error());
    assert!(call("read", r#"{"path": "x", "other": 0}"#).is_error());
    let schema = toolkit.tool("read").unwrap().input_schema().unwrap().to_string();
    assert!(schema.contains(r#""description":"The path.""#), "{schema}");
    assert!(schema.contains(r#""required":["file-path"]"#), "{schema}");
}

//! Every key of `#[tool]`, and where each arrives.
use std::time::Duration;
use toolkit::prelude::*;
use toolkit::{
    arguments::InvalidArguments,
    descriptor::Preparation,
    output::{Keep, Truncate},
};

fn worded(problems: &InvalidArguments) -> String {
    format!("{} problems", problems.problems.len())
}

async fn narrowed(caller: &Caller, tool: &mut Preparation) -> Result<(), std::num::ParseIntError> {
    let depth: u32 = caller.agent.as_deref().unwrap_or("0").parse()?;
    tool.describe(format!("Reads a file, {depth} deep."));
    Ok(())
}

/// Reads a file.
#[tool(
    name = "read_file",
    group = ["fs", "text"],
    title = "Read a file",
    read_only,
    destructive = false,
    idempotent = true,
    open_world = false,
    optional,
    enabled,
    auto_execute,
    asks,
    channel = "telegram",
    prepare = narrowed,
    icon = "file",
    deprecated = "use `cat`",
    permission = "read",
    timeout = "1500ms",
    concurrency = 4,
    truncate(max_lines = 10, max_bytes = 1_000, keep = "ends"),
    alias = ["cat", "type_file"],
    format_error = worded,
    crate = ::toolkit
)]
async fn read(ctx: &ToolContext, path: String) -> String {
    assert!(!ctx.is_cancelled());
    path
}

async fn quiet(_: &Caller, _: &mut Preparation) {}

#[tool(description = "Deletes a file.", destructive, open_world, enabled = false, truncate = "off", alias = "rm", group = "fs", prepare = self::quiet, asks = false)]
fn delete(path: String) {
    drop(path);
}

fn main() {
    let tool = ui_tests::tool("read_file");
    let def = tool.def().unwrap();
    assert_eq!(def.description, "Reads a file.");
    assert_eq!(def.groups, ["fs", "text"]);
    assert_eq!(def.title, Some("Read a file"));
    assert!(def.read_only && def.idempotent && def.optional && def.enabled && def.auto_execute);
    assert!(def.asks && def.prepare.is_some());
    assert_eq!(def.channel, Some("telegram"));
    assert_eq!((def.destructive, def.open_world), (Some(false), Some(false)));
    assert_eq!((def.icon, def.deprecated), (Some("file"), Some("use `cat`")));
    assert_eq!(def.permission, Some("read"));
    assert_eq!(def.timeout, Some(Duration::from_millis(1500)));
    assert_eq!(def.concurrency, Some(4));
    assert_eq!(
        def.truncate,
        Some(Truncate::Limits { max_lines: Some(10), max_bytes: Some(1000), keep: Keep::Ends })
    );
    assert_eq!(def.aliases, ["cat", "type_file"]);
    assert_eq!(ui_tests::text("cat", r#"{"path": "x"}"#), "x");
    assert_eq!(ui_tests::call("read_file", "{}").text(), "1 problems");

    let def = toolkit::tool_ref!(delete).def().unwrap();
    assert_eq!(def.description, "Deletes a file.");
    assert!(!def.enabled && !def.read_only && !def.asks && def.channel.is_none());
    assert_eq!((def.destructive, def.open_world), (Some(true), Some(true)));
    assert_eq!(def.truncate, Some(Truncate::Off));
    assert_eq!((def.aliases, def.groups), (&["rm"][..], &["fs"][..]));
    delete(String::new());
}

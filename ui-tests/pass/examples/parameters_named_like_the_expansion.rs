//! Parameters that are called like what stands around them, and keywords.
use toolkit::prelude::*;

/// Takes what it is given.
#[tool]
async fn given(
    ctx: String,
    args: &str,
    self_: u8,
    r#type: u8,
    r#async: Option<u8>,
    context: u8,
    arguments: u8,
    value_0: u8,
    #[arg(rename = "__toolkit")] __toolkit: u8,
    given: u8,
    value: u8,
    tool: u8,
    toolkit: u8,
    state: u8,
    #[arg(rename = "_unused")] _unused: u8,
    real: &ToolContext,
) -> String {
    let numbers = [self_, r#type, context, arguments, value_0, __toolkit, given, value, tool, toolkit, state];
    format!("{ctx}{args}{:?}{numbers:?}{}", r#async, real.tool_name())
}

fn main() {
    let answer = ui_tests::text(
        "given",
        r#"{"ctx": "c", "args": "a", "self_": 1, "type": 2, "async": 3, "context": 4, "arguments": 5, "value_0": 6,
            "__toolkit": 7, "given": 8, "value": 9, "tool": 10, "toolkit": 11, "state": 12, "_unused": 13}"#,
    );
    assert_eq!(answer, "caSome(3)[1, 2, 4, 5, 6, 7, 8, 9, 10, 11, 12]given");
}

//! Malformed calls as models send them: what each gets, or the text that it is refused with.

#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

mod tools;

use serde_json::Value;
use std::fmt::Write as _;
use toolkit::prelude::*;

#[tokio::test]
async fn dump() {
    let toolkit =
        tools::all().into_iter().fold(Toolkit::empty(), |kit, tool| kit.tool(tool)).build().unwrap();
    let toolbox = toolkit.toolbox(&Caller::new()).await;
    let text = std::fs::read_to_string("/tmp/wt/arg-cases.json").unwrap();
    let cases: Vec<(String, String, String)> = serde_json::from_str(&text).unwrap();
    let mut out = Vec::new();
    for (topic, tool, given) in cases {
        let result = toolbox.call(ToolCall::new("1", &tool, given.as_str())).await;
        let repairs = result.output().and_then(|o| o.metadata.get("repairs").cloned()).unwrap_or_default();
        out.push(serde_json::json!([topic, tool, given, result.is_error(), result.text(), repairs]));
    }
    std::fs::write("/tmp/wt/arg-out.json", serde_json::to_string_pretty(&out).unwrap()).unwrap();
}

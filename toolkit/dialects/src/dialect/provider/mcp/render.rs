//! The Model Context Protocol: for each call a result of `tools/call`, without the envelope, which the connection
//! adds.

use crate::dialect::Definitions;
use crate::dialect::render::{Said, object};
use serde_json::{Value, json};
use toolkit_core::call::ToolResult;

pub(super) fn results(definitions: &Definitions, results: &[ToolResult]) -> Vec<Value> {
    results
        .iter()
        .map(|result| {
            let content = serde_json::to_value(result.content()).expect("content blocks are JSON");
            let mut answer = object([("content", content)]);
            let is_structured = definitions.tool(&result.name).is_some_and(|tool| tool.is_structured);
            if let Some(details) =
                result.output().and_then(|output| output.details.clone()).filter(|_| is_structured)
            {
                answer.insert("structuredContent".into(), details);
            }
            answer.insert("isError".into(), result.is_error().into());
            answer.into()
        })
        .collect()
}

pub(super) fn calls(calls: Vec<Said<'_>>) -> Vec<Value> {
    calls
        .into_iter()
        .map(|call| {
            let params = json!({"name": call.name, "arguments": call.object()});
            json!({"jsonrpc": "2.0", "id": call.id, "method": "tools/call", "params": params})
        })
        .collect()
}

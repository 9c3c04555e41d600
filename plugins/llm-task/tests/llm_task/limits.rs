//! Tasks that are refused before anything is sent.

use super::bench::{Bench, completion, endpoint};
use serde_json::json;
use toolkit::ToolErrorKind;

#[tokio::test]
async fn what_cannot_be_a_task_is_never_sent() {
    let server = endpoint(vec![completion("{}", "stop")]).await;
    let bench = Bench::ready(server.url());
    for (arguments, expected) in [
        (json!({ "prompt": "" }), "/prompt"),
        (json!({ "prompt": "x".repeat(100_001) }), "/prompt"),
        (json!({ "prompt": "x", "schema": "string" }), "/schema"),
        (json!({ "prompt": "x", "schema": { "type": "nonsense" } }), "not a JSON Schema"),
        (json!({ "prompt": "x", "schema": { "$ref": "#" } }), "leads to itself"),
        (json!({ "prompt": "x", "schema": { "$ref": "http://127.0.0.1:1/schema" } }), "leads out"),
        (json!({ "prompt": "x", "input": "y".repeat(600_000) }), "too long"),
        (json!({ "prompt": "x", "model": "other" }), "/model"),
    ] {
        let error = bench.error(arguments).await;
        assert_eq!(error.kind(), ToolErrorKind::InvalidArguments, "{expected}: {error}");
        assert!(error.message().contains(expected), "{expected}: {error}");
    }
    assert!(server.requests().is_empty());
}

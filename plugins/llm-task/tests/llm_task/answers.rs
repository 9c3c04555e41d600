//! Tasks, and their answers.

use super::bench::{Bench, completion, endpoint, schema, task};
use serde_json::{Value, json};
use toolkit::ToolErrorKind;

#[tokio::test]
async fn a_task_is_answered_by_its_schema() {
    let server = endpoint(vec![completion("{\"mood\": \"good\"}", "stop")]).await;
    let result = Bench::ready(server.url()).call(task()).await;
    assert_eq!(serde_json::from_str::<Value>(&result.text()).unwrap(), json!({ "mood": "good" }));
    let output = result.outcome.unwrap();
    assert_eq!(output.details, Some(json!({ "mood": "good" })));
    assert_eq!(output.metadata["model"], "small-1");
    assert_eq!(output.metadata["usage"], json!({ "requests": 1, "promptTokens": 10, "completionTokens": 3 }));
    let body = server.requests()[0].json();
    assert_eq!(body["response_format"]["json_schema"]["schema"], schema());
    assert_eq!(body["max_completion_tokens"], 4_096);
    let messages = body["messages"].to_string();
    for part in ["Which mood?", "I am happy", "additionalProperties"] {
        assert!(messages.contains(part), "{part}: {messages}");
    }
}

#[tokio::test]
async fn endpoints_differ() {
    for (settings, with_schema, expected) in [
        (&[][..], false, json!({ "type": "json_object" })),
        (&["plugins.llm-task.responseFormat=json_object"], true, json!({ "type": "json_object" })),
        (&["plugins.llm-task.responseFormat=none"], true, Value::Null),
    ] {
        let server = endpoint(vec![completion("```json\n{\"mood\": \"bad\"}\n```", "stop")]).await;
        let bench = Bench::with(server.url(), &[&["permission.llm_task=allow"], settings].concat());
        let arguments = if with_schema { task() } else { json!({ "prompt": "x" }) };
        let output = bench.call(arguments).await.outcome.unwrap();
        assert_eq!(output.details, Some(json!({ "mood": "bad" })), "{settings:?}");
        assert_eq!(server.requests()[0].json()["response_format"], expected, "{settings:?}");
    }
}

#[tokio::test]
async fn a_model_is_told_once_what_is_wrong() {
    for first in ["{\"mood\": \"so so\"}", "Good, I think.", "{\"mood\": \"good\", \"why\": 1}", "", "[1]"] {
        let server =
            endpoint(vec![completion(first, "stop"), completion("{\"mood\": \"good\"}", "stop")]).await;
        let output = Bench::ready(server.url()).call(task()).await.outcome.unwrap();
        assert_eq!(output.details, Some(json!({ "mood": "good" })), "{first}");
        assert_eq!(
            output.metadata["usage"],
            json!({ "requests": 2, "promptTokens": 20, "completionTokens": 6 })
        );
        let messages = server.requests()[1].json()["messages"].clone();
        assert_eq!(messages.as_array().unwrap().len(), 4);
        assert_eq!(messages[2], json!({ "role": "assistant", "content": first }));
        assert!(messages[3]["content"].as_str().unwrap().contains("does not fit:\n- "), "{messages}");
    }
    let server = endpoint(vec![completion("{\"mood\": \"so so\"}", "stop")]).await;
    let error = Bench::ready(server.url()).error(task()).await;
    assert_eq!(error.kind(), ToolErrorKind::Failed, "{error}");
    assert!(error.message().contains("answered 2 times") && error.message().contains("/mood"), "{error}");
    assert_eq!(error.metadata("usage").unwrap()["requests"], 2);
    assert_eq!(server.requests().len(), 2);
}

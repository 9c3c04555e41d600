//! The meter of the host: what requests to the endpoint are counted with.

use super::bench::{Bench, KEY, completion, endpoint, failed, task};
use std::sync::{Arc, Mutex};
use toolkit::approval::Answer as Reply;
use toolkit::metering::{Beginning, EndpointMeter, EndpointUsage, OpenEndpointRequest};
use toolkit::prelude::*;
use toolkit::{ToolErrorKind, Toolkit};
use toolkit_loopback::Answer;

/// Records what is reserved, and what each request ended with: `None` if it is not charged. A request that is dropped ends as reserved.
#[derive(Clone, Default)]
struct Recorder {
    reserved: Arc<Mutex<Vec<EndpointUsage>>>,
    ended: Arc<Mutex<Vec<Option<EndpointUsage>>>>,
    most: Option<usize>,
}

struct Open(Recorder, Option<EndpointUsage>);

impl EndpointMeter for Recorder {
    fn begin<'a>(&'a self, caller: &'a Caller, request: &'a EndpointUsage) -> Beginning<'a> {
        assert_eq!(caller.agent.as_deref(), Some("main"));
        Box::pin(async move {
            let mut reserved = self.reserved.lock().unwrap();
            if self.most.is_some_and(|most| reserved.len() >= most) {
                return Err(ToolError::new(ToolErrorKind::Denied, "the budget is used up"));
            }
            reserved.push(request.clone());
            Ok(Box::new(Open(self.clone(), Some(request.clone()))) as Box<dyn OpenEndpointRequest>)
        })
    }
}

impl OpenEndpointRequest for Open {
    fn end(mut self: Box<Self>, used: Option<EndpointUsage>) {
        self.1 = None;
        self.0.ended.lock().unwrap().push(used);
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        if let Some(reserved) = self.1.take() {
            self.0.ended.lock().unwrap().push(Some(reserved));
        }
    }
}

async fn call(server: &str, meter: &Recorder) -> ToolResult {
    let (url, key) =
        (format!("plugins.llm-task.baseUrl={server}/v1"), format!("plugins.llm-task.apiKey={KEY}"));
    let settings = [
        &*url,
        &*key,
        "plugins.llm-task.model=small-1",
        "plugins.llm-task.price={\"input\": 2.0, \"output\": 10.0}",
        "tools.alsoAllow=[\"llm_task\"]",
        "permission.llm_task=allow",
    ];
    let builder = Toolkit::builder().shared_service::<dyn EndpointMeter>(Arc::new(meter.clone()));
    let bench = Bench::load(builder, &settings, Reply::deny());
    let toolbox = bench.toolkit.toolbox(&Caller::new().with_agent("main")).await;
    toolbox.call(ToolCall::new("1", "llm_task", task())).await
}

#[tokio::test]
async fn each_request_reserves_the_longest_answer_and_counts_what_is_reported() {
    let (invalid, valid) = (completion("{}", "stop"), completion("{\"mood\": \"good\"}", "stop"));
    let (server, meter) = (endpoint(vec![invalid, valid]).await, Recorder::default());
    assert!(!call(server.url(), &meter).await.is_error());
    let reserved = meter.reserved.lock().unwrap().clone();
    let bodies: Vec<u64> = server.requests().iter().map(|request| request.body.len() as u64).collect();
    assert_eq!(reserved.iter().map(|usage| usage.input_tokens).collect::<Vec<_>>(), bodies);
    for usage in &reserved {
        assert_eq!((usage.tool, &*usage.endpoint, usage.output_tokens), ("llm_task", "small-1", 4_096));
        assert!(usage.is_estimated && usage.cost.unwrap() > 0.04, "{usage:?}");
    }
    let ended = meter.ended.lock().unwrap().clone();
    assert_eq!(ended.len(), 2);
    for usage in ended.into_iter().flatten() {
        assert_eq!((usage.input_tokens, usage.output_tokens, usage.is_estimated), (10, 3, false));
        assert!((usage.cost.unwrap() - 0.000_05).abs() < 1e-12, "{usage:?}");
    }
}

#[tokio::test]
async fn a_refused_request_is_not_charged_and_one_with_an_unknown_end_counts_as_reserved() {
    let cases = [
        (failed(400, "no"), false),
        (failed(429, "later"), false),
        (failed(500, "no"), true),
        (failed(503, "later"), false),
        (Answer::json(200, &serde_json::json!("no completion")), true),
    ];
    for (answer, is_charged) in cases {
        let (server, meter) = (endpoint(vec![answer]).await, Recorder::default());
        assert!(call(server.url(), &meter).await.is_error());
        let (reserved, ended) = (meter.reserved.lock().unwrap(), meter.ended.lock().unwrap());
        let expected = if is_charged { reserved.first().cloned() } else { None };
        assert_eq!(*ended, [expected]);
    }
    let (server, meter) = (endpoint(vec![failed(500, "no")]).await, Recorder::default());
    let url = server.url().to_owned();
    drop(server);
    assert!(call(&url, &meter).await.is_error());
    assert_eq!(*meter.ended.lock().unwrap(), [None], "it was not reached");
}

#[tokio::test]
async fn usage_in_other_words_counts_and_usage_without_tokens_counts_as_reserved() {
    let answer = |usage: serde_json::Value| {
        let message = serde_json::json!({ "content": "{\"mood\": \"good\"}" });
        let choices = serde_json::json!([{ "message": message, "finish_reason": "stop" }]);
        Answer::json(200, &serde_json::json!({ "choices": choices, "usage": usage }))
    };
    let cases = [
        (serde_json::json!({ "input_tokens": 7, "output_tokens": 2 }), Some((7, 2))),
        (serde_json::json!({}), None),
        (serde_json::json!({ "total_tokens": 900 }), None),
        (serde_json::Value::Null, None),
    ];
    for (usage, expected) in cases {
        let (server, meter) = (endpoint(vec![answer(usage.clone())]).await, Recorder::default());
        assert!(!call(server.url(), &meter).await.is_error(), "{usage}");
        let (reserved, ended) = (meter.reserved.lock().unwrap(), meter.ended.lock().unwrap());
        let ended = ended[0].clone().unwrap();
        match expected {
            Some(tokens) => assert_eq!((ended.input_tokens, ended.output_tokens), tokens, "{usage}"),
            None => assert_eq!(ended, reserved[0], "{usage}"),
        }
    }
}

#[tokio::test]
async fn a_request_that_the_meter_refuses_is_not_sent() {
    let server = endpoint(vec![completion("{}", "stop")]).await;
    let meter = Recorder { most: Some(1), ..Recorder::default() };
    let result = call(server.url(), &meter).await;
    let error = result.error().unwrap();
    assert_eq!(error.kind(), ToolErrorKind::Denied);
    assert!(error.message().contains("the budget is used up"), "{error}");
    assert_eq!(server.requests().len(), 1, "the second request was refused");
}

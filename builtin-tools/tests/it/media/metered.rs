//! The meter of the host: what requests to endpoints are counted with.

use super::{KEY, documented, toolbox, wav};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use toolkit::metering::{Beginning, EndpointMeter, EndpointUsage, OpenEndpointRequest};
use toolkit::testing::TestToolbox;
use toolkit::{Caller, Tool, ToolError, ToolErrorKind, tool_ref};
use toolkit_loopback::{Answer, Loopback, Request};

/// Records what is reserved and what is counted; a request that is dropped counts as reserved.
#[derive(Default)]
struct Recorder {
    reserved: Mutex<Vec<EndpointUsage>>,
    used: Arc<Mutex<Vec<EndpointUsage>>>,
    refuses: bool,
}

struct Open {
    reserved: Option<EndpointUsage>,
    used: Arc<Mutex<Vec<EndpointUsage>>>,
}

impl EndpointMeter for Recorder {
    fn begin<'a>(&'a self, caller: &'a Caller, request: &'a EndpointUsage) -> Beginning<'a> {
        assert_eq!(caller.agent.as_deref(), Some("main"));
        Box::pin(async move {
            if self.refuses {
                return Err(ToolError::new(ToolErrorKind::Denied, "the budget is used up"));
            }
            self.reserved.lock().unwrap().push(request.clone());
            let open = Open { reserved: Some(request.clone()), used: Arc::clone(&self.used) };
            Ok(Box::new(open) as Box<dyn OpenEndpointRequest>)
        })
    }
}

impl OpenEndpointRequest for Open {
    fn end(mut self: Box<Self>, used: Option<EndpointUsage>) {
        self.reserved = None;
        self.used.lock().unwrap().extend(used);
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.used.lock().unwrap().extend(self.reserved.take());
    }
}

fn metered(
    tool: Tool,
    section: &str,
    server: &Loopback,
    price: &Value,
    meter: &Arc<Recorder>,
) -> TestToolbox {
    let mut provider = json!({ "baseUrl": format!("{}/v1", server.url()), "apiKey": KEY, "model": "m-1" });
    if !price.is_null() {
        provider["price"] = price.clone();
    }
    let toolbox = toolbox(tool, &json!({ section: { "providers": [provider] } }));
    toolbox
        .shared_service::<dyn EndpointMeter>(Arc::clone(meter) as _)
        .caller(|caller| caller.with_agent("main"))
}

/// Transcribes with a server that gives this answer, and returns what is counted.
async fn transcribed(answer: Answer, price: &Value) -> Vec<EndpointUsage> {
    let (server, meter) = (documented::serve(move |_: &Request| answer.clone()).await, Arc::default());
    let toolbox = metered(tool_ref!(builtin_tools::media::transcribe), "transcribe", &server, price, &meter);
    toolbox.file("a.wav", wav(1_978, 3)).call(json!({ "audio": "a.wav" })).await;
    assert_eq!(meter.reserved.lock().unwrap().len(), 1);
    meter.used.lock().unwrap().clone()
}

#[tokio::test]
async fn an_answer_is_counted_with_what_it_reports_and_else_as_an_estimate() {
    let price = json!({ "input": 2.0, "output": 4.0, "minute": 0.6 });
    let answer = |usage: Value| Answer::json(200, &json!({ "text": "Hi", "usage": usage }));
    let tokens = answer(json!({ "type": "tokens", "input_tokens": 1_000_000, "output_tokens": 500_000 }));
    let [used] = &*transcribed(tokens, &price).await else { panic!("one request") };
    assert_eq!((used.tool, used.input_tokens, used.output_tokens), ("transcribe", 1_000_000, 500_000));
    assert!(!used.is_estimated);
    let [used] = &*transcribed(answer(json!({ "type": "duration", "seconds": 90 })), &price).await else {
        panic!("one request")
    };
    assert_eq!((used.audio_seconds, used.is_estimated), (90.0, false));
    assert!((used.cost.unwrap() - 0.9).abs() < 1e-9, "{used:?}");
    // The endpoint is silent: 4,000 bytes are a second.
    let [used] = &*transcribed(answer(Value::Null), &Value::Null).await else { panic!("one request") };
    assert_eq!((used.audio_seconds, used.is_estimated, used.cost), (1.0, true, None));
}

#[tokio::test]
async fn a_refused_request_counts_nothing_and_a_broken_one_as_expected() {
    let error = |status| Answer::json(status, &json!({ "error": { "message": "no" } }));
    for status in [400, 401, 429, 503] {
        assert_eq!(transcribed(error(status), &Value::Null).await, [], "{status}");
    }
    assert_eq!(transcribed(error(500), &Value::Null).await.len(), 1);
}

#[tokio::test]
async fn characters_and_pictures_are_counted() {
    let meter = Arc::new(Recorder::default());
    let server = documented::serve(|_: &Request| {
        Answer::bytes(200, wav(100, 5)).with_header("content-type", "audio/wav")
    })
    .await;
    let price = json!({ "characters": 15.0, "image": 0.04 });
    let speaking = metered(tool_ref!(builtin_tools::media::tts), "tts", &server, &price, &meter);
    speaking.call(json!({ "text": "Grüße.", "save_as": "a.wav" })).await.expect_ok();
    // An answer without a picture is charged, too.
    let server = documented::serve(|_: &Request| Answer::json(200, &json!({ "data": [] }))).await;
    let drawing = metered(tool_ref!(builtin_tools::media::image), "image", &server, &price, &meter);
    drawing.call(json!({ "prompt": "a boat", "n": 2 })).await;
    let used = meter.used.lock().unwrap().clone();
    let counts: Vec<_> = used.iter().map(|used| (used.tool, used.characters, used.images)).collect();
    assert_eq!(counts, [("tts", 6, 0), ("image", 0, 2)]);
    assert!((used[0].cost.unwrap() - 0.000_09).abs() < 1e-9 && (used[1].cost.unwrap() - 0.08).abs() < 1e-9);
}

#[tokio::test]
async fn a_price_of_tokens_reserves_the_most_that_a_request_may_use() {
    let meter = Arc::new(Recorder::default());
    let server = documented::serve(|request: &Request| match &*request.path {
        "/v1/audio/speech" => Answer::bytes(200, wav(100, 5)).with_header("content-type", "audio/wav"),
        _ => {
            Answer::json(200, &json!({ "data": [], "usage": { "input_tokens": 9, "output_tokens": 1_056 } }))
        }
    })
    .await;
    let price = json!({ "input": 5.0, "output": 40.0 });
    let drawing = metered(tool_ref!(builtin_tools::media::image), "image", &server, &price, &meter);
    drawing.call(json!({ "prompt": "a boat", "n": 2 })).await;
    let speaking = metered(tool_ref!(builtin_tools::media::tts), "tts", &server, &price, &meter);
    speaking.call(json!({ "text": "Grüße.", "save_as": "a.wav" })).await.expect_ok();
    let tokens = |usages: &Mutex<Vec<EndpointUsage>>| -> Vec<_> {
        let usages = usages.lock().unwrap();
        usages.iter().map(|usage| (usage.input_tokens, usage.output_tokens, usage.is_estimated)).collect()
    };
    let (picture, speech) = ((6_246, 12_480, true), (8, 30, true));
    assert_eq!(tokens(&meter.reserved), [picture, speech]);
    // The endpoint of speech is silent.
    assert_eq!(tokens(&meter.used), [(9, 1_056, false), speech]);
    assert!(meter.reserved.lock().unwrap()[0].cost.unwrap() > 0.5);
}

#[tokio::test]
async fn a_request_that_the_meter_refuses_is_not_sent() {
    let meter = Arc::new(Recorder { refuses: true, ..Recorder::default() });
    let server = documented::serve(|_: &Request| Answer::json(200, &json!({ "data": [] }))).await;
    let drawing = metered(tool_ref!(builtin_tools::media::image), "image", &server, &Value::Null, &meter);
    let call = drawing.call(json!({ "prompt": "a boat" })).await;
    assert!(call.expect_error(ToolErrorKind::Denied).message().contains("the budget is used up"));
    assert_eq!(server.requests().len(), 0);
}

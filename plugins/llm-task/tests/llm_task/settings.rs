//! Configuration, permissions and the tools that exist.

use super::bench::{Bench, completion, endpoint, task};
use serde_json::json;
use toolkit::lint::Lint;
use toolkit::prelude::*;
use toolkit::{
    ToolErrorKind,
    approval::Answer as Reply,
    config::{Configuration, LoadOptions},
    descriptor::Source,
};
use toolkit_loopback::Loopback;

#[tokio::test]
async fn what_is_not_configured_is_said() {
    let there = ["tools.alsoAllow=[\"llm_task\"]", "permission.llm_task=allow"];
    for (settings, expected) in [
        (&[][..], "set `plugins.llm-task.model`"),
        (&["plugins.llm-task.model=x", "plugins.llm-task.apiKey=two words"], "is not a valid key"),
    ] {
        let error = Bench::new(&[&there, settings].concat(), Reply::deny()).error(task()).await;
        assert_eq!(error.kind(), ToolErrorKind::Unavailable, "{error}");
        assert!(error.message().contains(expected) && !error.message().contains("two words"), "{error}");
    }
    for wrong in
        ["model=", "baseUrl=x", "maxTokens=0", "timeoutSeconds=601", "responseFormat=xml", "temperature=1"]
    {
        assert!(
            Configuration::load(LoadOptions::new().set(format!("plugins.llm-task.{wrong}"))).is_err(),
            "{wrong}"
        );
    }
    // A server of one's own wants no key, and gets none.
    let server = Loopback::start(|_| completion("{}", "stop")).await;
    let url = format!("plugins.llm-task.baseUrl={}", server.url());
    let bench = Bench::new(&[&there[..], &[&url, "plugins.llm-task.model=x"]].concat(), Reply::deny());
    assert!(!bench.call(json!({ "prompt": "x" })).await.is_error());
    assert_eq!(server.requests()[0].header("authorization"), None);
}

#[tokio::test]
async fn it_is_optional_and_asked_for() {
    let names = async |settings: &[&str]| -> Vec<String> {
        let toolbox = Bench::new(settings, Reply::deny()).toolbox().await;
        toolbox.definitions().into_iter().map(|tool| tool.name).collect()
    };
    for gone in
        [&[][..], &["tools.allow=[\"*\"]"], &["tools.alsoAllow=[\"llm_task\"]", "tools.deny=[\"llm-task\"]"]]
    {
        assert!(names(gone).await.is_empty(), "{gone:?}");
    }
    for there in ["llm_task", "llm-task", "group:plugins"] {
        assert_eq!(names(&[&format!("tools.alsoAllow=[\"{there}\"]")]).await, ["llm_task"], "{there}");
    }
    let server = endpoint(vec![completion("{}", "stop")]).await;
    let bench = Bench::with(server.url(), &[]);
    let tool = bench.toolkit.tool("llm_task").unwrap();
    assert_eq!(*tool.source(), Source::plugin("llm-task"));
    for bench in [bench, Bench::with(server.url(), &["permission.llm_task=deny"])] {
        assert_eq!(bench.error(json!({ "prompt": "x" })).await.kind(), ToolErrorKind::Denied);
    }
    assert!(server.requests().is_empty());
}

/// A model stumbles over nothing in these tools.
#[test]
fn lint_finds_nothing() {
    let toolkit = Toolkit::builder().build().unwrap();
    assert!(!toolkit.tools().is_empty(), "{toolkit}");
    let findings = Lint::new().check(&toolkit.tools());
    assert!(findings.is_empty(), "{findings:#?}");
}

/// A model of the host that answers wrongly at first.
#[derive(Default)]
struct HostModel(std::sync::Mutex<Vec<Vec<String>>>);

impl toolkit_llm_task::TaskModel for HostModel {
    fn name(&self) -> &'static str {
        "host-1"
    }

    fn answer<'a>(
        &'a self,
        request: toolkit_llm_task::TaskRequest<'a>,
    ) -> toolkit_llm_task::TaskAnswering<'a> {
        assert!(request.system.contains("JSON") && request.schema.is_some());
        let messages: Vec<String> = request.messages.iter().map(ToString::to_string).collect();
        let text = if messages.len() == 1 { "no JSON" } else { "{\"n\": 3}" }.to_owned();
        self.0.lock().unwrap().push(messages);
        Box::pin(async move {
            let mut answer = toolkit_llm_task::TaskAnswer { text, ..Default::default() };
            (answer.prompt_tokens, answer.completion_tokens) = (10, 2);
            Ok(answer)
        })
    }
}

#[tokio::test]
async fn the_model_of_the_host_is_used_unless_one_is_configured() {
    use std::sync::Arc;
    let settings = ["tools.alsoAllow=[\"llm_task\"]", "permission.llm_task=allow"];
    let host = Arc::new(HostModel::default());
    let call = async |settings: &[&str]| {
        let load = settings.iter().fold(LoadOptions::new(), |load, setting| load.set(*setting));
        let toolkit = Toolkit::builder()
            .configuration(Configuration::load(load).unwrap())
            .shared_service::<dyn toolkit_llm_task::TaskModel>(Arc::clone(&host) as _)
            .build()
            .unwrap();
        let arguments = json!({"prompt": "count", "schema": {"type": "object", "required": ["n"]}});
        toolkit.toolbox(&Caller::new()).await.call(ToolCall::new("1", "llm_task", arguments)).await
    };
    let result = call(&settings).await;
    let output = result.output().expect("it is answered");
    assert_eq!(output.details, Some(json!({"n": 3})));
    assert_eq!(output.metadata["model"], "host-1");
    assert_eq!(output.metadata["usage"], json!({"requests": 2, "promptTokens": 20, "completionTokens": 4}));
    let asked = host.0.lock().unwrap().clone();
    assert_eq!((asked.len(), asked[1].len()), (2, 3));
    let server = Loopback::start(|_| completion("{\"n\": 4}", "stop")).await;
    let url = format!("plugins.llm-task.baseUrl={}", server.url());
    let result = call(&[&settings[..], &[&url, "plugins.llm-task.model=x"]].concat()).await;
    assert_eq!(result.output().expect("it is answered").details, Some(json!({"n": 4})));
    assert_eq!(host.0.lock().unwrap().len(), 2);
}

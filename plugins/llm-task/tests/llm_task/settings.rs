//! What is configured, allowed and there.

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
        (&["plugins.llm-task.model=x", "plugins.llm-task.apiKey=two words"], "is no key"),
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

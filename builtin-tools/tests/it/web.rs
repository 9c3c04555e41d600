//! The web tools, against servers on loopback.

#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

mod errors;
mod extraction;
mod fetch;
mod guard;
#[expect(unreachable_pub, reason = "the benchmark of extraction includes it as well")]
mod pages;
mod pdf;
mod search;

use serde_json::Value;
use toolkit::prelude::*;
use toolkit::{
    Builder,
    approval::{Answer as Reply, ScriptedApprover},
    config::{Configuration, LoadOptions},
};

/// Loopback, allowed.
const LOOPBACK: &str = "tools.web.network.allowedRanges=['127.0.0.0/8']";

/// A toolkit with these settings, in which everything that is asked is denied.
fn toolkit(settings: &[&str]) -> Toolkit {
    build(Toolkit::builder(), settings)
}

fn build(builder: Builder, settings: &[&str]) -> Toolkit {
    let options = settings.iter().fold(LoadOptions::new(), |options, setting| options.set(*setting));
    let configuration = Configuration::load(options).unwrap();
    builder.configuration(configuration).approver(ScriptedApprover::new([Reply::deny()])).build().unwrap()
}

async fn call(toolkit: &Toolkit, name: &str, arguments: Value) -> ToolResult {
    let toolbox = toolkit.toolbox(&Caller::new()).await;
    toolbox.call(ToolCall::new("1", name, arguments)).await
}

/// The text of a result that is none of an error.
async fn text(toolkit: &Toolkit, name: &str, arguments: Value) -> String {
    let result = call(toolkit, name, arguments).await;
    assert!(!result.is_error(), "{}", result.text());
    result.text()
}

async fn error(toolkit: &Toolkit, name: &str, arguments: Value) -> ToolError {
    call(toolkit, name, arguments).await.outcome.unwrap_err()
}

/// The content between the marks.
fn content(text: &str) -> &str {
    let (_, rest) = text.split_once("<untrusted-content-").expect("a mark");
    let (_, rest) = rest.split_once("\n\n").expect("an empty line after the explanation");
    rest.rsplit_once("\n</untrusted-content-").expect("a closing mark").0
}

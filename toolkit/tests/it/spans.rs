//! The tracing spans of a call.

#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

use serde_json::json;
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::{Arc, Mutex};
use toolkit::prelude::*;
use toolkit::tool_ref;
use tracing_subscriber::Layer;
use tracing_subscriber::layer::{Context, SubscriberExt as _};

type Fields = BTreeMap<String, String>;

/// Keeps the fields of every span.
#[derive(Clone, Default)]
struct Seen(Arc<Mutex<Vec<(u64, Fields)>>>);

struct Visit<'a>(&'a mut Fields);

impl tracing::field::Visit for Visit<'_> {
    fn record_debug(&mut self, field: &tracing::field::Field, value: &dyn Debug) {
        self.0.insert(field.name().to_owned(), format!("{value:?}").trim_matches('"').to_owned());
    }
}

impl<S: tracing::Subscriber> Layer<S> for Seen {
    fn on_new_span(&self, span: &tracing::span::Attributes<'_>, id: &tracing::Id, _: Context<'_, S>) {
        let mut fields = Fields::from([("span".to_owned(), span.metadata().name().to_owned())]);
        span.record(&mut Visit(&mut fields));
        self.0.lock().unwrap().push((id.into_u64(), fields));
    }

    fn on_record(&self, id: &tracing::Id, record: &tracing::span::Record<'_>, _: Context<'_, S>) {
        let mut spans = self.0.lock().unwrap();
        let (_, fields) = spans.iter_mut().rev().find(|(known, _)| *known == id.into_u64()).unwrap();
        record.record(&mut Visit(fields));
    }
}

/// Reads a secret.
#[tool(read_only)]
async fn reads(word: String) -> Result<String, ToolError> {
    tracing::info_span!("within").in_scope(|| ());
    if word == "fail" { Err(ToolError::not_found("nothing there")) } else { Ok(word) }
}

#[test]
fn a_call_is_a_span_by_the_conventions() {
    let seen = Seen::default();
    let subscriber = tracing_subscriber::registry().with(seen.clone());
    tracing::subscriber::with_default(subscriber, || {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let toolkit = Toolkit::empty().tool(tool_ref!(reads)).build().unwrap();
            let toolbox = toolkit.toolbox(&Caller::new().with_agent("ada").with_session("s1")).await;
            toolbox.call(ToolCall::new("c1", "reads", json!({"word": "hush"}))).await;
            toolbox.call(ToolCall::new("c2", "reads", json!({"word": "fail"}))).await;
        });
    });
    let spans = seen.0.lock().unwrap().clone();
    let names: Vec<&str> = spans.iter().map(|(_, fields)| fields["span"].as_str()).collect();
    assert_eq!(names, ["execute_tool", "within", "execute_tool", "within"]);
    let expected = [
        ("span", "execute_tool"),
        ("otel.name", "execute_tool reads"),
        ("otel.kind", "internal"),
        ("gen_ai.operation.name", "execute_tool"),
        ("gen_ai.tool.name", "reads"),
        ("gen_ai.tool.type", "function"),
        ("gen_ai.tool.call.id", "c1"),
        ("gen_ai.tool.description", "Reads a secret."),
        ("gen_ai.agent.name", "ada"),
        ("gen_ai.conversation.id", "s1"),
    ]
    .map(|(key, value)| (key.to_owned(), value.to_owned()));
    assert_eq!(spans[0].1, Fields::from(expected));
    assert_eq!(spans[2].1["error.type"], "not_found");
    assert_eq!(spans[2].1["otel.status_code"], "ERROR");
    assert!(!format!("{spans:?}").contains("hush"), "arguments are no business of logs");
}

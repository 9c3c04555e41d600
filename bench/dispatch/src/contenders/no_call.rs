//! No call at all: what it costs to drop the arguments, or to parse and drop them. No contender can be below.

use std::future::ready;

use serde_json::Value;

use crate::Contender;

pub(super) struct NoCall;

impl Contender for NoCall {
    type Parsed = Value;
    type Text = String;
    type Answer = Value;

    fn parsed(&self, arguments: Value) -> Value {
        arguments
    }

    fn text(&self, arguments: &str) -> String {
        arguments.to_owned()
    }

    fn call_parsed(&self, call: Value) -> impl Future<Output = Value> {
        ready(call)
    }

    fn call_text(&self, call: String) -> impl Future<Output = Value> {
        ready(serde_json::from_str(&call).expect("JSON"))
    }

    fn returned(_: Value) -> String {
        crate::ANSWER.to_owned()
    }
}

//! tools-rs: a function that linking registers, called with its call type. It declares no default: an `Option`
//! stands for it.

use ::tools_rs::{FunctionCall, FunctionResponse, ToolCollection, ToolError, collect_tools, tool};
use serde_json::Value;

use crate::Contender;

pub(super) struct ToolsRs(ToolCollection);

/// Repeats a text.
#[tool]
async fn repeat(text: String, count: Option<u32>, upper: Option<bool>) -> String {
    crate::repeat(text, count.unwrap_or(1), upper)
}

impl ToolsRs {
    pub(super) fn new() -> Self {
        Self(collect_tools())
    }
}

impl Contender for ToolsRs {
    type Parsed = FunctionCall;
    type Text = (FunctionCall, String);
    type Answer = Result<FunctionResponse, ToolError>;

    fn parsed(&self, arguments: Value) -> FunctionCall {
        FunctionCall::new("repeat".to_owned(), arguments)
    }

    fn text(&self, arguments: &str) -> (FunctionCall, String) {
        (FunctionCall::new("repeat".to_owned(), Value::Null), arguments.to_owned())
    }

    async fn call_parsed(&self, call: FunctionCall) -> Self::Answer {
        self.0.call(call).await
    }

    async fn call_text(&self, (mut call, text): (FunctionCall, String)) -> Self::Answer {
        call.arguments = serde_json::from_str(&text).expect("JSON");
        self.0.call(call).await
    }

    fn returned(answer: Self::Answer) -> String {
        answer.expect("an answer").result.as_str().expect("a string").to_owned()
    }
}

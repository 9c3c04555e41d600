//! No framework: an async function boxed into a map by name, and a serde struct that its arguments come from.

use std::collections::HashMap;
use std::pin::Pin;

use serde::Deserialize;
use serde_json::Value;

use crate::Contender;

type Output = Pin<Box<dyn Future<Output = Result<String, serde_json::Error>> + Send>>;

pub(super) struct HandWritten(HashMap<String, Box<dyn Fn(Value) -> Output + Send + Sync>>);

#[derive(Deserialize)]
struct Repeat {
    text: String,
    #[serde(default = "once")]
    count: u32,
    upper: Option<bool>,
}

fn once() -> u32 {
    1
}

async fn repeat(Repeat { text, count, upper }: Repeat) -> String {
    crate::repeat(text, count, upper)
}

impl HandWritten {
    pub(super) fn new() -> Self {
        let mut tools: HashMap<String, Box<dyn Fn(Value) -> Output + Send + Sync>> = HashMap::new();
        tools.insert(
            "repeat".to_owned(),
            Box::new(|arguments| {
                Box::pin(async move { Ok(repeat(serde_json::from_value(arguments)?).await) })
            }),
        );
        Self(tools)
    }

    async fn call(&self, name: &str, arguments: Value) -> Result<String, serde_json::Error> {
        let tool = self.0.get(name).expect("the tool is there");
        tool(arguments).await
    }
}

impl Contender for HandWritten {
    type Parsed = Value;
    type Text = String;
    type Answer = Result<String, serde_json::Error>;

    fn parsed(&self, arguments: Value) -> Value {
        arguments
    }

    fn text(&self, arguments: &str) -> String {
        arguments.to_owned()
    }

    async fn call_parsed(&self, call: Value) -> Self::Answer {
        self.call("repeat", call).await
    }

    async fn call_text(&self, call: String) -> Self::Answer {
        self.call("repeat", serde_json::from_str(&call)?).await
    }

    fn returned(answer: Self::Answer) -> String {
        answer.expect("an answer")
    }
}

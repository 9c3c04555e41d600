//! A conversation by genai with a toolbox of three functions, for any server that speaks OpenAI's chat completions:
//!
//! ```sh
//! export OPENAI_BASE_URL=http://127.0.0.1:8080/v1 OPENAI_API_KEY=none
//! cargo run --manifest-path adapters/Cargo.toml --bin genai-chat -- MODEL QUESTION
//! ```
//!
//! A server behind `https` needs TLS: add `--features genai/rustls-tls`. `genai-stream` does the same with streamed answers.

mod travel;
mod with_genai;

use genai::chat::ChatRequest;
use toolkit::{CallOptions, Caller, Toolkit};

/// How often the model may call tools.
const MAX_TURNS: usize = 10;

#[tokio::main(flavor = "current_thread")]
#[expect(clippy::print_stdout, reason = "the answer is what it is for")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [model, question] = words.as_slice() else { return Err("usage: genai-chat MODEL QUESTION".into()) };
    let toolbox = Toolkit::builder().build()?.toolbox(&Caller::new()).await;
    let client = with_genai::client()?;
    let mut request = ChatRequest::from_user(question).with_tools(with_genai::tools(&toolbox));
    for _ in 0..MAX_TURNS {
        let answer = client.exec_chat(model, request.clone(), None).await?;
        let calls = with_genai::calls(answer.tool_calls());
        if calls.is_empty() {
            println!("{}", answer.first_text().unwrap_or_default());
            return Ok(());
        }
        let results = toolbox.call_all(calls, CallOptions::new()).await;
        request = request
            .append_messages(answer.into_assistant_message_for_tool_use())
            .append_message(with_genai::responses(results));
    }
    Err(format!("the model was not done after {MAX_TURNS} turns").into())
}

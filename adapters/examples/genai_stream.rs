//! `genai-chat` with the answers in pieces: text is shown as it comes, and calls begin when all of their pieces are there.

mod travel;
mod with_genai;

use futures_util::StreamExt as _;
use genai::chat::{ChatMessage, ChatOptions, ChatRequest, ChatStreamEvent};
use std::io::Write as _;
use toolkit::{CallOptions, Caller, Toolkit};

/// How often the model may call tools.
const MAX_TURNS: usize = 10;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [model, question] = words.as_slice() else { return Err("usage: genai-stream MODEL QUESTION".into()) };
    let toolbox = Toolkit::builder().build()?.toolbox(&Caller::new()).await;
    let client = with_genai::client()?;
    let options = ChatOptions::default().with_capture_content(true).with_capture_tool_calls(true);
    let mut request = ChatRequest::from_user(question).with_tools(with_genai::tools(&toolbox));
    for _ in 0..MAX_TURNS {
        let mut answer = client.exec_chat_stream(model, request.clone(), Some(&options)).await?;
        let mut said = None;
        while let Some(event) = answer.stream.next().await {
            match event? {
                ChatStreamEvent::Chunk(piece) => write!(std::io::stdout(), "{}", piece.content)?,
                ChatStreamEvent::End(end) => said = end.captured_content,
                _ => {}
            }
        }
        let said = said.ok_or("the stream ended before the answer did")?;
        let calls = with_genai::calls(said.tool_calls());
        if calls.is_empty() {
            return Ok(writeln!(std::io::stdout())?);
        }
        let results = toolbox.call_all(calls, CallOptions::new()).await;
        request = request
            .append_message(ChatMessage::assistant(said))
            .append_message(with_genai::responses(results));
    }
    Err(format!("the model was not done after {MAX_TURNS} turns").into())
}

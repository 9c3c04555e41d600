//! A rig agent with a toolbox of three functions, for any server that speaks OpenAI's chat completions:
//!
//! ```sh
//! export OPENAI_BASE_URL=http://127.0.0.1:8080/v1 OPENAI_API_KEY=none
//! cargo run --manifest-path adapters/Cargo.toml --bin rig-agent -- MODEL QUESTION
//! ```
//!
//! A server behind `https` needs TLS: add `--features rig-reqwest/rustls`.

mod travel;

use rig_agent::AgentBuilder;
use rig_core::providers::openai::OpenAIConfig;
use rig_reqwest::ReqwestClient;
use toolkit::{Caller, Toolkit};
use toolkit_rig::WithToolbox as _;

#[tokio::main(flavor = "current_thread")]
#[expect(clippy::print_stdout, reason = "the answer is what it is for")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [model, question] = words.as_slice() else { return Err("usage: rig-agent MODEL QUESTION".into()) };
    let toolbox = Toolkit::builder().build()?.toolbox(&Caller::new()).await;
    let models = OpenAIConfig::from_env()?.connect(ReqwestClient::default());
    let agent = AgentBuilder::new(models.chat(model)).default_max_turns(10).toolbox(&toolbox).build();
    let answer = agent.prompt(question.as_str()).tool_concurrency(4).await?;
    println!("{}", answer.output());
    Ok(())
}

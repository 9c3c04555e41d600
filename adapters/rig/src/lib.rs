//! A toolbox in an agent of [rig](https://docs.rs/rig), and tools of rig in a toolkit. It is made for rig 0.44.
//!
//! ```no_run
//! use rig_agent::AgentBuilder;
//! use rig_core::providers::openai::OpenAIConfig;
//! use toolkit::prelude::*;
//! use toolkit_rig::WithToolbox as _;
//!
//! /// Adds two numbers.
//! #[tool(group = "math", read_only)]
//! async fn add(/** One. */ a: i64, /** Other. */ b: i64) -> String {
//!     (a + b).to_string()
//! }
//!
//! #[tokio::main(flavor = "current_thread")]
//! async fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let toolbox = Toolkit::builder().build()?.toolbox(&Caller::new()).await;
//!     let model = OpenAIConfig::from_env()?.connect(rig_reqwest::ReqwestClient::default());
//!     let agent = AgentBuilder::new(model.chat("gpt-5.2")).default_max_turns(10).toolbox(&toolbox).build();
//!     println!("{}", agent.prompt("What is 2 and 3?").await?);
//!     Ok(())
//! }
//! ```
//!
//! # A toolbox in an agent
//!
//! Every call takes the way of all calls, through [`Toolbox::call_with`](toolkit::Toolbox::call_with): the schema that the model saw decides,
//! permissions are asked for, outputs are cut. What fails never ends the agent's run: the model gets the error's text as the result of
//! its call, and can act on it. So it does where the model calls a tool that is not there, for which rig alone would end the run. When the
//! run is dropped, the call is, and history has it as interrupted.
//!
//! [`WithToolbox`] does it all for an agent with one toolbox. [`tools`] gives the tools alone, for a registry of your own.
//!
//! Rig parses the text of arguments before a tool sees them: of a key that stands twice the last counts there, where a toolbox that gets the
//! text refuses it. It runs one tool at a time unless its `tool_concurrency` says more; the session's gate keeps the order of those that
//! change something either way.
//!
//! # A tool of rig in a toolkit
//!
//! ```
//! use rig_agent::tool::RegisteredTool;
//! use rig_core::tool::PortableTool;
//! use serde_json::{Value, json};
//! use toolkit::prelude::*;
//!
//! /// A tool as rig has it.
//! struct Shout;
//!
//! impl PortableTool for Shout {
//!     const NAME: &'static str = "shout";
//!     type Args = Value;
//!     type Output = String;
//!     type Error = std::convert::Infallible;
//!
//!     fn description(&self) -> String {
//!         "Says it louder.".to_owned()
//!     }
//!
//!     fn parameters(&self) -> Value {
//!         json!({"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]})
//!     }
//!
//!     async fn call(&self, args: Value) -> Result<String, Self::Error> {
//!         Ok(args["text"].as_str().unwrap_or_default().to_uppercase())
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let tool = toolkit_rig::import_with(RegisteredTool::from_tool(Shout), |tool| tool.group("text").read_only())?;
//! let toolbox = Toolkit::empty().tool(tool).build()?.toolbox(&Caller::new()).await;
//! assert_eq!(toolbox.call(ToolCall::new("1", "shout", json!({"text": "hi"}))).await.text(), "HI");
//! let error = toolbox.call(ToolCall::new("2", "shout", json!({"text": 5}))).await;
//! assert!(error.text().contains("/text: expected a string"));
//! # Ok(()) }
//! ```
//!
//! Its schema is enforced by the toolkit, before rig sees the arguments. It says nothing of what it does to the world, so it is asked
//! about before it runs unless [`import_with`] states otherwise. [`import_set`] brings a whole set.

mod agent;
mod answer;
mod call_ids;
mod export;
mod hook;
mod import;
mod imported_name;
mod imported_output;

pub use agent::WithToolbox;
pub use answer::{CallDetails, CallFailed};
pub use export::{tools, tools_with};
pub use import::{Imported, import, import_set, import_with};

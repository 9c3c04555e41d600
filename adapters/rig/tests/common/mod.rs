//! Tools, and an agent whose model is a script.

use rig_agent::AgentBuilder;
use rig_core::providers::openai::OpenAIConfig;
use rig_reqwest::ReqwestClient;
use scripted_model::{API_KEY, ScriptedModel};
use std::sync::Arc;
use tokio::sync::Notify;
use toolkit::prelude::*;
use toolkit::{Builder, Tool};

/// Tells how far it is to a city.
#[tool(read_only, alias = "how_far")]
async fn distance(
    /** The city. */
    city: &str,
) -> Result<String, ToolError> {
    match city {
        "Graz" => Ok("200".to_owned()),
        _ => Err(ToolError::not_found(format!("there is no road to {city}; try Graz"))),
    }
}

/// Converts kilometres to miles.
#[tool(read_only)]
async fn miles(
    /** How many. */
    #[arg(range(0..))]
    kilometres: f64,
) -> String {
    format!("{:.1}", kilometres / 1.609_344)
}

/// Books a train.
#[tool]
async fn book(
    /** Where to. */
    city: String,
) -> String {
    format!("booked {city}")
}

/// A toolkit of three functions, the last of which has to be asked about.
pub(crate) fn travel() -> Builder {
    Toolkit::empty()
        .tool(toolkit::tool_ref!(distance))
        .tool(toolkit::tool_ref!(miles))
        .tool(toolkit::tool_ref!(book))
}

/// An agent over this model.
pub(crate) fn agent(model: &ScriptedModel) -> AgentBuilder {
    let config = OpenAIConfig::new(API_KEY).with_base_url(model.base_url());
    AgentBuilder::new(config.connect(ReqwestClient::default()).chat("scripted")).default_max_turns(10)
}

/// A tool that never ends, and tells that it began.
#[derive(Clone, Default)]
pub(crate) struct Gate(Arc<Notify>);

impl Gate {
    pub(crate) fn tool(&self, name: &str) -> Tool {
        let began = Arc::clone(&self.0);
        let tool = Tool::builder(name).description("Waits.");
        tool.build(move |_, _| {
            let began = Arc::clone(&began);
            async move {
                began.notify_one();
                std::future::pending::<()>().await;
            }
        })
        .unwrap()
    }

    pub(crate) async fn began(&self) {
        self.0.notified().await;
    }
}

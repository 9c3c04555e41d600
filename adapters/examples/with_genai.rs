//! Tools, calls and results as genai has them.

use genai::adapter::AdapterKind;
use genai::chat::{Tool, ToolCall as GenaiCall, ToolResponse};
use genai::resolver::{AuthData, Endpoint};
use genai::{Client, ModelIden, ServiceTarget};
use toolkit::{ToolCall, ToolResult, Toolbox};

/// A client of the server that the environment names.
pub(crate) fn client() -> Result<Client, Box<dyn std::error::Error>> {
    // Without the slash at its end, its last part would be replaced.
    let base_url = format!("{}/", std::env::var("OPENAI_BASE_URL")?.trim_end_matches('/'));
    let target = move |asked: ServiceTarget| -> Result<ServiceTarget, genai::resolver::Error> {
        let endpoint = Endpoint::from_owned(base_url.as_str());
        let model = ModelIden::new(AdapterKind::OpenAI, asked.model.model_name);
        Ok(ServiceTarget { endpoint, auth: AuthData::from_env("OPENAI_API_KEY"), model })
    };
    Ok(Client::builder().with_service_target_resolver_fn(target).build()?)
}

/// The tools of a toolbox.
pub(crate) fn tools(toolbox: &Toolbox) -> Vec<Tool> {
    let tools = toolbox
        .definitions()
        .into_iter()
        .map(|tool| Tool::new(tool.name).with_description(tool.description).with_schema(tool.input_schema));
    tools.collect()
}

/// Converts the calls of a model. Arguments that are no JSON stay text, and the toolbox says what is wrong with them.
pub(crate) fn calls(calls: Vec<&GenaiCall>) -> Vec<ToolCall> {
    let calls = calls
        .into_iter()
        .map(|call| ToolCall::new(call.call_id.as_str(), call.fn_name.as_str(), call.fn_arguments.clone()));
    calls.collect()
}

/// Converts the results of the calls. Genai takes text alone; errors are text for the model too.
pub(crate) fn responses(results: Vec<ToolResult>) -> Vec<ToolResponse> {
    let responses = results
        .into_iter()
        .map(|result| ToolResponse::new(&*result.id, result.text()).with_fn_name(result.name));
    responses.collect()
}

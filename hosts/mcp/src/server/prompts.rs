//! Prompts: skills, which the tool `skill` can load for this client, for its user to choose from; such a prompt calls that tool in the
//! ordinary way. And the prompts of MCP servers.

use super::ToolServer;
use super::sessions::is_stateless;
use rmcp::RoleServer;
use rmcp::model::{
    ErrorData, GetPromptRequestParams, GetPromptResponse, GetPromptResult, ListPromptsResult, Prompt,
    PromptMessage, Role,
};
use rmcp::service::RequestContext;
use serde_json::{Value, json};
use toolkit::{CallOptions, ToolCall, Toolbox};

/// The tool.
pub(super) const SKILL: &str = "skill";

/// The skills, by name.
pub(super) fn list(toolbox: &Toolbox) -> ListPromptsResult {
    let Ok(definition) = toolbox.definition(SKILL) else {
        return ListPromptsResult::with_all_items(Vec::new());
    };
    let names = definition.input_schema.pointer("/properties/skill/enum").and_then(Value::as_array);
    let prompts = names.into_iter().flatten().filter_map(Value::as_str).map(|name| {
        // The tool's description contains the purpose of each skill.
        let line = format!("- {name}: ");
        let about = definition.description.lines().find_map(|said| said.strip_prefix(&line));
        Prompt::new(name, about, None)
    });
    ListPromptsResult::with_all_items(prompts.collect())
}

/// The skills, and the prompts of servers.
#[cfg_attr(not(feature = "client"), expect(clippy::unused_async, reason = "there are no servers"))]
pub(super) async fn all(server: &ToolServer, toolbox: &Toolbox) -> ListPromptsResult {
    let skills = list(toolbox);
    #[cfg(feature = "client")]
    if let Some(servers) = &server.0.options.prompts_of {
        let mut all = skills;
        all.prompts.extend(servers.prompts(toolbox).await);
        return all;
    }
    let _ = server;
    skills
}

/// Loads one.
pub(super) async fn get(
    server: &ToolServer,
    request: GetPromptRequestParams,
    context: RequestContext<RoleServer>,
) -> Result<GetPromptResponse, ErrorData> {
    let toolbox = server.renew(&context).await;
    let is_there = list(&toolbox).prompts.iter().any(|prompt| prompt.name == request.name);
    #[cfg(feature = "client")]
    if !is_there && let Some(servers) = &server.0.options.prompts_of {
        let prompt = servers.prompt(&toolbox, &request.name, request.arguments).await;
        return prompt.map(Into::into).map_err(|why| ErrorData::invalid_params(why, None));
    }
    if !is_there {
        return Err(ErrorData::invalid_params(
            format!("there is no prompt {:?}; `prompts/list` lists the available prompts", request.name),
            None,
        ));
    }
    let call = ToolCall::new(super::call::call_id(), SKILL, json!({"skill": request.name}));
    let options = CallOptions::new().reads_beside_changes().cancel(context.ct.clone());
    // Questions go to the client while the request waits, in the versions in which a server can send requests.
    let can_ask = !is_stateless(&context) && server.0.asks_client(&context);
    let options = server.0.with_approver(options, can_ask.then_some(&context.peer));
    let result = toolbox.call_with(call, options).await;
    match result.error() {
        Some(error) => Err(ErrorData::internal_error(error.message().to_owned(), None)),
        None => {
            let message = PromptMessage::new_text(Role::User, result.text());
            Ok(GetPromptResult::new(vec![message]).into())
        }
    }
}

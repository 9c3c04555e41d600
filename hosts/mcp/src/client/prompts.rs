//! Prompts of servers, named like their tools.

use super::failure;
use super::names;
use super::server::{Server, State};
use super::servers::McpServers;
use super::visible;
use rmcp::RoleClient;
use rmcp::model::{
    ClientRequest, GetPromptRequest, GetPromptRequestParams, GetPromptResult, JsonObject, ListPromptsRequest,
    PaginatedRequestParams, Prompt, ServerResult,
};
use rmcp::service::Peer;
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;
use toolkit::{Tool, ToolOutput, Toolbox};

/// Time limit for a server to list its prompts.
const LIST_WITHIN: Duration = Duration::from_secs(10);
/// Maximum number of prompts that are taken of a server.
const MAX_PROMPTS: usize = 1_000;
/// Maximum number of pages of a list that are read.
const MAX_PAGES: usize = 100;

/// A prompt with the server's name and the local name.
struct Offered {
    server: Arc<Server>,
    peer: Peer<RoleClient>,
    name: String,
    prompt: Prompt,
}

impl McpServers {
    /// Returns the prompts of the connected servers that the caller of a toolbox may use, named `server__prompt`. A server that does
    /// not list them within 10 seconds is left out.
    pub async fn prompts(&self, toolbox: &Toolbox) -> Vec<Prompt> {
        self.offered(toolbox).await.into_iter().map(|offered| offered.prompt).collect()
    }

    /// Gets a prompt by its name here, with its arguments filled in.
    ///
    /// # Errors
    ///
    /// Returns the reason for which there is no prompt, as text for people.
    pub async fn prompt(
        &self,
        toolbox: &Toolbox,
        name: &str,
        arguments: Option<JsonObject>,
    ) -> Result<GetPromptResult, String> {
        let mut offered = self.offered(toolbox).await;
        let place = offered.iter().position(|offered| offered.prompt.name == name);
        let Some(place) = place else {
            return Err(format!("there is no prompt {name:?} of an MCP server that is connected"));
        };
        let Offered { server, peer, name, .. } = offered.swap_remove(place);
        let mut params = GetPromptRequestParams::new(name);
        params.arguments = arguments;
        let request = ClientRequest::GetPromptRequest(GetPromptRequest::new(params));
        let within = server.timeout;
        let failed = |why: String| {
            let why = server.without_address(why);
            format!("the MCP server `{}` does not give its prompt: {why}", server.name)
        };
        let answer = timeout(within, peer.send_request(request)).await;
        let answer = answer.map_err(|_| failed(format!("timed out after {} s", within.as_secs())))?;
        let answer = answer.map_err(|error| failed(failure::of_request(&error)))?;
        let mut value = match answer {
            ServerResult::InputRequiredResult(_) => {
                return Err(failed(
                    "it asks for something more, which is not supported for prompts".to_owned(),
                ));
            }
            ServerResult::CustomResult(result) => result.0,
            result => serde_json::to_value(result).unwrap_or_default(),
        };
        visible::json(&mut value);
        serde_json::from_value(value).map_err(|_| failed("its answer is not a prompt".to_owned()))
    }

    async fn offered(&self, toolbox: &Toolbox) -> Vec<Offered> {
        let each =
            self.servers().iter().filter(|server| is_admitted(toolbox, server)).map(|server| listed(server));
        futures_util::future::join_all(each).await.into_iter().flatten().collect()
    }
}

/// Returns true if the policy leaves the caller a tool of the server that is called so.
fn is_admitted(toolbox: &Toolbox, server: &Server) -> bool {
    let tool = Tool::builder(format!("{}__prompt", server.prefix))
        .source(server.source.clone())
        .read_only()
        .build(|_, _| async { ToolOutput::default() });
    tool.is_ok_and(|tool| toolbox.admits(&tool).is_ok())
}

/// Returns the prompts of a server, if it is connected and has any.
async fn listed(server: &Arc<Server>) -> Vec<Offered> {
    let peer = match &*server.state().borrow() {
        State::Ready { peer, about, .. } if about.has_prompts() => peer.clone(),
        _ => return Vec::new(),
    };
    let found = timeout(LIST_WITHIN, pages(&peer)).await;
    let found = found.unwrap_or_else(|_| Err(format!("timed out after {} s", LIST_WITHIN.as_secs())));
    let entries = found.unwrap_or_else(|why| {
        server.tell(format!("its prompts cannot be listed: {why}"));
        Vec::new()
    });
    let mut prompts = Vec::new();
    for mut entry in entries {
        let Some(name) = entry.get("name").and_then(Value::as_str).map(str::to_owned) else { continue };
        visible::json(&mut entry);
        if let Ok(prompt) = serde_json::from_value::<Prompt>(entry)
            && !prompts.iter().any(|(other, _)| *other == name)
        {
            prompts.push((name, prompt));
        }
    }
    let all: Vec<&str> = prompts.iter().map(|(name, _)| name.as_str()).collect();
    let here = names::names(&server.prefix, &all);
    let named = prompts.into_iter().zip(here).map(|((name, mut prompt), here)| {
        prompt.name = here;
        Offered { server: Arc::clone(server), peer: peer.clone(), name, prompt }
    });
    named.collect()
}

async fn pages(peer: &Peer<RoleClient>) -> Result<Vec<Value>, String> {
    let mut listed = Vec::new();
    let mut cursor: Option<String> = None;
    for _ in 0..MAX_PAGES {
        let params = cursor.take().map(|cursor| PaginatedRequestParams::default().with_cursor(Some(cursor)));
        let request =
            ClientRequest::ListPromptsRequest(ListPromptsRequest { params, ..ListPromptsRequest::default() });
        let answer = peer.send_request(request).await.map_err(|error| failure::of_request(&error))?;
        let mut page = match answer {
            ServerResult::CustomResult(page) => page.0,
            page => serde_json::to_value(page).unwrap_or_default(),
        };
        cursor = page.get("nextCursor").and_then(Value::as_str).map(str::to_owned);
        match page.get_mut("prompts").map(Value::take) {
            Some(Value::Array(prompts)) => listed.extend(prompts),
            _ => return Err("the answer has no list of prompts".to_owned()),
        }
        if cursor.is_none() || listed.len() >= MAX_PROMPTS {
            break;
        }
    }
    listed.truncate(MAX_PROMPTS);
    Ok(listed)
}

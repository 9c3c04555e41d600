//! Resources of servers: two tools, for all servers that have any.

use super::call::{self, MAX_ROUNDS};
use super::media;
use super::output;
use super::server::Server;
use super::visible;
use rmcp::RoleClient;
use rmcp::model::{
    ClientRequest, ErrorCode, ListResourceTemplatesRequest, ListResourcesRequest, PaginatedRequestParams,
    ReadResourceRequest, ReadResourceRequestParams, ReadResourceResult, ResourceContents, ServerResult,
};
use rmcp::service::{Peer, ServiceError};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;
use toolkit::{
    Content, Tool, ToolContext, ToolError, ToolOutput, Toolkit, descriptor::DynamicArgs, text::escape_line,
};

const LIST: &str = "resource_list";
const READ: &str = "resource_read";
/// The group of the tools.
const GROUP: &str = "mcp";
/// Maximum number of resources that are listed of a server, and as many templates.
const MAX_LISTED: usize = 1_000;
/// Maximum number of pages of a list that are read.
const MAX_PAGES: usize = 100;

/// Returns true if this is the name of one of the tools.
pub(super) fn is_one(tool: &str) -> bool {
    tool == LIST || tool == READ
}

/// The servers that have resources, and whether their tools are there.
#[derive(Debug, Default)]
pub(super) struct Resources(Mutex<Known>);

#[derive(Debug, Default)]
struct Known {
    servers: BTreeMap<String, Weak<Server>>,
    state: State,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum State {
    #[default]
    None,
    Registered,
    /// The names of the tools are taken by others.
    Refused,
}

impl Resources {
    /// Adds a server, and lets its resources be read.
    ///
    /// # Errors
    ///
    /// Returns the reason for which the tools are absent.
    pub(super) fn add(self: &Arc<Self>, server: &Arc<Server>, toolkit: &Toolkit) -> Result<(), String> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_there = known.servers.insert(server.name.to_string(), Arc::downgrade(server)).is_some();
        if is_there && known.state == State::Registered || known.state == State::Refused {
            return Ok(());
        }
        let limits = known.servers.values().filter_map(Weak::upgrade).map(|server| server.timeout);
        let timeout = limits.max().unwrap_or(Duration::from_mins(1));
        let names: Vec<&str> = known.servers.keys().map(String::as_str).collect();
        for tool in self.tools(&names, timeout)? {
            let change = match known.state {
                State::Registered => toolkit.replace(tool),
                _ => toolkit.register(tool),
            };
            if let Err(error) = change {
                known.state = State::Refused;
                return Err(format!("resources of servers cannot be read: {error}"));
            }
        }
        known.state = State::Registered;
        Ok(())
    }

    fn tools(self: &Arc<Self>, servers: &[&str], timeout: Duration) -> Result<[Tool; 2], String> {
        let server = json!({"type": "string", "enum": servers, "description": "The MCP server, as the configuration names it."});
        let uri = json!({
            "type": "string", "minLength": 1,
            "description": "The URI of the resource, as `resource_list` shows it; of a template, with its variables filled in.",
        });
        let object = |properties: Value, required: &[&str]| json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false});
        let all = Arc::clone(self);
        let list = Tool::builder(LIST)
            .group(GROUP)
            .title("List resources of an MCP server")
            .description(
                "Lists the resources of an MCP server (documents and data that it offers to read) with their URIs, and the templates of \
                 further ones. Read one with `resource_read`.",
            )
            .input_schema(object(json!({"server": server}), &["server"]))
            .read_only()
            .open_world(true)
            .timeout(timeout)
            .build(move |context, args| {
                let all = Arc::clone(&all);
                async move { all.list(&context, args).await }
            });
        let all = Arc::clone(self);
        let read = Tool::builder(READ)
            .group(GROUP)
            .title("Read a resource of an MCP server")
            .description(
                "Reads a resource of an MCP server by its URI, and returns its text, or its data where it is binary. `resource_list` \
                 lists what there is.",
            )
            .input_schema(object(json!({"server": server, "uri": uri}), &["server", "uri"]))
            .read_only()
            .open_world(true)
            .timeout(timeout)
            .build(move |context, args| {
                let all = Arc::clone(&all);
                async move { all.read(&context, args).await }
            });
        let built =
            |tool: Result<Tool, toolkit::descriptor::InvalidTool>| tool.map_err(|error| error.problem);
        Ok([built(list)?, built(read)?])
    }

    /// The server that a call is about, once rules and persons let this tool act for it.
    async fn agreed(
        &self,
        context: &ToolContext,
        arguments: &Map<String, Value>,
    ) -> Result<Arc<Server>, ToolError> {
        let name = arguments.get("server").and_then(Value::as_str).unwrap_or_default();
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner).servers.get(name).cloned();
        let server = known.and_then(|server| server.upgrade()).ok_or_else(|| {
            ToolError::failed(format!("the MCP server `{}` is no longer there", escape_line(name)))
        })?;
        // The policy is applied as to a tool of the server.
        let own = Tool::builder(format!("{}__{}", server.prefix, context.tool_name()))
            .source(server.source.clone())
            .condition(&*server.launch)
            .read_only()
            .build(|_, _| async { ToolOutput::default() })
            .map_err(|error| ToolError::failed(error.problem))?;
        context.stand_in(&own, arguments).await?;
        Ok(server)
    }

    async fn read(&self, context: &ToolContext, args: DynamicArgs) -> Result<ToolOutput, ToolError> {
        let arguments = args.into_map();
        let server = self.agreed(context, &arguments).await?;
        let uri = arguments.get("uri").and_then(Value::as_str).unwrap_or_default();
        let peer = server.peer(context).await?;
        let mut params = ReadResourceRequestParams::new(uri);
        for _ in 0..MAX_ROUNDS {
            let request = ClientRequest::ReadResourceRequest(ReadResourceRequest::new(params.clone()));
            let answer = call::sent(&server, &peer, context, request).await?;
            let no_resource = || call::fault(&server, "its answer is not a resource");
            let result: ReadResourceResult = match answer.map_err(|error| call::failed(&server, error))? {
                ServerResult::ReadResourceResult(result) => result,
                ServerResult::InputRequiredResult(needs) => {
                    params.request_state = needs.request_state;
                    params.input_responses = match needs.input_requests {
                        Some(requests) => Some(call::answers(&server, context, requests).await?),
                        None => None,
                    };
                    continue;
                }
                ServerResult::CustomResult(result) => {
                    serde_json::from_value(result.0).map_err(|_| no_resource())?
                }
                _ => return Err(no_resource()),
            };
            if result.contents.is_empty() {
                return Ok(ToolOutput::default().with_content("(the resource has no contents)".to_owned()));
            }
            let contents = result.contents.into_iter().map(content);
            let output = contents.fold(ToolOutput::default(), ToolOutput::with_content);
            return Ok(media::check(context, output).await);
        }
        Err(call::fault(&server, &format!("it requested input {MAX_ROUNDS} times without a result")))
    }

    async fn list(&self, context: &ToolContext, args: DynamicArgs) -> Result<ToolOutput, ToolError> {
        let server = self.agreed(context, &args.into_map()).await?;
        let peer = server.peer(context).await?;
        let (resources, more) = pages(&server, &peer, context, "resources", |params| {
            ClientRequest::ListResourcesRequest(ListResourcesRequest { params, ..Default::default() })
        })
        .await?;
        let (templates, more_templates) = pages(&server, &peer, context, "resourceTemplates", |params| {
            ClientRequest::ListResourceTemplatesRequest(ListResourceTemplatesRequest {
                params,
                ..Default::default()
            })
        })
        .await?;
        let mut text = String::new();
        for (what, key, entries, more) in [
            ("resource", "uri", &resources, more),
            ("resource template", "uriTemplate", &templates, more_templates),
        ] {
            if entries.is_empty() && what != "resource" {
                continue;
            }
            let (count, name) = (entries.len(), escape_line(&server.name));
            let plural = if count == 1 { "" } else { "s" };
            let _ = writeln!(text, "{count} {what}{plural} of the MCP server `{name}`:");
            for entry in entries {
                line(&mut text, key, entry);
            }
            if more {
                let _ = writeln!(text, "(the rest is left out)");
            }
        }
        let details = json!({"resources": resources, "resourceTemplates": templates});
        Ok(ToolOutput::default().with_content(text.trim_end().to_owned()).with_details(details))
    }
}

/// All pages of a list, and whether there are more.
async fn pages(
    server: &Arc<Server>,
    peer: &Peer<RoleClient>,
    context: &ToolContext,
    key: &str,
    request: impl Fn(Option<PaginatedRequestParams>) -> ClientRequest,
) -> Result<(Vec<Value>, bool), ToolError> {
    let mut listed = Vec::new();
    let mut cursor: Option<String> = None;
    for _ in 0..MAX_PAGES {
        let params = cursor.take().map(|cursor| PaginatedRequestParams::default().with_cursor(Some(cursor)));
        let answer = match call::sent(server, peer, context, request(params)).await? {
            // Not every server with resources has templates.
            Err(ServiceError::McpError(error)) if error.code == ErrorCode::METHOD_NOT_FOUND => break,
            answer => answer.map_err(|error| call::failed(server, error))?,
        };
        let mut page = match answer {
            ServerResult::CustomResult(page) => page.0,
            page => serde_json::to_value(page).map_err(ToolError::wrap)?,
        };
        cursor = page.get("nextCursor").and_then(Value::as_str).map(str::to_owned);
        let Some(Value::Array(entries)) = page.get_mut(key).map(Value::take) else {
            return Err(call::fault(server, &format!("its answer has no list of {key}")));
        };
        listed.extend(entries.into_iter().map(|mut entry| {
            visible::json(&mut entry);
            entry
        }));
        if listed.len() > MAX_LISTED {
            listed.truncate(MAX_LISTED);
            return Ok((listed, true));
        }
        if cursor.is_none() {
            return Ok((listed, false));
        }
    }
    Ok((listed, cursor.is_some()))
}

fn line(text: &mut String, key: &str, entry: &Value) {
    // Invisible characters are already escaped.
    let said = |key: &str| {
        let text = entry.get(key).and_then(Value::as_str).unwrap_or_default();
        text.replace(['\n', '\r', '\t'], " ")
    };
    let _ = write!(text, "- {}", said(key));
    let names = [said("title"), said("name"), said("description")];
    let mut separator = " — ";
    for name in names.iter().filter(|name| !name.is_empty()) {
        let _ = write!(text, "{separator}{name}");
        separator = ": ";
    }
    let size = entry.get("size").and_then(Value::as_u64).map(|size| format!("{size} bytes"));
    let kind = Some(said("mimeType")).filter(|kind| !kind.is_empty());
    let facts: Vec<String> = [kind, size].into_iter().flatten().collect();
    if !facts.is_empty() {
        let _ = write!(text, " [{}]", facts.join(", "));
    }
    text.push('\n');
}

/// A resource as a part of an answer: a picture or a sound as such.
fn content(contents: ResourceContents) -> Content {
    let kind = match &contents {
        ResourceContents::BlobResourceContents { mime_type, .. } => mime_type.clone().unwrap_or_default(),
        _ => String::new(),
    };
    match output::resource(contents) {
        block if kind.starts_with("image/") && block.as_bytes().is_some() => {
            Content::image(block.as_bytes().unwrap_or_default(), visible::label(kind))
        }
        block if kind.starts_with("audio/") && block.as_bytes().is_some() => {
            Content::audio(block.as_bytes().unwrap_or_default(), visible::label(kind))
        }
        block => block,
    }
}

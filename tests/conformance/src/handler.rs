//! The handler of prompts, resources and completions.

#![expect(
    deprecated,
    reason = "the tests are of versions that have logging and subscriptions to single resources"
)]

use crate::tools::PICTURE;
use data_encoding::BASE64;
use rmcp::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CompleteRequestParams, CompleteResult, CompletionInfo,
    ContentBlock, ErrorCode, ErrorData, GetPromptRequestParams, GetPromptResponse, GetPromptResult,
    Implementation, InitializeRequestParams, InitializeResult, InputRequests, InputRequiredResult,
    ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
    PaginatedRequestParams, Prompt, PromptArgument, PromptMessage, ReadResourceRequestParams,
    ReadResourceResponse, ReadResourceResult, Resource, ResourceContents, ResourceTemplate, Role,
    ServerCapabilities, ServerConfig, SetLevelRequestParams, SubscribeRequestParams, SubscriptionFilter,
    UnsubscribeRequestParams,
};
use rmcp::service::{NotificationContext, RequestContext, RoleServer, SubscriptionContext};
use serde_json::json;
use toolkit_mcp::ToolServer;

/// A handler of its own with tools beside all else.
#[derive(Debug, Clone)]
pub struct Fixture(pub ToolServer);

/// A prompt that asks what it is to be about.
fn with_context(request: &GetPromptRequestParams) -> GetPromptResponse {
    let given = request.input_responses.as_ref().and_then(|given| given.get("user_context"));
    let Some(context) = given.and_then(|given| given["content"]["context"].as_str()) else {
        let schema =
            json!({"type": "object", "properties": {"context": {"type": "string"}}, "required": ["context"]});
        let ask = json!({"method": "elicitation/create", "params": {
            "mode": "form", "message": "What context should the prompt use?", "requestedSchema": schema,
        }});
        let asks: InputRequests = serde_json::from_value(json!({"user_context": ask})).unwrap_or_default();
        return InputRequiredResult::new(Some(asks), None).into();
    };
    GetPromptResult::new(vec![PromptMessage::new_text(Role::User, format!("It is about this: {context}"))])
        .into()
}

impl ServerHandler for Fixture {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_completions()
            .enable_prompts()
            .enable_resources()
            .enable_resources_subscribe()
            .enable_tools()
            .enable_tool_list_changed()
            .build();
        let mut info = ServerConfig::new(capabilities);
        info.server_info = Implementation::new("toolkit-conformance", env!("CARGO_PKG_VERSION"));
        info
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        context.peer.set_peer_info(request.clone());
        let mut result = self.negotiate_initialize(&request)?;
        result.capabilities.logging = Some(serde_json::Map::new());
        Ok(result)
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        self.0.list_tools(request, context).await
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let capabilities = context.client_capabilities().unwrap_or_default();
        match request.name.as_ref() {
            // A tool that is not for everybody: it needs the client's model.
            "test_missing_capability" if capabilities.sampling.is_none() => {
                let required = json!({"requiredCapabilities": {"sampling": {}}});
                let message = "this needs the client's `sampling`";
                Err(ErrorData::new(ErrorCode::MISSING_REQUIRED_CLIENT_CAPABILITY, message, Some(required)))
            }
            _ => self.0.call_tool(request, context).await,
        }
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        self.0.accepted_subscription_filter(requested)
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        self.0.listen(context).await
    }

    fn get_tool(&self, name: &str) -> Option<rmcp::model::Tool> {
        self.0.get_tool(name)
    }

    async fn set_level(
        &self,
        request: SetLevelRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.0.set_level(request, context).await
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        self.0.on_initialized(context).await;
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let known = ["paris", "park", "party"];
        let values = known.iter().filter(|value| value.starts_with(&request.argument.value));
        let values = CompletionInfo::with_all_values(values.map(ToString::to_string).collect());
        values.map(CompleteResult::new).map_err(|error| ErrorData::internal_error(error, None))
    }

    async fn list_prompts(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let argument =
            |name: &str, about: &str| PromptArgument::new(name).with_description(about).with_required(true);
        let prompt = |name: &str, about: &str, arguments| Prompt::new(name, Some(about), arguments);
        let two = vec![argument("arg1", "First test argument"), argument("arg2", "Second test argument")];
        let uri = vec![argument("resourceUri", "URI of the resource to embed")];
        Ok(ListPromptsResult::with_all_items(vec![
            prompt("test_simple_prompt", "A prompt without arguments", None),
            prompt("test_prompt_with_arguments", "A prompt with two arguments", Some(two)),
            prompt("test_prompt_with_embedded_resource", "A prompt with a document in it", Some(uri)),
            prompt("test_prompt_with_image", "A prompt with a picture", None),
        ]))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        if request.name == "test_input_required_result_prompt" {
            return Ok(with_context(&request));
        }
        let given = |name: &str| {
            let arguments = request.arguments.as_ref();
            let value = arguments.and_then(|arguments| arguments.get(name)).and_then(|value| value.as_str());
            value.ok_or_else(|| ErrorData::invalid_params(format!("the argument `{name}` is missing"), None))
        };
        let text = |text: String| PromptMessage::new_text(Role::User, text);
        let messages = match request.name.as_str() {
            "test_simple_prompt" => vec![text("This is a simple prompt for testing.".to_owned())],
            "test_prompt_with_arguments" => {
                let (first, second) = (given("arg1")?, given("arg2")?);
                vec![text(format!("Prompt with arguments: arg1='{first}', arg2='{second}'"))]
            }
            "test_prompt_with_embedded_resource" => {
                let contents =
                    ResourceContents::text("Embedded resource content for testing.", given("resourceUri")?);
                let document = ContentBlock::resource(contents.with_mime_type("text/plain"));
                let ask = "Please process the embedded resource above.";
                vec![PromptMessage::new(Role::User, document), text(ask.to_owned())]
            }
            "test_prompt_with_image" => {
                let picture = ContentBlock::image(BASE64.encode(PICTURE), "image/png");
                vec![
                    PromptMessage::new(Role::User, picture),
                    text("Please analyze the image above.".to_owned()),
                ]
            }
            other => return Err(ErrorData::invalid_params(format!("there is no prompt `{other}`"), None)),
        };
        Ok(GetPromptResult::new(messages).into())
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let resource = |uri: &str, name: &str, mime_type: &str| {
            Resource::new(uri, name).with_description(format!("{name}, for tests")).with_mime_type(mime_type)
        };
        let mut resources = self.0.list_resources(request, context).await?;
        resources.resources.extend([
            resource("test://static-text", "Static text", "text/plain"),
            resource("test://static-binary", "Static picture", "image/png"),
            resource("test://watched-resource", "Watched text", "text/plain"),
        ]);
        Ok(resources)
    }

    async fn list_resource_templates(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let template = ResourceTemplate::new("test://template/{id}/data", "Data by id")
            .with_description("What there is of an id")
            .with_mime_type("application/json");
        Ok(ListResourceTemplatesResult::with_all_items(vec![template]))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let uri = request.uri.clone();
        let contents = match uri.as_str() {
            "test://static-text" => {
                ResourceContents::text("This is the content of the static text resource.", uri)
                    .with_mime_type("text/plain")
            }
            "test://static-binary" => {
                ResourceContents::blob(BASE64.encode(PICTURE), uri).with_mime_type("image/png")
            }
            "test://watched-resource" => {
                ResourceContents::text("It does not change.", uri).with_mime_type("text/plain")
            }
            other => match other.strip_prefix("test://template/").and_then(|rest| rest.strip_suffix("/data"))
            {
                Some(id) => {
                    let data = json!({"id": id, "templateTest": true, "data": format!("Data for ID: {id}")});
                    ResourceContents::text(data.to_string(), uri).with_mime_type("application/json")
                }
                None => return self.0.read_resource(request, context).await,
            },
        };
        Ok(ReadResourceResult::new(vec![contents]).into())
    }

    async fn subscribe(
        &self,
        _request: SubscribeRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        // Nothing of it changes, so there is nobody to tell.
        Ok(())
    }

    async fn unsubscribe(
        &self,
        _request: UnsubscribeRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Ok(())
    }
}

//! The tools, by the names that the tests call them.

#![expect(deprecated, reason = "sampling is tested in the versions that have it")]

use rmcp::RoleServer;
use rmcp::model::{CreateMessageRequestParams, SamplingMessage};
use rmcp::service::Peer;
use serde_json::{Value, json};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use toolkit::prelude::*;
use toolkit::{
    Content, Tool,
    approval::Elicitation,
    events::{LogLevel, LogMessage, Progress},
    output::Resource,
    registry::WeakToolkit,
};

/// A picture of one red pixel.
pub(crate) const PICTURE: &[u8] = &[
    0x89, b'P', b'N', b'G', 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 0x0d, b'I', b'H', b'D', b'R', 0, 0, 0, 1, 0, 0,
    0, 1, 8, 2, 0, 0, 0, 0x90, 0x77, 0x53, 0xde, 0, 0, 0, 0x0c, b'I', b'D', b'A', b'T', 8, 0xd7, 0x63, 0xf8,
    0xcf, 0xc0, 0, 0, 3, 1, 1, 0, 0x18, 0xdd, 0x8d, 0xb0, 0, 0, 0, 0, b'I', b'E', b'N', b'D', 0xae, 0x42,
    0x60, 0x82,
];

/// A sound of no length.
const SOUND: &[u8] =
    b"RIFF\x24\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\x40\x1f\0\0\x80\x3e\0\0\x02\0\x10\0data\0\0\0\0";

/// Answers with a text.
#[tool(read_only)]
async fn test_simple_text() -> &'static str {
    "This is a simple text response for testing."
}

/// Answers with a picture.
#[tool(read_only)]
async fn test_image_content() -> ToolOutput {
    ToolOutput::default().with_content(Content::image(PICTURE, "image/png"))
}

/// Answers with a sound.
#[tool(read_only)]
async fn test_audio_content() -> ToolOutput {
    ToolOutput::default().with_content(Content::audio(SOUND, "audio/wav"))
}

fn document(uri: &str, mime_type: &str, text: &str) -> Content {
    let mut resource = Resource::text(uri, text);
    resource.mime_type = Some(mime_type.to_owned());
    Content::Resource { resource }
}

/// Answers with a document.
#[tool(read_only)]
async fn test_embedded_resource() -> ToolOutput {
    let text = "This is an embedded resource content.";
    ToolOutput::default().with_content(document("test://embedded-resource", "text/plain", text))
}

/// Answers with several kinds of content.
#[tool(read_only)]
async fn test_multiple_content_types() -> ToolOutput {
    let data = json!({"test": "data", "value": 123}).to_string();
    ToolOutput::text("Multiple content types test:")
        .with_content(Content::image(PICTURE, "image/png"))
        .with_content(document("test://mixed-content-resource", "application/json", &data))
}

async fn pause() {
    tokio::time::sleep(Duration::from_millis(50)).await;
}

/// Says something for those who look for faults.
#[tool(read_only)]
async fn test_tool_with_logging(ctx: &ToolContext) -> &'static str {
    ctx.log(LogMessage::new(LogLevel::Info, "Tool execution started"));
    pause().await;
    ctx.log(LogMessage::new(LogLevel::Info, "Tool processing data"));
    pause().await;
    ctx.log(LogMessage::new(LogLevel::Info, "Tool execution completed"));
    "Tool with logging executed successfully"
}

/// Tells how far it is.
#[tool(read_only)]
async fn test_tool_with_progress(ctx: &ToolContext) -> &'static str {
    for done in [0, 50, 100] {
        ctx.progress(Progress::new(done).with_total(100));
        pause().await;
    }
    "Tool with progress executed successfully"
}

/// Fails.
#[tool(read_only)]
async fn test_error_handling() -> Result<String, ToolError> {
    Err(ToolError::failed("This tool intentionally returns an error for testing"))
}

/// Asks for the fields of a form, under a name; what is said to it, `None` where that is nothing.
async fn form(
    ctx: &ToolContext,
    name: &str,
    message: &str,
    properties: Value,
    required: &[&str],
) -> Result<Option<Value>, ToolError> {
    let schema = json!({"type": "object", "properties": properties, "required": required});
    ctx.elicit_value(Elicitation::new(message, schema)?.named(name)).await
}

async fn ask(
    ctx: &ToolContext,
    message: &str,
    properties: Value,
    required: &[&str],
) -> Result<String, ToolError> {
    let answer = form(ctx, "form", message, properties, required).await?;
    Ok(match answer {
        Some(content) => format!("action=accept, content={content}"),
        None => "action=decline".to_owned(),
    })
}

/// Asks for a name and an address.
#[tool(read_only)]
async fn test_elicitation(
    ctx: &ToolContext,
    /** The question. */
    message: String,
) -> Result<String, ToolError> {
    let properties = json!({
        "username": {"type": "string", "description": "User's response"},
        "email": {"type": "string", "description": "User's email address"},
    });
    Ok(format!("User response: {}", ask(ctx, &message, properties, &["username", "email"]).await?))
}

/// Asks for values that are something where nothing is said.
#[tool(read_only)]
async fn test_elicitation_sep1034_defaults(ctx: &ToolContext) -> Result<String, ToolError> {
    let properties = json!({
        "name": {"type": "string", "default": "John Doe"},
        "age": {"type": "integer", "default": 30},
        "score": {"type": "number", "default": 95.5},
        "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
        "verified": {"type": "boolean", "default": true},
    });
    Ok(format!("Elicitation completed: {}", ask(ctx, "Who is it?", properties, &[]).await?))
}

/// Asks for values from lists.
#[tool(read_only)]
async fn test_elicitation_sep1330_enums(ctx: &ToolContext) -> Result<String, ToolError> {
    let titled = |titles: [&str; 3]| -> Value {
        let each = titles.iter().zip(1..);
        each.map(|(title, number)| json!({"const": format!("value{number}"), "title": title})).collect()
    };
    let plain = json!(["option1", "option2", "option3"]);
    let properties = json!({
        "untitledSingle": {"type": "string", "enum": plain},
        "titledSingle": {"type": "string", "oneOf": titled(["First Option", "Second Option", "Third Option"])},
        "legacyEnum": {"type": "string", "enum": ["opt1", "opt2", "opt3"],
            "enumNames": ["Option One", "Option Two", "Option Three"]},
        "untitledMulti": {"type": "array", "items": {"type": "string", "enum": plain}},
        "titledMulti": {"type": "array", "items": {"anyOf": titled(["First Choice", "Second Choice", "Third Choice"])}},
    });
    Ok(format!("Elicitation completed: {}", ask(ctx, "Which of them?", properties, &[]).await?))
}

/// Asks for a name, and greets.
#[tool(read_only)]
async fn test_input_required_result_elicitation(ctx: &ToolContext) -> Result<String, ToolError> {
    let properties = json!({"name": {"type": "string"}});
    let answer =
        form(ctx, "user_name", "What is your name?", properties, &["name"]).await?.unwrap_or_default();
    Ok(format!("Hello, {}!", answer["name"].as_str().unwrap_or("whoever you are")))
}

async fn confirm(ctx: &ToolContext) -> Result<String, ToolError> {
    let properties = json!({"ok": {"type": "boolean"}});
    let answer = form(ctx, "confirm", "Please confirm", properties, &["ok"]).await?.unwrap_or_default();
    Ok(format!("state-ok, confirmed: {}", answer["ok"]))
}

/// Asks for a confirmation.
#[tool(read_only)]
async fn test_input_required_result_request_state(ctx: &ToolContext) -> Result<String, ToolError> {
    confirm(ctx).await
}

/// Asks for a confirmation that nobody can forge.
#[tool(read_only)]
async fn test_input_required_result_tampered_state(ctx: &ToolContext) -> Result<String, ToolError> {
    confirm(ctx).await
}

/// Asks two things, one after the other.
#[tool(read_only)]
async fn test_input_required_result_multi_round(ctx: &ToolContext) -> Result<String, ToolError> {
    let (name, color) = (json!({"name": {"type": "string"}}), json!({"color": {"type": "string"}}));
    let name = form(ctx, "step1", "Step 1: What is your name?", name, &["name"]).await?.unwrap_or_default();
    let color = form(ctx, "step2", "Step 2: What is your favorite color?", color, &["color"])
        .await?
        .unwrap_or_default();
    Ok(format!("{} likes {}", name["name"], color["color"]))
}

/// Asks for something while it works.
#[tool(read_only)]
async fn test_streaming_elicitation(ctx: &ToolContext) -> Result<String, ToolError> {
    ctx.progress(Progress::new(1));
    confirm(ctx).await
}

/// Says something for those who look for faults.
#[tool(read_only)]
async fn test_logging_tool(ctx: &ToolContext) -> &'static str {
    ctx.log(LogMessage::new(LogLevel::Error, "It goes well."));
    "Logged"
}

/// Lets another tool be there, or no longer.
#[tool(read_only)]
async fn test_trigger_tool_change(toolkit: State<OnceLock<WeakToolkit>>) -> Result<&'static str, ToolError> {
    let toolkit =
        toolkit.get().and_then(WeakToolkit::upgrade).ok_or_else(|| ToolError::failed("it is gone"))?;
    let other = Tool::builder("test_that_comes_and_goes").description("Comes and goes.").read_only();
    let other = other.build(|_, _| async { "It is there." }).map_err(ToolError::wrap)?;
    if toolkit.unregister("test_that_comes_and_goes").is_err() {
        toolkit.register(other).map_err(ToolError::wrap)?;
    }
    Ok("Changed")
}

/// Asks the client's model, as servers could up to 2025-11-25.
#[tool(read_only)]
async fn test_sampling(
    ctx: &ToolContext,
    /** The prompt. */
    prompt: String,
) -> Result<String, ToolError> {
    let client =
        ctx.attached::<Peer<RoleServer>>().ok_or_else(|| ToolError::unavailable("there is no client"))?;
    let params = CreateMessageRequestParams::new(vec![SamplingMessage::user_text(prompt)], 100);
    let answer = client.create_message(params).await.map_err(ToolError::wrap)?;
    let text =
        answer.message.content.into_vec().into_iter().find_map(|part| Some(part.as_text()?.text.clone()));
    Ok(format!("LLM response: {}", text.unwrap_or_default()))
}

/// Takes long enough for a client to come back to.
#[tool(read_only)]
async fn test_reconnection() -> &'static str {
    tokio::time::sleep(Duration::from_millis(100)).await;
    "Reconnection test completed"
}

/// One whose schema is written by hand, with what no type of Rust would bring.
fn with_own_schema() -> Result<Tool, toolkit::descriptor::InvalidTool> {
    Tool::builder("json_schema_2020_12_tool")
        .description("Tool with JSON Schema 2020-12 features")
        .read_only()
        .input_schema(json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "$defs": {
                "address": {
                    "type": "object",
                    "$anchor": "addressDef",
                    "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
                },
            },
            "properties": {
                "name": {"type": "string"},
                "address": {"$ref": "#/$defs/address"},
                "contactMethod": {"type": "string", "enum": ["phone", "email"]},
                "phone": {"type": "string"},
                "email": {"type": "string"},
            },
            "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
            "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
            "then": {"required": ["phone"]},
            "else": {"required": ["email"]},
            "additionalProperties": false,
        }))
        .build(|_, args| async move { args.value().to_string() })
}

/// One of whose arguments is a header too.
fn with_header() -> Result<Tool, toolkit::descriptor::InvalidTool> {
    Tool::builder("test_custom_header")
        .description("Tool with an argument that is a header too")
        .read_only()
        .input_schema(json!({
            "type": "object",
            "properties": {"region": {"type": "string", "x-mcp-header": "Region"}},
            "required": ["region"],
        }))
        .build(|_, args| async move { args.value().to_string() })
}

/// All of them.
///
/// # Errors
///
/// When two of them do not go together.
pub fn toolkit() -> Result<Toolkit, Box<dyn std::error::Error>> {
    let itself = Arc::new(OnceLock::new());
    let toolkit = Toolkit::builder().shared_service(Arc::clone(&itself)).tool(with_own_schema()?);
    let toolkit =
        toolkit.tool(with_header()?).data_dir(std::env::temp_dir().join("toolkit-conformance")).build()?;
    let _ = itself.set(toolkit.downgrade());
    Ok(toolkit)
}

//! Conversion of a call's result to the protocol.

use super::ToolServer;
use super::outputs::TEXT;
use data_encoding::BASE64;
use rmcp::RoleServer;
use rmcp::model::{CallToolResult, ContentBlock, ResourceContents};
use rmcp::service::RequestContext;
use toolkit::{
    Content, ToolResult, Toolbox,
    output::{Bytes, Cut, LeftOutMedia, OutputLocation, Resource, ResourceBody},
};

/// Maximum number of bytes of pictures, sounds and other data in one message over HTTP: as Base64 they take a third more, and some clients
/// read no message of more than 1 MiB.
const MAX_HTTP_BYTES: usize = 512 << 10;
/// The same over standard streams, where some clients read no message of more than 10 MiB.
const MAX_STDIO_BYTES: usize = 7 << 20;

/// Converts the result of a call that a request made. A failure of the tool is a result too, for the model to read.
pub(super) async fn result(
    server: &ToolServer,
    toolbox: &Toolbox,
    mut result: ToolResult,
    context: &RequestContext<RoleServer>,
) -> CallToolResult {
    if let Ok(output) = &mut result.outcome {
        let mut room = if is_http(context) { MAX_HTTP_BYTES } else { MAX_STDIO_BYTES };
        let why = format!("a message may have {room} bytes of them; the links of this result lead to them");
        let fits = |block: &Content| {
            let bytes = block.as_bytes().map_or(0, <[u8]>::len);
            let fits = bytes <= room;
            room -= if fits { bytes } else { 0 };
            fits
        };
        toolbox.leave_out_media(output, &why, fits).await;
    }
    converted(server, toolbox, result)
}

#[cfg(feature = "http")]
fn is_http(context: &RequestContext<RoleServer>) -> bool {
    context.extensions.get::<http::request::Parts>().is_some()
}

#[cfg(not(feature = "http"))]
fn is_http(_context: &RequestContext<RoleServer>) -> bool {
    false
}

fn converted(server: &ToolServer, toolbox: &Toolbox, result: ToolResult) -> CallToolResult {
    // Clients show a model the structured content in place of the text. Details without a schema, and those that say less than the
    // text, are for hosts. Those of an MCP server are passed on, since its author chose them for models.
    let tool = toolbox.tool(&result.name);
    let has_schema = tool.is_some_and(|tool| tool.structured_schema().is_some());
    let is_remote = tool.is_some_and(|tool| tool.source().is_remote());
    match result.outcome {
        Err(error) => CallToolResult::error(vec![ContentBlock::text(error.message())]),
        Ok(output) => {
            let whole = output
                .metadata
                .get("truncation")
                .and_then(|cut| serde_json::from_value::<Cut>(cut.clone()).ok());
            // Without a schema, clients need no structured content, and what is beyond the limits of an output is in the linked one. They see
            // no schema of a remote tool.
            let is_structured = if is_remote { whole.is_none() } else { has_schema };
            let left_out = LeftOutMedia::of(&output);
            let mut content: Vec<ContentBlock> = output.content.into_iter().map(block).collect();
            if let Some(Cut {
                kept: OutputLocation::Whole { path } | OutputLocation::Partly { path, .. },
                total_bytes,
                ..
            }) = whole
            {
                let link = server.0.outputs.add(&server.0, path, total_bytes, TEXT);
                content.push(ContentBlock::resource_link(link));
            }
            for LeftOutMedia { mime_type, bytes, kept, .. } in left_out {
                if let OutputLocation::Whole { path } = kept {
                    let link = server.0.outputs.add(&server.0, path, bytes, &mime_type);
                    content.push(ContentBlock::resource_link(link));
                }
            }
            let mut result = CallToolResult::success(content);
            result.structured_content = output.details.filter(|_| is_structured);
            result
        }
    }
}

fn block(content: Content) -> ContentBlock {
    match content {
        Content::Text { text } => ContentBlock::text(text),
        Content::Image { data: Bytes(data), mime_type } => {
            ContentBlock::image(BASE64.encode(&data), mime_type)
        }
        Content::Audio { data: Bytes(data), mime_type } => {
            ContentBlock::audio(BASE64.encode(&data), mime_type)
        }
        Content::ResourceLink { uri, name, description, mime_type } => {
            let mut link = rmcp::model::Resource::new(uri, name);
            link.description = description;
            link.mime_type = mime_type;
            ContentBlock::resource_link(link)
        }
        Content::Resource { resource: Resource { uri, mime_type, body, .. } } => {
            let contents = match body {
                ResourceBody::Text(text) => ResourceContents::text(text, uri),
                ResourceBody::Blob(Bytes(data)) => ResourceContents::blob(BASE64.encode(&data), uri),
            };
            ContentBlock::resource(match mime_type {
                Some(mime_type) => contents.with_mime_type(mime_type),
                None => contents,
            })
        }
        // Content that the protocol has no block for is sent as JSON text.
        other => ContentBlock::text(serde_json::to_string(&other).unwrap_or_default()),
    }
}

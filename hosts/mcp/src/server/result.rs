//! Conversion of a call's result to the protocol.

use super::ToolServer;
use data_encoding::BASE64;
use rmcp::model::{CallToolResult, ContentBlock, ResourceContents};
use toolkit::{
    Content, ToolResult, Toolbox,
    output::{Bytes, Cut, OutputLocation, Resource, ResourceBody},
};

/// A failure of the tool is a result too, for the model to read.
pub(super) fn result(server: &ToolServer, toolbox: &Toolbox, result: ToolResult) -> CallToolResult {
    // Clients show a model the structured content in place of the text. Details without a schema, and those that say less than the
    // text, are for hosts. Those of an MCP server are passed on, since its author chose them for models.
    let is_structured = toolbox
        .tool(&result.name)
        .is_some_and(|tool| tool.structured_schema().is_some() || tool.source().is_remote());
    match result.outcome {
        Err(error) => CallToolResult::error(vec![ContentBlock::text(error.message())]),
        Ok(output) => {
            let whole = output
                .metadata
                .get("truncation")
                .and_then(|cut| serde_json::from_value::<Cut>(cut.clone()).ok());
            let mut content: Vec<ContentBlock> = output.content.into_iter().map(block).collect();
            if let Some(Cut {
                kept: OutputLocation::Whole { path } | OutputLocation::Partly { path, .. },
                total_bytes,
                ..
            }) = whole
            {
                content.push(ContentBlock::resource_link(server.0.outputs.add(&server.0, path, total_bytes)));
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

//! Conversion of a server's answer to a tool result.

use super::base64;
use super::structured;
use super::visible;
use rmcp::model::{CallToolResult, ContentBlock, ResourceContents};
use serde_json::{Value, json};
use toolkit::{Content, ToolError, ToolOutput, output::Resource};

/// Parses the result of a call that rmcp could not, since it has a block of a kind that is not known: such a block becomes text.
///
/// # Errors
///
/// If it is no result of a call even so.
pub(super) fn with_unknown_blocks(mut result: Value) -> Result<CallToolResult, serde_json::Error> {
    for block in result.get_mut("content").and_then(Value::as_array_mut).into_iter().flatten() {
        if serde_json::from_value::<ContentBlock>(block.clone()).is_err() {
            *block = json!({ "type": "text", "text": block.to_string() });
        }
    }
    serde_json::from_value(result)
}

/// Converts the result of a call. A result that the server marks as an error becomes an error.
pub(super) fn output(result: CallToolResult) -> Result<ToolOutput, ToolError> {
    let CallToolResult { content, structured_content, is_error, .. } = result;
    let is_said = structured_content.as_ref().is_none_or(|value| structured::is_said(value, &content));
    let mut output = content.into_iter().map(block).fold(ToolOutput::default(), ToolOutput::with_content);
    if let Some(mut structured) = structured_content {
        visible::json(&mut structured);
        // Older clients read the text, so most servers repeat the structured content there; some only summarise it.
        if !is_said {
            output = output.with_content(structured.to_string());
        }
        output = output.with_details(structured);
    }
    if is_error.unwrap_or_default() {
        let texts: Vec<_> = output.content.iter().filter_map(Content::to_model_text).collect();
        let text = texts.join("\n");
        return Err(ToolError::failed(if text.trim().is_empty() {
            "the server says that it failed, and not why".to_owned()
        } else {
            text
        }));
    }
    Ok(output)
}

fn block(block: ContentBlock) -> Content {
    match block {
        ContentBlock::Text(text) => Content::text(visible::text(text.text)),
        ContentBlock::Image(image) => {
            decoded(&image.data, "picture", |data| Content::image(data, visible::label(image.mime_type)))
        }
        ContentBlock::Audio(audio) => {
            decoded(&audio.data, "sound", |data| Content::audio(data, visible::label(audio.mime_type)))
        }
        ContentBlock::Resource(embedded) => resource(embedded.resource),
        ContentBlock::ResourceLink(link) => Content::ResourceLink {
            uri: visible::text(link.uri),
            name: visible::text(link.name),
            description: link.description.map(visible::text),
            mime_type: link.mime_type.map(visible::text),
        },
        other => {
            let mut value = serde_json::to_value(&other).unwrap_or_default();
            visible::json(&mut value);
            Content::text(value.to_string())
        }
    }
}

/// A document, as a part of an answer.
pub(super) fn resource(contents: ResourceContents) -> Content {
    let (mut resource, mime_type) = match contents {
        ResourceContents::TextResourceContents { uri, mime_type, text, .. } => {
            (Resource::text(visible::text(uri), visible::text(text)), mime_type)
        }
        ResourceContents::BlobResourceContents { uri, mime_type, blob, .. } => match base64::decode(&blob) {
            Some(data) => (Resource::blob(visible::label(uri), data), mime_type),
            None => return unreadable("document"),
        },
        _ => return unreadable("document"),
    };
    resource.mime_type = mime_type.map(visible::label);
    Content::Resource { resource }
}

fn decoded(data: &str, what: &str, content: impl FnOnce(Vec<u8>) -> Content) -> Content {
    base64::decode(data).map_or_else(|| unreadable(what), content)
}

fn unreadable(what: &str) -> Content {
    Content::text(format!("[the server sent a {what} that is not valid Base64]"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use toolkit::output::ResourceBody;

    fn of(result: serde_json::Value) -> Result<ToolOutput, ToolError> {
        output(serde_json::from_value(result).unwrap())
    }

    #[test]
    fn all_kinds_of_content_come_through() {
        let output = of(json!({ "content": [
            {"type": "text", "text": "a"},
            {"type": "image", "data": "AQI=", "mimeType": "image/png"},
            {"type": "audio", "data": "AQI=", "mimeType": "audio/wav"},
            {"type": "resource", "resource": {"uri": "x:1", "text": "t", "mimeType": "text/x"}},
            {"type": "resource", "resource": {"uri": "x:2", "blob": "AQI="}},
            {"type": "resource_link", "uri": "x:3", "name": "n", "description": "d"},
            {"type": "image", "data": "§", "mimeType": "image/png"},
            {"type": "resource", "resource": {"uri": "x:2", "blob": "%"}},
        ]}))
        .unwrap();
        let [text, image, audio, document, blob, link, bad, worse] = output.content.as_slice() else {
            panic!("{:?}", output.content)
        };
        assert_eq!(text, &Content::text("a"));
        assert_eq!(image, &Content::image([1, 2], "image/png"));
        assert_eq!(audio, &Content::audio([1, 2], "audio/wav"));
        let Content::Resource { resource } = document else { panic!("{document:?}") };
        assert_eq!(
            (resource.uri.as_str(), resource.mime_type.as_deref(), &resource.body),
            ("x:1", Some("text/x"), &ResourceBody::Text("t".to_owned()))
        );
        assert_eq!(blob.as_bytes(), Some(&[1, 2][..]));
        assert!(matches!(link, Content::ResourceLink { uri, .. } if uri == "x:3"));
        for bad in [bad, worse] {
            assert!(bad.as_text().is_some_and(|text| text.contains("not valid Base64")), "{bad:?}");
        }
    }

    #[test]
    fn a_block_of_an_unknown_kind_is_text_and_the_others_stay() {
        let result = json!({"content": [
            {"type": "text", "text": "a"},
            {"type": "video", "data": "AQI="},
            {"type": "image", "data": 5, "mimeType": "image/png"},
            "b",
        ], "isError": false});
        let output = output(with_unknown_blocks(result).unwrap()).unwrap();
        let texts: Vec<&str> = output.content.iter().filter_map(Content::as_text).collect();
        assert_eq!(texts.len(), 4);
        assert_eq!((texts[0], texts[1], texts[3]), ("a", r#"{"type":"video","data":"AQI="}"#, r#""b""#));
        assert!(texts[2].contains(r#""data":5"#), "{texts:?}");
        for result in [json!(3), json!({"content": "x"})] {
            assert!(with_unknown_blocks(result.clone()).is_err(), "{result}");
        }
    }

    #[test]
    fn structured_content_is_text_too_unless_the_text_says_it() {
        let output = of(json!({"structuredContent": {"a": 1}})).unwrap();
        assert_eq!((output.to_text().as_str(), &output.details), (r#"{"a":1}"#, &Some(json!({"a": 1}))));
        for (text, expected) in [("one", "one\n{\"a\":1}"), ("{ \"a\": 1 }", "{ \"a\": 1 }")] {
            let both =
                of(json!({"content": [{"type": "text", "text": text}], "structuredContent": {"a": 1}}));
            assert_eq!(both.unwrap().to_text(), expected);
        }
    }

    #[test]
    fn an_error_of_the_server_is_one_here() {
        let error = of(json!({"content": [{"type": "text", "text": "no such city"}], "isError": true}));
        assert_eq!(error.unwrap_err().message(), "no such city");
        let silent = of(json!({"content": [], "isError": true})).unwrap_err();
        assert!(silent.message().contains("not why"), "{silent}");
    }
}

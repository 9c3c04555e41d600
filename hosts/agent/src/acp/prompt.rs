//! The blocks of a prompt, as a task.

use super::rpc::Fault;
use crate::request::DelegationRequest;
use data_encoding::{BASE64, BASE64_MIME_PERMISSIVE};
use serde::Deserialize;
use std::fmt::Write as _;
use toolkit::{Content, output::Bytes};

#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Block {
    Text {
        text: String,
    },
    #[serde(rename_all = "camelCase")]
    Image {
        data: String,
        mime_type: String,
    },
    #[serde(rename_all = "camelCase")]
    Audio {
        data: String,
        mime_type: String,
    },
    #[serde(rename_all = "camelCase")]
    ResourceLink {
        uri: String,
        name: String,
        #[serde(default)]
        title: Option<String>,
    },
    Resource {
        resource: Embedded,
    },
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Embedded {
    uri: String,
    #[serde(default)]
    mime_type: Option<String>,
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    blob: Option<String>,
}

/// The task of a prompt.
pub(super) fn task(blocks: Vec<Block>) -> Result<DelegationRequest, Fault> {
    let (mut text, mut files) = (String::new(), String::new());
    let mut attachments = Vec::new();
    for block in blocks {
        match block {
            Block::Text { text: more } => text.push_str(&more),
            Block::Image { data, mime_type } => {
                attachments.push(Content::Image { data: bytes(&data)?, mime_type });
            }
            Block::Audio { data, mime_type } => {
                attachments.push(Content::Audio { data: bytes(&data)?, mime_type });
            }
            Block::ResourceLink { uri, name, title } => {
                let _ = write!(text, "[{}]({})", title.unwrap_or(name), path_of(&uri));
            }
            Block::Resource { resource: Embedded { uri, mime_type, text: Some(body), .. } } => {
                let place = path_of(&uri);
                let kind = mime_type.map(|kind| format!(" type=\"{kind}\"")).unwrap_or_default();
                // The editor shows it where it is mentioned; the model reads it once, below the text.
                let _ = write!(text, "{place}");
                let _ = write!(files, "<file path=\"{place}\"{kind}>\n{body}\n</file>\n");
            }
            Block::Resource { resource: Embedded { uri, mime_type, blob: Some(blob), .. } } => {
                let data = bytes(&blob)?;
                let mime_type = mime_type.unwrap_or_else(|| "application/octet-stream".to_owned());
                let _ = write!(text, "{}", path_of(&uri));
                attachments.push(match mime_type.split('/').next() {
                    Some("image") => Content::Image { data, mime_type },
                    Some("audio") => Content::Audio { data, mime_type },
                    _ => Content::Resource {
                        resource: toolkit::output::Resource::blob(uri, data.0).with_mime_type(mime_type),
                    },
                });
            }
            Block::Resource { .. } => {
                return Err(Fault::params("an embedded resource has `text` or `blob`"));
            }
        }
    }
    if text.trim().is_empty() && attachments.is_empty() && files.is_empty() {
        return Err(Fault::params("the prompt is empty; send text"));
    }
    let mut request = DelegationRequest::new(text);
    if !files.is_empty() {
        request = request.with_context(files);
    }
    request.attachments = attachments;
    Ok(request)
}

fn bytes(text: &str) -> Result<Bytes, Fault> {
    let decoded = BASE64.decode(text.as_bytes()).or_else(|_| BASE64_MIME_PERMISSIVE.decode(text.as_bytes()));
    decoded.map(Bytes).map_err(|error| Fault::params(format!("`data` is not base64: {error}")))
}

/// The path of a `file:` URI, or else the URI.
fn path_of(uri: &str) -> String {
    let Some(path) = uri.strip_prefix("file://") else { return uri.to_owned() };
    let mut bytes = Vec::new();
    let mut rest = path.bytes();
    while let Some(byte) = rest.next() {
        let ahead = rest.clone().take(2).collect::<Vec<u8>>();
        let digits = std::str::from_utf8(&ahead).ok().filter(|digits| digits.len() == 2);
        match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(decoded) if byte == b'%' => {
                bytes.push(decoded);
                rest.nth(1);
            }
            _ => bytes.push(byte),
        }
    }
    String::from_utf8(bytes).unwrap_or_else(|_| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(blocks: serde_json::Value) -> Result<DelegationRequest, Fault> {
        task(serde_json::from_value(blocks).unwrap())
    }

    #[test]
    fn blocks_are_text_context_and_attachments() {
        let request = read(json!([
            {"type": "text", "text": "Fix "},
            {"type": "resource_link", "uri": "file:///w/a%20b.rs", "name": "a b.rs"},
            {"type": "text", "text": " as in "},
            {"type": "resource", "resource": {"uri": "file:///w/c.rs", "text": "fn c() {}", "mimeType": "text/rust"}},
            {"type": "image", "data": "AQID", "mimeType": "image/png"},
        ]))
        .unwrap();
        assert_eq!(request.task, "Fix [a b.rs](/w/a b.rs) as in /w/c.rs");
        let context = request.context.as_deref().unwrap();
        assert_eq!(context, "<file path=\"/w/c.rs\" type=\"text/rust\">\nfn c() {}\n</file>\n");
        let picture = Content::Image { data: Bytes(vec![1, 2, 3]), mime_type: "image/png".to_owned() };
        assert_eq!(request.attachments, [picture]);
    }

    #[test]
    fn an_empty_or_broken_prompt_is_refused() {
        for blocks in [
            json!([]),
            json!([{"type": "text", "text": " "}]),
            json!([{"type": "image", "data": "?", "mimeType": "image/png"}]),
            json!([{"type": "resource", "resource": {"uri": "x"}}]),
        ] {
            assert_eq!(read(blocks.clone()).unwrap_err().code, Fault::PARAMS, "{blocks}");
        }
        assert_eq!(path_of("file:///a%2"), "/a%2");
        assert_eq!(path_of("https://example.org/%20"), "https://example.org/%20");
    }
}

//! The result of a call, as rig shows it to the model.

use data_encoding::BASE64;
use rig_core::message::{ImageMediaType, MimeType as _, ToolResultContent};
use rig_core::tool::{ContextValue, ToolContext, ToolErrorKind, ToolExecutionError, ToolOutput};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::path::PathBuf;
use toolkit::{
    Content, ToolError, ToolResult,
    output::{Resource, ResourceBody, Retry},
};

/// The part of a result for hosts, which the model does not see. Hooks of rig find it with
/// [`ToolContext::result`](rig_core::tool::ToolContext::result).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct CallDetails {
    /// The call's id.
    pub id: String,
    /// The structured output, whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub details: Option<Value>,
    /// A headline for user interfaces.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Facts for user interfaces.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub metadata: Map<String, Value>,
    /// Files that the call created, changed or removed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files_modified: Vec<String>,
    /// Files that belong to the answer.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<String>,
}

impl ContextValue for CallDetails {
    const KEY: &'static str = "toolkit_call_details";
}

/// The error of a call, behind the one that rig has: `error.downcast_ref::<CallFailed>()`.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{0}")]
pub struct CallFailed(
    /// The toolkit's own error, with its kind and all problems of arguments.
    pub ToolError,
);

/// The answer to the model, with all else that was said left in the context.
pub(crate) fn answer(
    context: &mut ToolContext,
    result: ToolResult,
) -> Result<ToolOutput, ToolExecutionError> {
    let ToolResult { id, outcome, .. } = result;
    match outcome {
        Ok(output) => {
            let blocks = output.content.into_iter().map(block).collect();
            let said = CallDetails {
                id,
                details: output.details,
                title: output.title,
                metadata: output.metadata,
                files_modified: paths(&output.files_modified),
                attachments: paths(&output.attachments),
            };
            tell(context, said);
            ToolOutput::content(blocks)
        }
        Err(error) => {
            let said = CallDetails { id, title: error.title().map(str::to_owned), ..CallDetails::default() };
            tell(context, said);
            Err(failed(error))
        }
    }
}

fn tell(context: &mut ToolContext, said: CallDetails) {
    context.insert_result(said).expect("texts and JSON can be written as JSON");
}

/// Paths as text, also those that are not UTF-8.
fn paths(paths: &[PathBuf]) -> Vec<String> {
    paths.iter().map(|path| path.to_string_lossy().into_owned()).collect()
}

/// None of these ends the agent's run: the message goes to the model as the call's result.
fn failed(error: ToolError) -> ToolExecutionError {
    use toolkit::ToolErrorKind as Kind;
    let message = error.message();
    let failed = match error.kind() {
        Kind::InvalidArguments => ToolExecutionError::invalid_args(message),
        Kind::Denied => ToolExecutionError::refused(message),
        Kind::UnknownTool | Kind::NotFound => ToolExecutionError::not_found(message),
        Kind::Aborted | Kind::Interrupted => ToolExecutionError::cancelled(message),
        Kind::TimedOut => ToolExecutionError::timeout(message),
        _ => ToolExecutionError::new(ToolErrorKind::Other, message),
    };
    failed
        .with_code(error.kind().to_string())
        .with_retryable(error.retry() != Retry::Never)
        .with_source(CallFailed(error))
}

fn block(content: Content) -> ToolResultContent {
    match content {
        Content::Text { text } => ToolResultContent::text(text),
        Content::Image { data, mime_type } => match picture(&mime_type) {
            Some(media_type) => {
                ToolResultContent::image_base64(BASE64.encode(&data.0), Some(media_type), None)
            }
            None => unseen("picture", &mime_type, data.0.len()),
        },
        Content::Audio { data, mime_type } => unseen("sound", &mime_type, data.0.len()),
        Content::ResourceLink { uri, name, description, .. } => {
            let about = description.map(|description| format!(": {description}")).unwrap_or_default();
            ToolResultContent::text(format!("{name} ({uri}){about}"))
        }
        Content::Resource { resource } => {
            let Resource { uri, mime_type, body, .. } = resource;
            match body {
                ResourceBody::Text(text) => ToolResultContent::text(format!("{uri}:\n{text}")),
                ResourceBody::Blob(data) => {
                    let mime_type = mime_type.as_deref().unwrap_or("application/octet-stream");
                    unseen(&format!("document {uri}"), mime_type, data.0.len())
                }
            }
        }
        other => ToolResultContent::text(serde_json::to_string(&other).unwrap_or_default()),
    }
}

/// A picture of a kind that every provider takes; rig ends the run for one that its provider does not.
fn picture(mime_type: &str) -> Option<ImageMediaType> {
    let plain = mime_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let media_type = ImageMediaType::from_mime_type(&plain)?;
    matches!(
        media_type,
        ImageMediaType::JPEG | ImageMediaType::PNG | ImageMediaType::GIF | ImageMediaType::WEBP
    )
    .then_some(media_type)
}

fn unseen(what: &str, mime_type: &str, bytes: usize) -> ToolResultContent {
    ToolResultContent::text(format!("[a {what} that cannot be shown here: {mime_type}, {bytes} bytes]"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolkit::ToolErrorKind as Kind;

    #[test]
    fn every_kind_of_content_says_something() {
        let link = Content::ResourceLink {
            uri: "file:///a".to_owned(),
            name: "a".to_owned(),
            description: Some("notes".to_owned()),
            mime_type: None,
        };
        for (content, expected) in [
            (Content::text("hi"), "hi"),
            (
                Content::image(*b"abc", "image/tiff"),
                "[a picture that cannot be shown here: image/tiff, 3 bytes]",
            ),
            (Content::audio(*b"abc", "audio/wav"), "[a sound that cannot be shown here: audio/wav, 3 bytes]"),
            (link, "a (file:///a): notes"),
            (Content::Resource { resource: Resource::text("x:1", "body") }, "x:1:\nbody"),
            (
                Content::Resource { resource: Resource::blob("x:2", *b"abc") },
                "[a document x:2 that cannot be shown here: application/octet-stream, 3 bytes]",
            ),
        ] {
            assert_eq!(block(content).as_text(), Some(expected));
        }
        for mime_type in ["image/png", "IMAGE/PNG; q=1"] {
            let ToolResultContent::Image(image) = block(Content::image(*b"abc", mime_type)) else {
                panic!("{mime_type}")
            };
            assert_eq!(image.media_type, Some(ImageMediaType::PNG));
            assert_eq!(image.data, rig_core::message::DocumentSourceKind::Base64("YWJj".to_owned()));
        }
    }

    #[test]
    fn every_kind_of_error_keeps_what_was_wrong() {
        for (kind, expected) in [
            (Kind::InvalidArguments, ToolErrorKind::InvalidArgs),
            (Kind::Denied, ToolErrorKind::PermissionDenied),
            (Kind::UnknownTool, ToolErrorKind::NotFound),
            (Kind::NotFound, ToolErrorKind::NotFound),
            (Kind::Aborted, ToolErrorKind::Cancelled),
            (Kind::Interrupted, ToolErrorKind::Cancelled),
            (Kind::TimedOut, ToolErrorKind::Timeout),
            (Kind::Unavailable, ToolErrorKind::Other),
            (Kind::Panicked, ToolErrorKind::Other),
            (Kind::Failed, ToolErrorKind::Other),
        ] {
            let failed = failed(ToolError::new(kind, "so it was").with_retry(Retry::Now));
            assert_eq!(
                (failed.kind(), failed.code(), failed.retryable()),
                (expected, Some(&*kind.to_string()), Some(true))
            );
            assert_eq!(failed.model_feedback(), Some("so it was"));
            assert_eq!(failed.is_refusal(), kind == Kind::Denied);
            assert_eq!(failed.downcast_ref::<CallFailed>().unwrap().0.kind(), kind);
        }
    }
}

//! Converts the output of a rig tool to a tool result.

use crate::answer::CallFailed;
use data_encoding::BASE64;
use rig_core::message::{DocumentSourceKind, Image, MimeType as _, ToolResultContent};
use rig_core::tool::{ToolErrorKind as RigKind, ToolExecutionError, ToolResult};
use toolkit::{Content, ToolError, ToolErrorKind, ToolOutput, output::Retry};

pub(crate) fn output(result: ToolResult) -> Result<ToolOutput, ToolError> {
    let content = result.into_result().map_err(error)?.into_content();
    let mut output = ToolOutput::default();
    let mut values = Vec::new();
    for block in content {
        output = output.with_content(match block {
            ToolResultContent::Text(text) => Content::text(text.text),
            ToolResultContent::Image(image) => picture(image),
            ToolResultContent::Json { value } => {
                let text = format!("{value:#}");
                values.push(value);
                Content::text(text)
            }
        });
    }
    // Of several, none is the whole.
    if let [_] = values.as_slice() {
        output.details = values.pop();
    }
    Ok(output)
}

fn picture(image: Image) -> Content {
    let data = match image.data {
        DocumentSourceKind::Raw(data) => data,
        DocumentSourceKind::Base64(text) => match BASE64.decode(text.as_bytes()) {
            Ok(data) => data,
            Err(_) => return Content::text("[the tool gave a picture that is not valid Base64]"),
        },
        DocumentSourceKind::Url(uri) => {
            let mime_type = image.media_type.map(|media_type| media_type.to_mime_type().to_owned());
            return Content::ResourceLink { uri, name: "picture".to_owned(), description: None, mime_type };
        }
        _ => return Content::text("[the tool gave a picture that is kept elsewhere]"),
    };
    let stated = image.media_type.map(|media_type| media_type.to_mime_type());
    match stated.or_else(|| seen(&data)) {
        Some(mime_type) => Content::image(data, mime_type),
        None => Content::text("[the tool gave a picture and did not say of which kind it is]"),
    }
}

/// Returns the media type of an image by its first bytes.
fn seen(data: &[u8]) -> Option<&'static str> {
    match data {
        [0x89, b'P', b'N', b'G', ..] => Some("image/png"),
        [0xFF, 0xD8, 0xFF, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', ..] => Some("image/gif"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        _ => None,
    }
}

fn error(error: ToolExecutionError) -> ToolError {
    // One of a toolbox that came round by rig is what it was.
    if let Some(CallFailed(own)) = error.downcast_ref() {
        return own.clone();
    }
    let retry = if error.retryable() == Some(true) { Retry::Now } else { Retry::Never };
    let kind = match error.kind() {
        RigKind::InvalidArgs => ToolErrorKind::InvalidArguments,
        RigKind::NotFound => ToolErrorKind::NotFound,
        RigKind::PermissionDenied => ToolErrorKind::Denied,
        RigKind::Timeout => ToolErrorKind::TimedOut,
        RigKind::Cancelled => ToolErrorKind::Aborted,
        _ => ToolErrorKind::Failed,
    };
    let feedback = feedback(&error);
    let failed = ToolError::wrap(error);
    let failed = match feedback {
        Some(feedback) => failed.with_message(feedback),
        None => failed,
    };
    // Only `Failed` keeps the source error; another kind replaces it.
    let failed = match kind {
        ToolErrorKind::Failed => failed,
        kind => ToolError::new(kind, failed.message()),
    };
    failed.with_retry(retry)
}

/// Returns the error author's message to the model, if it says more than rig's general message.
fn feedback(error: &ToolExecutionError) -> Option<String> {
    let of_every = ToolExecutionError::from_error(std::fmt::Error);
    let written = error.model_output();
    let says_nothing = written == of_every.model_output() || error.model_feedback() == Some(error.message());
    (!says_nothing).then(|| written.render())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rig_core::message::ImageMediaType;
    use rig_core::tool::ToolOutput as RigOutput;
    use serde_json::json;

    fn of(output: RigOutput) -> ToolOutput {
        super::output(ToolResult::success(output)).unwrap()
    }

    fn image(data: DocumentSourceKind, media_type: Option<ImageMediaType>) -> Content {
        let image = Image { data, media_type, ..Image::default() };
        of(RigOutput::one(ToolResultContent::Image(image))).content.remove(0)
    }

    #[test]
    fn text_stays_text_and_json_is_structured() {
        let text = of(RigOutput::text(r#"{"a": 1}"#));
        assert_eq!((text.to_text().as_str(), text.details), (r#"{"a": 1}"#, None));
        let json = of(RigOutput::json(json!({"a": 1})));
        assert_eq!((json.to_text().as_str(), &json.details), ("{\n  \"a\": 1\n}", &Some(json!({"a": 1}))));
        let block = ToolResultContent::json;
        let both = vec![ToolResultContent::text("see"), block(json!([1]))];
        assert_eq!(of(RigOutput::content(both).unwrap()).details, Some(json!([1])));
        let two = of(RigOutput::content(vec![block(json!(1)), block(json!(2))]).unwrap());
        assert_eq!((two.to_text().as_str(), two.details), ("1\n2", None));
    }

    #[test]
    fn pictures_come_however_they_are_given() {
        use DocumentSourceKind as Source;
        let png = b"\x89PNG".to_vec();
        assert_eq!(
            image(Source::Base64("AQI=".into()), Some(ImageMediaType::WEBP)),
            Content::image([1, 2], "image/webp")
        );
        assert_eq!(image(Source::Raw(png.clone()), None), Content::image(png, "image/png"));
        assert!(
            matches!(image(Source::Url("https://a/b".into()), None), Content::ResourceLink { uri, .. } if uri == "https://a/b")
        );
        for (data, expected) in [
            (Source::Base64("%".into()), "not valid Base64"),
            (Source::Raw(vec![1]), "of which kind"),
            (Source::FileId("f".into()), "kept elsewhere"),
        ] {
            let content = image(data, None);
            assert!(content.as_text().is_some_and(|text| text.contains(expected)), "{content:?}");
        }
    }

    #[derive(Debug, thiserror::Error)]
    #[error("the table is locked")]
    struct Locked(#[source] std::num::ParseIntError);

    #[test]
    fn an_error_says_what_its_author_wrote_and_else_what_was_wrong() {
        let locked = || Locked("x".parse::<u8>().unwrap_err());
        let plain = ToolExecutionError::from_error(locked());
        let written = plain.clone().with_model_feedback("try again in a minute").with_retryable(true);
        let structured = plain.clone().with_model_output(RigOutput::json(json!({"left": 3})));
        for (error, expected, retry) in [
            (plain, "the table is locked: invalid digit found in string", Retry::Never),
            (written, "try again in a minute", Retry::Now),
            (structured, r#"{"left":3}"#, Retry::Never),
            (ToolExecutionError::rate_limited("too often"), "too often", Retry::Now),
        ] {
            let error = super::error(error);
            assert_eq!(
                (error.kind(), error.message(), error.retry()),
                (ToolErrorKind::Failed, expected, retry)
            );
        }
        let error = super::error(ToolExecutionError::from_error(locked()));
        let behind = error.source().unwrap().downcast_ref::<ToolExecutionError>().unwrap();
        assert!(behind.is::<Locked>());
        for (error, kind) in [
            (ToolExecutionError::invalid_args("so"), ToolErrorKind::InvalidArguments),
            (ToolExecutionError::not_found("so"), ToolErrorKind::NotFound),
            (ToolExecutionError::refused("so"), ToolErrorKind::Denied),
            (ToolExecutionError::timeout("so"), ToolErrorKind::TimedOut),
            (ToolExecutionError::cancelled("so"), ToolErrorKind::Aborted),
        ] {
            let error = super::error(error);
            assert_eq!((error.kind(), error.message()), (kind, "so"));
        }
    }
}

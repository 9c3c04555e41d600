//! Tool calls and their results.

use crate::attachment::Attachment;
pub use crate::call_arguments::{CallArguments, IntoCallArguments};
use crate::content::Content;
use crate::error::ToolError;
use crate::output::{Lossy, ToolOutput};
use crate::redact::Redactor;
use serde::de::Error as _;
use serde::ser::SerializeStruct;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value, json};
use std::fmt;
use std::path::PathBuf;

/// A tool call, as a model makes it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolCall {
    /// The id that the host or the model gave this call; the result has the same id.
    pub id: String,
    /// The tool's name.
    pub name: String,
    /// The arguments; empty if a serialised call has none.
    #[serde(default)]
    pub arguments: CallArguments,
}

impl ToolCall {
    /// Creates a call.
    ///
    /// ```
    /// use serde_json::json;
    /// use toolkit::ToolCall;
    ///
    /// let parsed = ToolCall::new("call_1", "read", json!({ "file_path": "README.md" }));
    /// let text = ToolCall::new("call_2", "read", r#"{ "file_path": "README.md" }"#);
    /// # assert_eq!(parsed.name, text.name);
    /// ```
    pub fn new(id: impl Into<String>, name: impl Into<String>, arguments: impl IntoCallArguments) -> Self {
        Self { id: id.into(), name: name.into(), arguments: arguments.into_call_arguments() }
    }
}

/// The result of a call. Every call has exactly one, whatever happens.
///
/// It is not a `Result` itself: `result.outcome` is one, for the operator `?`. `{result}` formats the text that the model gets.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ToolResult {
    /// The call's id.
    pub id: String,
    /// The tool's name, as it was called.
    pub name: String,
    /// The tool's output, or the error.
    pub outcome: Result<ToolOutput, ToolError>,
}

impl ToolResult {
    /// Returns a result, for a host that keeps conversations in a form of its own.
    pub fn new(
        id: impl Into<String>,
        name: impl Into<String>,
        outcome: Result<ToolOutput, ToolError>,
    ) -> Self {
        Self { id: id.into(), name: name.into(), outcome }
    }

    /// Redacts secrets.
    #[doc(hidden)]
    pub fn redact(&mut self, redactor: &Redactor) {
        match &mut self.outcome {
            // The error is redacted already.
            Err(_) => {}
            Ok(output) => {
                output.content.iter_mut().for_each(|content| content.redact(redactor));
                if let Some(details) = &mut output.details {
                    redactor.redact_value(details);
                }
                if let Some(title) = &mut output.title {
                    redactor.redact_string(title, usize::MAX);
                }
                redactor.redact_members(&mut output.metadata, usize::MAX);
            }
        }
    }

    /// Returns true if the call failed.
    pub fn is_error(&self) -> bool {
        self.outcome.is_err()
    }

    /// Returns the error, if the call failed.
    pub fn error(&self) -> Option<&ToolError> {
        self.outcome.as_ref().err()
    }

    /// Returns the output, if the call succeeded.
    pub fn output(&self) -> Option<&ToolOutput> {
        self.outcome.as_ref().ok()
    }

    /// Returns the text that the model gets: all text blocks, or the error's message.
    pub fn text(&self) -> String {
        match &self.outcome {
            Ok(output) => output.to_text(),
            Err(error) => error.message().to_owned(),
        }
    }

    /// Returns the blocks that the model gets.
    pub fn content(&self) -> Vec<Content> {
        match &self.outcome {
            Ok(output) => output.content.clone(),
            Err(error) => vec![Content::text(error.message())],
        }
    }

    /// Returns the structured data; for an error `{ "status": "error", "tool": …, "error": … }`.
    pub fn details(&self) -> Option<Value> {
        match &self.outcome {
            Ok(output) => output.details.clone(),
            Err(error) => Some(json!({ "status": "error", "tool": self.name, "error": error.message() })),
        }
    }
}

impl fmt::Display for ToolResult {
    /// Formats the [text](Self::text) that the model gets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text())
    }
}

impl Serialize for ToolResult {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut result = serializer.serialize_struct("ToolResult", 10)?;
        result.serialize_field("id", &self.id)?;
        result.serialize_field("name", &self.name)?;
        result.serialize_field("isError", &self.is_error())?;
        result.serialize_field("content", &self.content())?;
        if let Some(details) = self.details() {
            result.serialize_field("details", &details)?;
        }
        match &self.outcome {
            Err(error) => result.serialize_field("error", error)?,
            Ok(output) => {
                if let Some(title) = &output.title {
                    result.serialize_field("title", title)?;
                }
                if !output.metadata.is_empty() {
                    result.serialize_field("metadata", &output.metadata)?;
                }
                if !output.files_modified.is_empty() {
                    result.serialize_field("filesModified", &Lossy(&output.files_modified))?;
                }
                if !output.attachments.is_empty() {
                    result.serialize_field("attachments", &output.attached_files())?;
                }
            }
        }
        result.end()
    }
}

impl<'de> Deserialize<'de> for ToolResult {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Wire {
            id: String,
            name: String,
            is_error: bool,
            #[serde(default)]
            content: Vec<Content>,
            #[serde(default)]
            details: Option<Value>,
            #[serde(default)]
            error: Option<ToolError>,
            #[serde(default)]
            title: Option<String>,
            #[serde(default)]
            metadata: Map<String, Value>,
            #[serde(default)]
            files_modified: Vec<PathBuf>,
            #[serde(default)]
            attachments: Vec<Attachment>,
        }
        let Wire {
            id,
            name,
            is_error,
            content,
            details,
            error,
            title,
            metadata,
            files_modified,
            attachments,
        } = Wire::deserialize(deserializer)?;
        let outcome = match (is_error, error) {
            (true, Some(error)) => Err(error),
            (true, None) => return Err(D::Error::missing_field("error")),
            (false, _) => {
                let attachments = attachments.into_iter().map(|attachment| attachment.path).collect();
                Ok(ToolOutput { content, details, title, metadata, files_modified, attachments })
            }
        };
        Ok(Self { id, name, outcome })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_serialise_whole() {
        let output = ToolOutput::text("hi")
            .with_details(json!({"a": 1}))
            .with_title("t")
            .with_metadata("k", 1)
            .with_file_modified("/a")
            .with_attachment("/b");
        for outcome in [Ok(output), Ok(ToolOutput::default()), Err(ToolError::denied("no"))] {
            let result = ToolResult::new("1", "x", outcome);
            let text = serde_json::to_string(&result).unwrap();
            assert_eq!(serde_json::from_str::<ToolResult>(&text).unwrap(), result, "{text}");
        }
        let error = ToolResult::new("1", "x", Err(ToolError::denied("no")));
        assert_eq!(
            serde_json::to_value(&error).unwrap()["details"],
            json!({"status": "error", "tool": "x", "error": "no"})
        );
    }

    #[test]
    fn calls_serialise_whole() {
        for call in [ToolCall::new("1", "x", json!({"a": 1})), ToolCall::new("1", "x", "{\"a\": 1}")] {
            let text = serde_json::to_string(&call).unwrap();
            assert_eq!(serde_json::from_str::<ToolCall>(&text).unwrap(), call);
        }
        let call: ToolCall = serde_json::from_value(json!({"id": "1", "name": "x"})).unwrap();
        assert_eq!(call, ToolCall::new("1", "x", json!({})));
        assert_eq!(ToolCall::new("1", "x", json!("{}")), ToolCall::new("1", "x", "{}"));
        for arguments in [json!({"a": ["b", 1, -1, 1.5, null, true], "c": {"d": "e"}}), json!("{\"a\": 1}")] {
            let wire = json!({"id": "1", "name": "x", "arguments": arguments});
            assert_eq!(serde_json::from_value::<ToolCall>(wire).unwrap(), ToolCall::new("1", "x", arguments));
        }
        let twice =
            serde_json::from_str::<ToolCall>(r#"{"id": "1", "name": "x", "arguments": {"a": 1, "a": 2}}"#);
        assert!(twice.unwrap_err().to_string().contains("is repeated"));
    }

    #[cfg(unix)]
    #[test]
    fn a_path_that_is_no_text_is_no_obstacle() {
        use std::os::unix::ffi::OsStringExt;
        let path = PathBuf::from(std::ffi::OsString::from_vec(vec![b'a', 0xFF]));
        let output = ToolOutput::default().with_file_modified(path.clone()).with_attachment(path);
        let result = ToolResult::new("1", "x", Ok(output.clone()));
        assert_eq!(serde_json::to_value(&result).unwrap()["filesModified"], json!(["a\u{FFFD}"]));
        assert_eq!(serde_json::to_value(&output).unwrap()["attachments"], json!(["a\u{FFFD}"]));
    }
}

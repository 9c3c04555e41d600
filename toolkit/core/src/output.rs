//! The output of a tool: [`ToolOutput`], and the types that convert into it.

mod detailed;
mod value;

pub use detailed::{Detailed, Structured};

use crate::arg::schema_of;
use crate::content::Content;
use crate::error::{IntoToolError, ToolError};
use crate::schema::SchemaFn;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Map, Value};
use std::fmt;
use std::path::PathBuf;

/// The output of a successful call.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct ToolOutput {
    /// The content for the model, in order. If a tool leaves it empty, the model gets `Done.`, because some providers
    /// refuse a result without content.
    pub content: Vec<Content>,
    /// The output as structured data, for hosts and programs: whole or absent, never truncated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub details: Option<Value>,
    /// A short headline for user interfaces, such as `Found 3 files`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Facts for user interfaces.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub metadata: Map<String, Value>,
    /// Files that the call created, changed or removed.
    #[serde(skip_serializing_if = "Vec::is_empty", serialize_with = "paths")]
    pub files_modified: Vec<PathBuf>,
    /// Files that are attached to the output.
    #[serde(skip_serializing_if = "Vec::is_empty", serialize_with = "paths")]
    pub attachments: Vec<PathBuf>,
}

fn paths<S: serde::Serializer>(paths: &[PathBuf], serializer: S) -> Result<S::Ok, S::Error> {
    Lossy(paths).serialize(serializer)
}

impl ToolOutput {
    /// Returns the text, if there is nothing else in it.
    #[doc(hidden)]
    pub fn as_text_alone(&self) -> Option<&str> {
        let Self { content, details, title, metadata, files_modified, attachments } = self;
        let [Content::Text { text }] = &**content else { return None };
        let is_alone = details.is_none()
            && title.is_none()
            && metadata.is_empty()
            && files_modified.is_empty()
            && attachments.is_empty();
        is_alone.then_some(text)
    }

    /// Creates an output of one text block.
    pub fn text(text: impl Into<String>) -> Self {
        Self { content: vec![Content::text(text)], ..Self::default() }
    }

    /// Creates an output of structured data, shown to the model as indented JSON.
    ///
    /// # Errors
    ///
    /// Returns an error if `value` does not serialise to JSON, for example a map whose keys are not strings.
    pub fn json(value: impl Serialize) -> Result<Self, ToolError> {
        let details = serde_json::to_value(value)?;
        let text = serde_json::to_string_pretty(&details)?;
        Ok(Self { details: Some(details), ..Self::text(text) })
    }

    /// Appends a content block.
    #[must_use]
    pub fn with_content(mut self, block: impl Into<Content>) -> Self {
        self.content.push(block.into());
        self
    }

    /// Sets the structured data.
    #[must_use]
    pub fn with_details(mut self, details: impl Into<Value>) -> Self {
        self.details = Some(details.into());
        self
    }

    /// Sets the headline for user interfaces.
    #[must_use]
    pub fn with_title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// Adds a fact for user interfaces.
    #[must_use]
    pub fn with_metadata(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.metadata.insert(key.into(), value.into());
        self
    }

    /// Records a file that the call created, changed or removed.
    #[must_use]
    pub fn with_file_modified(mut self, path: impl Into<PathBuf>) -> Self {
        self.files_modified.push(path.into());
        self
    }

    /// Attaches a file.
    #[must_use]
    pub fn with_attachment(mut self, path: impl Into<PathBuf>) -> Self {
        self.attachments.push(path.into());
        self
    }

    /// Returns all text blocks, joined by a newline.
    pub fn to_text(&self) -> String {
        let texts: Vec<&str> = self.content.iter().filter_map(Content::as_text).collect();
        texts.join("\n")
    }
}

impl From<String> for ToolOutput {
    fn from(text: String) -> Self {
        Self::text(text)
    }
}

impl From<&str> for ToolOutput {
    fn from(text: &str) -> Self {
        Self::text(text)
    }
}

impl fmt::Display for ToolOutput {
    /// Formats the [text](Self::to_text).
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_text())
    }
}

/// A return type of a tool function.
///
/// `#[toolkit::args]` implements it for a struct or enum. Implement it for any other type of your own to define the
/// content for the model.
///
/// | type | content for the model | [`details`](ToolOutput::details) |
/// |---|---|---|
/// | `()` | `Done.` | none |
/// | `String`, `&'static str`, `Cow<'static, str>`, `char` | the text | none |
/// | `bool`, numbers of up to 64 bits | the value, as `true` or `5` | the value |
/// | a struct or enum with `#[toolkit::args]`, [`Json<T>`] | indented JSON | the JSON |
/// | `Vec<T>`, and maps from `String` to `T`, where `T` has `Serialize` and `JsonSchema` | indented JSON | the JSON |
/// | `serde_json::Value` | indented JSON | the JSON |
/// | `Option<T>` of a type in this table | that of `T`; `null` for `None` | that of `T`; `null` for `None` |
/// | [`Content`], `Vec<Content>`, [`Image`] | the blocks | none |
/// | [`ToolOutput`] | its own | its own |
/// | [`Structured<T>`] | its own | the JSON of `T`, which says the same |
/// | [`Detailed<T>`] | its own | the JSON of `T`, for hosts and programs |
/// | `Result<T, E>` of a type in this table, with an [error](IntoToolError) | that of `T` | that of `T` |
// No implementation is recommended, so that the error for a type without one shows the solution instead of listing
// types.
#[diagnostic::on_unimplemented(
    message = "a tool cannot return `{Self}`",
    label = "not something a tool can return",
    note = "on a type of your own, put `#[toolkit::args]`, also on the types within it; return any other type with `Serialize` and `JsonSchema`, such as a tuple or a set, as `Json(value)`",
    note = "a type of `chrono`, `uuid` or `url` needs the cargo feature of that name of `toolkit`, and is returned as `Json(value)`",
    note = "a tool returns `()`, a string, a number, `bool`, `Json<T>`, `Vec<T>`, a map with keys of `String`, `Option<T>`, `Image`, `Vec<Image>`, `(String, Image)`, `Content`, `Vec<Content>`, `ToolOutput`, or a `Result` of these with an error that converts into a `ToolError`; in a closure, a text or an `anyhow::Error` takes `.map_err(ToolError::wrap)`",
    note = "what comes bit by bit is sent while the tool runs, by `ctx.output()` and `ctx.progress(..)` of a parameter `ctx: &ToolContext`"
)]
pub trait IntoToolOutput: Sized {
    /// The schema of the structured data, if there is one.
    const OUTPUT_SCHEMA: Option<SchemaFn> = None;

    /// True if the content says more than the structured data, so that the data must not be shown in its place.
    const TEXT_SAYS_MORE: bool = false;

    /// Converts the function's value into the tool's output.
    ///
    /// # Errors
    ///
    /// Returns the function's own error, or an error if its value could not be serialised.
    fn into_tool_output(self) -> Result<ToolOutput, ToolError>;
}

#[diagnostic::do_not_recommend]
impl<T: IntoToolOutput, E: IntoToolError> IntoToolOutput for Result<T, E> {
    const OUTPUT_SCHEMA: Option<SchemaFn> = T::OUTPUT_SCHEMA;
    const TEXT_SAYS_MORE: bool = T::TEXT_SAYS_MORE;

    fn into_tool_output(self) -> Result<ToolOutput, ToolError> {
        self.map_err(IntoToolError::into_tool_error)?.into_tool_output()
    }
}

/// Structured data: `details` for hosts and programs, indented JSON for the model, and an output schema.
///
/// ```
/// use toolkit::prelude::*;
///
/// #[toolkit::args]
/// struct Size {
///     /// Width in pixels.
///     width: u32,
/// }
///
/// /// Measures a picture.
/// #[tool(read_only)]
/// fn measure() -> Json<Size> {
///     Json(Size { width: 640 })
/// }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Json<T>(pub T);

/// A value that [`Json`] can hold: any type with serde's `Serialize` and schemars' `JsonSchema`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be written as JSON",
    label = "`{Self}` has no `Serialize` and `JsonSchema`",
    note = "on a type of your own, put `#[toolkit::args]`, also on the types within it",
    note = "a type of `chrono`, `uuid` or `url` needs the cargo feature of that name of `toolkit`",
    note = "a picture is no JSON: return `Image`, `Vec<Image>`, `(String, Image)`, or `ToolOutput::text(text).with_content(image)`"
)]
pub trait JsonOutput: Serialize + JsonSchema {}

#[diagnostic::do_not_recommend]
impl<T: Serialize + JsonSchema> JsonOutput for T {}

#[diagnostic::do_not_recommend]
impl<T: JsonOutput> IntoToolOutput for Json<T> {
    const OUTPUT_SCHEMA: Option<SchemaFn> = Some(schema_of::<T>);

    fn into_tool_output(self) -> Result<ToolOutput, ToolError> {
        ToolOutput::json(&self.0)
    }
}

/// An image, with the path of its file if there is one.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Image {
    /// The encoded file.
    pub data: Vec<u8>,
    /// Its media type, such as `image/png`.
    pub mime_type: String,
    /// A description of the image, placed before it as text.
    pub label: Option<String>,
    /// The path of the file, shown to the model in a line `MEDIA:path`.
    pub path: Option<PathBuf>,
}

impl Image {
    /// Creates an image from an encoded file.
    pub fn new(data: impl Into<Vec<u8>>, mime_type: impl Into<String>) -> Self {
        Self { data: data.into(), mime_type: mime_type.into(), label: None, path: None }
    }

    /// Sets the description of the image.
    #[must_use]
    pub fn with_label(mut self, label: impl Into<String>) -> Self {
        self.label = Some(label.into());
        self
    }

    /// Sets the path of the file.
    #[must_use]
    pub fn with_path(mut self, path: impl Into<PathBuf>) -> Self {
        self.path = Some(path.into());
        self
    }
}

#[diagnostic::do_not_recommend]
impl IntoToolOutput for Image {
    fn into_tool_output(self) -> Result<ToolOutput, ToolError> {
        let lines: Vec<String> = self
            .label
            .into_iter()
            .chain(self.path.iter().map(|path| format!("MEDIA:{}", path.display())))
            .collect();
        let mut output = ToolOutput::default();
        if !lines.is_empty() {
            output = output.with_content(lines.join("\n"));
        }
        output.attachments.extend(self.path);
        Ok(output.with_content(Content::image(self.data, self.mime_type)))
    }
}

/// Paths that are serialised as text: a path that is not UTF-8 must not make a result unserialisable.
pub(crate) struct Lossy<'a>(pub(crate) &'a [PathBuf]);

impl Serialize for Lossy<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(|path| path.to_string_lossy()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_names_its_file() {
        let output = Image::new(*b"png", "image/png")
            .with_label("a chart")
            .with_path("/tmp/c.png")
            .into_tool_output()
            .unwrap_or_default();
        assert_eq!(output.to_text(), "a chart\nMEDIA:/tmp/c.png");
        assert_eq!(output.content[1], Content::image(*b"png", "image/png"));
        assert_eq!(output.attachments, [PathBuf::from("/tmp/c.png")]);
    }

    #[test]
    fn images_of_a_list_stand_in_their_order() {
        let images =
            vec![Image::new(*b"one", "image/png").with_path("/tmp/1.png"), Image::new(*b"two", "image/png")];
        let output = images.into_tool_output().unwrap_or_default();
        assert_eq!(output.content[1..], [*b"one", *b"two"].map(|data| Content::image(data, "image/png")));
        assert_eq!(output.attachments, [PathBuf::from("/tmp/1.png")]);
    }

    #[test]
    fn json_carries_details_and_text() {
        let output = Json(vec![1, 2]).into_tool_output().unwrap_or_default();
        assert_eq!(output.details, Some(serde_json::json!([1, 2])));
        assert_eq!(output.to_text(), "[\n  1,\n  2\n]");
    }
}

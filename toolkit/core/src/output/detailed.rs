//! Outputs whose text for the model and whose structured data are written separately.

use super::{IntoToolOutput, JsonOutput, ToolOutput};
use crate::arg::schema_of;
use crate::content::Content;
use crate::error::ToolError;
use crate::schema::SchemaFn;

/// An output with a text of its own for the model, and [details](ToolOutput::details) of a type for hosts and programs.
///
/// The text says more than the details: the lines of a file, the output of a command. So the details never replace it:
/// `Tool::output_schema` has their schema, but the tool's definition has none, and an MCP server sends
/// the text alone, because many MCP clients show a model the structured content in place of the text. Return
/// [`Structured`] if the details say all that the text says.
///
/// ```
/// use toolkit::prelude::*;
/// use toolkit::output::Detailed;
///
/// #[toolkit::args]
/// struct Lines {
///     /// Number of lines.
///     count: usize,
/// }
///
/// /// Shows the log of today.
/// #[tool(read_only)]
/// fn log() -> Detailed<Lines> {
///     let text = "started\nstopped";
///     Detailed::new(ToolOutput::text(text), Lines { count: text.lines().count() })
/// }
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Detailed<T> {
    /// The output, whose own `details` are replaced.
    pub output: ToolOutput,
    /// The details; `None` for an output without details.
    pub details: Option<T>,
}

impl<T> Detailed<T> {
    /// Creates an output with details.
    pub fn new(output: ToolOutput, details: T) -> Self {
        Self { output, details: Some(details) }
    }

    /// Appends a content block.
    #[must_use]
    pub fn with_content(self, block: impl Into<Content>) -> Self {
        Self { output: self.output.with_content(block), ..self }
    }

    /// Converts the details to a type that includes theirs.
    pub fn map<U>(self, convert: impl FnOnce(T) -> U) -> Detailed<U> {
        Detailed { output: self.output, details: self.details.map(convert) }
    }
}

#[diagnostic::do_not_recommend]
impl<T: JsonOutput> IntoToolOutput for Detailed<T> {
    const OUTPUT_SCHEMA: Option<SchemaFn> = Some(schema_of::<T>);
    const TEXT_SAYS_MORE: bool = true;

    fn into_tool_output(self) -> Result<ToolOutput, ToolError> {
        let details = self.details.as_ref().map(serde_json::to_value).transpose()?;
        Ok(ToolOutput { details, ..self.output })
    }
}

/// Structured data with a text of its own that says the same, usually in fewer tokens than the indented JSON of
/// [`Json`](super::Json).
///
/// Either may be shown to a model: an MCP server states the schema of the data and sends both.
///
/// ```
/// use toolkit::prelude::*;
/// use toolkit::output::Structured;
///
/// #[toolkit::args]
/// struct Size {
///     /// Width in pixels.
///     width: u32,
///     /// Height in pixels.
///     height: u32,
/// }
///
/// /// Measures a picture.
/// #[tool(read_only)]
/// fn measure() -> Structured<Size> {
///     Structured::new(ToolOutput::text("640 × 480"), Size { width: 640, height: 480 })
/// }
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Structured<T> {
    /// The output, whose own `details` are replaced.
    pub output: ToolOutput,
    /// The data.
    pub data: T,
}

impl<T> Structured<T> {
    /// Creates an output with structured data.
    pub fn new(output: ToolOutput, data: T) -> Self {
        Self { output, data }
    }
}

#[diagnostic::do_not_recommend]
impl<T: JsonOutput> IntoToolOutput for Structured<T> {
    const OUTPUT_SCHEMA: Option<SchemaFn> = Some(schema_of::<T>);

    fn into_tool_output(self) -> Result<ToolOutput, ToolError> {
        Ok(ToolOutput { details: Some(serde_json::to_value(&self.data)?), ..self.output })
    }
}

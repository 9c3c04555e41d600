//! Results of calls: content, errors for the model, how long output is cut, and where the whole of it is kept.

pub use crate::cut::{Cut, CutHint, LeftOutMedia, OutputLimits, OutputLocation, Part, Position};
#[cfg(feature = "runtime")]
pub use crate::kept_output::{KeptOutput, OutputCount, OutputReader, ShownOutput};
pub use crate::output_store::{OutputStoreSettings, SweepReport};
pub use crate::sink::OutputSink;
pub use toolkit_core::{
    Attachment, Bytes, Detailed, IntoToolError, IntoToolOutput, JsonOutput, Keep, Message, MessageRole,
    Resource, ResourceBody, Retry, SharedError, Structured, Truncate,
};

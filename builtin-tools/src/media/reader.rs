//! Models that look at pictures.

use std::pin::Pin;
use toolkit::{Caller, ToolError};

/// Future returned by [`PictureReader::describe`].
pub type Describing<'a> = Pin<Box<dyn Future<Output = Result<String, ToolError>> + Send + 'a>>;

/// A question about a picture.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct PictureQuestion<'a> {
    /// The picture, a PNG file of at most 2,048 pixels a side, without metadata.
    pub png: &'a [u8],
    /// The question.
    pub prompt: &'a str,
    /// On whose behalf it is asked.
    pub caller: &'a Caller,
}

impl<'a> PictureQuestion<'a> {
    pub(super) fn new(png: &'a [u8], prompt: &'a str, caller: &'a Caller) -> Self {
        Self { png, prompt, caller }
    }
}

/// A model that looks at a picture and answers a question about it. A host provides one as the service `dyn PictureReader`; `image` with
/// `describe` asks it unless `tools.image.vision` is configured.
///
/// ```
/// use builtin_tools::media::{Describing, PictureQuestion, PictureReader};
/// use std::sync::Arc;
/// use toolkit::Toolkit;
///
/// struct Counter;
///
/// impl PictureReader for Counter {
///     fn name(&self) -> &str {
///         "counter"
///     }
///
///     fn describe<'a>(&'a self, question: PictureQuestion<'a>) -> Describing<'a> {
///         Box::pin(async move { Ok(format!("a picture of {} bytes", question.png.len())) })
///     }
/// }
///
/// let builder = Toolkit::builder().shared_service::<dyn PictureReader>(Arc::new(Counter));
/// # let _ = builder;
/// ```
pub trait PictureReader: Send + Sync {
    /// Returns the name by which the person who approves the call knows the model. Rules of the kind `image` match it.
    fn name(&self) -> &str;

    /// Answers.
    fn describe<'a>(&'a self, question: PictureQuestion<'a>) -> Describing<'a>;
}

//! Models that answer questions about pages.

use std::pin::Pin;
use toolkit::{Caller, ToolError};

/// Future returned by [`PageReader::read`].
pub type Reading<'a> = Pin<Box<dyn Future<Output = Result<String, ToolError>> + Send + 'a>>;

/// A question about a page.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct PageQuestion<'a> {
    /// The page's address.
    pub url: &'a str,
    /// Title of the page, if it has one.
    pub title: Option<&'a str>,
    /// Text of the page, as far as the call asked for it. Untrusted: it may contain prompt injection.
    pub text: &'a str,
    /// The question.
    pub prompt: &'a str,
    /// On whose behalf it is asked.
    pub caller: &'a Caller,
}

impl<'a> PageQuestion<'a> {
    pub(super) fn new(
        url: &'a str,
        title: Option<&'a str>,
        text: &'a str,
        prompt: &'a str,
        caller: &'a Caller,
    ) -> Self {
        Self { url, title, text, prompt, caller }
    }
}

/// A model that reads a page and answers a question about it. A host provides one as the service `dyn PageReader`; then `web_fetch`
/// with `prompt` returns its answer instead of the page.
///
/// ```
/// use builtin_tools::web::{PageQuestion, PageReader, Reading};
/// use std::sync::Arc;
/// use toolkit::Toolkit;
///
/// struct FirstLine;
///
/// impl PageReader for FirstLine {
///     fn read<'a>(&'a self, question: PageQuestion<'a>) -> Reading<'a> {
///         Box::pin(async move { Ok(question.text.lines().next().unwrap_or_default().to_owned()) })
///     }
/// }
///
/// let builder = Toolkit::builder().shared_service::<dyn PageReader>(Arc::new(FirstLine));
/// # let _ = builder;
/// ```
pub trait PageReader: Send + Sync {
    /// Answers.
    fn read<'a>(&'a self, question: PageQuestion<'a>) -> Reading<'a>;
}

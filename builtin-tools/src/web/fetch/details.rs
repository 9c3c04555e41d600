//! The structured output of `web_fetch`.

/// The facts about a page that was fetched.
#[toolkit::args]
#[derive(Debug, Clone, PartialEq, Eq)]
#[serde(untagged)]
pub enum PageDetails {
    /// A page with text.
    Text(PageText),
    /// A picture.
    Picture(PagePicture),
}

/// The part of a page that was returned.
#[toolkit::args]
#[derive(Debug, Clone, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct PageText {
    /// The final URL, after redirects.
    pub url: String,
    /// The title; null if there is none.
    pub title: Option<String>,
    /// The media type of the response.
    pub media_type: String,
    /// Number of characters of the page.
    pub total_chars: usize,
    /// The first returned character, counted from 0.
    pub offset: usize,
    /// The `offset` of the next part; null if there is none.
    pub next_offset: Option<usize>,
}

/// A picture that was fetched.
#[toolkit::args]
#[derive(Debug, Clone, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct PagePicture {
    /// The final URL, after redirects.
    pub url: String,
    /// The media type of the picture.
    pub media_type: String,
    /// Size of the picture in bytes.
    pub bytes: usize,
}

//! The structured output of `browser`.

/// The page after an action, and the events since the last call.
#[toolkit::args]
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[serde(rename_all = "camelCase")]
pub struct BrowserDetails {
    /// The action.
    pub action: String,
    /// The address of the page.
    pub url: String,
    /// The title of the page; empty if it has none.
    pub title: String,
    /// The tab, such as `t1`.
    pub tab: String,
    /// The downloads that ended.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub downloads: Vec<BrowserDownload>,
    /// The dialogs that the page opened.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dialogs: Vec<BrowserDialog>,
    /// The tabs that the page opened.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub new_tabs: Vec<BrowserTab>,
    /// The requests that were refused.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refused: Vec<BrowserRefusal>,
}

/// A download that ended.
#[toolkit::args]
#[derive(Debug, Clone, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct BrowserDownload {
    /// The name that the page suggests.
    pub name: String,
    /// Size in bytes.
    pub bytes: u64,
    /// The path of the saved file, relative to the workspace; null if it was not saved.
    pub path: Option<String>,
}

/// A dialog that the page opened.
#[toolkit::args]
#[derive(Debug, Clone, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct BrowserDialog {
    /// The type: `alert`, `confirm`, `prompt` or `beforeunload`.
    #[serde(rename = "type")]
    pub kind: String,
    /// The message of the page.
    pub message: String,
    /// The answer that was given.
    pub answer: String,
}

/// A tab that the page opened.
#[toolkit::args]
#[derive(Debug, Clone, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct BrowserTab {
    /// The tab, such as `t2`.
    pub tab: String,
    /// The address of its page; empty if it did not come in time.
    pub url: String,
}

/// A refused request.
#[toolkit::args]
#[derive(Debug, Clone, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct BrowserRefusal {
    /// The address.
    pub target: String,
    /// The reason.
    pub reason: String,
}

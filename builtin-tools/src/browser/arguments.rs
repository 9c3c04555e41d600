//! The arguments of the tool.

use super::element::Locator;
use toolkit::{ToolError, ToolErrorKind};

/// An action.
#[toolkit::args]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum BrowserAction {
    /// Opens `url` in the tab.
    Navigate,
    /// Clicks an element.
    Click,
    /// Types `text` into a field, in place of what it holds.
    Type,
    /// Presses a `key`, in an element if one is named.
    Press,
    /// Chooses `values` in a list.
    Select,
    /// Moves the mouse over an element.
    Hover,
    /// Drags an element to another one: `to_ref` or `to_selector`.
    Drag,
    /// Gives the files `files` to a file input. A person is asked each time.
    Upload,
    /// Scrolls the page, or an element into view.
    Scroll,
    /// Waits for an element or for `text` to be visible, or to be `gone`, or for an `address`; with none, for the page.
    Wait,
    /// Goes back to the page before.
    Back,
    /// Returns the page as a tree of its elements, each with a ref for the next actions.
    Snapshot,
    /// Returns a picture of the page, or of an element.
    Screenshot,
    /// Writes the page as a PDF file to `path`.
    Pdf,
    /// Returns the messages of the page's console since the last call.
    Console,
    /// Lists the tabs.
    Tabs,
    /// Opens a new tab, with `url` where one is given.
    Open,
    /// Closes `tab`, or without one the whole browser.
    Close,
    /// Runs `script` in the page and returns its value. A person is asked each time.
    Evaluate,
}

/// A direction.
#[toolkit::args]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum BrowserDirection {
    /// Down.
    Down,
    /// Up.
    Up,
    /// To the right.
    Right,
    /// To the left.
    Left,
}

/// A button of the mouse.
#[toolkit::args]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum BrowserButton {
    /// The usual one.
    Left,
    /// The wheel.
    Middle,
    /// The one of the context menu.
    Right,
}

/// How a dialog is answered.
#[toolkit::args]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum BrowserDialogAnswer {
    /// With "OK".
    Accept,
    /// With "Cancel".
    Dismiss,
}

/// The arguments of `browser`.
#[toolkit::args]
#[expect(clippy::struct_excessive_bools, reason = "each is an argument of its own")]
pub struct BrowserArguments {
    /// Action to take.
    pub action: BrowserAction,
    /// The address, with `https://` or `http://`. Any action opens it first.
    #[arg(length(1..=8192), example = "https://example.com/")]
    pub url: Option<String>,
    /// The element, by its ref in the last snapshot: `e5`.
    #[arg(length(1..=20))]
    pub r#ref: Option<String>,
    /// The element, by a CSS selector, `text=…` or `xpath=…`.
    #[arg(length(1..=2000), example = "#search input")]
    pub selector: Option<String>,
    /// The text to type, or to wait for.
    #[arg(length(..=100_000))]
    pub text: Option<String>,
    /// A part of the tab's address to wait for.
    #[arg(length(1..=2000))]
    pub address: Option<String>,
    /// The key to press, as `Enter`, `ArrowDown` or `Control+A`.
    #[arg(length(1..=50))]
    pub key: Option<String>,
    /// Values or labels to choose in a list.
    #[arg(length(1..=100))]
    pub values: Option<Vec<String>>,
    /// Where to drag to, by a ref.
    #[arg(length(1..=20))]
    pub to_ref: Option<String>,
    /// Where to drag to, by a selector.
    #[arg(length(1..=2000))]
    pub to_selector: Option<String>,
    /// The files to upload.
    #[arg(length(1..=20))]
    pub files: Option<Vec<String>>,
    /// Where to write the PDF file or the picture.
    #[arg(length(1..))]
    pub path: Option<String>,
    /// The script. Its last expression is the value; it may use `await`.
    #[arg(length(1..=100_000))]
    pub script: Option<String>,
    /// The tab, as `t2`. Without it, the one used last.
    #[arg(length(1..=12))]
    pub tab: Option<String>,
    /// Where to scroll to.
    #[arg(default = BrowserDirection::Down)]
    pub direction: BrowserDirection,
    /// How far to scroll, in pixels.
    #[arg(range(1..=100_000))]
    pub amount: Option<u32>,
    /// The button to click with.
    #[arg(default = BrowserButton::Left)]
    pub button: BrowserButton,
    /// Clicks twice.
    #[arg(default = false)]
    pub double: bool,
    /// Presses Enter after typing.
    #[arg(default = false)]
    pub submit: bool,
    /// Types after what the field holds.
    #[arg(default = false)]
    pub append: bool,
    /// Waits until the element or text is gone.
    #[arg(default = false)]
    pub gone: bool,
    /// Returns only what changed since the last snapshot.
    #[arg(default = false)]
    pub diff: bool,
    /// Takes a picture of the whole page, beyond what is visible.
    #[arg(default = false)]
    pub full_page: bool,
    /// The most characters of text from the page. The whole is kept in a file.
    #[arg(default = 20_000, range(500..=100_000))]
    pub max_chars: usize,
    /// How dialogs are answered that this action opens.
    pub dialog: Option<BrowserDialogAnswer>,
    /// The answer to a dialog that asks for a text.
    #[arg(length(..=2000))]
    pub dialog_text: Option<String>,
    /// How long to wait for an element or text, in milliseconds.
    #[arg(range(1..=120_000))]
    pub timeout_ms: Option<u64>,
}

impl BrowserAction {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Navigate => "navigate",
            Self::Click => "click",
            Self::Type => "type",
            Self::Press => "press",
            Self::Select => "select",
            Self::Hover => "hover",
            Self::Drag => "drag",
            Self::Upload => "upload",
            Self::Scroll => "scroll",
            Self::Wait => "wait",
            Self::Back => "back",
            Self::Snapshot => "snapshot",
            Self::Screenshot => "screenshot",
            Self::Pdf => "pdf",
            Self::Console => "console",
            Self::Tabs => "tabs",
            Self::Open => "open",
            Self::Close => "close",
            Self::Evaluate => "evaluate",
        }
    }

    /// The verb of a title.
    pub(super) fn verb(self) -> &'static str {
        match self {
            Self::Navigate | Self::Open => "Open",
            Self::Click => "Click",
            Self::Type => "Type into",
            Self::Press => "Press",
            Self::Select => "Select in",
            Self::Hover => "Hover over",
            Self::Drag => "Drag",
            Self::Upload => "Upload",
            Self::Scroll => "Scroll",
            Self::Wait => "Wait for",
            Self::Back => "Go back in the browser",
            Self::Snapshot => "Read the page",
            Self::Screenshot => "Take a picture of the page",
            Self::Pdf => "Print the page",
            Self::Console => "Read the console",
            Self::Tabs => "List the tabs",
            Self::Close => "Close the browser",
            Self::Evaluate => "Run a script",
        }
    }
}

impl BrowserArguments {
    /// The object that a title names after the verb.
    pub(super) fn subject(&self) -> &str {
        let named = || self.r#ref.as_deref().or(self.selector.as_deref());
        let subject = match self.action {
            BrowserAction::Navigate | BrowserAction::Open => self.url.as_deref(),
            BrowserAction::Press => self.key.as_deref(),
            BrowserAction::Wait => named().or(self.text.as_deref()).or(self.address.as_deref()),
            BrowserAction::Evaluate => self.script.as_deref(),
            BrowserAction::Pdf => self.path.as_deref(),
            BrowserAction::Close => self.tab.as_deref(),
            BrowserAction::Upload => self.files.as_deref().and_then(<[String]>::first).map(String::as_str),
            _ => named(),
        };
        subject.or(self.url.as_deref()).unwrap_or_default()
    }

    /// The element that is named.
    pub(super) fn locator(&self) -> Result<Option<Locator>, ToolError> {
        either(self.r#ref.as_deref(), self.selector.as_deref(), "ref", "selector")
    }

    /// The element that is named, for an action that needs one.
    pub(super) fn needed_locator(&self) -> Result<Locator, ToolError> {
        self.locator()?.ok_or_else(|| self.missing("an element: `ref` from a `snapshot`, or `selector`"))
    }

    /// The element that is dragged to.
    pub(super) fn destination(&self) -> Result<Locator, ToolError> {
        let to = either(self.to_ref.as_deref(), self.to_selector.as_deref(), "to_ref", "to_selector")?;
        to.ok_or_else(|| self.missing("where to drag to: `to_ref` or `to_selector`"))
    }

    /// An argument that the action needs.
    pub(super) fn needed<'a, T: ?Sized>(
        &self,
        argument: Option<&'a T>,
        name: &str,
    ) -> Result<&'a T, ToolError> {
        argument.ok_or_else(|| self.missing(&format!("`{name}`")))
    }

    fn missing(&self, what: &str) -> ToolError {
        invalid(format!("`{}` needs {what}", self.action.name()))
    }

    /// Checks that the action has what it needs, before anything is done.
    ///
    /// # Errors
    ///
    /// `InvalidArguments`, naming what is missing.
    pub(super) fn check(&self) -> Result<(), ToolError> {
        use BrowserAction as Action;
        match self.action {
            Action::Navigate => self.needed(self.url.as_deref(), "url").map(drop),
            Action::Click | Action::Hover => self.needed_locator().map(drop),
            Action::Type => self.needed_locator().and(self.needed(self.text.as_deref(), "text").map(drop)),
            Action::Press => {
                self.locator()?;
                let key = self.needed(self.key.as_deref(), "key")?;
                super::input::chord(key).map(drop).map_err(|error| invalid(format!("`key`: {error}")))
            }
            Action::Select => {
                self.needed_locator().and(self.needed(self.values.as_deref(), "values").map(drop))
            }
            Action::Drag => self.needed_locator().and(self.destination().map(drop)),
            Action::Upload => self.locator().and(self.needed(self.files.as_deref(), "files").map(drop)),
            Action::Evaluate => self.needed(self.script.as_deref(), "script").map(drop),
            _ => self.locator().map(drop),
        }
    }
}

fn either(
    name: Option<&str>,
    selector: Option<&str>,
    name_key: &str,
    selector_key: &str,
) -> Result<Option<Locator>, ToolError> {
    match (name, selector) {
        (Some(_), Some(_)) => {
            Err(invalid(format!("`{name_key}` and `{selector_key}` name one element; give one of them")))
        }
        (Some(name), None) => Ok(Some(Locator::Ref(name.to_owned()))),
        (None, Some(selector)) => Ok(Some(Locator::Selector(selector.to_owned()))),
        (None, None) => Ok(None),
    }
}

/// An error of the arguments.
pub(super) fn invalid(message: impl Into<String>) -> ToolError {
    ToolError::new(ToolErrorKind::InvalidArguments, message.into())
}

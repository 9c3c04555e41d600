//! The markup of platforms. A further one is a variant here and a module like [`html`], with an arm in each function.

use super::bounds::Bounds;
use super::html;
use super::rich::{Element, Rich};

/// The markup of a platform.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Markup {
    /// None. Links and quotes are shown in the text.
    Plain,
    /// HTML as Telegram's Bot API takes it: `b`, `i`, `s`, `code`, `pre`, `a` and `blockquote`.
    Html,
}

impl Markup {
    /// Returns the limits, or `None` if there is no markup.
    pub(super) fn bounds(self) -> Option<Bounds> {
        match self {
            Self::Plain => None,
            Self::Html => Some(html::BOUNDS),
        }
    }

    /// Returns true if a text can link to a destination that it does not show.
    pub(super) fn has_links(self) -> bool {
        match self {
            Self::Plain => false,
            Self::Html => true,
        }
    }

    /// Returns true if quotes are elements, one without another in it.
    pub(super) fn has_quotes(self) -> bool {
        match self {
            Self::Plain => false,
            Self::Html => true,
        }
    }

    /// Returns true if code is an element.
    pub(super) fn has_code(self) -> bool {
        match self {
            Self::Plain => false,
            Self::Html => true,
        }
    }

    /// Appends the begin of an element.
    pub(super) fn open(self, element: Element, rich: &Rich, out: &mut String) {
        match self {
            Self::Plain => {}
            Self::Html => html::open(element, rich, out),
        }
    }

    /// Appends the end of an element.
    pub(super) fn close(self, element: Element, rich: &Rich, out: &mut String) {
        match self {
            Self::Plain => {}
            Self::Html => html::close(element, rich, out),
        }
    }

    /// Appends text.
    pub(super) fn text(self, text: &str, out: &mut String) {
        match self {
            Self::Plain => out.push_str(text),
            Self::Html => html::escape(text, out),
        }
    }

    /// Returns the bytes of a text in the markup.
    pub(super) fn escaped_len(self, text: &str) -> usize {
        let mut out = String::new();
        self.text(text, &mut out);
        out.len()
    }
}

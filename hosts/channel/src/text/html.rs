//! HTML as Telegram's Bot API takes it.
//!
//! An unknown tag, an unclosed one or a bare `&` makes the whole message fail, so tags come from one function alone, and all text is escaped.
//! Telegram lets no element be combined with `code` and `pre`, and no quote be within another: the text that is read has such looks flat.

use super::bounds::Bounds;
use super::rich::{Element, Rich};

/// The most bytes of a part's HTML: Telegram cuts texts near 35,000 bytes, and the server of the Bot API refuses them at a similar length. A
/// text of 4,096 UTF-16 units has at most 20,480 bytes after escaping.
pub const MAX_HTML_BYTES: usize = 30_000;

/// The most bytes of a part's tags, with the destinations of its links. Telegram refuses a message whose elements have more than about 9,500
/// bytes in all.
pub const MAX_HTML_TAG_BYTES: usize = 8_000;

/// The most elements of a part. Telegram ignores those after the hundredth, among which it counts the addresses and names that it finds in
/// the text by itself.
pub const MAX_HTML_ELEMENTS: usize = 90;

pub(super) const BOUNDS: Bounds =
    Bounds { bytes: MAX_HTML_BYTES, tag_bytes: MAX_HTML_TAG_BYTES, elements: MAX_HTML_ELEMENTS };

/// Appends the tags that begin an element.
pub(super) fn open(element: Element, rich: &Rich, out: &mut String) {
    match element {
        Element::Link(link) => {
            out.push_str("<a href=\"");
            escape(rich.destination(link), out);
            out.push_str("\">");
        }
        Element::Block(block) => match rich.language(block) {
            Some(language) => {
                out.push_str("<pre><code class=\"language-");
                escape(language, out);
                out.push_str("\">");
            }
            None => out.push_str("<pre>"),
        },
        Element::Quote(_) => out.push_str("<blockquote>"),
        Element::Bold => out.push_str("<b>"),
        Element::Italic => out.push_str("<i>"),
        Element::Strike => out.push_str("<s>"),
        Element::Code => out.push_str("<code>"),
    }
}

/// Appends the tags that end an element.
pub(super) fn close(element: Element, rich: &Rich, out: &mut String) {
    out.push_str(match element {
        Element::Link(_) => "</a>",
        Element::Block(block) if rich.language(block).is_some() => "</code></pre>",
        Element::Block(_) => "</pre>",
        Element::Quote(_) => "</blockquote>",
        Element::Bold => "</b>",
        Element::Italic => "</i>",
        Element::Strike => "</s>",
        Element::Code => "</code>",
    });
}

/// Appends text, which has the same form in an attribute.
pub(super) fn escape(text: &str, out: &mut String) {
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            other => out.push(other),
        }
    }
}

//! Turns an agent's answer, which is Markdown, into parts that a platform takes.
//!
//! [`split`] reads `CommonMark` with the tables, task lists, strikethrough and footnotes of GitHub, and returns [`Part`]s. Each has the text
//! that a person reads, and the same text in the platform's markup. Both have the same division, so a part whose markup a platform refuses
//! is sent as its [`plain`](Part::plain) text, and no other part changes.
//!
//! ```text
//! Markdown ──read──► text, with the look of each stretch ──split──► ranges of the text ──write──► parts
//! ```
//!
//! A part is a range of the text of the whole answer ([`plain`]). Nothing is lost, repeated or moved, with one exception: white space at the
//! ends of a part, except the indentation of its first line, and stretches that have no visible character at all, are left out. So for the
//! parts `p1 … pn` of an answer with the text `t`, there are texts `g0 … gn` of white space and [invisible](is_blank) characters alone, and
//! `t` is `g0 p1 g1 p2 … pn gn`.
//!
//! An answer is cut, in this order of preference, between paragraphs, lines, sentences and words, and within a word between grapheme
//! clusters. Markup that is open at a cut is closed before it and opened again after it: code blocks with their language, links with their
//! destination.
//!
//! | Markdown | text | look, where the [`Markup`] has it |
//! |---|---|---|
//! | heading | a line | bold |
//! | list, task list | lines with `•`, `◦`, `▪`, `1.`, `☐` or `☑`, indented | |
//! | quote | its text; within another one, or in markup without quotes, lines with `> ` | quote |
//! | code | its text | code, code block with its language |
//! | table | aligned columns | code block |
//! | link, image | its text; the destination follows in brackets if the look is not available | link |
//! | footnote | `[1]`, and `[1]: text` where it is defined | |
//! | rule | a line of dashes | |
//! | HTML | its source | |
//!
//! The time is linear in the length of the answer, and no step is recursive, whatever the answer nests.

mod blank;
mod bounds;
mod destination;
mod html;
mod lines;
mod markup;
mod parts;
mod read;
mod rich;
mod style;
mod table;
mod unit;
mod write;

pub use blank::is_blank;
pub use html::{MAX_HTML_BYTES, MAX_HTML_ELEMENTS, MAX_HTML_TAG_BYTES};
pub use markup::Markup;
pub use read::MAX_MARKDOWN;
pub use style::{Part, Style};
pub use unit::Unit;

/// Splits an answer into parts within the limits of a platform. An answer without a visible character has no parts.
pub fn split(markdown: &str, style: &Style) -> Vec<Part> {
    parts::parts(&read::read(markdown, style.markup), style)
}

/// Returns the text of a whole answer without markup, as a person reads it. The markup decides whether links and quotes are shown in the
/// text.
pub fn plain(markdown: &str, markup: Markup) -> String {
    read::read(markdown, markup).into_text()
}

//! The main content of a page, as Markdown or plain text.
//!
//! ```text
//! html → tidy      scripts, hidden parts and embedded objects out; links absolute; code in one form
//!      → trimmed   the page without what pages have around their content, by names and then by shape
//!      → article   the part of it that readability finds
//!      → choice    the article, unless it lost too much of the trimmed page or a block of code
//! ```

mod choice;
mod links;
mod parse;
mod shape;
mod tidy;
mod trim;

use choice::Candidate;
use dom_query::Document;
use dom_smoothie::{CandidateSelectMode, Config, Readability};
use std::borrow::Cow;

/// Maximum size in bytes of a page whose main content is extracted. A larger one is returned whole, as plain text.
const MAX_HTML_BYTES: usize = 3 << 20;
/// Maximum number of elements of such a page.
const MAX_ELEMENTS: usize = 60_000;
/// The deepest nesting of such a page.
const MAX_DEPTH: usize = 200;

/// Number of bytes of a page in which its title is searched for.
const TITLE_WITHIN_BYTES: usize = 64 << 10;

/// The content of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExtractedPage {
    /// Title of the page.
    pub title: Option<String>,
    /// The main content.
    pub text: String,
    /// A note for the reader, such as that the whole page is returned.
    pub note: Option<&'static str>,
}

/// The form of a content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Markdown,
    Text,
}

/// Extracts the main content of an HTML page as Markdown, with absolute links, tables and fenced code.
///
/// ```
/// let html = "<html><head><title>Notes</title></head><body><nav>Home</nav><main><h1>Notes</h1><p>See <a href='/b'>b</a>.</p></main>";
/// let page = builtin_tools::web::extract_page(html, "https://example.com/a");
/// assert_eq!(page.title.as_deref(), Some("Notes"));
/// assert!(page.text.contains("[b](https://example.com/b)") && !page.text.contains("Home"));
/// ```
pub fn extract_page(html: &str, url: &str) -> ExtractedPage {
    extract(html, url, Form::Markdown)
}

/// The title of a page, from its beginning.
pub(super) fn title(html: &str) -> Option<String> {
    title_of(&parse::parse(&html[..html.floor_char_boundary(TITLE_WITHIN_BYTES)]).0)
}

pub(super) fn extract(html: &str, url: &str, form: Form) -> ExtractedPage {
    let (document, is_complete) = parse::parse(html);
    let title = title_of(&document);
    if !is_complete || html.len() > MAX_HTML_BYTES || tidy::is_too_large(&document, MAX_ELEMENTS, MAX_DEPTH) {
        let text = tidy::plain_text(&document);
        return ExtractedPage {
            title,
            text,
            note: Some(if is_complete {
                "the page is too large for its main content to be found: this is all of its text"
            } else {
                "the page has too many elements: this is the text of its beginning"
            }),
        };
    }
    tidy::tidy(&document);
    links::make_absolute(&document, url);
    trim::trim(&document);
    shape::trim(&document);
    tidy::unfold_tables(&document);
    // Readability changes its document, so each attempt gets a copy.
    let html = document.html().to_string();
    let trimmed = Candidate::of(document);
    let tries = [CandidateSelectMode::Readability, CandidateSelectMode::DomSmoothie];
    let articles = tries.into_iter().filter_map(|mode| article(&html, mode));
    let chosen = choice::choose(articles, trimmed);
    let text = rendered(&chosen, form);
    let note =
        text.is_empty().then_some("the page has no text of its own: it may need a browser to be shown");
    ExtractedPage { title, text, note }
}

fn article(html: &str, mode: CandidateSelectMode) -> Option<Candidate> {
    let config = Config {
        keep_classes: true,
        candidate_select_mode: mode,
        disable_json_ld: true,
        ..Config::default()
    };
    let article = Readability::with_document(Document::from(html), None, Some(config)).ok()?.parse().ok()?;
    Some(Candidate::of(Document::fragment(article.content)))
}

fn rendered(content: &Document, form: Form) -> String {
    let text = match form {
        Form::Markdown => content.md(None),
        Form::Text => content.formatted_text(),
    };
    squeezed(&text)
}

/// A text without white space at the ends of lines and without more than one empty line in a row, but for code.
fn squeezed(text: &str) -> String {
    let mut squeezed = String::with_capacity(text.len());
    let (mut empty, mut fence) = (0, None::<String>);
    for line in text.lines() {
        let ticks: String = line.trim_start().chars().take_while(|char| *char == '`').collect();
        match &fence {
            Some(open) if line.trim() == open => fence = None,
            None if ticks.len() >= 3 => fence = Some(ticks),
            _ => {}
        }
        let kept = if fence.is_some() { line } else { line.trim_end() };
        empty = if kept.is_empty() { empty + 1 } else { 0 };
        if empty > 1 && fence.is_none() || kept.is_empty() && squeezed.is_empty() {
            continue;
        }
        if fence.is_some() {
            squeezed.push_str(kept);
        } else {
            squeezed.push_str(&plain_links(kept));
        }
        // Two spaces at the end of a line break it, in Markdown.
        if fence.is_none() && line.ends_with("  ") && !kept.is_empty() {
            squeezed.push_str("  ");
        }
        squeezed.push('\n');
    }
    squeezed.truncate(squeezed.trim_end().len());
    squeezed
}

/// Returns a line whose link destinations have `&` instead of `&amp;`: a model uses them literally.
fn plain_links(line: &str) -> Cow<'_, str> {
    if !line.contains("](") || !line.contains("&amp;") {
        return Cow::Borrowed(line);
    }
    let mut parts = line.split("](");
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (address, rest) = part.split_at(part.find(')').unwrap_or(part.len()));
        plain.push_str("](");
        plain.push_str(&address.replace("&amp;", "&"));
        plain.push_str(rest);
    }
    Cow::Owned(plain)
}

/// Returns `<title>`, else the title for social networks, else the first heading.
fn title_of(document: &Document) -> Option<String> {
    let of = |selector: &str, attribute: Option<&str>| {
        let found = document.select_single(selector);
        let text = match attribute {
            Some(name) => found.attr(name)?,
            None => found.text(),
        };
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        (!text.is_empty()).then_some(text)
    };
    of("head title", None)
        .or_else(|| of("meta[property='og:title']", Some("content")))
        .or_else(|| of("h1", None))
}

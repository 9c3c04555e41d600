//! Reads Markdown.

use pulldown_cmark::{CodeBlockKind, Event, LinkType, Options, Parser, Tag, TagEnd};

use super::blank::is_all_blank;
use super::destination::is_linkable;
use super::lines::Lines;
use super::markup::Markup;
use super::rich::{Look, Mono, Rich};
use super::table::Table;

/// The longest Markdown that is read, in bytes. A longer answer is text as it is.
pub const MAX_MARKDOWN: usize = 1 << 20;

/// The longest name of a language that a code block keeps.
const MAX_LANGUAGE: usize = 32;

/// The markers of lists without numbers, by depth.
const BULLETS: [&str; 3] = ["• ", "◦ ", "▪ "];

const RULE: &str = "----------";

/// Reads Markdown.
pub(super) fn read(markdown: &str, markup: Markup) -> Rich {
    if markdown.len() > MAX_MARKDOWN {
        let mut rich = Rich::default();
        rich.push(markdown, Look::default());
        return rich;
    }
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_FOOTNOTES;
    let mut reader = Reader::new(markup);
    for event in Parser::new_ext(markdown, options) {
        reader.event(event);
    }
    reader.lines.finish()
}

/// The state between two events.
struct Reader {
    markup: Markup,
    lines: Lines,
    /// The lists that are open, with the next number of each.
    lists: Vec<Option<u64>>,
    /// The links and images that are open.
    links: Vec<OpenLink>,
    /// The nested elements of each style.
    bold: usize,
    italic: usize,
    strike: usize,
    /// The text of the code block that is being read, with its language.
    code: Option<(String, Option<String>)>,
    table: Option<Table>,
}

/// A link or an image whose text is being read.
struct OpenLink {
    destination: String,
    /// Its number, if the markup has it.
    number: Option<usize>,
    /// The place where its text begins: in the cell of a table, or else in the whole text.
    start: usize,
}

impl Reader {
    fn new(markup: Markup) -> Self {
        Self {
            markup,
            lines: Lines::new(markup),
            lists: Vec::new(),
            links: Vec::new(),
            bold: 0,
            italic: 0,
            strike: 0,
            code: None,
            table: None,
        }
    }

    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) => match &mut self.code {
                Some((code, _)) => code.push_str(&text),
                None => self.put(&text),
            },
            Event::Code(text) => self.inline_code(&text),
            Event::Html(html) | Event::InlineHtml(html) => self.html(&html),
            Event::InlineMath(text) | Event::DisplayMath(text) => self.put(&text),
            Event::FootnoteReference(label) => self.put(&format!("[{label}]")),
            Event::SoftBreak | Event::HardBreak => self.put("\n"),
            Event::Rule => {
                self.lines.push(RULE, Look::default());
                self.lines.end_line(2);
            }
            Event::TaskListMarker(done) => self.task(if done { "☑ " } else { "☐ " }),
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Heading { .. } | Tag::Strong => self.bold += 1,
            Tag::Emphasis => self.italic += 1,
            Tag::Strikethrough => self.strike += 1,
            Tag::BlockQuote(_) => self.lines.open_quote(),
            Tag::CodeBlock(kind) => self.code = Some((String::new(), language(&kind))),
            Tag::List(first) => self.lists.push(first),
            Tag::Item => {
                let marker = self.next_marker();
                self.lines.open_item(&marker);
            }
            Tag::FootnoteDefinition(label) => {
                self.lines.end_line(2);
                self.put(&format!("[{label}]: "));
            }
            Tag::Table(alignments) => self.table = Some(Table::new(alignments)),
            Tag::Link { link_type, dest_url, .. } => {
                let scheme = if link_type == LinkType::Email { "mailto:" } else { "" };
                self.open_link(format!("{scheme}{dest_url}"));
            }
            Tag::Image { dest_url, .. } => self.open_link(dest_url.into_string()),
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Paragraph | TagEnd::HtmlBlock | TagEnd::FootnoteDefinition => self.lines.end_line(2),
            TagEnd::Heading(_) => {
                self.bold -= 1;
                self.lines.end_line(2);
            }
            TagEnd::Strong => self.bold -= 1,
            TagEnd::Emphasis => self.italic -= 1,
            TagEnd::Strikethrough => self.strike -= 1,
            TagEnd::BlockQuote(_) => self.lines.close_quote(),
            TagEnd::CodeBlock => self.end_code(),
            TagEnd::List(_) => {
                self.lists.pop();
                self.lines.end_line(if self.lists.is_empty() { 2 } else { 1 });
            }
            TagEnd::Item => self.lines.close_item(),
            TagEnd::TableCell => self.in_table(Table::end_cell),
            TagEnd::TableHead | TagEnd::TableRow => self.in_table(Table::end_row),
            TagEnd::Table => {
                if let Some(table) = self.table.take() {
                    self.lines.push_block(&table.render(), None);
                }
            }
            TagEnd::Link | TagEnd::Image => self.close_link(),
            _ => {}
        }
    }

    fn in_table(&mut self, change: fn(&mut Table)) {
        if let Some(table) = &mut self.table {
            change(table);
        }
    }

    /// Appends text with the look of this place.
    fn put(&mut self, text: &str) {
        self.put_as(text, self.look());
    }

    fn put_as(&mut self, text: &str, look: Look) {
        match &mut self.table {
            Some(table) => table.push(text),
            None => self.lines.push(text, look),
        }
    }

    fn look(&self) -> Look {
        Look {
            quote: None,
            link: self.links.iter().find_map(|link| link.number),
            mono: None,
            bold: self.bold > 0,
            italic: self.italic > 0,
            strike: self.strike > 0,
        }
    }

    /// Code within a link keeps the link, since platforms do not combine them.
    fn inline_code(&mut self, text: &str) {
        let look = self.look();
        if look.link.is_some() || !self.markup.has_code() {
            self.put_as(text, look);
        } else {
            self.put_as(text, Look { mono: Some(Mono::Inline), ..Look::default() });
        }
    }

    /// HTML is shown as its source.
    fn html(&mut self, html: &str) {
        let line = html.trim_end_matches(['\r', '\n']);
        self.put(line);
        if line.len() < html.len() {
            self.lines.end_line(1);
        }
    }

    fn end_code(&mut self) {
        let Some((code, language)) = self.code.take() else { return };
        let code = code.strip_suffix('\n').unwrap_or(&code);
        if !code.trim().is_empty() {
            self.lines.push_block(code, language);
        }
    }

    fn next_marker(&mut self) -> String {
        let depth = self.lists.len().saturating_sub(1);
        match self.lists.last_mut() {
            Some(Some(number)) => {
                let marker = format!("{number}. ");
                *number = number.saturating_add(1);
                marker
            }
            _ => BULLETS[depth % BULLETS.len()].to_owned(),
        }
    }

    /// A box stands in the place of a bullet, and after a number.
    fn task(&mut self, mark: &str) {
        match self.lists.last() {
            Some(Some(_)) => self.put(mark),
            _ => self.lines.mark(mark),
        }
    }

    fn open_link(&mut self, destination: String) {
        if self.table.is_none() {
            self.lines.begin();
        }
        let linked = self.table.is_none()
            && self.links.iter().all(|link| link.number.is_none())
            && is_linkable(&destination, self.markup);
        let number = linked.then(|| self.lines.rich_mut().add_link(destination.clone()));
        let start = self.here().len();
        self.links.push(OpenLink { destination, number, start });
    }

    /// Shows the destination in the text if nothing else does.
    fn close_link(&mut self) {
        let Some(link) = self.links.last() else { return };
        let text = &self.here()[link.start..];
        let shown = if is_all_blank(text) {
            link.destination.clone()
        } else if link.number.is_some() || self.links.len() > 1 || is_same(text, &link.destination) {
            String::new()
        } else {
            format!(" ({})", link.destination)
        };
        if !shown.is_empty() {
            self.put(&shown);
        }
        self.links.pop();
    }

    /// The text that links are in: that of the cell, or the whole.
    fn here(&self) -> &str {
        self.table.as_ref().map_or_else(|| self.lines.text(), Table::cell)
    }
}

/// Returns true if the destination says no more than the text.
fn is_same(text: &str, destination: &str) -> bool {
    destination.is_empty() || text == destination || destination.strip_prefix("mailto:") == Some(text)
}

/// Returns the language of a code block: the first word that follows the fence, if it is a plain name.
fn language(kind: &CodeBlockKind<'_>) -> Option<String> {
    let CodeBlockKind::Fenced(info) = kind else { return None };
    let name = info.split([' ', '\t', ',', '{']).next()?;
    let is_plain =
        name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '_' | '#' | '.'));
    (!name.is_empty() && name.len() <= MAX_LANGUAGE && is_plain).then(|| name.to_owned())
}

//! The lines of an answer, as they are written one after another.

use super::markup::Markup;
use super::rich::{Look, Mono, Rich};

/// The deepest nesting of lists and quotes that lines show. What is deeper looks like this depth.
const MAX_DEPTH: usize = 8;

/// The most spaces that a list item adds before its lines.
const MAX_INDENT: usize = 4;

/// Stands before a line of a quote that has no markup.
const QUOTED: &str = "> ";

/// Writes the text, with separators between blocks, and at the begin of each line what shows the lists and quotes that it is in.
#[derive(Debug)]
pub(super) struct Lines {
    markup: Markup,
    rich: Rich,
    /// The line feeds that are due before further text.
    due: usize,
    /// The list marker that is due before further text.
    marker: Option<Marker>,
    /// Stands before each line.
    prefix: String,
    /// The length of the prefix outside of each list item and quote.
    outer: Vec<usize>,
    /// The quotes that are open.
    quotes: usize,
    /// The number of the outermost quote.
    quote: usize,
}

/// The marker of a list item that has no text yet.
#[derive(Debug)]
struct Marker {
    text: String,
    /// The part of the prefix that stands before it.
    prefix: usize,
}

impl Lines {
    /// No lines.
    pub(super) fn new(markup: Markup) -> Self {
        Self {
            markup,
            rich: Rich::default(),
            due: 1,
            marker: None,
            prefix: String::new(),
            outer: Vec::new(),
            quotes: 0,
            quote: 0,
        }
    }

    /// Ends the last line, and returns the text.
    pub(super) fn finish(mut self) -> Rich {
        self.flush_marker();
        self.rich
    }

    /// The text up to now.
    pub(super) fn text(&self) -> &str {
        self.rich.text()
    }

    /// The text up to now, and its looks.
    pub(super) fn rich_mut(&mut self) -> &mut Rich {
        &mut self.rich
    }

    /// Ends the line. At least this many line feeds come before further text.
    pub(super) fn end_line(&mut self, feeds: usize) {
        self.due = self.due.max(feeds);
    }

    /// Writes the begin of the line, if there is none.
    pub(super) fn begin(&mut self) {
        self.begin_with(true);
    }

    /// Appends text. A line feed in it begins a line.
    pub(super) fn push(&mut self, text: &str, look: Look) {
        self.begin();
        self.push_lines(text, self.placed(look));
    }

    /// Appends a code block, on lines of its own.
    pub(super) fn push_block(&mut self, text: &str, language: Option<String>) {
        self.flush_marker();
        self.end_line(1);
        let is_element = self.markup.has_code();
        self.begin_with(!is_element);
        let mono = is_element.then(|| Mono::Block(self.rich.add_block(language)));
        let look = self.placed(Look { mono, ..Look::default() });
        self.push_lines(text, look);
        self.end_line(2);
    }

    /// Begins a list item.
    pub(super) fn open_item(&mut self, marker: &str) {
        self.flush_marker();
        self.end_line(1);
        self.marker = Some(Marker { text: marker.to_owned(), prefix: self.prefix.len() });
        let indent = " ".repeat(marker.chars().count().min(MAX_INDENT));
        self.nest(&indent);
    }

    /// Replaces the marker of the list item, if it has no text yet, and appends it otherwise.
    pub(super) fn mark(&mut self, text: &str) {
        match &mut self.marker {
            Some(marker) => text.clone_into(&mut marker.text),
            None => self.push(text, Look::default()),
        }
    }

    /// Ends a list item.
    pub(super) fn close_item(&mut self) {
        self.flush_marker();
        self.unnest();
        self.end_line(1);
    }

    /// Begins a quote.
    pub(super) fn open_quote(&mut self) {
        self.flush_marker();
        self.end_line(1);
        let is_element = self.markup.has_quotes() && self.quotes == 0;
        self.nest(if is_element { "" } else { QUOTED });
        if self.quotes == 0 {
            self.quote += 1;
        }
        self.quotes += 1;
    }

    /// Ends a quote.
    pub(super) fn close_quote(&mut self) {
        self.unnest();
        self.quotes -= 1;
        self.end_line(2);
    }

    fn nest(&mut self, prefix: &str) {
        self.outer.push(self.prefix.len());
        if self.outer.len() <= MAX_DEPTH {
            self.prefix.push_str(prefix);
        }
    }

    fn unnest(&mut self) {
        let outer = self.outer.pop().unwrap_or_default();
        self.prefix.truncate(outer);
    }

    /// Writes the marker of an item that has no text.
    fn flush_marker(&mut self) {
        if self.marker.is_some() {
            self.begin();
        }
    }

    fn begin_with(&mut self, has_prefix: bool) {
        let due = std::mem::take(&mut self.due);
        if due > 0 && !self.rich.text().is_empty() {
            // Within one quote, it is part of the quote.
            let quote = self.quote_look().filter(|quote| self.rich.last_look().quote == Some(*quote));
            self.rich.push(&"\n".repeat(due), Look { quote, ..Look::default() });
        }
        let look = self.placed(Look::default());
        if let Some(marker) = self.marker.take() {
            self.rich.push(&self.prefix[..marker.prefix], look);
            self.rich.push(&marker.text, look);
        } else if due > 0 && has_prefix {
            self.rich.push(&self.prefix, look);
        }
    }

    fn push_lines(&mut self, text: &str, look: Look) {
        for (index, line) in text.split('\n').enumerate() {
            if index > 0 {
                self.rich.push("\n", look);
                if !matches!(look.mono, Some(Mono::Block(_))) {
                    self.rich.push(&self.prefix, look);
                }
            }
            self.rich.push(line, look);
        }
    }

    fn placed(&self, look: Look) -> Look {
        Look { quote: self.quote_look(), ..look }
    }

    fn quote_look(&self) -> Option<usize> {
        (self.markup.has_quotes() && self.quotes > 0).then_some(self.quote)
    }
}

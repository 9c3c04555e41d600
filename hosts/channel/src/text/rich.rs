//! A text with the look of each stretch of it.
//!
//! The looks are flat: each stretch has all that applies to it, so that a cut needs no tree, and a writer opens and closes elements in one
//! fixed order.

/// The look of a stretch of text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Look {
    /// The number of the quote that it is in.
    pub quote: Option<usize>,
    /// The number of the link that it is in.
    pub link: Option<usize>,
    /// Code. No link, and none of the styles below, is combined with it.
    pub mono: Option<Mono>,
    /// Bold.
    pub bold: bool,
    /// Italic.
    pub italic: bool,
    /// Struck through.
    pub strike: bool,
}

/// Code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mono {
    /// Code within a line.
    Inline,
    /// The code block of this number.
    Block(usize),
}

impl Look {
    /// Returns its elements, the outermost first.
    pub(super) fn elements(self) -> impl Iterator<Item = Element> {
        [
            self.quote.map(Element::Quote),
            self.link.map(Element::Link),
            self.bold.then_some(Element::Bold),
            self.italic.then_some(Element::Italic),
            self.strike.then_some(Element::Strike),
            self.mono.map(|mono| match mono {
                Mono::Inline => Element::Code,
                Mono::Block(number) => Element::Block(number),
            }),
        ]
        .into_iter()
        .flatten()
    }
}

/// An element of markup.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Element {
    /// The quote of this number.
    Quote(usize),
    /// The link of this number.
    Link(usize),
    /// Bold text.
    Bold,
    /// Italic text.
    Italic,
    /// Text that is struck through.
    Strike,
    /// Code within a line.
    Code,
    /// The code block of this number.
    Block(usize),
}

/// A stretch of text with one look. It begins where the one before it ends.
#[derive(Debug, Clone, Copy)]
pub(super) struct Run {
    /// The end in the text.
    pub end: usize,
    /// The look.
    pub look: Look,
}

/// A text with looks.
#[derive(Debug, Default)]
pub(super) struct Rich {
    text: String,
    runs: Vec<Run>,
    destinations: Vec<String>,
    languages: Vec<Option<String>>,
}

/// The spaces that stand for a tab.
const TAB: &str = "    ";

impl Rich {
    /// The text.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Returns the text without the looks.
    pub(super) fn into_text(self) -> String {
        self.text
    }

    /// Its stretches, in order.
    pub(super) fn runs(&self) -> &[Run] {
        &self.runs
    }

    /// The look of the text at a place.
    pub(super) fn look_at(&self, place: usize) -> Look {
        let run = self.runs.partition_point(|run| run.end <= place);
        self.runs.get(run).map(|run| run.look).unwrap_or_default()
    }

    /// The look of the last stretch.
    pub(super) fn last_look(&self) -> Look {
        self.runs.last().map(|run| run.look).unwrap_or_default()
    }

    /// The destination of a link.
    pub(super) fn destination(&self, link: usize) -> &str {
        &self.destinations[link]
    }

    /// The language of a code block.
    pub(super) fn language(&self, block: usize) -> Option<&str> {
        self.languages[block].as_deref()
    }

    /// Adds a link, and returns its number.
    pub(super) fn add_link(&mut self, destination: String) -> usize {
        self.destinations.push(destination);
        self.destinations.len() - 1
    }

    /// Adds a code block, and returns its number.
    pub(super) fn add_block(&mut self, language: Option<String>) -> usize {
        self.languages.push(language);
        self.languages.len() - 1
    }

    /// Appends text. Platforms delete or replace control characters, so tabs become spaces, separators of lines and paragraphs become line
    /// feeds, and other control characters are dropped.
    pub(super) fn push(&mut self, text: &str, look: Look) {
        let before = self.text.len();
        for character in text.chars() {
            match character {
                '\n' | '\u{2028}' | '\u{2029}' => self.text.push('\n'),
                '\t' => self.text.push_str(TAB),
                other if other.is_control() => {}
                other => self.text.push(other),
            }
        }
        let end = self.text.len();
        if end == before {
            return;
        }
        match self.runs.last_mut() {
            Some(last) if last.look == look => last.end = end,
            _ => self.runs.push(Run { end, look }),
        }
    }
}

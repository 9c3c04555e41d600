//! Writes ranges of a text in the markup of a platform.

use std::ops::Range;

use super::markup::Markup;
use super::rich::{Element, Look, Rich};

/// Writes one part.
pub(super) struct Writer<'a> {
    markup: Markup,
    rich: &'a Rich,
    out: String,
    /// The stretch that the last text was in.
    run: usize,
    /// The elements that are open, the outermost first.
    open: Vec<Element>,
    /// The bytes of the tags that open elements need at their end.
    closing: usize,
    tag_bytes: usize,
    elements: usize,
}

impl<'a> Writer<'a> {
    /// Begins a part at this place of the text.
    pub(super) fn new(markup: Markup, rich: &'a Rich, start: usize) -> Self {
        let run = rich.runs().partition_point(|run| run.end <= start);
        Self {
            markup,
            rich,
            out: String::new(),
            run,
            open: Vec::new(),
            closing: 0,
            tag_bytes: 0,
            elements: 0,
        }
    }

    /// Appends a range, which begins where the one before it ended.
    pub(super) fn write(&mut self, range: Range<usize>) {
        let Range { mut start, end } = range;
        while start < end {
            let run = self.rich.runs()[self.run];
            if run.end <= start {
                self.run += 1;
                continue;
            }
            self.switch(run.look);
            let stop = run.end.min(end);
            self.markup.text(&self.rich.text()[start..stop], &mut self.out);
            start = stop;
        }
    }

    /// Returns true if the part keeps to the limits of the markup once its elements are closed.
    pub(super) fn fits(&self) -> bool {
        self.markup.bounds().is_none_or(|bounds| {
            self.out.len() + self.closing <= bounds.bytes
                && self.tag_bytes + self.closing <= bounds.tag_bytes
                && self.elements <= bounds.elements
        })
    }

    /// Closes what is open, and returns the markup; `None` if there is none, or if it does not fit.
    pub(super) fn finish(mut self) -> Option<String> {
        self.switch(Look::default());
        (self.markup.bounds().is_some() && self.fits()).then_some(self.out)
    }

    /// Closes the elements that the look has not, and opens those that are missing.
    fn switch(&mut self, look: Look) {
        let common = look.elements().zip(&self.open).take_while(|(wanted, open)| wanted == *open).count();
        if common == self.open.len() && look.elements().count() == common {
            return;
        }
        let before = self.out.len();
        for element in self.open.drain(common..).rev() {
            self.markup.close(element, self.rich, &mut self.out);
        }
        self.closing -= self.out.len() - before;
        for element in look.elements().skip(common) {
            self.markup.open(element, self.rich, &mut self.out);
            self.closing += self.closing_len(element);
            self.open.push(element);
            self.elements += 1;
        }
        self.tag_bytes += self.out.len() - before;
    }

    fn closing_len(&self, element: Element) -> usize {
        let mut out = String::new();
        self.markup.close(element, self.rich, &mut out);
        out.len()
    }
}

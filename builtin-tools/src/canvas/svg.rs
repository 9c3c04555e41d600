//! SVG text. Nothing that a model wrote gets into it but escaped, or as a number or a colour that was parsed.

use std::fmt::{Display, Write as _};

/// Elements of a drawing.
#[derive(Debug, Default)]
pub(super) struct Svg(String);

impl Svg {
    /// An element without content.
    pub(super) fn element(&mut self, name: &str, attributes: &Attributes) -> &mut Self {
        let _ = write!(self.0, "<{name}{}/>", attributes.0);
        self
    }

    /// Begins an element; [`close`](Self::close) ends it.
    pub(super) fn open(&mut self, name: &str, attributes: &Attributes) -> &mut Self {
        let _ = write!(self.0, "<{name}{}>", attributes.0);
        self
    }

    /// Ends an element.
    pub(super) fn close(&mut self, name: &str) -> &mut Self {
        let _ = write!(self.0, "</{name}>");
        self
    }

    /// A line of text.
    pub(super) fn text(&mut self, attributes: &Attributes, line: &str) -> &mut Self {
        self.open("text", attributes);
        escape(line, &mut self.0);
        self.close("text")
    }

    /// The whole document.
    pub(super) fn document(&self, width: u32, height: u32, definitions: &str) -> String {
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\"><defs>{definitions}</defs>{}</svg>",
            self.0
        )
    }

    pub(super) fn into_string(self) -> String {
        self.0
    }
}

/// Attributes of an element.
#[derive(Debug, Default, Clone)]
pub(super) struct Attributes(String);

impl Attributes {
    pub(super) fn new() -> Self {
        Self::default()
    }

    /// A number, or several.
    pub(super) fn number(mut self, name: &str, value: impl Display) -> Self {
        let _ = write!(self.0, " {name}=\"{value}\"");
        self
    }

    /// A text.
    pub(super) fn with(mut self, name: &str, value: &str) -> Self {
        let _ = write!(self.0, " {name}=\"");
        escape(value, &mut self.0);
        self.0.push('"');
        self
    }

    /// The attributes of both.
    pub(super) fn and(mut self, others: &Self) -> Self {
        self.0.push_str(&others.0);
        self
    }
}

/// Points, as `points` has them.
pub(super) fn points(points: &[[f64; 2]]) -> String {
    let mut text = String::with_capacity(points.len() * 12);
    for [x, y] in points {
        let _ = write!(text, "{x},{y} ");
    }
    text
}

/// Escapes a text. Characters that XML does not have become U+FFFD.
fn escape(text: &str, to: &mut String) {
    for character in text.chars() {
        match character {
            '&' => to.push_str("&amp;"),
            '<' => to.push_str("&lt;"),
            '>' => to.push_str("&gt;"),
            '"' => to.push_str("&quot;"),
            '\'' => to.push_str("&apos;"),
            '\t' => to.push_str("    "),
            '\u{0}'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{fffe}' | '\u{ffff}' => to.push('\u{fffd}'),
            character => to.push(character),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_leaves_its_place() {
        let mut svg = Svg::default();
        svg.text(&Attributes::new().with("a", "\"><x/>"), "</text>&amp;\u{0}\u{ffff}\t.");
        assert_eq!(
            svg.into_string(),
            "<text a=\"&quot;&gt;&lt;x/&gt;\">&lt;/text&gt;&amp;amp;\u{fffd}\u{fffd}    .</text>"
        );
    }
}

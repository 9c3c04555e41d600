//! A document of YAML as a tree with the places of its parts.

use saphyr_parser::{Event, Parser, ScalarStyle};
use serde_json::{Map, Value};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Maximum nesting depth of a document.
const DEEPEST: usize = 64;

/// A part of a document. Positions are in bytes; an end is the position behind the part.
#[derive(Debug)]
pub(super) enum Node {
    Scalar { text: String, is_plain: bool, end: usize },
    List { items: Vec<Node>, end: usize },
    Map { pairs: Vec<Part>, is_flow: bool, end: usize },
}

/// A member of a mapping.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) key: String,
    pub(super) start: usize,
    /// Behind the colon of the key.
    colon: usize,
    pub(super) value: Node,
}

impl Part {
    pub(super) fn end(&self) -> usize {
        self.value.end().max(self.colon)
    }
}

impl Node {
    pub(super) fn end(&self) -> usize {
        match self {
            Self::Scalar { end, .. } | Self::List { end, .. } | Self::Map { end, .. } => *end,
        }
    }

    pub(super) fn is_null(&self) -> bool {
        matches!(self, Self::Scalar { text, is_plain: true, .. } if matches!(&**text, "" | "~" | "null"))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.is_null() || matches!(self, Self::Map { pairs, .. } if pairs.is_empty())
    }

    /// The member of a mapping.
    pub(super) fn member(&self, key: &str) -> Result<Option<&Part>, String> {
        let Self::Map { pairs, .. } = self else { return Err("it is not a mapping".to_owned()) };
        let mut found = pairs.iter().filter(|part| part.key == key);
        Ok(found.next())
    }

    pub(super) fn get(&self, key: &str) -> Result<Option<&Self>, String> {
        Ok(self.member(key)?.map(|part| &part.value))
    }

    /// Converts the node to JSON.
    pub(super) fn value(&self) -> Value {
        match self {
            Self::Scalar { text, is_plain: false, .. } => Value::from(&**text),
            Self::Scalar { text, .. } => match &**text {
                "" | "~" | "null" => Value::Null,
                "true" => true.into(),
                "false" => false.into(),
                text => match text.parse::<i64>() {
                    Ok(number) if number.to_string() == text => number.into(),
                    _ => Value::from(text),
                },
            },
            Self::List { items, .. } => items.iter().map(Self::value).collect(),
            Self::Map { pairs, .. } => {
                pairs.iter().map(|part| (part.key.clone(), part.value.value())).collect::<Map<_, _>>().into()
            }
        }
    }
}

/// Parses the only document of a text; `None` if there is none.
pub(super) fn parse(text: &str) -> Result<Option<Node>, String> {
    // If the parser panics, the command still reports why the file is left unchanged.
    catch_unwind(AssertUnwindSafe(|| Reader::new(text).document()))
        .unwrap_or_else(|_| Err("it cannot be parsed as YAML".to_owned()))
}

struct Reader<'a> {
    text: &'a str,
    parser: Parser<'a, saphyr_parser::StrInput<'a>>,
    /// Byte offset of each character, since the parser counts characters.
    places: Vec<usize>,
}

/// An event with its position in bytes, and its line.
struct At<'a> {
    event: Event<'a>,
    start: usize,
    end: usize,
    line: usize,
}

impl<'a> Reader<'a> {
    fn new(text: &'a str) -> Self {
        let mut places: Vec<usize> = text.char_indices().map(|(place, _)| place).collect();
        places.push(text.len());
        Self { text, parser: Parser::new_from_str(text), places }
    }

    fn next(&mut self) -> Result<At<'a>, String> {
        let next = self.parser.next_event().ok_or("it ends early")?;
        let (event, span) = next.map_err(|error| {
            let marker = error.marker();
            format!("{} in line {}, column {}", error.info(), marker.line(), marker.col() + 1)
        })?;
        let place = |index: usize| self.places.get(index).copied().unwrap_or(self.text.len());
        let (start, end) = (place(span.start.index()), place(span.end.index()));
        Ok(At { event, start, end, line: span.start.line() })
    }

    fn document(&mut self) -> Result<Option<Node>, String> {
        let mut root = None;
        loop {
            let at = self.next()?;
            match at.event {
                Event::StreamEnd => return Ok(root),
                Event::DocumentStart(_) if root.is_some() => {
                    return Err(format!("it has several documents; the second is in line {}", at.line));
                }
                Event::DocumentStart(_) => {
                    let first = self.next()?;
                    root = Some(self.node(first, 0)?).filter(|root| !root.is_null());
                }
                _ => {}
            }
        }
    }

    fn node(&mut self, at: At<'a>, depth: usize) -> Result<Node, String> {
        if depth > DEEPEST {
            return Err(format!("it is more than {DEEPEST} levels deep in line {}", at.line));
        }
        let named = |anchor: usize| match anchor {
            0 => Ok(()),
            _ => {
                Err(format!("it has an anchor in line {}, which is not followed; edit it manually", at.line))
            }
        };
        match at.event {
            Event::Scalar(text, style, anchor, _) => {
                named(anchor)?;
                let is_plain = style == ScalarStyle::Plain;
                // One that is not written at all has its place somewhere behind.
                let end = if at.start == at.end { 0 } else { self.trimmed(at.start, at.end, style) };
                Ok(Node::Scalar { text: text.into_owned(), is_plain, end })
            }
            Event::SequenceStart(anchor, _) => {
                named(anchor)?;
                let (mut items, mut last) = (Vec::new(), at.end);
                loop {
                    let next = self.next()?;
                    if next.event == Event::SequenceEnd {
                        let is_flow = self.text[at.start..].starts_with('[');
                        let end = if is_flow { self.behind(']', next.start, next.end) } else { last };
                        return Ok(Node::List { items, end });
                    }
                    last = last.max(next.start);
                    let item = self.node(next, depth + 1)?;
                    last = last.max(item.end());
                    items.push(item);
                }
            }
            Event::MappingStart(anchor, _) => {
                named(anchor)?;
                self.map(at.start, depth)
            }
            Event::Alias(_) => {
                Err(format!("it has an alias in line {}, which is not followed; edit it manually", at.line))
            }
            _ => Err(format!("it is not understood in line {}", at.line)),
        }
    }

    fn map(&mut self, start: usize, depth: usize) -> Result<Node, String> {
        let is_flow = self.text[start..].starts_with('{');
        let (mut pairs, mut last): (Vec<Part>, usize) = (Vec::new(), start);
        loop {
            let at = self.next()?;
            let (from, behind, line) = (at.start, at.end, at.line);
            let key = match at.event {
                Event::MappingEnd => {
                    let end = if is_flow { self.behind('}', at.start, at.end) } else { last };
                    return Ok(Node::Map { pairs, is_flow, end });
                }
                Event::Scalar(key, _, 0, _) => key.into_owned(),
                _ => return Err(format!("it has a key that is not text in line {line}")),
            };
            if pairs.iter().any(|part| part.key == key) {
                return Err(format!("it has `{key}` twice, in line {line} again"));
            }
            let colon = self.text[behind..].find(':').map_or(behind, |colon| behind + colon + 1);
            let value = self.next()?;
            let value = self.node(value, depth + 1)?;
            let part = Part { key, start: from, colon, value };
            last = last.max(part.end());
            pairs.push(part);
        }
    }

    /// Returns the offset behind a bracket. The parser counts the spaces behind a bracket as part of the node.
    fn behind(&self, bracket: char, start: usize, end: usize) -> usize {
        self.text[start..end].find(bracket).map_or(end, |place| start + place + bracket.len_utf8())
    }

    /// Returns the offset at which a scalar ends. For some styles the parser counts the text behind the scalar as part
    /// of it.
    fn trimmed(&self, start: usize, end: usize, style: ScalarStyle) -> usize {
        let text = &self.text[start..end];
        match style {
            // Its last line feed is its own; empty lines and comments behind it are not.
            ScalarStyle::Literal | ScalarStyle::Folded => {
                let mut kept = start;
                let mut place = start;
                for line in text.split_inclusive('\n') {
                    place += line.len();
                    if !line.trim().is_empty() {
                        kept = place;
                    }
                }
                kept
            }
            _ => start + text.trim_end().len(),
        }
    }
}

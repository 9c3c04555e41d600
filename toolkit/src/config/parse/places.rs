//! Finds the place of each value in a text.

use serde_json::Value;

/// A line and a column, both from 1; the column in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Place {
    pub(crate) line: u32,
    pub(crate) column: u32,
}

impl Place {
    pub(crate) const START: Self = Self { line: 1, column: 1 };

    pub(super) fn of(text: &str, offset: usize) -> Self {
        let mut cursor = Cursor { text, offset: 0, place: Self::START };
        cursor.advance(offset)
    }
}

impl From<json5::Position> for Place {
    fn from(position: json5::Position) -> Self {
        let from_one = |number: usize| u32::try_from(number + 1).unwrap_or(u32::MAX);
        Self { line: from_one(position.line), column: from_one(position.column) }
    }
}

/// A cursor that goes through a text once, for any number of places in ascending order.
struct Cursor<'a> {
    text: &'a str,
    offset: usize,
    place: Place,
}

impl Cursor<'_> {
    fn advance(&mut self, offset: usize) -> Place {
        let mut rest = self.text[self.offset..offset].chars().peekable();
        while let Some(c) = rest.next() {
            // Lines are counted as the parser counts them.
            if c == '\r'
                && (rest.peek() == Some(&'\n')
                    || self.text[offset..].starts_with('\n') && rest.peek().is_none())
            {
                continue;
            }
            if is_line_end(c) {
                self.place = Place { line: self.place.line + 1, column: 1 };
            } else {
                self.place.column += 1;
            }
        }
        self.offset = offset;
        self.place
    }
}

fn is_line_end(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{2028}' | '\u{2029}')
}

/// The offsets at which values and keys begin, in the order of the text.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Marks {
    pub(super) values: Vec<usize>,
    pub(super) keys: Vec<usize>,
}

/// Finds the offsets of values and keys. In a text that is no JSON5 it finds those before the first fault, and
/// possibly more.
pub(super) fn scan(text: &str) -> Marks {
    let mut marks = Marks::default();
    // For each enclosing list and object: true if it is an object.
    let mut around: Vec<bool> = Vec::new();
    let mut is_key = false;
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        let rest = &text[at..];
        let token = match c {
            '/' => comment(rest),
            ':' => {
                is_key = false;
                1
            }
            ',' => {
                is_key = around.last() == Some(&true);
                1
            }
            ']' | '}' => {
                around.pop();
                is_key = false;
                1
            }
            _ if json5::char::is_json5_whitespace(c) => c.len_utf8(),
            _ => {
                if is_key { &mut marks.keys } else { &mut marks.values }.push(at);
                match c {
                    '[' | '{' => {
                        around.push(c == '{');
                        is_key = c == '{';
                        1
                    }
                    '"' | '\'' => string(rest, c),
                    _ => word(rest),
                }
            }
        };
        at += token;
    }
    marks
}

/// Returns the length of the comment at the start of `text`.
fn comment(text: &str) -> usize {
    if text.starts_with("//") {
        text.find(is_line_end).unwrap_or(text.len())
    } else if let Some(rest) = text.strip_prefix("/*") {
        rest.find("*/").map_or(text.len(), |end| end + 4)
    } else {
        1
    }
}

/// Returns the length of the string at the start of `text`, including its quotes.
fn string(text: &str, quote: char) -> usize {
    let mut characters = text.char_indices().skip(1);
    while let Some((at, c)) = characters.next() {
        if c == '\\' {
            characters.next();
        } else if c == quote {
            return at + 1;
        }
    }
    text.len()
}

/// Returns the length of the name, number or other word at the start of `text`.
fn word(text: &str) -> usize {
    let ends = |c: char| matches!(c, '{' | '}' | '[' | ']' | ':' | ',' | '/' | '"' | '\'');
    let mut characters = text.char_indices().skip(1);
    let end = characters.find(|(_, c)| ends(*c) || json5::char::is_json5_whitespace(*c));
    end.map_or(text.len(), |(at, _)| at)
}

/// The place of each value of a document.
#[derive(Debug, Clone, Default)]
pub(crate) struct Places(Vec<(String, Spot)>);

/// The place of a value, and of the key before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Spot {
    key: Option<Place>,
    value: Place,
}

impl Places {
    /// Finds the places of `value`, which was parsed from `text`; `marks` are those of the text.
    pub(super) fn new(text: &str, value: &Value, marks: &Marks) -> Self {
        let mut walk = Walk {
            values: places(text, &marks.values).into_iter(),
            keys: places(text, &marks.keys).into_iter(),
            found: Vec::new(),
        };
        walk.add(String::new(), value, None);
        let mut found = walk.found;
        found.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
        Self(found)
    }

    fn find(&self, pointer: &str) -> Option<Spot> {
        let at = self.0.binary_search_by(|(known, _)| known.as_str().cmp(pointer)).ok()?;
        Some(self.0[at].1)
    }

    /// Returns the place of the value at `pointer`.
    pub(crate) fn value(&self, pointer: &str) -> Option<Place> {
        self.find(pointer).map(|spot| spot.value)
    }

    /// Returns the place of the key before the value at `pointer`, or of the value itself if it has no key.
    pub(crate) fn key(&self, pointer: &str) -> Option<Place> {
        self.find(pointer).map(|spot| spot.key.unwrap_or(spot.value))
    }

    /// Returns the places under new pointers, for values that were moved; `to` returns `None` for values that were
    /// removed.
    pub(crate) fn moved(self, to: impl Fn(&str) -> Option<String>) -> Self {
        let mut found: Vec<(String, Spot)> =
            self.0.into_iter().filter_map(|(pointer, spot)| Some((to(&pointer)?, spot))).collect();
        found.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
        Self(found)
    }

    /// Returns the place of every value, by its pointer.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, Place)> {
        self.0.iter().map(|(pointer, spot)| (pointer.as_str(), spot.value))
    }

    pub(crate) fn pointer_bytes(&self) -> usize {
        self.0.iter().map(|(pointer, _)| pointer.len()).sum()
    }
}

fn places(text: &str, offsets: &[usize]) -> Vec<Place> {
    let mut cursor = Cursor { text, offset: 0, place: Place::START };
    offsets.iter().map(|offset| cursor.advance(*offset)).collect()
}

struct Walk {
    values: std::vec::IntoIter<Place>,
    keys: std::vec::IntoIter<Place>,
    found: Vec<(String, Spot)>,
}

impl Walk {
    fn add(&mut self, pointer: String, value: &Value, key: Option<Place>) {
        let Some(place) = self.values.next() else { return };
        match value {
            Value::Array(items) => {
                for (number, item) in items.iter().enumerate() {
                    self.add(format!("{pointer}/{number}"), item, None);
                }
            }
            Value::Object(members) => {
                for (name, member) in members {
                    let key = self.keys.next();
                    self.add(format!("{pointer}/{}", crate::section::pointer::escape(name)), member, key);
                }
            }
            _ => {}
        }
        self.found.push((pointer, Spot { key, value: place }));
    }
}

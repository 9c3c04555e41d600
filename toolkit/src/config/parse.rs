//! Parses JSON5 text into a value, with the place of each value in it.
//!
//! The parser is the crate `json5`. It has no limit of nesting, accepts a repeated key and keeps no places: the rules
//! `Limited` add the limits, and `places` finds the place of each value.

mod places;
#[cfg(test)]
mod tests;

use places::scan;
pub(crate) use places::{Place, Places};
use serde::de::{DeserializeSeed, Deserializer as _, Error, Visitor};
use serde_json::{Number, Value};
use std::cell::RefCell;
use std::fmt;
use toolkit_core::json_seed::{JsonRules, JsonSeed};

/// The most bytes of a document.
pub(crate) const MAX_BYTES: usize = 1 << 20;
/// The deepest nesting of lists and objects.
pub(crate) const DEEPEST: usize = 64;
/// The most values in one document.
pub(crate) const MAX_VALUES: usize = 20_000;
/// The longest key, in bytes.
pub(crate) const LONGEST_KEY: usize = 256;
/// The most bytes of the pointers to all values of a document: many values under long keys would otherwise take far more
/// memory than the document.
pub(crate) const MAX_POINTER_BYTES: usize = 8 << 20;

/// The reason why a text is no valid document, and the place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) message: String,
    pub(crate) place: Option<Place>,
}

/// A value with the place of each value in it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Parsed {
    pub(crate) value: Value,
    pub(crate) places: Places,
}

/// Reads a document.
///
/// # Errors
///
/// When the text is no JSON5, exceeds the limits, repeats a key in one object, or has a number that JSON does not have.
pub(crate) fn parse(text: &str) -> Result<Parsed, Fault> {
    if text.len() > MAX_BYTES {
        return Err(Fault { message: format!("it has more than {MAX_BYTES} bytes"), place: None });
    }
    let seen = RefCell::new(VisitState::default());
    let mut deserializer = json5::Deserializer::from_str(text);
    let value = match JsonSeed(Limited { seen: &seen, depth: 0 }).deserialize(&mut deserializer) {
        Ok(value) => value,
        Err(error) => {
            let refused = seen.into_inner().refused;
            return Err(refused.map_or_else(|| syntax(text, &error), |refused| refused.at(text)));
        }
    };
    if let Err(error) = (&mut deserializer).deserialize_any(Nothing) {
        match error.code() {
            Some(json5::ErrorCode::EofParsingValue) => {}
            Some(json5::ErrorCode::EofParsingComment) => return Err(syntax(text, &error)),
            _ => {
                let message = "unexpected text after the end of the document".to_owned();
                return Err(Fault { message, place: error.position().map(Place::from) });
            }
        }
    }
    let places = Places::new(text, &value, &scan(text));
    if places.pointer_bytes() > MAX_POINTER_BYTES {
        return Err(Fault { message: "it has too many values under long keys".to_owned(), place: None });
    }
    Ok(Parsed { value, places })
}

fn syntax(text: &str, error: &json5::Error) -> Fault {
    use json5::ErrorCode as Code;
    let message = match error.code() {
        Some(code) => match code {
            Code::EofParsingArray => "the list that begins here has no end: `]` is missing",
            Code::EofParsingObject => "the object that begins here has no end: `}` is missing",
            Code::EofParsingComment => "the text ends within a comment: `*/` is missing",
            Code::EofParsingString | Code::EofParsingEscapeSequence => {
                "the text ends within a string: its closing quote is missing"
            }
            Code::EofParsingIdentifier => "the text ends within a key",
            Code::EofParsingValue => "the text ends where a value is expected",
            Code::ExpectedClosingBrace | Code::ExpectedComma => {
                "a comma, or the end of the object or list, is missing before this"
            }
            Code::ExpectedClosingBracket => "a comma, or `]`, is missing before this",
            Code::ExpectedColon => "a colon is missing before this",
            Code::ExpectedComment => "unexpected `/`; a comment begins with `//` or `/*`",
            Code::ExpectedIdentifier | Code::InvalidKey => "expected a key: a name or a quoted string",
            Code::InvalidEscapeSequence => "unknown escape sequence; a backslash is written as `\\\\`",
            Code::LeadingZero => "a number cannot have a leading 0",
            Code::LineTerminatorInString => "the line ends within a string: its closing quote is missing",
            Code::OverflowParsingNumber => "a number of more than 64 bits",
            Code::ExpectedNumber | Code::EofParsingNumber => "no number",
            _ => "not a value: a string needs quotes",
        },
        None => "not a valid number or character",
    };
    // The parser gives the end of the text no place, and reports that of the enclosing object instead.
    let is_at_end = matches!(
        error.code(),
        Some(
            Code::EofParsingComment
                | Code::EofParsingEscapeSequence
                | Code::EofParsingIdentifier
                | Code::EofParsingNull
                | Code::EofParsingBool
                | Code::EofParsingNumber
                | Code::EofParsingString
                | Code::EofParsingValue
        )
    );
    let end = || Place::of(text, text.len());
    let place = error.position().filter(|_| !is_at_end).map_or_else(end, Place::from);
    Fault { message: message.to_owned(), place: Some(place) }
}

/// The state of the rules.
#[derive(Default)]
struct VisitState {
    values: usize,
    keys: usize,
    refused: Option<Refused>,
}

/// The refused value or key, by its number in the order of the text.
struct Refused {
    message: String,
    number: usize,
    is_key: bool,
}

impl Refused {
    fn at(self, text: &str) -> Fault {
        let marks = scan(text);
        let marks = if self.is_key { marks.keys } else { marks.values };
        let place = marks.get(self.number).map(|mark| Place::of(text, *mark));
        Fault { message: self.message, place }
    }
}

#[derive(Clone, Copy)]
struct Limited<'a> {
    seen: &'a RefCell<VisitState>,
    depth: usize,
}

impl Limited<'_> {
    /// Refuses the value that is being visited, or the last key.
    fn refused<E: Error>(&self, is_key: bool, message: impl Into<String>) -> E {
        let mut seen = self.seen.borrow_mut();
        let number = if is_key { seen.keys } else { seen.values }.saturating_sub(1);
        seen.refused = Some(Refused { message: message.into(), number, is_key });
        E::custom("refused")
    }

    fn refuse<T, E: Error>(&self, is_key: bool, message: impl Into<String>) -> Result<T, E> {
        Err(self.refused(is_key, message))
    }
}

impl JsonRules for Limited<'_> {
    fn begin<E: Error>(self) -> Result<(), E> {
        let count = {
            let mut seen = self.seen.borrow_mut();
            seen.values += 1;
            seen.values
        };
        if count > MAX_VALUES {
            return self.refuse(false, format!("it has more than {MAX_VALUES} values"));
        }
        Ok(())
    }

    fn nested<E: Error>(self) -> Result<Self, E> {
        if self.depth == DEEPEST {
            return self.refuse(false, format!("lists and objects nest more than {DEEPEST} deep"));
        }
        Ok(Self { depth: self.depth + 1, ..self })
    }

    fn key<E: Error>(self, key: &str) -> Result<(), E> {
        self.seen.borrow_mut().keys += 1;
        if key.len() > LONGEST_KEY {
            return self.refuse(true, format!("a key of more than {LONGEST_KEY} bytes"));
        }
        Ok(())
    }

    fn float<E: Error>(self, value: f64) -> Result<Number, E> {
        // An integer of more than 64 bits is visited as a rounded float.
        if value.abs() >= 9.2e18 {
            return self.refuse(false, "a number that is too large");
        }
        Number::from_f64(value).map_or_else(|| self.refuse(false, "not a number that JSON supports"), Ok)
    }

    fn repeated<E: Error>(self, key: &str) -> E {
        self.refused(true, format!("the key {key:?} is repeated in one object"))
    }
}

/// A visitor that accepts no value, for places where there should be none.
struct Nothing;

impl Visitor<'_> for Nothing {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("nothing")
    }
}

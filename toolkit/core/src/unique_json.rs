//! Parses JSON text to a value, and refuses duplicate keys.

use crate::excerpt::cut;
use crate::json_seed::{JsonRules, JsonSeed};
use serde::de::{DeserializeSeed, Deserializer, Error};
use serde_json::{Number, Value};
use std::cell::Cell;

/// A fault of JSON text. No message repeats the text, which may contain a secret.
#[derive(Debug)]
pub(crate) enum Fault {
    /// The text is no JSON.
    Syntax(serde_json::Error),
    /// An object has the same key twice: the key, and its place.
    KeyTwice(String),
    /// An integer has more than 64 bits, and would silently be rounded to a float. Line and column
    /// count from 1.
    LongInteger { line: usize, column: usize },
}

pub(crate) fn parse(text: &str) -> Result<Value, Fault> {
    let seen = Cell::new(VisitState::default());
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let parsed = JsonSeed(Unique(&seen)).deserialize(&mut deserializer).and_then(|value| {
        deserializer.end()?;
        Ok(value)
    });
    let VisitState { key_twice, huge } = seen.get();
    match parsed {
        // The guard only saves reading the text again: no other text has an integer that is too long. No test can
        // tell.
        Ok(_) if huge => long_integer(text).map_or_else(|| parsed.map_err(Fault::Syntax), Err),
        Ok(value) => Ok(value),
        Err(error) if key_twice => Err(Fault::KeyTwice(error.to_string())),
        Err(error) => Err(Fault::Syntax(error)),
    }
}

/// Returns the value of a text, unless it has a fault.
#[doc(hidden)]
pub fn parse_unique(text: &str) -> Option<Value> {
    parse(text).ok()
}

/// Deserializes a value from any format, and refuses duplicate keys.
pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Value, D::Error> {
    JsonSeed(Unique(&Cell::new(VisitState::default()))).deserialize(deserializer)
}

/// Finds the first integer in valid JSON text that does not fit 64 bits.
fn long_integer(text: &str) -> Option<Fault> {
    let (mut line, mut line_start, mut in_string, mut at) = (1, 0, false, 0);
    let bytes = text.as_bytes();
    while let Some(byte) = bytes.get(at) {
        match byte {
            // In valid JSON it occurs only in strings.
            b'\\' => at += 1,
            b'"' => in_string = !in_string,
            b'\n' => (line, line_start) = (line + 1, at + 1),
            b'-' | b'0'..=b'9' if !in_string => {
                let rest = &bytes[at..];
                let is_number = |byte: &u8| matches!(byte, b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-');
                let end = rest.iter().position(|byte| !is_number(byte)).unwrap_or(rest.len());
                let number = &text[at..at + end];
                if !number.contains(['.', 'e', 'E'])
                    && number.parse::<i64>().is_err()
                    && number.parse::<u64>().is_err()
                {
                    return Some(Fault::LongInteger { line, column: at - line_start + 1 });
                }
                at += end - 1;
            }
            _ => {}
        }
        at += 1;
    }
    None
}

/// The state of the rules.
#[derive(Clone, Copy, Default)]
struct VisitState {
    key_twice: bool,
    /// True for a float so large that it may have been an integer.
    huge: bool,
}

#[derive(Clone, Copy)]
struct Unique<'a>(&'a Cell<VisitState>);

impl JsonRules for Unique<'_> {
    fn float<E: Error>(self, value: f64) -> Result<Number, E> {
        if value.abs() >= 9.2e18 {
            self.0.set(VisitState { huge: true, ..self.0.get() });
        }
        Number::from_f64(value).ok_or_else(|| E::custom("a number out of range"))
    }

    fn repeated<E: Error>(self, key: &str) -> E {
        self.0.set(VisitState { key_twice: true, ..self.0.get() });
        E::custom(format_args!("the key {:?} is repeated in one object", cut(key, 80)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_serde_json_where_no_key_stands_twice() {
        for text in [
            r#"{"a":[1,-2,3.5,1e300,true,null,"x\n\u00e9"],"b":{"c":{}}}"#,
            "18446744073709551615",
            "-9223372036854775808",
            "\"\"",
            "[]",
            " null ",
        ] {
            assert_eq!(parse(text).unwrap(), serde_json::from_str::<Value>(text).unwrap(), "{text}");
        }
        for text in ["", "{", "[1,]", "nul", "{} {}", "{\"a\":1e999}", "'a'"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn refuses_a_key_that_stands_twice() {
        let Err(Fault::KeyTwice(error)) = parse(r#"{"a":1,"b":{"x":1,"x":2}}"#) else { panic!("accepted") };
        assert!(error.starts_with("the key \"x\" is repeated in one object at line 1"), "{error}");
    }

    #[test]
    fn refuses_integers_that_would_be_rounded() {
        for (text, place) in [
            ("18446744073709551616", Some((1, 1))),
            ("{\"a\": \"99999999999999999999\",\n \"b\": [1, -9223372036854775809]}", Some((2, 11))),
            // The character right after a number is not skipped.
            ("[1,18446744073709551616]", Some((1, 4))),
            ("[1\n,18446744073709551616]", Some((2, 2))),
            ("18446744073709551615", None),
            ("[1e300, 99999999999999999999.0]", None),
            (r#"["\"99999999999999999999", 1e19]"#, None),
        ] {
            let found = match parse(text) {
                Err(Fault::LongInteger { line, column }) => Some((line, column)),
                _ => None,
            };
            assert_eq!(found, place, "{text}");
        }
    }

    #[test]
    fn refuses_endless_nesting() {
        assert!(parse(&"[".repeat(100_000)).is_err());
    }

    #[test]
    fn what_is_no_json_is_refused_in_words() {
        use serde::de::value::{BytesDeserializer, Error, UnitDeserializer};
        let refused = deserialize(BytesDeserializer::<Error>::new(b"x")).unwrap_err();
        assert_eq!(refused.to_string(), "invalid type: byte array, expected a JSON value");
        assert_eq!(deserialize(UnitDeserializer::<Error>::new()), Ok(Value::Null));
    }
}

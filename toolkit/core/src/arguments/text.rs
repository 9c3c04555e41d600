//! Parses the text of arguments, with error messages that do not repeat it.

use super::repair::{Repair, RepairKind, Repairing, is_null, without_wrapping};
use crate::invalid_arguments::{InvalidArguments, Problem};
use crate::schema::Compiled;
use crate::unique_json::{self as json, Fault};
use serde_json::{Map, Value};

/// Parses text; a duplicate key is refused, because it would be unclear which value was meant.
///
/// # Errors
///
/// The fault of the text, and its place.
pub(super) fn read(
    text: &str,
    repairing: Repairing,
    repairs: &mut Vec<Repair>,
) -> Result<Value, InvalidArguments> {
    let fault = match json::parse(text) {
        Ok(value) => return Ok(value),
        Err(fault) => fault,
    };
    if repairing == Repairing::Off {
        return Err(explained(&fault, text));
    }
    if text.trim_matches(|c: char| c.is_whitespace() || c == '\u{FEFF}').is_empty() {
        return Ok(nothing("an empty text", repairs));
    }
    let Some(within) = without_wrapping(text) else { return Err(explained(&fault, text)) };
    let value = json::parse(within).map_err(|fault| explained(&fault, within))?;
    repairs.push(Repair::new("", RepairKind::TextUnwrapped, "text around the JSON was left out"));
    Ok(value)
}

/// Parses a string of JSON where an object was expected: arguments that were encoded twice. Returns `None` if it is
/// no object.
///
/// # Errors
///
/// The fault of an object's JSON, and its place.
pub(super) fn encoded(
    compiled: &Compiled,
    text: &str,
    repairs: &mut Vec<Repair>,
) -> Result<Option<Value>, InvalidArguments> {
    if text.trim().is_empty() || is_null(text) {
        return Ok(Some(nothing("a string with nothing in it", repairs)));
    }
    let within = without_wrapping(text).unwrap_or(text);
    if !within.trim_start().starts_with('{') {
        return Ok(None);
    }
    let value = json::parse(within).map_err(|fault| explained(&fault, within))?;
    repairs.push(Repair::of_value(compiled, String::new(), RepairKind::StringToObject, &text.into()));
    Ok(Some(value))
}

/// Returns the arguments of a call without any.
pub(super) fn nothing(what: &str, repairs: &mut Vec<Repair>) -> Value {
    repairs.push(Repair::new(
        "",
        RepairKind::NothingToObject,
        format!("{what} was read as a call without arguments"),
    ));
    Value::Object(Map::new())
}

fn explained(fault: &Fault, text: &str) -> InvalidArguments {
    let (expected, actual) = match fault {
        Fault::Syntax(_) if text.trim().is_empty() => {
            ("a JSON object, {} for none", "an empty text".to_owned())
        }
        Fault::Syntax(error) if error.is_eof() => (
            "a whole JSON object",
            format!(
                "JSON text that ends too early, at line {} column {}; it may have been cut off: send all of it again",
                error.line(),
                error.column()
            ),
        ),
        Fault::Syntax(error) => {
            ("a JSON object", format!("text that is not valid JSON: {error}{}", advice(error, text)))
        }
        Fault::KeyTwice(error) => ("each key once in an object", format!("text in which {error}")),
        Fault::LongInteger { line, column } => (
            "integers of at most 64 bits, and any greater number with a decimal point or an exponent",
            format!("a longer integer at line {line} column {column}"),
        ),
    };
    InvalidArguments::of(vec![Problem::new("", expected, actual)])
}

/// Returns advice about the text at the place of an error, if it is an error that models often make.
fn advice(error: &serde_json::Error, text: &str) -> &'static str {
    let line = text.lines().nth(error.line().saturating_sub(1)).unwrap_or_default();
    // The parser counts bytes, and reports some errors after the wrong byte.
    let at = |back: usize| line.as_bytes().get(error.column().checked_sub(back)?).copied();
    let word = |word: &str| {
        [1, 2].iter().any(|back| {
            let from = error.column().checked_sub(*back);
            from.and_then(|from| line.get(from..)).is_some_and(|rest| rest.starts_with(word))
        })
    };
    if word("True") || word("False") || word("None") {
        "; JSON writes `true`, `false` and `null`"
    } else if word("NaN") || word("Infinity") || word("-Infinity") {
        "; JSON has no such number"
    } else if at(1) == Some(b'\'') {
        "; JSON has double quotes around strings and keys"
    } else if matches!(at(1), Some(b'\n' | b'\t' | b'\r') | None) && error.to_string().starts_with("control")
    {
        "; write a line break in a string as \\n and a tab as \\t"
    } else {
        match error.to_string() {
            message if message.starts_with("key must") => "; JSON has double quotes around keys",
            message if message.starts_with("invalid escape") => "; write a backslash in a string as \\\\",
            message if message.starts_with("recursion limit") => {
                "; lists and objects may nest at most 127 deep"
            }
            message if message.starts_with("trailing characters") => "; nothing may follow the object",
            _ if !text.trim_start().starts_with(['{', '[']) => "; send the JSON object alone",
            _ => "",
        }
    }
}

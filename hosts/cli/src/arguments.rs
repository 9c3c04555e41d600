//! The arguments of a call: `--args`, the tool's flags, or both.

use crate::exit::Stop;
use serde_json::Value;
use std::fs;
use std::io::{self, Read as _};

/// Returns the JSON text of `--args`: the value itself, a file's content, or standard input.
pub(crate) fn read(given: &str) -> Result<String, Stop> {
    if given == "-" {
        let mut text = String::new();
        io::stdin()
            .read_to_string(&mut text)
            .map_err(|error| Stop::usage(format!("`--args -`: standard input cannot be read: {error}")))?;
        return Ok(text);
    }
    match given.strip_prefix('@') {
        Some(path) => fs::read_to_string(path)
            .map_err(|error| Stop::usage(format!("`--args @{path}` cannot be read: {error}"))),
        None => Ok(given.to_owned()),
    }
}

/// Merges `--args` and the tool's flags into one JSON text.
///
/// Texts are joined, not values, so that the toolbox sees everything that was passed, including duplicate keys. A text
/// that is not a JSON object is left unchanged, and the toolbox refuses it.
pub(crate) fn merge(given: Option<String>, flags: &[(&str, String)]) -> Result<String, Stop> {
    let from_flags = flags.iter().map(|(name, json)| format!("{}:{json}", Value::from(*name)));
    let from_flags = from_flags.collect::<Vec<_>>().join(",");
    let Some(given) = given else { return Ok(format!("{{{from_flags}}}")) };
    if flags.is_empty() {
        return Ok(given);
    }
    match serde_json::from_str(&given) {
        Ok(Value::Object(members)) => {
            if let Some((name, _)) = flags.iter().find(|(name, _)| members.contains_key(*name)) {
                return Err(Stop::usage(format!(
                    "`{name}` is given in `--args` and as a flag; keep one of them"
                )));
            }
            let open = given.trim_end().strip_suffix('}').unwrap_or_default();
            let comma = if members.is_empty() { "" } else { "," };
            Ok(format!("{open}{comma}{from_flags}}}"))
        }
        Ok(Value::Null) => Ok(format!("{{{from_flags}}}")),
        _ => Ok(given),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merging() {
        let flags = [("a b", "1".to_owned()), ("c", "\"x\"".to_owned())];
        for (given, flags, expected) in [
            (None, &[][..], "{}"),
            (None, &flags, r#"{"a b":1,"c":"x"}"#),
            (Some("{}"), &flags, r#"{"a b":1,"c":"x"}"#),
            (Some(" { \"d\": 1 }\n"), &flags, " { \"d\": 1 ,\"a b\":1,\"c\":\"x\"}"),
            (Some(r#"{"d":1,"d":2}"#), &flags, r#"{"d":1,"d":2,"a b":1,"c":"x"}"#),
            (Some(r#"{"d":1,"d":2}"#), &[], r#"{"d":1,"d":2}"#),
            (Some("null"), &flags, r#"{"a b":1,"c":"x"}"#),
            (Some("[1]"), &flags, "[1]"),
            (Some("{,"), &flags, "{,"),
        ] {
            let merged = merge(given.map(str::to_owned), flags);
            assert!(matches!(&merged, Ok(text) if text == expected), "{given:?}: {merged:?}");
        }
        assert!(merge(Some(r#"{"c": null}"#.to_owned()), &flags).is_err());
    }
}

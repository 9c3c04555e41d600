//! The form of values in error texts: short, and without secrets.

use super::schema_facts::rest_of;
use crate::excerpt::cut;
use crate::pointer::steps;
use crate::schema::Compiled;
use crate::schema::secret::{add_variants, holds_mark, is_marked};
use serde_json::Value;
use std::io;

/// The text that replaces a value that must not be shown.
#[doc(hidden)]
pub const KEPT_SECRET: &str = "a value that is kept secret";

/// The most characters of a value.
const LONGEST: usize = 80;

/// Returns true if the value at `pointer` is a secret, or contains one.
#[doc(hidden)]
pub fn is_secret(compiled: &Compiled, pointer: &str) -> bool {
    if !compiled.has_secrets {
        return false;
    }
    let root = &compiled.annotated;
    let mut here = Vec::new();
    add_variants(&mut here, root, root, 0);
    for step in steps(pointer) {
        if here.iter().any(|schema| is_marked(schema)) {
            return true;
        }
        let mut next = Vec::new();
        for schema in here.iter().filter_map(|schema| schema.as_object()) {
            let property = schema.get("properties").and_then(|properties| properties.get(&step));
            let place = step.parse::<usize>().ok().and_then(|place| schema.get("prefixItems")?.get(place));
            let found = property.or(place).or_else(|| schema.get("items")).or_else(|| rest_of(schema));
            if let Some(found) = found {
                add_variants(&mut next, found, root, 0);
            }
        }
        here = next;
    }
    let mut followed = Vec::new();
    here.into_iter().any(|schema| holds_mark(schema, root, &mut followed))
}

/// Returns the value, shortened to a length suitable for a model.
pub(super) fn short(value: &Value) -> String {
    let (kind, size) = match value {
        Value::Null => return "null".to_owned(),
        Value::Bool(_) => ("boolean", String::new()),
        Value::Number(_) => ("number", String::new()),
        Value::String(text) => ("string", format!("{} bytes", text.len())),
        Value::Array(items) if items.is_empty() => return "an empty list".to_owned(),
        Value::Array(items) => ("list", counted(items.len(), "item", "items")),
        Value::Object(members) if members.is_empty() => return "an empty object".to_owned(),
        Value::Object(members) => ("object", counted(members.len(), "entry", "entries")),
    };
    let text = match value {
        // Strings are searched for characters to escape before they are written, so they are
        // shortened first.
        Value::String(text) => beginning(&cut(text, LONGEST).into()),
        value => beginning(value),
    };
    let shown = cut(&text, LONGEST);
    if shown == text { format!("the {kind} {text}") } else { format!("the {kind} {shown} ({size})") }
}

fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// Returns somewhat more than the first characters of a value's JSON; the rest is never written.
fn beginning(value: &Value) -> String {
    struct Limited(Vec<u8>);
    impl io::Write for Limited {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            // A character takes at most four bytes.
            let room = (LONGEST + 1) * 4 - self.0.len();
            if room == 0 {
                return Err(io::ErrorKind::WriteZero.into());
            }
            let taken = room.min(bytes.len());
            self.0.extend_from_slice(&bytes[..taken]);
            Ok(taken)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut limited = Limited(Vec::new());
    // An error means that the value is longer than needed.
    let _ = serde_json::to_writer(&mut limited, value);
    String::from_utf8_lossy(&limited.0).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn values_are_cut() {
        for (value, expected) in [
            (json!(null), "null".to_owned()),
            (json!(1.5), "the number 1.5".to_owned()),
            (json!([]), "an empty list".to_owned()),
            (json!(["a"]), r#"the list ["a"]"#.to_owned()),
            (json!("é".repeat(500)), format!("the string \"{}… (1000 bytes)", "é".repeat(79))),
            (json!(["x".repeat(100)]), format!("the list [\"{}… (1 item)", "x".repeat(78))),
        ] {
            assert_eq!(short(&value), expected);
        }
    }

    #[test]
    fn a_huge_value_is_not_written_out() {
        let value = Value::from(vec![Value::from("x".repeat(1 << 20)); 64]);
        assert_eq!(beginning(&value).len(), (LONGEST + 1) * 4);
        assert!(short(&value).ends_with("xxx… (64 items)"));
    }

    #[test]
    fn a_text_is_whole_as_long_as_it_fits_with_its_quotes() {
        for (length, is_whole) in [(1, true), (LONGEST - 2, true), (LONGEST - 1, false), (LONGEST + 1, false)]
        {
            let text = "é".repeat(length);
            let shown = short(&text.clone().into());
            assert_eq!(shown == format!("the string \"{text}\""), is_whole, "{length}: {shown}");
            assert_eq!(shown.ends_with(&format!("… ({} bytes)", length * 2)), !is_whole, "{length}: {shown}");
        }
        assert_eq!(
            short(&"\n".repeat(99).into()),
            format!("the string \"{}\\… (99 bytes)", "\\n".repeat(39))
        );
    }
}

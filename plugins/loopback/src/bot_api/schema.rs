//! Types of the fields of requests, and their checks.

use serde_json::{Map, Value};

/// A field of a request or object.
#[derive(Debug, Clone, Copy)]
pub(super) struct Field {
    /// Its name.
    pub(super) name: &'static str,
    /// Its type.
    pub(super) kind: Kind,
    /// True if it must be there.
    pub(super) is_required: bool,
}

/// A required field.
pub(super) const fn required(name: &'static str, kind: Kind) -> Field {
    Field { name, kind, is_required: true }
}

/// An optional field.
pub(super) const fn optional(name: &'static str, kind: Kind) -> Field {
    Field { name, kind, is_required: false }
}

/// The type of a field.
#[derive(Debug, Clone, Copy)]
pub(super) enum Kind {
    /// The number of a chat, or `@name`.
    Chat,
    /// A number in a range.
    Integer(i64, i64),
    /// True or false.
    Boolean,
    /// A text of any length, which another check limits.
    Text,
    /// A text with a number of UTF-16 units in a range.
    Units(usize, usize),
    /// A text with a number of bytes in a range.
    Bytes(usize, usize),
    /// One of several texts.
    OneOf(&'static [&'static str]),
    /// An object.
    Object(&'static [Field]),
    /// A list with a number of items in a range.
    List(&'static Kind, usize, usize),
    /// A file, as a part of a form.
    File,
}

/// Checks the fields of a request. The names of its files are those of fields too.
pub(super) fn check(fields: &Map<String, Value>, files: &[&str], expected: &[Field]) -> Result<(), String> {
    for name in fields.keys().map(String::as_str).chain(files.iter().copied()) {
        if !expected.iter().any(|field| field.name == name) {
            return Err(format!("unknown field `{name}`"));
        }
    }
    for field in expected {
        let name = field.name;
        match field.kind {
            Kind::File if files.contains(&name) => {}
            Kind::File if fields.contains_key(name) => return Err(format!("`{name}` is not a file")),
            _ => match fields.get(name) {
                Some(value) => of_kind(value, field.kind).map_err(|error| format!("`{name}` {error}"))?,
                None if field.is_required => return Err(format!("`{name}` is missing")),
                None => {}
            },
        }
    }
    Ok(())
}

/// Reads the texts of a form as the types of their fields.
pub(super) fn typed(fields: Map<String, Value>, expected: &[Field]) -> Map<String, Value> {
    let kind = |name: &str| expected.iter().find(|field| field.name == name).map(|field| field.kind);
    let value = |(name, value): (String, Value)| {
        let is_text = matches!(
            kind(&name),
            None | Some(Kind::Text | Kind::Units(..) | Kind::Bytes(..) | Kind::OneOf(_) | Kind::File)
        );
        let read = value.as_str().filter(|_| !is_text).and_then(|text| serde_json::from_str(text).ok());
        (name, read.unwrap_or(value))
    };
    fields.into_iter().map(value).collect()
}

fn of_kind(value: &Value, kind: Kind) -> Result<(), String> {
    let text = || value.as_str().ok_or_else(|| "is not a text".to_owned());
    let within = |count: usize, least: usize, most: usize, unit: &str| {
        if (least..=most).contains(&count) {
            return Ok(());
        }
        Err(format!("has {count} {unit}, not {least} to {most}"))
    };
    match kind {
        Kind::Chat => {
            match value.as_i64().map(|id| id != 0).or_else(|| Some(value.as_str()?.starts_with('@'))) {
                Some(true) => Ok(()),
                _ => Err("is not a chat".to_owned()),
            }
        }
        Kind::Integer(least, most) => match value.as_i64() {
            Some(number) if (least..=most).contains(&number) => Ok(()),
            _ => Err(format!("is not a number from {least} to {most}")),
        },
        Kind::Boolean => value.as_bool().map(|_| ()).ok_or_else(|| "is neither true nor false".to_owned()),
        Kind::Text => text().map(|_| ()),
        Kind::Units(least, most) => within(text()?.encode_utf16().count(), least, most, "UTF-16 units"),
        Kind::Bytes(least, most) => within(text()?.len(), least, most, "bytes"),
        Kind::OneOf(texts) if value.as_str().is_some_and(|text| texts.contains(&text)) => Ok(()),
        Kind::OneOf(texts) => Err(format!("is none of {}", texts.join(", "))),
        Kind::Object(fields) => {
            let object = value.as_object().ok_or_else(|| "is not an object".to_owned())?;
            check(object, &[], fields).map_err(|error| format!("has {error}"))
        }
        Kind::List(item, least, most) => {
            let list = value.as_array().ok_or_else(|| "is not a list".to_owned())?;
            within(list.len(), least, most, "items")?;
            list.iter().try_for_each(|value| {
                of_kind(value, *item).map_err(|error| format!("has an item that {error}"))
            })
        }
        Kind::File => Err("is not a file".to_owned()),
    }
}

//! OpenAI's Responses: items of the type `function_call`.

use crate::dialect::calls::{CallFormatError, Found, Reader, from_value, refuse_cut};
use serde_json::{Map, Value};

pub(super) fn find(reader: Reader, answer: &Value) -> Result<Vec<Found>, CallFormatError> {
    let one;
    let (items, at) = match answer {
        Value::Array(items) => (items.as_slice(), ""),
        Value::Object(members) => match (members.get("response"), members.get("output"), members.get("type"))
        {
            (Some(response @ Value::Object(_)), ..) => return find(reader, response),
            (_, Some(Value::Array(items)), _) => (items.as_slice(), "/output"),
            (_, Some(Value::Null) | None, Some(Value::String(_))) => {
                one = [answer.clone()];
                (&one[..], "")
            }
            (_, None, _) => (&[][..], ""),
            (_, output, _) => return Err(reader.wrong("/output", "a list", output)),
        },
        other => return Err(reader.wrong("", "an object or a list", Some(other))),
    };
    let mut found = Vec::new();
    for (index, item) in items.iter().enumerate() {
        let at = format!("{at}/{index}");
        let item = reader.object(item, &at)?;
        if item.get("type").and_then(Value::as_str) == Some("function_call") {
            let call = function_call(reader, item, &at)?;
            if item.get("status").and_then(Value::as_str) == Some("incomplete") {
                refuse_cut(std::slice::from_ref(&call))?;
            }
            found.push(call);
        }
    }
    Ok(found)
}

pub(super) fn function_call(
    reader: Reader,
    item: &Map<String, Value>,
    at: &str,
) -> Result<Found, CallFormatError> {
    // `id` is the item's id; results refer to `call_id`.
    let id = item.get("call_id").filter(|id| !id.is_null()).or_else(|| item.get("id"));
    Ok(Found {
        id: reader.id(id, &format!("{at}/call_id"))?,
        name: reader.name(item.get("name"), &format!("{at}/name"))?,
        arguments: from_value(item.get("arguments")),
    })
}

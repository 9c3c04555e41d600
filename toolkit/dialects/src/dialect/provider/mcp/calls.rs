//! The Model Context Protocol: the request `tools/call`, or its parameters.

use crate::dialect::calls::{CallFormatError, Found, Reader, from_value};
use serde_json::Value;

pub(super) fn find(reader: Reader, answer: &Value) -> Result<Vec<Found>, CallFormatError> {
    let request = reader.object(answer, "")?;
    let (params, at) = match request.get("method").and_then(Value::as_str) {
        Some("tools/call") => {
            let params = request.get("params").ok_or_else(|| reader.wrong("/params", "an object", None))?;
            (reader.object(params, "/params")?, "/params")
        }
        Some(_) => return Ok(Vec::new()),
        None => (request, ""),
    };
    let id = match request.get("method") {
        Some(_) => reader.id(request.get("id"), "/id")?,
        None => None,
    };
    let name = reader.name(params.get("name"), &format!("{at}/name"))?;
    Ok(vec![Found { id, name, arguments: from_value(params.get("arguments")) }])
}

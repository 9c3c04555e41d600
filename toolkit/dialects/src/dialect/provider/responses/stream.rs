//! Events of OpenAI's Responses.

use super::calls::{find, function_call};
use crate::dialect::calls::{CallFormatError, Found, Reader};
use crate::dialect::stream::{CallStream, End, MAX_NAME_BYTES, Open};
use serde_json::{Map, Value};

impl CallStream {
    pub(super) fn push_responses(&mut self, reader: Reader, event: &Value) -> Result<(), CallFormatError> {
        let event = reader.object(event, "")?;
        match event.get("type").and_then(Value::as_str).unwrap_or_default() {
            kind @ ("response.output_item.added" | "response.output_item.done") => {
                let item = event.get("item").ok_or_else(|| reader.wrong("/item", "an object", None))?;
                let item = reader.object(item, "/item")?;
                if item.get("type").and_then(Value::as_str) != Some("function_call") {
                    return Ok(());
                }
                let is_done = kind == "response.output_item.done"
                    && item.get("status").and_then(Value::as_str) != Some("incomplete");
                let call = function_call(reader, item, "/item")?;
                let item_id = reader.text(item.get("id"), "/item/id")?;
                self.take_item(reader, event, item_id, call, is_done)
            }
            "response.function_call_arguments.delta" => {
                let delta = reader.text(event.get("delta"), "/delta")?.unwrap_or_default();
                self.count(delta.len())?;
                let item = reader.text(event.get("item_id"), "/item_id")?;
                self.item(event, item)?.text.push_str(delta);
                Ok(())
            }
            "response.function_call_arguments.done" => {
                let text = reader.text(event.get("arguments"), "/arguments")?;
                let name = reader.text(event.get("name"), "/name")?.map(str::to_owned);
                let item = reader.text(event.get("item_id"), "/item_id")?;
                let before = self.item(event, item)?.text.len();
                self.count(text.map_or(0, |text| text.len().saturating_sub(before)))?;
                let open = self.item(event, item)?;
                if let Some(text) = text {
                    text.clone_into(&mut open.text);
                }
                if let (true, Some(name)) = (open.name.is_empty(), name) {
                    open.name = name;
                }
                open.is_done = true;
                Ok(())
            }
            "response.incomplete" => {
                self.end = End::Cut;
                Ok(())
            }
            "response.completed" => {
                // The final event repeats calls that were sent before; some servers send them only
                // here.
                if self.open.is_empty() {
                    for call in find(reader, &Value::Object(event.clone()))? {
                        self.take_item(reader, &Map::new(), None, call, true)?;
                    }
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn take_item(
        &mut self,
        reader: Reader,
        event: &Map<String, Value>,
        item_id: Option<&str>,
        call: Found,
        is_done: bool,
    ) -> Result<(), CallFormatError> {
        let (text, value) = match call.arguments.into_text() {
            Ok(text) => (text, None),
            Err(Value::Object(members)) if members.is_empty() => (String::new(), None),
            Err(value) => (String::new(), Some(value)),
        };
        if call.name.len() > MAX_NAME_BYTES {
            return Err(reader.wrong("/item/name", "the name of a tool", Some(&Value::String(call.name))));
        }
        let has_place = event.contains_key("output_index") || item_id.is_some();
        let before = if has_place { self.item(event, item_id)?.text.len() } else { 0 };
        self.count(
            text.len().saturating_sub(before) + value.as_ref().map_or(0, |value| value.to_string().len()),
        )?;
        let open = if has_place { self.item(event, item_id)? } else { self.add()? };
        open.name = call.name;
        open.id = call.id.or(open.id.take());
        open.value = value.or(open.value.take());
        if !text.is_empty() {
            open.text = text;
        }
        open.is_done |= is_done;
        Ok(())
    }

    /// Returns the call that an event of Responses refers to.
    fn item(&mut self, event: &Map<String, Value>, item: Option<&str>) -> Result<&mut Open, CallFormatError> {
        let index = event.get("output_index").and_then(Value::as_u64);
        let is_of = |open: &Open| match (open.index, index) {
            (Some(own), Some(index)) => own == index,
            _ => open.item.is_some() && open.item.as_deref() == item,
        };
        match self.open.iter().position(is_of) {
            Some(place) => Ok(&mut self.open[place]),
            None => {
                let item = item.map(str::to_owned);
                let open = self.add()?;
                open.index = index;
                open.item = item;
                Ok(open)
            }
        }
    }
}

//! Chunks of OpenAI's Chat Completions.

use crate::dialect::calls::{self, CallFormatError, Reader, is_complete};
use crate::dialect::stream::{CallStream, End, MAX_NAME_BYTES, Open};
use serde_json::{Map, Value};

impl CallStream {
    pub(super) fn push_chat(&mut self, reader: Reader, event: &Value) -> Result<(), CallFormatError> {
        let event = reader.object(event, "")?;
        for (place, choice) in reader.list(event.get("choices"), "/choices")?.iter().enumerate() {
            let at = format!("/choices/{place}");
            let choice = reader.object(choice, &at)?;
            // Only the first answer is used, of several alternatives.
            if choice.get("index").and_then(Value::as_u64).is_some_and(|index| index > 0) {
                continue;
            }
            match reader.text(choice.get("finish_reason"), &format!("{at}/finish_reason"))? {
                // Some servers send this with every fragment, without a meaning.
                None | Some("") => {}
                Some("error") => return Err(calls::failed(choice.get("error"))),
                Some("length" | "content_filter") => self.end = End::Cut,
                Some(_) => self.end = End::Whole,
            }
            let Some(delta) = choice.get("delta").filter(|delta| !delta.is_null()) else { continue };
            let delta = reader.object(delta, &format!("{at}/delta"))?;
            let at = format!("{at}/delta/tool_calls");
            for (place, fragment) in reader.list(delta.get("tool_calls"), &at)?.iter().enumerate() {
                let at = format!("{at}/{place}");
                self.push_chat_fragment(reader, reader.object(fragment, &at)?, &at)?;
            }
        }
        Ok(())
    }

    fn push_chat_fragment(
        &mut self,
        reader: Reader,
        fragment: &Map<String, Value>,
        at: &str,
    ) -> Result<(), CallFormatError> {
        let (key, arguments) = match fragment.get("type").and_then(Value::as_str) {
            Some("custom") => ("custom", "input"),
            None if fragment.contains_key("custom") => ("custom", "input"),
            None | Some("function" | "") => ("function", "arguments"),
            Some(_) => return Ok(()),
        };
        let index = match fragment.get("index") {
            None | Some(Value::Null) => None,
            Some(index) => {
                let number = index.as_u64();
                Some(
                    number
                        .ok_or_else(|| reader.wrong(&format!("{at}/index"), "a whole number", Some(index)))?,
                )
            }
        };
        let id = reader.id(fragment.get("id"), &format!("{at}/id"))?.filter(|id| !id.is_empty());
        let none = Map::new();
        let at = format!("{at}/{key}");
        let function = match fragment.get(key) {
            None | Some(Value::Null) => &none,
            Some(function) => reader.object(function, &at)?,
        };
        let name = reader.text(function.get("name"), &format!("{at}/name"))?.unwrap_or_default();
        // Some servers send arguments as a whole object.
        let (text, value) = match function.get(arguments) {
            Some(value @ Value::Object(_)) => (None, Some(value)),
            other => (reader.text(other, &format!("{at}/{arguments}"))?, None),
        };
        self.count(text.map_or(0, str::len) + value.map_or(0, |value| value.to_string().len()))?;
        let open = self.chat_call(index, id.as_deref())?;
        // Some servers say a call again as a whole at the end.
        if id.is_some() && text.is_some_and(|text| text == open.text && is_complete(text)) {
            return Ok(());
        }
        if open.id.is_none() {
            open.id = id;
        }
        // Most servers send a name once, some with every fragment, some in fragments too.
        if open.name != name {
            open.name.push_str(name);
        }
        if open.name.len() > MAX_NAME_BYTES {
            return Err(reader.wrong(&format!("{at}/name"), "the name of a tool", function.get("name")));
        }
        open.text.push_str(text.unwrap_or_default());
        if let Some(value) = value {
            open.value = Some(value.clone());
            open.is_done = true;
        }
        Ok(())
    }

    /// Returns the call that a fragment belongs to. Some servers number all calls alike, and some send no number: then a new id
    /// begins a new call.
    fn chat_call(&mut self, index: Option<u64>, id: Option<&str>) -> Result<&mut Open, CallFormatError> {
        let is_of = |open: &Open| {
            let is_same_id = match (&open.id, id) {
                (Some(own), Some(id)) => own == id,
                _ => true,
            };
            is_same_id && (open.index == index || index.is_none())
        };
        match self.open.iter().rposition(is_of) {
            Some(place) => Ok(&mut self.open[place]),
            None => {
                let open = self.add()?;
                open.index = index;
                Ok(open)
            }
        }
    }
}

//! Events of Anthropic's Messages.

use super::calls::{is_cut, tool_use};
use crate::dialect::calls::{CallFormatError, Found, Reader};
use crate::dialect::stream::{CallStream, End, MAX_BLOCKS, Open};
use serde_json::Value;

impl CallStream {
    pub(super) fn push_anthropic(&mut self, reader: Reader, event: &Value) -> Result<(), CallFormatError> {
        let event = reader.object(event, "")?;
        let kind = event.get("type").and_then(Value::as_str).unwrap_or_default();
        let index = || {
            let index = event.get("index");
            index.and_then(Value::as_u64).ok_or_else(|| reader.wrong("/index", "a whole number", index))
        };
        match kind {
            "content_block_start" => {
                let index = index()?;
                let at = "/content_block";
                let block = event.get("content_block").ok_or_else(|| reader.wrong(at, "an object", None))?;
                let block = reader.object(block, at)?;
                if block.get("type").and_then(Value::as_str) != Some("tool_use") {
                    if self.others.len() < MAX_BLOCKS {
                        self.others.insert(index);
                    }
                    return Ok(());
                }
                if self.open.iter().any(|open| open.index == Some(index)) {
                    return Err(reader.wrong("/index", "that of a new block", event.get("index")));
                }
                let Found { id, name, arguments } = tool_use(reader, block, at)?;
                let value = match arguments.into_text() {
                    Ok(_) => block.get("input").cloned(),
                    Err(value) => Some(value),
                };
                self.count(value.as_ref().map_or(0, |value| value.to_string().len()))?;
                *self.add()? = Open { index: Some(index), id, name, value, ..Open::default() };
            }
            "content_block_delta" => {
                let delta = event.get("delta").ok_or_else(|| reader.wrong("/delta", "an object", None))?;
                let delta = reader.object(delta, "/delta")?;
                if delta.get("type").and_then(Value::as_str) != Some("input_json_delta") {
                    return Ok(());
                }
                let index = index()?;
                let text = reader.text(delta.get("partial_json"), "/delta/partial_json")?.unwrap_or_default();
                self.count(text.len())?;
                match self.open.iter_mut().find(|open| open.index == Some(index)) {
                    Some(open) => open.text.push_str(text),
                    // A tool that the provider itself runs.
                    None if self.others.contains(&index) => {}
                    None => {
                        return Err(reader.wrong("/index", "that of a block that began", event.get("index")));
                    }
                }
            }
            "content_block_stop" => {
                let index = index()?;
                if let Some(open) = self.open.iter_mut().find(|open| open.index == Some(index)) {
                    open.is_done = true;
                }
            }
            "message_delta" => {
                let stop =
                    event.get("delta").and_then(|delta| delta.get("stop_reason")).and_then(Value::as_str);
                if stop.is_some_and(is_cut) {
                    self.end = End::Cut;
                }
            }
            _ => {}
        }
        Ok(())
    }
}

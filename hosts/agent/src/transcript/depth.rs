//! Values that are nested too deep for a line that can be read again.

use super::record::Record;
use serde_json::Value;
use toolkit::arguments::CallArguments;
use toolkit_models::{AssistantMessage, AssistantPart, Message};

/// How deep a value in a line is nested at most. A parser reads 127 levels, of which those around the value are some.
const MAX_DEPTH: usize = 100;

impl Record {
    /// Returns the line with arguments as their text that are nested too deep to be read again; `None` if there are none.
    pub(crate) fn flattened(&self) -> Option<Self> {
        let is_deep = match self {
            Self::Answer { answer, .. } => is_deep(&answer.message),
            Self::Failed { partial: Some(partial), .. } => is_deep(partial),
            Self::Carried(carried) => carried.messages.iter().any(|carried| match &carried.message {
                Message::Assistant(message) => is_deep(message),
                _ => false,
            }),
            _ => false,
        };
        if !is_deep {
            return None;
        }
        let mut flat = self.clone();
        match &mut flat {
            Self::Answer { answer, .. } => flatten(&mut answer.message),
            Self::Failed { partial: Some(partial), .. } => flatten(partial),
            Self::Carried(carried) => {
                for carried in &mut carried.messages {
                    if let Message::Assistant(message) = &mut carried.message {
                        flatten(message);
                    }
                }
            }
            _ => {}
        }
        Some(flat)
    }
}

fn is_deep(message: &AssistantMessage) -> bool {
    let raw = message.raw.as_ref().is_some_and(|raw| is_deeper(&raw.value, MAX_DEPTH));
    raw || message.tool_calls().any(|call| match &call.arguments {
        CallArguments::Json(value) => is_deeper(value, MAX_DEPTH),
        _ => false,
    })
}

fn flatten(message: &mut AssistantMessage) {
    // The provider's own form is only needed where it says more than the parts do.
    message.raw = message.raw.take().filter(|raw| !is_deeper(&raw.value, MAX_DEPTH));
    for part in &mut message.content {
        if let AssistantPart::ToolCall(call) = part
            && let CallArguments::Json(value) = &call.arguments
            && is_deeper(value, MAX_DEPTH)
        {
            call.arguments = CallArguments::Text(value.to_string());
        }
    }
}

/// Returns true if a value is nested in more than so many levels.
fn is_deeper(value: &Value, levels: usize) -> bool {
    let Some(below) = levels.checked_sub(1) else { return value.is_array() || value.is_object() };
    match value {
        Value::Array(items) => items.iter().any(|item| is_deeper(item, below)),
        Value::Object(members) => members.values().any(|member| is_deeper(member, below)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use toolkit::ToolCall;
    use toolkit_models::Answer;

    #[test]
    fn a_line_is_read_again_however_deep_its_arguments_are() {
        for depth in [1, 99, 100, 101, 120, 121, 122, 127, 128, 1_000] {
            let deep = (0..depth).fold(json!(1), |inner, _| json!([inner]));
            let answer = Answer::calls([ToolCall::new("1", "look", deep.clone())]);
            let record = Record::Answer { id: 1, turn: 0, answer: Box::new(answer) };
            let flat = record.flattened();
            assert_eq!(flat.is_some(), depth > 100, "{depth}");
            let written = flat.unwrap_or(record);
            let line = serde_json::to_string(&written).unwrap();
            assert_eq!(serde_json::from_str::<Record>(&line).unwrap(), written, "{depth}");
            let Record::Answer { answer, .. } = written else { panic!() };
            let call = answer.message.tool_calls().next().unwrap().clone();
            match call.arguments {
                CallArguments::Json(value) => assert_eq!(value, deep),
                CallArguments::Text(text) => assert_eq!(text, deep.to_string()),
                other => panic!("{other:?}"),
            }
        }
    }
}

//! Requests that the platform refuses.

use crate::text;
use serde_json::Value;
use std::collections::BTreeSet;

/// Returns the problem of a request, if there is one.
pub(crate) fn fault(body: &Value) -> Option<String> {
    if text(&body["model"]).is_empty() {
        return Some("`model` is missing".to_owned());
    }
    let none = Vec::new();
    let mut names = BTreeSet::new();
    for tool in body["tools"].as_array().unwrap_or(&none) {
        let function = &tool["function"];
        let name = text(&function["name"]);
        let is_legal = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        if tool["type"] != "function" {
            return Some(format!("a tool has the type {}", tool["type"]));
        }
        if name.is_empty() || name.len() > 64 || !name.chars().all(is_legal) {
            return Some(format!("a function has the name {name:?}"));
        }
        if !names.insert(name) {
            return Some(format!("two functions are called {name:?}"));
        }
        if text(&function["description"]).is_empty() {
            return Some(format!("the function {name:?} has no description"));
        }
        if function["parameters"]["type"] != "object" || !function["parameters"]["properties"].is_object() {
            return Some(format!("the parameters of {name:?} are no schema of an object"));
        }
    }
    unanswered(body["messages"].as_array().unwrap_or(&none))
}

/// Every call of a message is answered by one message with its id, before anything else is said.
fn unanswered(messages: &[Value]) -> Option<String> {
    let none = Vec::new();
    if messages.is_empty() {
        return Some("`messages` is empty".to_owned());
    }
    let mut open: BTreeSet<&str> = BTreeSet::new();
    for (number, message) in messages.iter().enumerate() {
        if message["role"] == "tool" {
            let id = text(&message["tool_call_id"]);
            if !open.remove(id) {
                return Some(format!(
                    "message {number} answers {id:?}, which is no call that waits for an answer"
                ));
            }
            if message["content"].is_null() {
                return Some(format!("message {number} has no content"));
            }
            continue;
        }
        if !open.is_empty() {
            return Some(format!("message {number} comes before the answers to {open:?}"));
        }
        for call in message["tool_calls"].as_array().unwrap_or(&none) {
            if call["type"] != "function" || !call["function"]["arguments"].is_string() {
                return Some(format!("message {number} has a call that is none: {call}"));
            }
            open.insert(text(&call["id"]));
        }
    }
    (!open.is_empty()).then(|| format!("nobody answers {open:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_the_platform_refuses_is_found() {
        let call =
            |id: &str| json!({"id": id, "type": "function", "function": {"name": "f", "arguments": "{}"}});
        let asks = json!({"role": "user", "content": "hi"});
        let calls = json!({"role": "assistant", "content": null, "tool_calls": [call("1"), call("2")]});
        let answer = |id: &str| json!({"role": "tool", "tool_call_id": id, "content": "x"});
        let function =
            json!({"name": "f", "description": "d", "parameters": {"type": "object", "properties": {}}});
        let with = |key: &str, value: Value| {
            let mut function = function.clone();
            function[key] = value;
            json!({"model": "m", "messages": [asks], "tools": [{"type": "function", "function": function}]})
        };
        let said = |messages: Vec<Value>| json!({"model": "m", "messages": messages});
        let whole = || vec![asks.clone(), calls.clone(), answer("2"), answer("1"), asks.clone()];
        assert_eq!(fault(&said(whole())), None);
        assert_eq!(fault(&with("name", json!("f"))), None);
        let mut early = whole();
        early.swap(3, 4);
        let twice = vec![asks.clone(), calls.clone(), answer("1"), answer("1")];
        for (body, expected) in [
            (json!({"messages": [asks]}), "`model`"),
            (said(Vec::new()), "empty"),
            (said(early), "comes before"),
            (said(whole()[..3].to_vec()), "nobody answers"),
            (said(twice), "no call that waits"),
            (with("name", json!("a b")), "the name"),
            (with("description", json!("")), "no description"),
            (with("parameters", json!({"type": "string"})), "no schema"),
        ] {
            let fault = fault(&body);
            assert!(fault.as_ref().is_some_and(|fault| fault.contains(expected)), "{expected}: {fault:?}");
        }
    }
}

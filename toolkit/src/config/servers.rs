//! What is wrong with a server of `mcp`, in words of what it was most probably meant to be.

use crate::arguments::{Problem, check_document};
use crate::config::core::{McpCommand, McpUrl};
use crate::config::pointer::{escape, steps};
use crate::name::nearest;
use crate::schema::{Compiled, compose};
use schemars::JsonSchema;
use serde_json::Value;
use std::sync::LazyLock;

const OF_COMMAND: [&str; 6] = ["command", "args", "env", "cwd", "sandbox", "network"];
const OF_URL: [&str; 3] = ["url", "headers", "oauth"];

static COMMAND: LazyLock<Option<Compiled>> = LazyLock::new(compiled::<McpCommand>);
static URL: LazyLock<Option<Compiled>> = LazyLock::new(compiled::<McpUrl>);

fn compiled<T: JsonSchema>() -> Option<Compiled> {
    Compiled::new("a server", compose(|generator| generator.subschema_for::<T>().to_value())).ok()
}

/// What is wrong with a document. Of a server that is neither a command nor an address a schema with both can only say that;
/// its keys tell which of them it was meant to be.
pub(super) fn check(compiled: &Compiled, document: &mut Value) -> Vec<Problem> {
    let problems = check_document(compiled, document);
    let refined = |problem: Problem| of_server(&problem.pointer, document).unwrap_or_else(|| vec![problem]);
    problems.into_iter().flat_map(refined).collect()
}

/// What is wrong with the server that stands at `pointer`, where one does.
fn of_server(pointer: &str, document: &Value) -> Option<Vec<Problem>> {
    let at: Vec<String> = steps(pointer).collect();
    let [mcp, name] = at.as_slice() else { return None };
    let server = document.get("mcp").filter(|_| mcp == "mcp")?.get(name)?;
    let members = server.as_object()?;
    let is_near = |names: &[&str]| {
        let means = |key: &String| {
            nearest(key, OF_COMMAND.iter().chain(&OF_URL).copied())
                .first()
                .is_some_and(|near| names.contains(near))
        };
        members.keys().any(means)
    };
    let at = format!("/mcp/{}", escape(name));
    // With one of the two the schema itself tells what is wrong with it; here it has both or neither.
    if members.contains_key("command") {
        return Some(vec![Problem::new(at, "a command or an address", "both `command` and `url`")]);
    }
    let variant = match (is_near(&OF_COMMAND), is_near(&OF_URL)) {
        (_, true) => URL.as_ref(),
        (true, false) => COMMAND.as_ref(),
        (false, false) => {
            let keys = "an object with the key `command` or the key `url`";
            return Some(vec![Problem::new(at, keys, "an object with neither")]);
        }
    };
    let mut problems = check_document(variant?, &mut server.clone());
    for problem in &mut problems {
        problem.pointer = format!("{at}{}", problem.pointer);
    }
    Some(problems).filter(|problems| !problems.is_empty())
}

/// The key under which servers may stand in a document, too: `mcp.servers.docs` is `mcp.docs`.
const ALL: &str = "servers";

/// Lets servers that stand under `mcp.servers` stand under `mcp`, and says whether there were any. Where something else stands there, or
/// one stands in both places, it is left.
pub(super) fn lift(document: &mut Value) -> bool {
    let Some(mcp) = document.get_mut("mcp").and_then(Value::as_object_mut) else { return false };
    let Some(servers) = mcp.get(ALL).and_then(Value::as_object) else { return false };
    // A server of this name has texts.
    if !servers.iter().all(|(name, server)| server.is_object() && (name == ALL || !mcp.contains_key(name))) {
        return false;
    }
    if let Some(Value::Object(servers)) = mcp.shift_remove(ALL) {
        mcp.extend(servers);
    }
    true
}

/// Where what stood at a pointer stands once it is lifted; `None` where it is gone.
pub(super) fn lifted(pointer: &str) -> Option<String> {
    match pointer.strip_prefix("/mcp/servers") {
        Some("") => None,
        Some(rest) if rest.starts_with('/') => Some(format!("/mcp{rest}")),
        _ => Some(pointer.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn servers_under_their_own_key_are_lifted() {
        for (given, expected) in [
            (
                json!({"mcp": {"servers": {"a": {"command": "x"}}}}),
                Some(json!({"mcp": {"a": {"command": "x"}}})),
            ),
            (
                json!({"mcp": {"b": {"url": "u"}, "servers": {"a": {"command": "x"}}}}),
                Some(json!({"mcp": {"b": {"url": "u"}, "a": {"command": "x"}}})),
            ),
            (json!({"mcp": {"servers": {}}}), Some(json!({"mcp": {}}))),
            (
                json!({"mcp": {"servers": {"servers": {"command": "x"}}}}),
                Some(json!({"mcp": {"servers": {"command": "x"}}})),
            ),
            // A server of this name.
            (json!({"mcp": {"servers": {"command": "x"}}}), None),
            (json!({"mcp": {"servers": {"url": "u", "headers": {}}}}), None),
            (json!({"mcp": {"a": {"url": "u"}, "servers": {"a": {"command": "x"}}}}), None),
            (json!({"mcp": {"servers": 1}}), None),
            (json!({"tools": {}}), None),
        ] {
            let mut document = given.clone();
            assert_eq!(lift(&mut document), expected.is_some(), "{given}");
            assert_eq!(document, expected.unwrap_or(given));
        }
        for (pointer, expected) in [
            ("/mcp/servers/a/command", Some("/mcp/a/command")),
            ("/mcp/servers", None),
            ("/mcp/serversx", Some("/mcp/serversx")),
            ("/mcp/b", Some("/mcp/b")),
        ] {
            assert_eq!(lifted(pointer).as_deref(), expected);
        }
    }
}

//! Validation errors of a server of `mcp`, for the most likely transport.

use crate::config::core::{McpCommand, McpUrl};
use crate::config::variables::names_variable;
use crate::section::pointer::{escape, steps};
use schemars::JsonSchema;
use serde_json::Value;
use std::sync::LazyLock;
use toolkit_core::arguments::{Problem, check_document};
use toolkit_core::name::nearest;
use toolkit_core::parameter::compose;
use toolkit_core::schema::Compiled;

const OF_COMMAND: [&str; 6] = ["command", "args", "env", "cwd", "sandbox", "network"];
const OF_URL: [&str; 3] = ["url", "headers", "oauth"];

static COMMAND: LazyLock<Option<Compiled>> = LazyLock::new(compiled::<McpCommand>);
static URL: LazyLock<Option<Compiled>> = LazyLock::new(compiled::<McpUrl>);

fn compiled<T: JsonSchema>() -> Option<Compiled> {
    Compiled::new("a server", compose(|generator| generator.subschema_for::<T>().to_value())).ok()
}

/// Returns the validation errors of a document. For a server that is neither a command nor an address, a schema of both can report only
/// that; its keys show which one was meant. A text with a variable is checked when the variable is replaced.
pub(super) fn check(compiled: &Compiled, document: &mut Value) -> Vec<Problem> {
    let mut problems = check_document(compiled, document);
    problems.retain(|problem| !names_variable(document, &problem.pointer));
    let refined = |problem: Problem| of_server(&problem.pointer, document).unwrap_or_else(|| vec![problem]);
    problems.into_iter().flat_map(refined).collect()
}

/// Returns the validation errors of the server at `pointer`, if there is one.
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
    // With only one of the two, the schema itself reports the error; here both or neither are present.
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

/// The key under which servers may also be written: `mcp.servers.docs` is `mcp.docs`.
const ALL: &str = "servers";

/// Moves servers from `mcp.servers` to `mcp`, and returns true if there were any. Nothing is moved if there is something else, or if a
/// server is in both places.
pub(super) fn lift(document: &mut Value) -> bool {
    let Some(mcp) = document.get_mut("mcp").and_then(Value::as_object_mut) else { return false };
    let Some(servers) = mcp.get(ALL).and_then(Value::as_object) else { return false };
    // A server named `servers` has strings as its values.
    if !servers.iter().all(|(name, server)| server.is_object() && (name == ALL || !mcp.contains_key(name))) {
        return false;
    }
    if let Some(Value::Object(servers)) = mcp.shift_remove(ALL) {
        mcp.extend(servers);
    }
    true
}

/// Returns the pointer after the move of the value that was at a pointer; `None` if it no longer exists.
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
            // A server named `servers`.
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

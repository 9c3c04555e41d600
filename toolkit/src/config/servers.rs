//! What is wrong with a server of `mcp`, in words of what it was most probably meant to be.

use crate::arguments::{Problem, check_document};
use crate::config::core::{McpCommand, McpUrl};
use crate::config::pointer::{escape, steps};
use crate::name::nearest;
use crate::schema::{Compiled, compose};
use schemars::JsonSchema;
use serde_json::Value;
use std::sync::LazyLock;

const OF_COMMAND: [&str; 4] = ["command", "args", "env", "cwd"];
const OF_URL: [&str; 2] = ["url", "headers"];

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

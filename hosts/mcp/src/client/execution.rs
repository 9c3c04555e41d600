//! The member `execution` of listed tools, which rmcp does not keep: it says whether a tool runs only as a task.

use memchr::memmem;
use rmcp::RoleClient;
use rmcp::model::{JsonRpcMessage, MetaObject, ServerResult, Tool};
use rmcp::service::RxJsonRpcMessage;
use serde::Deserialize;
use serde_json::{Map, Value};

/// Definition of a tool as the server sent it: an object with a name.
pub(super) type Definition = Map<String, Value>;

/// The key of `_meta` under which it is kept.
const KEY: &str = "toolkit/execution";

/// Returns `execution` of a tool.
pub(super) fn of(definition: &Definition) -> Option<&Value> {
    definition.get("execution").or_else(|| definition.get("_meta")?.get(KEY))
}

/// Copies it to `_meta` of each tool, if `message`, parsed from `bytes`, is a list of tools. Returns true if there was one.
pub(super) fn keep(message: &mut RxJsonRpcMessage<RoleClient>, bytes: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct Answer {
        result: List,
    }
    #[derive(Deserialize)]
    struct List {
        tools: Vec<Whole>,
    }
    #[derive(Deserialize)]
    struct Whole {
        execution: Option<Value>,
    }
    let JsonRpcMessage::Response(response) = message else { return false };
    let ServerResult::ListToolsResult(list) = &mut response.result else { return false };
    // Few lists have one: the others are not parsed twice.
    if memmem::find(bytes, b"\"execution\"").is_none() {
        return false;
    }
    let Ok(Answer { result }) = serde_json::from_slice(bytes) else { return false };
    let mut is_kept = false;
    for (Tool { meta, .. }, whole) in list.tools.iter_mut().zip(result.tools) {
        if let Some(execution) = whole.execution {
            meta.get_or_insert_with(MetaObject::default).0.insert(KEY.to_owned(), execution);
            is_kept = true;
        }
    }
    is_kept
}

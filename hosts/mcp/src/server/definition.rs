//! Tools as the protocol shows them, page by page.

use rmcp::model::{ErrorData, ListToolsResult, Tool, ToolAnnotations};
use serde_json::Value;
use std::sync::Arc;
use toolkit::{Toolbox, descriptor::Definition, dialects::Dialect};

/// The tools behind the one that the cursor names, by name, so that no change of the list shows one twice.
pub(super) fn page(
    toolbox: &Toolbox,
    cursor: Option<&str>,
    size: usize,
) -> Result<ListToolsResult, ErrorData> {
    let after = cursor.map(name_of).transpose()?;
    let is_behind = |tool: &&toolkit::Tool| after.as_deref().is_none_or(|after| tool.name() > after);
    // If some tools are hidden until they are found, those that were found are listed too.
    let mut shown = toolbox.shown();
    shown.sort_unstable_by(|one, other| one.name().cmp(other.name()));
    let mut behind =
        shown.into_iter().filter(is_behind).filter_map(|shown| tool(shown, shown.definition().ok()?));
    let tools: Vec<Tool> = behind.by_ref().take(size).collect();
    let mut result = ListToolsResult::with_all_items(tools);
    if behind.next().is_some() {
        result.next_cursor = result.tools.last().map(|last| cursor_of(&last.name));
    }
    Ok(result)
}

fn cursor_of(name: &str) -> String {
    data_encoding::BASE64URL_NOPAD.encode(name.as_bytes())
}

fn name_of(cursor: &str) -> Result<String, ErrorData> {
    let bytes = data_encoding::BASE64URL_NOPAD.decode(cursor.as_bytes()).ok();
    bytes.and_then(|bytes| String::from_utf8(bytes).ok()).ok_or_else(|| {
        ErrorData::invalid_params("the cursor is not from this server; list from the beginning", None)
    })
}

/// A definition has the protocol's shape already, but for arguments with variants at the root, for which clients leave out tools. The tool of another server has no schema of its output: a client requires structured
/// content where there is one, and what that server returns may be too large for a message.
pub(super) fn tool(shown: &toolkit::Tool, definition: Definition) -> Option<Tool> {
    let Definition { name, title, description, input_schema, output_schema, annotations, .. } = definition;
    let Value::Object(input) = Dialect::Mcp.schema(&input_schema).schema else { return None };
    let mut tool = Tool::new(name, description, Arc::new(input));
    if let Some(Value::Object(output)) = output_schema.filter(|_| !shown.source().is_remote()) {
        tool = tool.with_raw_output_schema(Arc::new(output));
    }
    tool.title = title;
    tool.annotations = Some(ToolAnnotations::from_raw(
        None,
        Some(annotations.read_only_hint),
        annotations.destructive_hint,
        Some(annotations.idempotent_hint),
        annotations.open_world_hint,
    ));
    Some(tool)
}

//! Tools as clients see them, before a call.

use crate::access::Access;
use crate::problems::without_places;
use serde_json::{Map, Value, json};
use toolkit::config::Configuration;
use toolkit::descriptor::Source;
use toolkit::permission::ToolVerdict;
use toolkit::{Tool, Toolbox};

/// Characters of a summary.
const MAX_SUMMARY: usize = 300;

/// Shows the tools of one toolbox to one client.
pub(crate) struct Shown<'a> {
    pub(crate) toolbox: &'a Toolbox,
    pub(crate) access: &'a Access,
    pub(crate) configuration: &'a Configuration,
}

impl Shown<'_> {
    /// Returns an entry of the list.
    pub(crate) fn entry(&self, tool: &Tool) -> Value {
        let mut entry = Map::new();
        entry.insert("name".to_owned(), tool.name().into());
        if tool.title() != tool.name() {
            entry.insert("title".to_owned(), tool.title().into());
        }
        entry.insert("groups".to_owned(), tool.groups().collect());
        entry.insert("source".to_owned(), json!(tool.source()));
        entry.insert("summary".to_owned(), summary(tool.description()).into());
        entry.insert("annotations".to_owned(), json!(tool.annotations()));
        if let Some(reason) = tool.deprecated() {
            entry.insert("deprecated".to_owned(), reason.into());
        }
        entry.insert("verdict".to_owned(), self.verdict(tool.name()));
        entry.into()
    }

    /// Returns the whole definition. The schemas are there only if they are valid.
    pub(crate) fn definition(&self, tool: &Tool) -> Value {
        let mut definition = self.entry(tool);
        definition["description"] = tool.description().into();
        if tool.aliases().len() > 0 {
            definition["aliases"] = tool.aliases().collect();
        }
        if let Ok(schema) = tool.enforced_schema() {
            definition["inputSchema"] = schema.clone();
            if let Some(examples) = schema.get("examples").filter(|examples| examples.is_array()) {
                definition["examples"] = examples.clone();
            }
        }
        if let Some(schema) = tool.output_schema() {
            definition["outputSchema"] = schema.clone();
        }
        definition
    }

    /// Returns the verdict on the calls of a tool.
    pub(crate) fn verdict(&self, name: &str) -> Value {
        match self.toolbox.verdict(name) {
            Some(verdict) => self.shown(&verdict),
            None => json!({ "decision": "deny", "reason": "the tool is not there" }),
        }
    }

    fn shown(&self, verdict: &ToolVerdict) -> Value {
        let reason = without_places(&verdict.reason, self.configuration, self.access);
        let mut shown = json!({ "decision": verdict.decision.to_string(), "reason": reason });
        if let Some(origin) = &verdict.origin {
            shown["place"] = without_places(&origin.to_string(), self.configuration, self.access).into();
        }
        shown
    }
}

/// Returns true if a source is the wanted one: by its kind, by the name of its server, plugin, channel or client, or by both, `mcp:files`.
pub(crate) fn is_of(source: &Source, wanted: &str) -> bool {
    let shown = json!(source);
    let kind = shown["kind"].as_str().unwrap_or_default();
    let name = ["id", "name", "server"].iter().find_map(|key| shown[*key].as_str());
    wanted == kind || name.is_some_and(|name| wanted == name || wanted == format!("{kind}:{name}"))
}

/// Returns the first paragraph of a description, on one line, shortened.
pub(crate) fn summary(description: &str) -> String {
    let paragraph = description.trim().split("\n\n").next().unwrap_or_default();
    let line = paragraph.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(MAX_SUMMARY) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_is_found_by_kind_and_name() {
        let files = Source::mcp("files");
        for wanted in ["mcp", "files", "mcp:files"] {
            assert!(is_of(&files, wanted), "{wanted}");
        }
        for wanted in ["", "core", "client:files", "mcp:other"] {
            assert!(!is_of(&files, wanted), "{wanted}");
        }
        assert!(is_of(&Source::Core, "core") && is_of(&Source::plugin("acme"), "plugin:acme"));
    }

    #[test]
    fn a_summary_is_one_short_line() {
        assert_eq!(summary("  Reads\n a file.\n\nMore."), "Reads a file.");
        assert_eq!(summary(&"ä".repeat(400)).chars().count(), MAX_SUMMARY + 1);
    }
}

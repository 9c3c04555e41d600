//! The tools of people other than the owner.

use std::collections::BTreeSet;
use std::sync::{Arc, PoisonError, RwLock};

use serde_json::json;
use toolkit::config::Configuration;
use toolkit::descriptor::Source;
use toolkit::inspection::{Inspecting, Inspection, Inspector, Verdict};
use toolkit::{Caller, Tool};

use crate::settings::GatewaySettings;

/// Groups of builtin tools, and of tools that this program makes, that other people may use. Every other group is closed to them.
const OPEN_GROUPS: [&str; 7] = ["agent", "automation", "discovery", "media", "sessions", "ui", "web"];
/// Groups of builtin tools that are the owner's: they reach the files, commands and notes of the machine's user, devices, or other
/// people. A tool of a plugin,
/// channel or MCP server in one of them needs the group as well as its source.
const OWNERS_GROUPS: [&str; 5] = ["fs", "memory", "messaging", "nodes", "runtime"];
/// A group that collects tools of others, and says nothing about what they reach.
const COLLECTION: &str = "coding";
/// The word for the tools of MCP servers, which have the credentials of the machine's user and may do anything.
const OF_SERVERS: &str = "mcp";
/// The word for the tools of all plugins and channels, which have these credentials, too.
const OF_PLUGINS: &str = "plugins";
/// The key under which a caller is marked.
const EXTRA: &str = "gateway";

/// Marks the caller of a session.
pub(super) fn marked(caller: Caller, is_owner: bool) -> Caller {
    caller.with_extra(EXTRA, json!({ "isOwner": is_owner }))
}

/// Refuses all other callers every tool that is not open to them, also for calls that tools make themselves.
#[derive(Debug, Clone, Default)]
pub(super) struct OwnersTools {
    /// Groups and tools of this program, plugins and channels by their names, `mcp` and `plugins`. Clones have the same.
    others_may_use: Arc<RwLock<BTreeSet<String>>>,
}

impl OwnersTools {
    /// Lets others use what a configuration says, from now on. Until then they use nothing but the open groups.
    pub(super) fn follow(&self, configuration: &Configuration) {
        let GatewaySettings { others_may_use, .. } = GatewaySettings::of(configuration);
        let mut current = self.others_may_use.write().unwrap_or_else(PoisonError::into_inner);
        *current = others_may_use.into_iter().collect();
    }

    /// Returns true if people other than the owner may use a tool.
    pub(super) fn admit(&self, tool: &Tool) -> bool {
        let others_may_use = self.others_may_use.read().unwrap_or_else(PoisonError::into_inner);
        let is_named = |word: &str| others_may_use.contains(word);
        let is_from_open_source = match tool.source() {
            Source::Core | Source::Runtime => {
                let mut groups = tool.groups().filter(|group| *group != COLLECTION).peekable();
                let is_grouped = groups.peek().is_some();
                let is_open = |group: &str| OPEN_GROUPS.contains(&group) || is_named(group);
                return is_grouped && groups.all(is_open) || is_named(tool.name());
            }
            // A client's own are of the session that it is attached to.
            Source::Client { .. } => true,
            Source::Plugin { id: name } | Source::Channel { name } => is_named(OF_PLUGINS) || is_named(name),
            _ => is_named(OF_SERVERS),
        };
        is_from_open_source && tool.groups().all(|group| !OWNERS_GROUPS.contains(&group) || is_named(group))
    }
}

impl Inspector for OwnersTools {
    fn inspect<'a>(&'a self, call: &'a Inspection<'a>) -> Inspecting<'a> {
        // Who stands above has a say, too.
        let is_owners = call.caller().chain().all(is_owner);
        let verdict = if is_owners || self.admit(call.tool()) {
            Verdict::Proceed
        } else {
            Verdict::block(format!("`{}` is for the owner of this gateway alone", call.tool().name()))
        };
        Box::pin(std::future::ready(Ok(verdict)))
    }
}

fn is_owner(caller: &Caller) -> bool {
    caller.extra.get(EXTRA).is_some_and(|marked| marked["isOwner"] == true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolkit::ToolOutput;

    /// Groups of plugins and channels in the page of tools: their sources are closed.
    const OF_PLUGINS_IN_PAGE: [&str; 3] = ["llm", "telegram", "whatsapp"];

    fn tool(name: &str, groups: &[&str], source: Option<Source>) -> Tool {
        let builder = groups.iter().fold(Tool::builder(name), |builder, group| builder.group(*group));
        let builder = source.into_iter().fold(builder, toolkit::ToolBuilder::source);
        builder.build(|_, _| async { ToolOutput::default() }).expect("a tool")
    }

    fn naming(words: &[&str]) -> OwnersTools {
        let words = words.iter().map(|&word| word.to_owned()).collect();
        OwnersTools { others_may_use: Arc::new(RwLock::new(words)) }
    }

    #[test]
    fn each_builtin_group_is_either_open_to_others_or_the_owners() {
        let page = include_str!("../../../../docs/tools.md");
        let groups: Vec<_> = page.lines().filter_map(|line| line.strip_prefix("## ")).collect();
        assert!(groups.len() >= 10, "{groups:?}");
        for group in groups {
            let places = [&OPEN_GROUPS[..], &OWNERS_GROUPS, &OF_PLUGINS_IN_PAGE];
            let places = places.iter().filter(|groups| groups.contains(&group)).count();
            assert_eq!(places, 1, "decide if people other than the owner may use the group `{group}`");
        }
    }

    #[test]
    fn others_use_no_tool_of_this_program_that_is_not_open() {
        let open = tool("web_fetch", &["web"], None);
        let new = tool("wipe", &["disks"], None);
        let both = tool("web_wipe", &["web", "disks"], None);
        let alone = tool("alone", &[], None);
        let admitted = |words: &[&str]| [&open, &new, &both, &alone].map(|tool| naming(words).admit(tool));
        assert_eq!(admitted(&[]), [true, false, false, false]);
        assert_eq!(admitted(&["plugins", "mcp", "fs"]), [true, false, false, false]);
        assert_eq!(admitted(&["disks"]), [true, true, true, false]);
        assert_eq!(admitted(&["wipe", "alone"]), [true, true, false, true]);
        for group in OWNERS_GROUPS {
            assert!(!naming(&[]).admit(&tool("other", &[group], None)), "{group}");
            assert!(naming(&[group]).admit(&tool("other", &[group], None)), "{group}");
        }
    }

    #[test]
    fn a_collection_of_tools_opens_and_closes_none() {
        let write = tool("write", &["fs", "coding"], None);
        let collected = tool("other", &["coding"], None);
        let admitted = |words: &[&str]| [&write, &collected].map(|tool| naming(words).admit(tool));
        assert_eq!(admitted(&[]), [false, false]);
        assert_eq!(admitted(&["coding"]), [false, false]);
        assert_eq!(admitted(&["fs"]), [true, false]);
    }

    #[test]
    fn others_use_tools_of_plugins_and_servers_once_their_sources_are_named() {
        let plugin = |groups| tool("other", groups, Some(Source::plugin("acme")));
        let server = tool("other", &[], Some(Source::mcp("files")));
        // The tools that read the resources of all servers are this program's.
        let resources = tool("resource_read", &["mcp"], None);
        for (words, expected) in [
            (&[][..], [false, false, false, false]),
            (&["web", "other"], [false, false, false, false]),
            (&["plugins"], [true, false, false, false]),
            (&["acme", "fs"], [true, true, false, false]),
            (&["mcp"], [false, false, true, true]),
        ] {
            let tools = [&plugin(&["web"]), &plugin(&["web", "fs"]), &server, &resources];
            assert_eq!(tools.map(|tool| naming(words).admit(tool)), expected, "{words:?}");
        }
        assert!(naming(&[]).admit(&tool("other", &[], Some(Source::client("tab")))));
    }

    #[test]
    fn a_caller_is_the_owner_only_if_each_above_it_is() {
        let owner = || marked(Caller::new(), true);
        let other = marked(Caller::new(), false);
        assert!(is_owner(&owner()) && !is_owner(&other) && !is_owner(&Caller::new()));
        let below = owner().delegated();
        assert!(below.chain().all(is_owner), "{below:?}");
        assert!(!other.delegated().chain().all(is_owner));
    }
}

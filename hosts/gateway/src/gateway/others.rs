//! The tools of people other than the owner.

use std::collections::BTreeSet;
use std::sync::{Arc, PoisonError, RwLock};

use serde_json::json;
use toolkit::config::Configuration;
use toolkit::descriptor::Source;
use toolkit::inspection::{Inspecting, Inspection, Inspector, Verdict};
use toolkit::{Caller, Tool};

use crate::settings::GatewaySettings;

/// Groups of tools that reach the files, commands and notes of the machine's user, and those that reach devices.
const OF_OWNER: [&str; 4] = ["fs", "runtime", "memory", "nodes"];
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

/// Refuses tools that are the owner's alone to all other callers, also for calls that tools make themselves.
#[derive(Debug, Clone, Default)]
pub(super) struct OwnersTools {
    /// Groups, plugins and channels by their names, `mcp` and `plugins`. Clones have the same.
    others_may_use: Arc<RwLock<BTreeSet<String>>>,
}

impl OwnersTools {
    /// Lets others use what a configuration says, from now on. Until then they use none of these tools.
    pub(super) fn follow(&self, configuration: &Configuration) {
        let GatewaySettings { others_may_use, .. } = GatewaySettings::of(configuration);
        let mut current = self.others_may_use.write().unwrap_or_else(PoisonError::into_inner);
        *current = others_may_use.into_iter().collect();
    }

    /// Returns true if people other than the owner may use a tool.
    pub(super) fn admit(&self, tool: &Tool) -> bool {
        let others_may_use = self.others_may_use.read().unwrap_or_else(PoisonError::into_inner);
        let is_allowed = |word: &str| others_may_use.contains(word);
        let source = match tool.source() {
            // A client's own are of the session that it is attached to.
            Source::Core | Source::Runtime | Source::Client { .. } => true,
            Source::Plugin { id: name } | Source::Channel { name } => {
                is_allowed(OF_PLUGINS) || is_allowed(name)
            }
            _ => is_allowed(OF_SERVERS),
        };
        source && tool.groups().all(|group| !OF_OWNER.contains(&group) || is_allowed(group))
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

//! Finds the names of single tools and plugins in the lists of a policy.

use super::compiled::Compiled;
use super::entry::Entry;
use super::lists::{Kind, List};
use super::verdict::PolicyRule;
use toolkit_core::server_names::ServerNames;

/// Returns the entries of allow and deny lists that name one tool or plugin each. An unknown name in the allow list of a source that only
/// narrows allows nothing, so it is left out, as are the names of servers and of what they may bring.
pub(super) fn of(sources: &[Compiled], servers: &ServerNames) -> Vec<PolicyRule> {
    let counts = |source: &Compiled, kind: Kind| match kind {
        Kind::Deny => true,
        Kind::Allow => source.narrows.is_none(),
        _ => false,
    };
    sources
        .iter()
        .flat_map(|source| {
            let lists = source.lists.all.iter().filter(|list| counts(source, list.kind));
            lists.flat_map(|list| of_list(source, list, servers))
        })
        .collect()
}

fn of_list<'a>(
    source: &'a Compiled,
    list: &'a List,
    servers: &'a ServerNames,
) -> impl Iterator<Item = PolicyRule> + 'a {
    (0..).zip(&list.entries).filter_map(move |(number, text)| {
        let Ok(Entry::Name(name)) = Entry::parse(text) else { return None };
        if servers.has(&name) || list.kind.denies() && servers.is_server(&name) {
            return None;
        }
        let pointer = list.pointer(number)?;
        let origin = source.origins.find(&pointer).cloned();
        Some(PolicyRule { entry: Some(text.to_string()), pointer, origin })
    })
}

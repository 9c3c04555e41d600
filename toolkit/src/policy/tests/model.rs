//! A simple implementation of the same rules, without an index, for comparison with the policy.

use super::fixture::{DATA, Thing};
use crate::policy::{PolicySettings, ProfileRules, ToolRules};
use std::collections::BTreeMap;
use toolkit_core::caller::Caller;

/// Returns true if the tool exists: every source admits it.
pub(super) fn exists(
    user: &PolicySettings,
    others: &[PolicySettings],
    caller: &Caller,
    thing: &Thing,
) -> bool {
    let seen = |other: &PolicySettings| {
        let mut profiles = user.profiles.clone();
        profiles.extend(other.profiles.clone());
        profiles
    };
    wanted(user, caller, thing)
        && lets(user, &user.profiles, caller, thing)
        && others.iter().all(|other| lets(other, &seen(other), caller, thing))
}

/// Checks the requirements of the tool's author against the user's settings.
fn wanted(user: &PolicySettings, caller: &Caller, thing: &Thing) -> bool {
    let is_on = user.enabled.iter().any(|(name, is_on)| *is_on && is_named(name, thing));
    let is_opened = user.tools.allow.iter().flatten().chain(&user.tools.also_allow).any(|entry| {
        let entry = low(entry);
        is_plain(&entry)
            && (is_named(&entry, thing)
                || entry == "group:plugins" && thing.plugin.is_some()
                || !is_known_name(&entry) && thing.plugin.as_deref().map(low) == Some(entry))
    });
    let in_channel =
        thing.channel.as_deref().is_none_or(|own| caller.channel.as_deref().map(low) == Some(low(own)));
    (!thing.is_off || is_on) && (!thing.is_optional || is_opened) && in_channel
}

fn lets(
    source: &PolicySettings,
    profiles: &BTreeMap<String, ProfileRules>,
    caller: &Caller,
    thing: &Thing,
) -> bool {
    if source.enable_tool_calls == Some(false) {
        return false;
    }
    let plugin = thing.plugin.as_deref().map(low);
    for (name, is_on) in &source.enabled {
        if !is_on && names(thing).contains(&low(name)) {
            return false;
        }
    }
    for (id, is_on) in &source.plugins_enabled {
        if !is_on && plugin.as_deref() == Some(&*low(id)) {
            return false;
        }
    }
    let (provider, model) = model(caller);
    for (name, (models, _)) in &source.models {
        let gets = models.iter().any(|key| match low(key).split_once('/') {
            Some((key, name)) => is_like(key, provider.as_deref()) && is_like(name, model.as_deref()),
            None => is_like(&low(key), model.as_deref()),
        });
        if names(thing).contains(&low(name)) && !gets {
            return false;
        }
    }
    let of_model = |key: &str| names_model(&low(key), caller);
    let is = |key: &str, known: &Option<String>| is_like(&low(key), known.as_deref().map(low).as_deref());
    let mut layers = vec![&source.tools];
    layers.extend(source.by_provider.iter().filter(|(key, _)| of_model(key)).map(|(_, rules)| rules));
    layers.extend(source.agents.iter().filter(|(key, _)| is(key, &caller.agent)).map(|(_, rules)| rules));
    for (id, rules) in &source.agents_by_provider {
        if is(id, &caller.agent) {
            layers.extend(rules.iter().filter(|(key, _)| of_model(key)).map(|(_, rules)| rules));
        }
    }
    layers.extend(source.channels.iter().filter(|(key, _)| is(key, &caller.channel)).map(|(_, rules)| rules));
    if caller.sandboxed {
        layers.push(&source.sandbox);
    }
    if caller.depth > 0 {
        layers.push(&source.subagents);
    }
    layers.iter().all(|rules| layer_lets(rules, source, profiles, thing))
}

fn layer_lets(
    rules: &ToolRules,
    source: &PolicySettings,
    profiles: &BTreeMap<String, ProfileRules>,
    thing: &Thing,
) -> bool {
    let allows = |list: &[String]| list.iter().any(|entry| allows(entry, source, thing, false));
    if rules.deny.iter().any(|entry| denies(entry, thing)) {
        return false;
    }
    if let Some(profile) = &rules.profile {
        let profile = low(profile);
        let registered: Vec<_> = DATA.profiles.iter().filter(|(name, _)| *name == profile).collect();
        let own: Vec<_> =
            profiles.iter().filter(|(name, _)| low(name) == profile).map(|(_, rules)| rules).collect();
        if own.iter().any(|own| own.deny.iter().any(|entry| denies(entry, thing))) {
            return false;
        }
        let in_registered = registered.iter().all(|(_, entries)| {
            entries.is_none_or(|entries| entries.iter().any(|entry| self::allows(entry, source, thing, true)))
        });
        let in_own = own.iter().all(|own| own.allow.as_deref().is_none_or(allows));
        let is_known = !registered.is_empty() || !own.is_empty();
        if !(is_known && in_registered && in_own || allows(&rules.also_allow)) {
            return false;
        }
    }
    rules.allow.as_deref().is_none_or(allows)
}

fn denies(entry: &str, thing: &Thing) -> bool {
    let entry = low(entry);
    if !is_entry(&entry) {
        // The meaning of an invalid entry is unknown.
        return true;
    }
    let Some(group) = group(&entry) else {
        return names(thing)
            .iter()
            .chain(&thing.plugin.as_deref().map(low))
            .any(|name| is_like(&entry, Some(name)));
    };
    is_like(group, Some("plugins")) && thing.plugin.is_some()
        || groups(thing).iter().any(|of| is_like(group, Some(of)))
        || registered_groups().any(|(of, members)| {
            is_like(group, Some(&of))
                && members.iter().any(|member| names(thing).contains(&(*member).to_owned()))
        })
}

/// Checks an entry of an allow list. `by_code` is true for entries of a registered profile.
fn allows(entry: &str, source: &PolicySettings, thing: &Thing, by_code: bool) -> bool {
    let entry = low(entry);
    if !is_entry(&entry) {
        return false;
    }
    let plugin = thing.plugin.as_deref().map(low);
    let Some(group) = group(&entry) else {
        if by_code && plugin.is_some() {
            return false;
        }
        if entry.contains('*') {
            return is_like(&entry, Some(&low(&thing.name))) || is_like(&entry, plugin.as_deref());
        }
        return is_named(&entry, thing) || !is_known_name(&entry) && plugin.as_deref() == Some(&*entry);
    };
    if group == "plugins" {
        return plugin.is_some() && !by_code;
    }
    let has_joined = |group: &str| {
        plugin.as_ref().is_none_or(|plugin| {
            let joins = source.join_groups.iter().filter(|(id, _)| low(id) == *plugin);
            joins
                .flat_map(|(_, groups)| groups)
                .any(|of| low(of).trim_start_matches("group:").trim() == group)
        })
    };
    let own_name = low(&thing.name);
    let aliases: Vec<String> = thing.aliases.iter().map(|alias| low(alias)).collect();
    let in_registered = registered_groups().any(|(of, members)| {
        let is_member = |name: &String| members.contains(&name.as_str());
        is_like(group, Some(&of))
            && has_joined(&of)
            && (is_member(&own_name)
                || plugin.is_none() && aliases.iter().any(is_member)
                || groups(thing).contains(&of))
    });
    let is_built_in = |of: &str| registered_groups().any(|(name, _)| name == of);
    let in_own = groups(thing).iter().any(|of| is_like(group, Some(of)) && !is_built_in(of));
    in_registered || in_own && !(by_code && plugin.is_some())
}

/// Returns true if an entry without a star names exactly this tool.
fn is_named(entry: &str, thing: &Thing) -> bool {
    let entry = low(entry);
    let canonical = canonical(&entry);
    let by_alias = thing.plugin.is_none() && thing.aliases.iter().any(|alias| low(alias) == canonical);
    !entry.contains('*') && (low(&thing.name) == canonical || by_alias)
}

/// Returns every name that leads to the tool.
fn names(thing: &Thing) -> Vec<String> {
    let own = || std::iter::once(&thing.name).chain(&thing.aliases).map(|name| low(name));
    let mut names: Vec<String> = own().collect();
    for name in own() {
        names.push(canonical(&name).to_owned());
        let aliases = DATA.aliases.iter().filter(|(_, of)| *of == canonical(&name));
        names.extend(aliases.map(|(alias, _)| (*alias).to_owned()));
    }
    names
}

fn groups(thing: &Thing) -> Vec<String> {
    thing.groups.iter().map(|group| low(group)).filter(|group| group != "plugins").collect()
}

fn registered_groups() -> impl Iterator<Item = (String, &'static [&'static str])> {
    DATA.groups.iter().map(|(name, members)| (low(name), *members))
}

fn canonical(name: &str) -> &str {
    DATA.aliases.iter().find(|(alias, _)| *alias == name).map_or(name, |(_, name)| name)
}

fn is_known_name(name: &str) -> bool {
    DATA.aliases.iter().any(|(alias, of)| *alias == name || *of == name)
        || DATA.groups.iter().any(|(_, members)| members.contains(&name))
}

fn group(entry: &str) -> Option<&str> {
    entry.strip_prefix("group:").map(str::trim)
}

fn is_entry(entry: &str) -> bool {
    let is_name = |c: char| c.is_ascii() && !c.is_ascii_control();
    !entry.is_empty() && entry.len() <= 256 && entry.chars().all(is_name) && group(entry) != Some("")
}

fn is_plain(entry: &str) -> bool {
    is_entry(entry) && !entry.contains('*')
}

fn low(text: &str) -> String {
    text.trim().to_ascii_lowercase()
}

/// Returns true if a key of deny rules matches the model, by any way to write it.
fn names_model(key: &str, caller: &Caller) -> bool {
    let (provider, model) = self::model(caller);
    let said = caller.model.as_deref().map(low);
    let both = provider.as_ref().map(|of| format!("{of}/{}", model.clone().unwrap_or_default()));
    let is_end = |name: &String| {
        (0..name.len()).any(|at| (at == 0 || name[..at].ends_with('/')) && is_like(key, Some(&name[at..])))
    };
    let by_name_alone = match (key.split_once('/'), &said) {
        (Some((_, of_key)), Some(name)) if caller.provider.is_none() => {
            is_like(of_key, Some(name)) && (of_key.contains('/') || !name.contains('/'))
        }
        _ => false,
    };
    key == "*"
        || is_like(key, provider.as_deref())
        || is_like(key, both.as_deref())
        || model.iter().chain(&said).any(is_end)
        || by_name_alone
}

fn model(caller: &Caller) -> (Option<String>, Option<String>) {
    let (provider, model) = (caller.provider.as_deref().map(low), caller.model.as_deref().map(low));
    match (&provider, &model) {
        (None, Some(both)) if both.contains('/') => {
            let (provider, model) = both.split_once('/').unwrap();
            (Some(provider.to_owned()), Some(model.to_owned()))
        }
        (Some(of), Some(both)) if both.starts_with(&format!("{of}/")) => {
            (provider.clone(), Some(both[of.len() + 1..].to_owned()))
        }
        _ => (provider, model),
    }
}

/// Returns true if a known value matches a pattern.
fn is_like(pattern: &str, text: Option<&str>) -> bool {
    let Some(text) = text else { return false };
    match pattern.split_once('*') {
        None => pattern == text,
        Some((start, rest)) => text
            .strip_prefix(start)
            .is_some_and(|text| (0..=text.len()).any(|end| is_like(rest, Some(&text[end..])))),
    }
}

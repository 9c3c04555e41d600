//! Decodes a document into the settings of policy and permission.

use crate::config::error::ConfigProblem;
use crate::config::merge::Document;
use crate::permission::{PermissionRules, PermissionSettings};
use crate::policy::{PolicySettings, ToolRules};
use crate::section::pointer::{escape, join};
use crate::section::{ConfigGate, ConfigSection};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use toolkit_core::config_origin::ConfigOrigins;

/// The keys of a channel that contain rules for some of its callers.
const OF_CHANNEL: [&str; 2] = ["groups", "senders"];
/// The keys of a [`ToolRules`].
const OF_RULES: [&str; 4] = ["profile", "allow", "alsoAllow", "deny"];

/// Decodes the policy settings: which tools exist for which callers.
///
/// # Errors
///
/// When a value that matched the schema does not decode.
pub(crate) fn policy(
    document: &Document,
    sections: &[ConfigSection],
) -> Result<PolicySettings, ConfigProblem> {
    let reader = Reader(document);
    let mut settings = PolicySettings {
        tools: reader.rules("/tools")?,
        profiles: reader.map("/tools/profiles")?,
        by_provider: reader.map("/tools/byProvider")?,
        sandbox: reader.get("/tools/sandbox")?.unwrap_or_default(),
        subagents: reader.get("/tools/subagents")?.unwrap_or_default(),
        enable_tool_calls: reader.get("/enableToolCalls")?,
        ..PolicySettings::default()
    };
    for agent in reader.names("/agents") {
        let pointer = format!("{}/tools", join(["agents", agent]));
        if document.value.pointer(&pointer).is_some() {
            settings.agents.insert(agent.to_owned(), reader.rules(&pointer)?);
        }
        let by_provider: BTreeMap<String, ToolRules> = reader.map(&format!("{pointer}/byProvider"))?;
        if !by_provider.is_empty() {
            settings.agents_by_provider.insert(agent.to_owned(), by_provider);
        }
    }
    for channel in reader.names("/channels") {
        let pointer = format!("{}/tools", join(["channels", channel]));
        if document.value.pointer(&pointer).is_some() {
            settings.channels.insert(channel.to_owned(), reader.rules(&pointer)?);
        }
        for (key, all) in [("groups", &mut settings.groups), ("senders", &mut settings.senders)] {
            for name in reader.names(&join(["channels", channel, key])) {
                let pointer = format!("{}/tools", join(["channels", channel, key, name]));
                if document.value.pointer(&pointer).is_some() {
                    let rules = reader.rules(&pointer)?;
                    all.entry(channel.to_owned()).or_default().insert(name.to_owned(), rules);
                }
            }
        }
    }
    let of_servers =
        sections.iter().filter(|section| section.its_entries().is_some_and(|entries| entries.are_servers));
    let places: Vec<String> = of_servers.map(ConfigSection::pointer).collect();
    settings.servers = places.iter().flat_map(|place| reader.names(place)).map(str::to_owned).collect();
    let mut origins = document.origins.clone();
    for tool in reader.names("/tools/settings") {
        let pointer = format!("{}/enabled", join(["tools", "settings", tool]));
        if let Some(enabled) = reader.get(&pointer)? {
            settings.enabled.insert(tool.to_owned(), enabled);
        }
    }
    for section in sections {
        for gate in section.its_gates() {
            let pointer = gate.pointer(&section.pointer());
            match gate {
                ConfigGate::Enabled { tool, .. } => {
                    // If two places configure the same tool, the one that takes it away has effect.
                    if reader.get(&pointer)? == Some(false)
                        && settings.enabled.insert((*tool).to_owned(), false) != Some(false)
                        && let Some(origin) = document.origins.get(&pointer)
                    {
                        origins
                            .insert(format!("{}/enabled", join(["tools", "settings", tool])), origin.clone());
                    }
                }
                ConfigGate::Models { tool, .. } => {
                    if let Some(models) = reader.get(&pointer)? {
                        settings.models.insert((*tool).to_owned(), (models, pointer));
                    }
                }
                ConfigGate::Narrows { .. }
                | ConfigGate::Order { .. }
                | ConfigGate::AtMost { .. }
                | ConfigGate::Asks { .. }
                | ConfigGate::AsksAlways { .. }
                | ConfigGate::Directories { .. }
                | ConfigGate::Programs { .. } => {}
            }
        }
    }
    for plugin in reader.names("/plugins").filter(|name| *name != "prefer") {
        let pointer = join(["plugins", plugin]);
        if let Some(groups) = reader.get(&format!("{pointer}/joinGroups"))? {
            settings.join_groups.insert(plugin.to_owned(), groups);
        }
        if reader.get(&format!("{pointer}/enabled"))? == Some(false) {
            if let Some(origin) = document.origins.get(&format!("{pointer}/enabled")) {
                origins.insert(format!("/tools/deny/{}", settings.tools.deny.len()), origin.clone());
            }
            settings.tools.deny.push(plugin.to_owned());
        }
    }
    settings.origins = ConfigOrigins::new(origins);
    Ok(settings)
}

/// Decodes the permissions of one source.
///
/// # Errors
///
/// When a value that matched the schema does not decode.
pub(crate) fn permissions(document: &Document) -> Result<PermissionSettings, ConfigProblem> {
    let reader = Reader(document);
    let mut settings =
        PermissionSettings { everybody: reader.map("/permission")?, ..PermissionSettings::default() };
    for (key, all) in [("agents", &mut settings.agents), ("channels", &mut settings.channels)] {
        for name in reader.names(&join([key])) {
            let rules: PermissionRules = reader.map(&format!("{}/permission", join([key, name])))?;
            if !rules.is_empty() {
                all.insert(name.to_owned(), rules);
            }
        }
    }
    for channel in reader.names("/channels") {
        for (key, all) in [("groups", &mut settings.groups), ("senders", &mut settings.senders)] {
            for name in reader.names(&join(["channels", channel, key])) {
                let pointer = join(["channels", channel, key, name]);
                let rules: PermissionRules = reader.map(&format!("{pointer}/permission"))?;
                if !rules.is_empty() {
                    all.entry(channel.to_owned()).or_default().insert(name.to_owned(), rules);
                }
            }
        }
    }
    settings.origins = ConfigOrigins::new(
        document
            .origins
            .iter()
            .filter(|(pointer, _)| is_permission(pointer))
            .map(|(pointer, origin)| (pointer.clone(), origin.clone())),
    );
    Ok(settings)
}

/// Removes the permissions from a document, because they are not merged.
pub(crate) fn without_permissions(mut document: Document) -> Document {
    if let Some(root) = document.value.as_object_mut() {
        root.shift_remove("permission");
        for key in ["agents", "channels"] {
            for (_, member) in root.get_mut(key).and_then(Value::as_object_mut).into_iter().flatten() {
                let Some(member) = member.as_object_mut() else { continue };
                member.shift_remove("permission");
                for key in OF_CHANNEL {
                    let within = member.get_mut(key).and_then(Value::as_object_mut);
                    for (_, member) in within.into_iter().flatten() {
                        member.as_object_mut().map(|member| member.shift_remove("permission"));
                    }
                }
            }
        }
    }
    document.origins.retain(|pointer, _| !is_permission(pointer));
    document
}

fn is_permission(pointer: &str) -> bool {
    let steps: Vec<&str> = pointer.split('/').skip(1).take(5).collect();
    match steps.as_slice() {
        ["permission", ..] | ["agents" | "channels", _, "permission", ..] => true,
        ["channels", _, key, _, "permission"] => OF_CHANNEL.contains(key),
        _ => false,
    }
}

struct Reader<'a>(&'a Document);

impl<'a> Reader<'a> {
    fn names(&self, pointer: &str) -> impl Iterator<Item = &'a str> + use<'a> {
        let members = self.0.value.pointer(pointer).and_then(Value::as_object);
        members.into_iter().flat_map(Map::keys).map(String::as_str)
    }

    fn get<T: DeserializeOwned>(&self, pointer: &str) -> Result<Option<T>, ConfigProblem> {
        let Some(value) = self.0.value.pointer(pointer) else { return Ok(None) };
        T::deserialize(value).map(Some).map_err(|error| self.fault(pointer, &error))
    }

    fn map<T: DeserializeOwned>(&self, pointer: &str) -> Result<BTreeMap<String, T>, ConfigProblem> {
        self.names(pointer)
            .map(|name| {
                let each = self.get(&format!("{pointer}/{}", escape(name)))?;
                Ok((name.to_owned(), each.expect("a name that is there has a value")))
            })
            .collect()
    }

    /// Decodes rules from an object that has further keys.
    fn rules(&self, pointer: &str) -> Result<ToolRules, ConfigProblem> {
        let Some(Value::Object(members)) = self.0.value.pointer(pointer) else {
            return Ok(ToolRules::default());
        };
        let own = members.iter().filter(|(key, _)| OF_RULES.contains(&key.as_str()));
        let own: Map<String, Value> = own.map(|(key, value)| (key.clone(), value.clone())).collect();
        ToolRules::deserialize(Value::Object(own)).map_err(|error| self.fault(pointer, &error))
    }

    fn fault(&self, pointer: &str, error: &serde_json::Error) -> ConfigProblem {
        let origin = self.0.origin(pointer);
        ConfigProblem::new(origin, pointer, error.to_string())
    }
}

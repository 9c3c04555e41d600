//! The JSON Schema of the whole configuration: the core's keys, and the sections of crates. It is also used for
//! validation.

use crate::config::core::{AgentSettings, HistorySettings, LoopGuardSettings};
use crate::config::merge::MergeRules;
use crate::discovery_settings::DiscoverySettings;
use crate::link::Linked;
use crate::output_store::OutputStoreSettings;
use crate::permission::PermissionRule;
use crate::policy::{ProfileRules, ToolRules};
use crate::section::pointer::{dotted, steps};
use crate::section::{ConfigGate, ConfigSection};
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Map, Value, json};
use std::sync::{Arc, LazyLock};
use toolkit_core::guard::guard;
use toolkit_core::parameter::compose;
use toolkit_core::schema::{Compiled, resolve};

/// The keys of a tool's settings that every tool has.
pub(crate) const OF_EVERY_TOOL: [&str; 2] = ["enabled", "autoExecute"];
/// The keys of a plugin's section that every plugin has.
pub(crate) const OF_EVERY_PLUGIN: [&str; 2] = ["enabled", "joinGroups"];

/// The compiled schemas of the configuration.
pub(crate) struct Schemas {
    /// The schema of all sources together.
    pub(crate) whole: Compiled,
    /// The schema of one source, in which no key is required because another source may have it.
    pub(crate) partial: Compiled,
    pub(crate) sections: Vec<ConfigSection>,
}

impl Schemas {
    /// # Errors
    ///
    /// When the sections are invalid.
    fn new(sections: Vec<ConfigSection>) -> Result<Self, String> {
        let whole = composed(&sections)?;
        let mut partial = whole.clone();
        allow_absence(&mut partial);
        let compile =
            |schema| Compiled::new("the configuration", schema).map_err(|error| error.message().to_owned());
        Ok(Self { whole: compile(whole)?, partial: compile(partial)?, sections })
    }
}

impl Schemas {
    /// Returns the rules of merging for the sections.
    pub(crate) fn merge_rules(&self) -> MergeRules {
        let lists = self.sections.iter().flat_map(|section| {
            let narrows = |gate: &&ConfigGate| matches!(gate, ConfigGate::Narrows { .. });
            section.its_gates().iter().filter(narrows).map(|gate| gate.pointer(&section.pointer()))
        });
        let maps = self.sections.iter().filter(|section| section.its_entries().is_some());
        let of_each = self.sections.iter().filter(|section| section.is_of_each());
        MergeRules {
            narrowing: lists.collect(),
            entries: maps.map(ConfigSection::pointer).collect(),
            of_each: of_each.map(ConfigSection::pointer).collect(),
        }
    }
}

/// The schemas of the sections that are linked into this process, built once.
static LINKED: LazyLock<Result<Arc<Schemas>, String>> =
    LazyLock::new(|| Schemas::new(linked_sections()).map(Arc::new));

/// Returns the schemas of the sections that are linked into this process and of these further sections.
///
/// # Errors
///
/// When the sections are invalid.
pub(crate) fn schemas(more: &[ConfigSection]) -> Result<Arc<Schemas>, String> {
    if more.is_empty() {
        return LINKED.clone();
    }
    let mut sections = linked_sections();
    sections.extend(more);
    Schemas::new(sections).map(Arc::new)
}

/// Returns the sections that are linked into this process, sorted by path, because the linker's order is unspecified.
pub(super) fn linked_sections() -> Vec<ConfigSection> {
    let mut sections: Vec<ConfigSection> = inventory::iter::<ConfigSection>().copied().collect();
    sections.sort_by_key(|section| (section.pointer(), section.taker()));
    // A type from which a plugin makes several services is one section.
    sections.dedup_by(|one, other| {
        one.pointer() == other.pointer() && std::ptr::fn_addr_eq(one.schema(), other.schema())
    });
    sections
}

/// Returns the schema with its annotations.
fn composed(sections: &[ConfigSection]) -> Result<Value, String> {
    let pointers: Vec<String> = sections.iter().map(ConfigSection::pointer).collect();
    for (number, pointer) in pointers.iter().enumerate() {
        for (other_number, other) in pointers.iter().enumerate().skip(number + 1) {
            let pair = [&sections[number], &sections[other_number]];
            let is_within = |inner: &str, outer: &str| {
                inner.strip_prefix(outer).is_some_and(|rest| rest.starts_with('/'))
            };
            if pointer == other {
                return Err(declared_twice(pointer, pair));
            }
            let has_part = pair[0].is_part() != pair[1].is_part();
            if !has_part && (is_within(pointer, other) || is_within(other, pointer)) {
                let (one, other) = (dotted(pointer), dotted(other));
                return Err(format!("of the sections `{one}` and `{other}` one is nested in the other"));
            }
        }
    }
    let mut fault = None;
    let schema = guard("the configuration", || {
        compose(|generator| {
            let mut root = core(generator);
            // A part comes after the section that it is in.
            let (parts, wholes): (Vec<_>, Vec<_>) = sections.iter().partition(|section| section.is_part());
            for section in wholes.into_iter().chain(parts) {
                if let Err(reason) = insert(&mut root, section, generator) {
                    fault.get_or_insert(format!("the section `{}`: {reason}", dotted(&section.pointer())));
                }
            }
            root
        })
    });
    match (schema, fault) {
        (Ok(schema), None) => Ok(schema),
        (Ok(_), Some(fault)) => Err(fault),
        (Err(panic), _) => Err(panic.message().to_owned()),
    }
}

/// Returns the errors of sections that are linked into this process and stand at one place, for a program that loads no configuration.
pub(crate) fn linked_twice() -> Vec<String> {
    let sections = linked_sections();
    let pairs = sections.windows(2).filter(|pair| pair[0].pointer() == pair[1].pointer());
    pairs.map(|pair| declared_twice(&pair[0].pointer(), [&pair[0], &pair[1]])).collect()
}

/// Returns the error of two sections at one place: a plugin has one section, unless a function has one of its own.
fn declared_twice(pointer: &str, sections: [&ConfigSection; 2]) -> String {
    let place = dotted(pointer);
    let [one, other] = sections.map(ConfigSection::taker);
    let remedy = match sections.iter().any(|section| section.is_part()) {
        true => "give each function another `section = \"…\"`".to_owned(),
        false if pointer.starts_with("/plugins/") => format!(
            "read both from one type, or give a service a section of its own: `#[toolkit::service(section = \"name\")]` reads `{place}.name`"
        ),
        false => "declare one of them elsewhere".to_owned(),
    };
    format!("the section `{place}` is there twice, as {one} and as {other}; {remedy}")
}

fn of<T: JsonSchema>(generator: &mut SchemaGenerator) -> Value {
    generator.subschema_for::<T>().to_value()
}

/// Returns the schema of an object with these keys and no others.
#[expect(clippy::needless_pass_by_value, reason = "each caller makes it in place")]
fn object(description: &str, properties: Value) -> Value {
    json!({"type": "object", "description": description, "properties": properties, "additionalProperties": false})
}

/// Returns the schema of an object whose keys are names.
fn map_of(description: &str, each: &Value) -> Value {
    json!({
        "type": "object", "description": description, "propertyNames": {"type": "string", "minLength": 1},
        "additionalProperties": each,
    })
}

/// Returns the schema of tool rules, with further keys.
fn rules(generator: &mut SchemaGenerator, description: &str, more: Value) -> Value {
    let mut rules = of::<ToolRules>(generator);
    rules["description"] = description.into();
    if let (Some(properties), Value::Object(more)) = (rules["properties"].as_object_mut(), more) {
        properties.extend(more);
    }
    rules
}

fn core(generator: &mut SchemaGenerator) -> Value {
    let plain = rules(generator, "The available tools.", json!({}));
    let by_provider = map_of("The available tools by provider, model or `provider/model`.", &plain);
    let permission = map_of(
        "Decisions on actions, by kind (`read`, `edit`, `exec`, `external_directory`, `web_fetch`, `message`, or any that a \
         tool declares), tool name or alias, or MCP server (`mcp:docs`). A key with `*` asks about and denies actions that no \
         other key decides. A later source of the user overrides an earlier one, except for `deny`; among the rules for \
         everybody, an agent, a channel, a conversation and a sender, the strictest applies.",
        &of::<PermissionRule>(generator),
    );
    let of_agent = rules(generator, "The tools available to it.", json!({ "byProvider": by_provider }));
    let profile = of::<ProfileRules>(generator);
    let sandbox = rules(generator, "The tools available to callers in a sandbox.", json!({}));
    let subagents = rules(generator, "The tools available to sub-agents.", json!({}));
    let discovery = of::<DiscoverySettings>(generator);
    let outputs = of::<OutputStoreSettings>(generator);
    let tools = rules(
        generator,
        "The available tools and their settings.",
        json!({
            "byProvider": by_provider,
            "profiles": map_of("Profiles, for `profile`.", &profile),
            "sandbox": sandbox,
            "subagents": subagents,
            "settings": settings(),
            "discovery": discovery,
            "outputs": outputs,
        }),
    );
    let mut agent = of::<AgentSettings>(generator);
    agent["description"] = "One agent.".into();
    if let Some(properties) = agent["properties"].as_object_mut() {
        properties.insert("tools".to_owned(), of_agent);
        properties.insert("permission".to_owned(), permission.clone());
    }
    let some = object(
        "A conversation or a sender of the channel.",
        json!({"tools": plain, "permission": permission}),
    );
    let channel = object(
        "One channel.",
        json!({
            "tools": plain,
            "permission": permission,
            "groups": map_of("Conversations of the channel, by id.", &some),
            "senders": map_of("Senders of the channel, by id.", &some),
        }),
    );
    let mut root = object(
        "The configuration of the toolkit.",
        json!({
            "$schema": {"type": "string", "description": "The location of this schema, for editors."},
            "tools": tools,
            "agents": map_of("Agents, by id.", &agent),
            "channels": map_of("Channels, by name.", &channel),
            "permission": permission,
            "plugins": plugins(),
            "enableToolCalls": {
                "type": "boolean", "default": true, "description":
                    "Enables tool calls by models. The value of the latest source applies.",
            },
            "loopGuard": of::<LoopGuardSettings>(generator),
            "history": of::<HistorySettings>(generator),
        }),
    );
    root["title"] = "toolkit.json5".into();
    root
}

fn settings() -> Value {
    let mut own = Map::new();
    for Linked(def) in inventory::iter::<Linked>() {
        own.insert(
            def.name.to_owned(),
            with_base(object(&format!("Settings of the tool `{}`.", def.name), json!({})), of_every_tool()),
        );
    }
    own.sort_keys();
    json!({
        "type": "object", "description": "Settings of single tools, by name.",
        "properties": own,
        "propertyNames": {"type": "string", "pattern": "^[^A-Z\\s]{1,128}$"},
        // A tool that is not linked may be added later, so its settings cannot be checked.
        "additionalProperties": with_base(json!({"type": "object", "properties": {}}), of_every_tool()),
    })
}

fn of_every_tool() -> Value {
    json!({
        "enabled": {"type": "boolean", "default": true, "description":
            "Enables the tool. The value of the latest source applies; it cannot lift `deny`."},
        "autoExecute": {
            "type": "boolean", "description": "If true, it runs without approval. Default: as its author declares.",
        },
    })
}

fn plugins() -> Value {
    json!({
        "type": "object", "description": "Plugins, by id.",
        "properties": {
            "prefer": {
                "type": "array", "items": {"type": "string", "minLength": 1},
                "description": "The plugins that take precedence if two have a tool of the same name, before the program's order.",
            },
        },
        "propertyNames": {"type": "string", "minLength": 1},
        "additionalProperties": with_base(json!({"type": "object", "properties": {}}), of_every_plugin()),
    })
}

fn of_every_plugin() -> Value {
    json!({
        "enabled": {"type": "boolean", "default": true, "description":
            "Enables the plugin's tools. The value of the latest source applies; it cannot lift `deny`."},
        "joinGroups": {
            "type": "array", "items": {"type": "string", "minLength": 1}, "uniqueItems": true,
            "description": "Built-in groups that the plugin's tools also belong to in allow lists.",
        },
    })
}

/// Adds keys before a section's own.
fn with_base(mut schema: Value, base: Value) -> Value {
    if let (Some(properties), Value::Object(base)) = (schema["properties"].as_object_mut(), base) {
        let own = std::mem::replace(properties, base);
        properties.extend(own);
    }
    schema
}

/// Inserts a section's schema at its place.
fn insert(root: &mut Value, section: &ConfigSection, generator: &mut SchemaGenerator) -> Result<(), String> {
    let pointer = section.pointer();
    let path: Vec<String> = steps(&pointer).collect();
    let base = match path.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["tools", "settings", tool] if !tool.is_empty() => of_every_tool(),
        ["plugins", "prefer"] => return Err("no plugin can have this id".to_owned()),
        ["plugins", id] if !id.is_empty() => of_every_plugin(),
        ["plugins", _, key] if section.is_part() && OF_EVERY_PLUGIN.contains(key) => {
            return Err(
                "every plugin has this key itself; give the service's section another name".to_owned()
            );
        }
        [_, _, key] if section.is_of_each() && !key.is_empty() => {
            if !section.its_gates().is_empty() {
                return Err("a section of each agent or channel has no gates".to_owned());
            }
            json!({})
        }
        ["plugins", id, key] if section.is_part() && !id.is_empty() && !key.is_empty() => json!({}),
        ["tools", "settings", ..] | ["plugins", ..] => return Err("it is nested in a section".to_owned()),
        ["tools", first, ..] if !first.is_empty() => json!({}),
        [first] if !first.is_empty() => json!({}),
        _ => {
            let message = "its path begins with neither `tools.` nor `plugins.`, and is not one key; a section of each agent or channel \
                           is declared with `of_agents` or `of_channels`";
            return Err(message.to_owned());
        }
    };
    if section.its_entries().is_some() && path.len() != 1 {
        return Err("a map of entries is one key of the configuration".to_owned());
    }
    let mut schema = closed(&(section.schema())(generator).to_value())?;
    if section.its_entries().is_some() {
        schema["propertyNames"] = json!({"type": "string", "minLength": 1});
    }
    for key in base.as_object().into_iter().flat_map(Map::keys) {
        if schema["properties"].get(key).is_some() {
            return Err(format!("its type has a field `{key}`, which the configuration has itself"));
        }
    }
    let schema = with_base(schema, base);
    let (last, outer) = path.split_last().expect("a path has a step");
    let mut here = root;
    let mut outer = outer;
    if let (true, [map, _]) = (section.is_of_each(), outer) {
        here = &mut here["properties"][map]["additionalProperties"];
        outer = &[];
    }
    for step in outer {
        let properties = here["properties"].as_object_mut().ok_or("it is nested in another section")?;
        let base = if section.is_part() && step != "plugins" { of_every_plugin() } else { json!({}) };
        here = properties
            .entry(step.clone())
            .or_insert_with(|| with_base(object(&format!("Settings of `{step}`."), json!({})), base));
    }
    let properties = here["properties"].as_object_mut().ok_or("it is nested in another section")?;
    let is_replaced = |known: &Value| {
        known["properties"]
            .as_object()
            .is_some_and(|known| known.keys().all(|key| OF_EVERY_TOOL.contains(&key.as_str())))
            && path.starts_with(&["tools".to_owned(), "settings".to_owned()])
    };
    if properties.get(last).is_some_and(|known| !is_replaced(known)) {
        if section.is_part() {
            return Err(format!(
                "the type of the plugin's section has a field `{last}`; give the service's section another name"
            ));
        }
        return Err("it has the path of another key".to_owned());
    }
    properties.insert(last.clone(), schema);
    Ok(())
}

/// Returns an object schema that accepts no other keys, unless its type says otherwise.
fn closed(schema: &Value) -> Result<Value, String> {
    let mut schema = resolve(schema, schema).clone();
    let is_composed = ["anyOf", "oneOf", "allOf", "$ref"].iter().any(|key| schema.get(*key).is_some());
    let Some(members) = schema
        .as_object_mut()
        .filter(|members| !is_composed && members.get("type").is_some_and(|kind| kind == "object"))
    else {
        return Err("its type must be a struct with named fields, or a map".to_owned());
    };
    members.shift_remove("title");
    members.entry("properties").or_insert_with(|| json!({}));
    members.entry("additionalProperties").or_insert(Value::Bool(false));
    Ok(schema)
}

/// Removes `required` from objects, since another source may have the missing key. Variants keep it: `required`
/// distinguishes them, so a variant must be complete in one source.
fn allow_absence(schema: &mut Value) {
    let Some(members) = schema.as_object_mut() else { return };
    members.shift_remove("required");
    if let Some(properties) = members.get_mut("properties").and_then(Value::as_object_mut) {
        properties.values_mut().for_each(allow_absence);
    }
    if let Some(rest) = members.get_mut("additionalProperties") {
        allow_absence(rest);
    }
}

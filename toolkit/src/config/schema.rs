//! The JSON Schema of the whole configuration: the core's keys, and the sections that crates bring. It is what checks.

use crate::config::core::{AgentSettings, LoopGuardSettings, McpServerSettings, ToolAgentSettings};
use crate::config::pointer::{dotted, steps};
use crate::config::section::{ConfigGate, ConfigSection};
use crate::discovery::DiscoverySettings;
use crate::guard::guard;
use crate::link::Linked;
use crate::output_store::OutputStoreSettings;
use crate::permission::PermissionRule;
use crate::policy::{ProfileRules, ToolRules};
use crate::schema::{Compiled, compose, resolve};
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::sync::{Arc, LazyLock};

/// The keys of a tool's settings that every tool has.
pub(crate) const OF_EVERY_TOOL: [&str; 2] = ["enabled", "autoExecute"];
/// The keys of a plugin's section that every plugin has.
pub(crate) const OF_EVERY_PLUGIN: [&str; 2] = ["enabled", "joinGroups"];

/// The schema of the configuration.
pub(crate) struct Schemas {
    /// Of all sources together.
    pub(crate) whole: Compiled,
    /// Of one source, which may leave to another what is required.
    pub(crate) partial: Compiled,
    pub(crate) sections: Vec<ConfigSection>,
}

impl Schemas {
    /// # Errors
    ///
    /// What is wrong with the sections.
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
    /// The pointers of lists in sections that only take away.
    pub(crate) fn narrowing(&self) -> BTreeSet<String> {
        let lists = self.sections.iter().flat_map(|section| {
            let narrows = |gate: &&ConfigGate| matches!(gate, ConfigGate::Narrows { .. });
            section.its_gates().iter().filter(narrows).map(|gate| gate.pointer(&section.pointer()))
        });
        lists.collect()
    }
}

/// That of what is linked into this process, made once.
static LINKED: LazyLock<Result<Arc<Schemas>, String>> =
    LazyLock::new(|| Schemas::new(linked_sections()).map(Arc::new));

/// The schema of what is linked into this process, and these sections.
///
/// # Errors
///
/// What is wrong with the sections.
pub(crate) fn schemas(more: &[ConfigSection]) -> Result<Arc<Schemas>, String> {
    if more.is_empty() {
        return LINKED.clone();
    }
    let mut sections = linked_sections();
    sections.extend(more);
    Schemas::new(sections).map(Arc::new)
}

/// The sections that are linked into this process, in the order of their paths: that of the linker is nobody's.
fn linked_sections() -> Vec<ConfigSection> {
    let mut sections: Vec<ConfigSection> = inventory::iter::<ConfigSection>().copied().collect();
    sections.sort_by_key(ConfigSection::pointer);
    // What a plugin makes several services from is one section.
    sections.dedup_by(|one, other| {
        one.pointer() == other.pointer() && std::ptr::fn_addr_eq(one.schema(), other.schema())
    });
    sections
}

/// The schema with its annotations.
fn composed(sections: &[ConfigSection]) -> Result<Value, String> {
    let pointers: Vec<String> = sections.iter().map(ConfigSection::pointer).collect();
    for (number, pointer) in pointers.iter().enumerate() {
        for other in &pointers[number + 1..] {
            let is_within = |inner: &str, outer: &str| {
                inner.strip_prefix(outer).is_some_and(|rest| rest.starts_with('/'))
            };
            if pointer == other {
                return Err(format!("the section `{}` is there twice", dotted(pointer)));
            }
            if is_within(pointer, other) || is_within(other, pointer) {
                let (one, other) = (dotted(pointer), dotted(other));
                return Err(format!("of the sections `{one}` and `{other}` one stands within the other"));
            }
        }
    }
    let mut fault = None;
    let schema = guard("the configuration", || {
        compose(|generator| {
            let mut root = core(generator);
            for section in sections {
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

fn of<T: JsonSchema>(generator: &mut SchemaGenerator) -> Value {
    generator.subschema_for::<T>().to_value()
}

/// An object with these keys and no others.
#[expect(clippy::needless_pass_by_value, reason = "each caller makes it in place")]
fn object(description: &str, properties: Value) -> Value {
    json!({"type": "object", "description": description, "properties": properties, "additionalProperties": false})
}

/// An object whose keys are names.
fn map_of(description: &str, each: &Value) -> Value {
    json!({
        "type": "object", "description": description, "propertyNames": {"type": "string", "minLength": 1},
        "additionalProperties": each,
    })
}

/// The rules of tools, with further keys.
fn rules(generator: &mut SchemaGenerator, description: &str, more: Value) -> Value {
    let mut rules = of::<ToolRules>(generator);
    rules["description"] = description.into();
    if let (Some(properties), Value::Object(more)) = (rules["properties"].as_object_mut(), more) {
        properties.extend(more);
    }
    rules
}

fn core(generator: &mut SchemaGenerator) -> Value {
    let plain = rules(generator, "Which tools there are.", json!({}));
    let by_provider = map_of("Which tools there are, by provider, model or `provider/model`.", &plain);
    let permission = map_of(
        "Whether an action may go ahead, by its kind (`read`, `edit`, `exec`, `external_directory`, `web_fetch`, `message`, \
         or any that a tool states), by a tool's name or another name of it, or by a server (`mcp:docs`). A key with `*` asks \
         and denies what no other key decides. A later source of the user's own goes before an earlier one, except over `deny`; between \
         everybody, an agent, a channel, a conversation and a sender the stricter counts.",
        &of::<PermissionRule>(generator),
    );
    let of_agent = rules(generator, "Which tools there are for it.", json!({ "byProvider": by_provider }));
    let profile = of::<ProfileRules>(generator);
    let sandbox = rules(generator, "Which tools there are for callers in a sandbox.", json!({}));
    let subagents = rules(generator, "Which tools there are for sub-agents.", json!({}));
    let discovery = of::<DiscoverySettings>(generator);
    let outputs = of::<OutputStoreSettings>(generator);
    let tools = rules(
        generator,
        "Which tools there are, and how they work.",
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
    let some = object("Some callers of the channel.", json!({"tools": plain, "permission": permission}));
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
            "$schema": {"type": "string", "description": "Where this schema is, for editors."},
            "tools": tools,
            "agents": map_of("Agents, by id.", &agent),
            "channels": map_of("Channels, by name.", &channel),
            "permission": permission,
            "plugins": plugins(),
            "enableToolCalls": {
                "type": "boolean", "default": true, "description":
                    "Whether models can call tools at all. A plain value: what a later source says counts.",
            },
            "toolAgent": of::<ToolAgentSettings>(generator),
            "mcp": map_of("Servers of the Model Context Protocol, by name.", &of::<McpServerSettings>(generator)),
            "loopGuard": of::<LoopGuardSettings>(generator),
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
        // A tool that is not linked may come later: nothing can check what it takes.
        "additionalProperties": with_base(json!({"type": "object", "properties": {}}), of_every_tool()),
    })
}

fn of_every_tool() -> Value {
    json!({
        "enabled": {"type": "boolean", "default": true, "description":
            "Whether there is this tool. A plain value: what a later source says counts; `deny` cannot be lifted."},
        "autoExecute": {
            "type": "boolean", "description": "Whether it runs without asking. Without it, the tool's author decides.",
        },
    })
}

fn plugins() -> Value {
    json!({
        "type": "object", "description": "Plugins, by id.",
        "properties": {
            "prefer": {
                "type": "array", "items": {"type": "string", "minLength": 1},
                "description": "Which plugins go first where two have a tool of one name, before the order of the program.",
            },
        },
        "propertyNames": {"type": "string", "minLength": 1},
        "additionalProperties": with_base(json!({"type": "object", "properties": {}}), of_every_plugin()),
    })
}

fn of_every_plugin() -> Value {
    json!({
        "enabled": {"type": "boolean", "default": true, "description":
            "Whether there are this plugin's tools. A plain value: what a later source says counts; `deny` cannot be lifted."},
        "joinGroups": {
            "type": "array", "items": {"type": "string", "minLength": 1}, "uniqueItems": true,
            "description": "Built-in groups in which the plugin's tools count for allow lists too.",
        },
    })
}

/// Keys that stand before a section's own.
fn with_base(mut schema: Value, base: Value) -> Value {
    if let (Some(properties), Value::Object(base)) = (schema["properties"].as_object_mut(), base) {
        let own = std::mem::replace(properties, base);
        properties.extend(own);
    }
    schema
}

/// Puts a section's schema in its place.
fn insert(root: &mut Value, section: &ConfigSection, generator: &mut SchemaGenerator) -> Result<(), String> {
    let pointer = section.pointer();
    let path: Vec<String> = steps(&pointer).collect();
    let base = match path.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["tools", "settings", tool] if !tool.is_empty() => of_every_tool(),
        ["plugins", "prefer"] => return Err("no plugin can have this id".to_owned()),
        ["plugins", id] if !id.is_empty() => of_every_plugin(),
        ["tools", "settings", ..] | ["plugins", ..] => return Err("it stands within a section".to_owned()),
        ["tools", first, ..] if !first.is_empty() => json!({}),
        [first] if !first.is_empty() => json!({}),
        _ => {
            let message = "its path begins with neither `tools.` nor `plugins.`, and is not one key";
            return Err(message.to_owned());
        }
    };
    let schema = closed(&(section.schema())(generator).to_value())?;
    for key in base.as_object().into_iter().flat_map(Map::keys) {
        if schema["properties"].get(key).is_some() {
            return Err(format!("its type has a field `{key}`, which the configuration has itself"));
        }
    }
    let schema = with_base(schema, base);
    let (last, outer) = path.split_last().expect("a path has a step");
    let mut here = root;
    for step in outer {
        let properties = here["properties"].as_object_mut().ok_or("it stands within another section")?;
        here = properties
            .entry(step.clone())
            .or_insert_with(|| object(&format!("Settings of `{step}`."), json!({})));
    }
    let properties = here["properties"].as_object_mut().ok_or("it stands within another section")?;
    let is_replaced = |known: &Value| {
        known["properties"]
            .as_object()
            .is_some_and(|known| known.keys().all(|key| OF_EVERY_TOOL.contains(&key.as_str())))
            && path.starts_with(&["tools".to_owned(), "settings".to_owned()])
    };
    if properties.get(last).is_some_and(|known| !is_replaced(known)) {
        return Err("it stands in the place of another key".to_owned());
    }
    properties.insert(last.clone(), schema);
    Ok(())
}

/// An object that takes no keys but its own, unless its type says otherwise.
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

/// Takes `required` off objects, since another source may have what is missing. Not within variants, which are told apart
/// by it, and so stand whole in one source.
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

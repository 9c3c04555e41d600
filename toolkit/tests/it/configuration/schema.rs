//! The schema and what is loaded say the same, both ways.

use super::sections::AgentSettings;
use super::servers::{self, Server};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use toolkit::config::{Configuration, LoadOptions};

/// Numbers that look random, the same each time.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }

    fn one<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        let at = usize::try_from(self.below(of.len() as u64)).unwrap();
        &of[at]
    }
}

/// A document that mostly fits `schema`.
fn make(schema: &Value, numbers: &mut Numbers, wrong: u64) -> Value {
    if numbers.below(wrong) == 0 {
        let others = [
            json!(null),
            json!(true),
            json!(7),
            json!(-1),
            json!(2.5),
            json!("text"),
            json!([]),
            json!(["a"]),
            json!({}),
            json!({"a": 1}),
        ];
        return numbers.one(&others).clone();
    }
    if let Some(options) = schema["anyOf"].as_array() {
        // The value within a file cannot be had here.
        let options: Vec<&Value> =
            options.iter().filter(|option| option["properties"]["file"].is_null()).collect();
        let option = *numbers.one(&options);
        return make(option, numbers, wrong);
    }
    if let Some(options) = schema["enum"].as_array() {
        return numbers.one(options).clone();
    }
    match schema["type"].as_str() {
        Some("boolean") => (numbers.below(2) == 0).into(),
        Some("integer") => {
            let (least, most) =
                (schema["minimum"].as_u64().unwrap_or(0), schema["maximum"].as_u64().unwrap_or(100));
            let candidates = [
                json!(least),
                json!(most),
                json!(least + 1),
                json!(f64::from(u32::try_from(least).unwrap() + 1)),
                json!(most.saturating_add(1)),
                json!(least.saturating_sub(1)),
            ];
            let count = if numbers.below(wrong) == 0 { 6 } else { 4 };
            numbers.one(&candidates[..count]).clone()
        }
        Some("string") if schema["pattern"] == "^https?://" => {
            numbers.one(&[json!("https://a"), json!("http://")]).clone()
        }
        Some("string") => numbers.one(&["a", "coding", "group:fs", "*", "read", ""]).to_owned().into(),
        Some("array") => (0..numbers.below(3)).map(|_| make(&schema["items"], numbers, wrong)).collect(),
        Some("object") => {
            let mut members = Map::new();
            let required = schema["required"].as_array().cloned().unwrap_or_default();
            for (name, property) in schema["properties"].as_object().into_iter().flatten() {
                let is_required =
                    required.iter().any(|required| required == name) && numbers.below(wrong) != 0;
                if is_required || numbers.below(4) == 0 {
                    members.insert(name.clone(), make(property, numbers, wrong));
                }
            }
            let rest = &schema["additionalProperties"];
            let further = if rest.is_object() { 2 } else { u64::from(numbers.below(wrong) == 0) };
            for _ in 0..numbers.below(further + 1) {
                let name = (*numbers.one(&["kid", "x/y", "a.b", "talk", "toolz"])).to_owned();
                members.insert(name, make(rest, numbers, wrong));
            }
            members.into()
        }
        // It says nothing.
        _ => json!(1),
    }
}

#[test]
fn what_the_schema_takes_is_loaded_and_nothing_else() {
    let schema = Configuration::schema().unwrap();
    let validator = jsonschema::draft202012::options().build(&schema).unwrap();
    let (mut taken, mut refused, mut unreadable) = (0, 0, 0);
    for seed in 1..3_000_u64 {
        let mut numbers = Numbers(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let wrong = if seed.is_multiple_of(2) { u64::MAX } else { 60 };
        let document = make(&schema, &mut numbers, wrong);
        let loaded = Configuration::load(LoadOptions::new().program(document.clone()));
        let is_valid = validator.is_valid(&document);
        let is_taken = is_valid && !has_unreadable_name(&document);
        assert_eq!(loaded.is_ok(), is_taken, "{document}: {:?}", loaded.err());
        unreadable += u32::from(is_valid && !is_taken);
        if is_valid { taken += 1 } else { refused += 1 }
    }
    assert!(taken > 1_000 && refused > 300 && unreadable > 100, "{taken}, {refused}, {unreadable}");
}

/// A rule that the schema cannot express: of the texts that are made here, the empty one names nothing.
fn has_unreadable_name(document: &Value) -> bool {
    fn of_rules(rules: &Value) -> bool {
        rules["profile"] == ""
            || ["allow", "alsoAllow", "deny"].iter().any(|list| {
                rules[*list].as_array().is_some_and(|entries| entries.iter().any(|entry| entry == ""))
            })
            || members(&rules["byProvider"]).any(of_rules)
    }
    fn members(value: &Value) -> impl Iterator<Item = &Value> {
        value.as_object().into_iter().flat_map(Map::values)
    }
    let tools = &document["tools"];
    let of_callers = ["agents", "channels"].iter().flat_map(|key| members(&document[*key]));
    let joins =
        |plugin: &Value| plugin["joinGroups"].as_array().is_some_and(|groups| groups.contains(&json!("")));
    of_rules(tools)
        || ["sandbox", "subagents"].iter().any(|key| of_rules(&tools[*key]))
        || members(&tools["profiles"]).any(of_rules)
        || of_callers.map(|member| &member["tools"]).any(of_rules)
        || members(&document["channels"])
            .flat_map(|channel| members(&channel["groups"]).chain(members(&channel["senders"])))
            .any(|member| of_rules(&member["tools"]))
        || members(&document["plugins"]).any(joins)
}

#[test]
fn what_is_decoded_is_valid_when_it_is_written_again() {
    let schema = Configuration::schema().unwrap();
    let validator = jsonschema::draft202012::options().build(&schema).unwrap();
    for seed in 1..1_000_u64 {
        let mut numbers = Numbers(seed.wrapping_mul(0x2545_F491_4F6C_DD1D));
        let document = make(&schema, &mut numbers, u64::MAX);
        let Ok(configuration) = Configuration::load(LoadOptions::new().program(document.clone())) else {
            continue;
        };
        let (policy, _) = configuration.policy();
        let (permissions, _) = configuration.permissions();
        let mut tools = serde_json::to_value(&policy.tools).unwrap();
        tools["profiles"] = serde_json::to_value(&policy.profiles).unwrap();
        tools["byProvider"] = serde_json::to_value(&policy.by_provider).unwrap();
        tools["sandbox"] = serde_json::to_value(&policy.sandbox).unwrap();
        tools["subagents"] = serde_json::to_value(&policy.subagents).unwrap();
        tools["discovery"] = serde_json::to_value(configuration.discovery()).unwrap();
        tools["outputs"] = serde_json::to_value(configuration.output_store()).unwrap();
        let mut again = json!({
            "tools": tools,
            "mcp": of_servers(&configuration),
            "toolAgent": configuration.section::<AgentSettings>("toolAgent").unwrap(),
            "loopGuard": configuration.loop_guard(),
            "history": configuration.history(),
        });
        if let [permissions] = permissions.as_slice() {
            again["permission"] = serde_json::to_value(&permissions.everybody).unwrap();
        }
        let errors: Vec<String> = validator.iter_errors(&again).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{document} became {again}: {errors:?}");
        let reloaded = Configuration::load(LoadOptions::new().program(again)).unwrap();
        let shown = |configuration: &Configuration| {
            let guard = configuration.loop_guard();
            let outputs = configuration.output_store();
            let history = configuration.history();
            (
                configuration.section::<AgentSettings>("toolAgent").unwrap(),
                guard,
                of_servers(configuration).len(),
                configuration.discovery(),
                outputs,
                history,
            )
        };
        assert_eq!(shown(&reloaded), shown(&configuration), "{document}");
    }
}

fn of_servers(configuration: &Configuration) -> BTreeMap<String, Server> {
    let servers = servers::used(configuration).into_iter();
    servers.map(|(name, server)| (name, server.unwrap())).collect()
}

#[test]
fn every_key_says_what_it_is() {
    fn look(schema: &Value, path: &str, missing: &mut Vec<String>) {
        if !schema.is_object() {
            return;
        }
        for (name, property) in schema["properties"].as_object().into_iter().flatten() {
            let path = format!("{path}.{name}");
            let is_fixture = ["tools.exec", "tools.web", "tools.talk", "plugins.acme", "tools.settings"]
                .iter()
                .any(|fixture| path.starts_with(&format!(".{fixture}")));
            if property["description"].as_str().is_none_or(str::is_empty) && !is_fixture {
                missing.push(path.clone());
            }
            look(property, &path, missing);
        }
        for part in [&schema["additionalProperties"], &schema["items"]] {
            look(part, &format!("{path}.*"), missing);
        }
        for option in schema["anyOf"].as_array().into_iter().flatten() {
            look(option, path, missing);
        }
    }
    let mut missing = Vec::new();
    look(&Configuration::schema().unwrap(), "", &mut missing);
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn every_key_of_the_core_is_there() {
    let schema = Configuration::schema().unwrap();
    let rules = ["profile", "allow", "alsoAllow", "deny"];
    for (pointer, keys) in [
        (
            "",
            &[
                "$schema",
                "tools",
                "agents",
                "channels",
                "permission",
                "plugins",
                "enableToolCalls",
                "mcp",
                "loopGuard",
                "history",
            ][..],
        ),
        (
            "/properties/tools",
            &[
                "profiles",
                "byProvider",
                "sandbox",
                "subagents",
                "settings",
                "discovery",
                "outputs",
                "profile",
                "allow",
                "alsoAllow",
                "deny",
            ],
        ),
        ("/properties/tools/properties/discovery", &["enabled", "maxTokens", "maxTools", "show"]),
        ("/properties/tools/properties/outputs", &["maxBytes", "maxTotalBytes"]),
        ("/properties/tools/properties/sandbox", &rules),
        ("/properties/tools/properties/subagents", &rules),
        ("/properties/tools/properties/byProvider/additionalProperties", &rules),
        ("/properties/tools/properties/profiles/additionalProperties", &["allow", "deny"]),
        ("/properties/tools/properties/settings/additionalProperties", &["enabled", "autoExecute"]),
        ("/properties/agents/additionalProperties", &["name", "model", "workspace", "tools", "permission"]),
        (
            "/properties/agents/additionalProperties/properties/tools",
            &["byProvider", "profile", "allow", "alsoAllow", "deny"],
        ),
        ("/properties/channels/additionalProperties", &["tools", "permission", "groups", "senders"]),
        (
            "/properties/channels/additionalProperties/properties/groups/additionalProperties",
            &["tools", "permission"],
        ),
        (
            "/properties/channels/additionalProperties/properties/senders/additionalProperties",
            &["tools", "permission"],
        ),
        ("/properties/plugins", &["prefer"]),
        ("/properties/plugins/additionalProperties", &["enabled", "joinGroups"]),
        (
            "/properties/mcp/additionalProperties/anyOf/0",
            &["command", "args", "env", "cwd", "enabled", "timeoutMs"],
        ),
        ("/properties/mcp/additionalProperties/anyOf/1", &["url", "headers", "enabled", "timeoutMs"]),
        ("/properties/loopGuard", &["tell", "ask", "block"]),
        ("/properties/history", &["enabled", "maxDays", "maxBytes"]),
    ] {
        let properties =
            schema.pointer(pointer).and_then(|schema| schema["properties"].as_object()).expect(pointer);
        for key in keys {
            assert!(properties.contains_key(*key), "{pointer} lacks {key}");
        }
    }
}

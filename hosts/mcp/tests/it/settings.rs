//! The section `mcp` of the configuration.

#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

use serde_json::{Value, json};
use toolkit::config::{Configuration, LoadOptions};
use toolkit_mcp::McpServerSettings;

fn load(options: LoadOptions) -> Configuration {
    Configuration::load(options).unwrap()
}

#[test]
fn servers_are_read_with_those_that_are_unavailable_or_switched_off() {
    let configuration = load(LoadOptions::new().environment([("KEPT", "kept-elsewhere")]).program(json!({
        "mcp": {
            "near": {"command": "x", "env": {"KEY": "${env:KEPT}"}, "sandbox": "read-only"},
            "far": {"url": "https://x.example/mcp", "headers": {"Key": "${env:NO}"}, "type": "sse"},
            "servers": {"under": {"command": "y"}},
            "off": {"url": "https://y.example", "oauth": {"clientSecret": {"file": "none.txt"}}, "enabled": false},
            "none": {"enabled": false},
        },
    })));
    let used = McpServerSettings::of(&configuration);
    assert_eq!(used.keys().collect::<Vec<_>>(), ["far", "near", "under"]);
    let McpServerSettings::Command(near) = &used["near"] else { panic!("{used:?}") };
    assert_eq!((&*near.command, near.env["KEY"].expose()), ("x", "kept-elsewhere"));
    let McpServerSettings::Unavailable(far) = &used["far"] else { panic!("{used:?}") };
    assert!(far.reason.contains("the variable `NO` of the environment is not set"), "{}", far.reason);
    let every = McpServerSettings::every(&configuration);
    assert!(matches!(&every["off"], McpServerSettings::Url(off) if off.url == "https://y.example"));
    assert_eq!(McpServerSettings::switched_off(&configuration), ["none", "off"]);
    assert!(McpServerSettings::every(&load(LoadOptions::new())).is_empty());
}

/// One that is switched off needs no variable, whatever the type of the key that names it.
#[test]
fn a_server_that_is_switched_off_stops_nothing() {
    for (server, expected) in [
        (json!({"command": "x", "sandbox": "${env:NO}"}), "command x"),
        (json!({"command": "x", "network": "${env:NO}", "timeoutMs": "${env:NO}"}), "command x"),
        (json!({"command": "x", "env": {"KEY": "${env:NO}"}}), "command x"),
        (json!({"url": "https://x.example", "type": "${env:NO}"}), "url https://x.example"),
        (json!({"url": "https://x.example", "oauth": {"grant": "${env:NO}"}}), "url https://x.example"),
        (json!({"url": "${env:NO}", "maxMessageBytes": "${env:NO}"}), "off"),
    ] {
        let mut off = server.clone();
        off["enabled"] = false.into();
        let both = json!({"mcp": {"off": off, "near": {"command": "y"}}});
        let configuration = load(LoadOptions::new().program(both));
        let every = McpServerSettings::every(&configuration);
        let read = match &every["off"] {
            McpServerSettings::Command(command) => format!("command {}", command.command),
            McpServerSettings::Url(url) => format!("url {}", url.url),
            McpServerSettings::Off(_) => "off".to_owned(),
            other => format!("{other:?}"),
        };
        assert_eq!(read, expected, "{server}");
        assert_eq!(McpServerSettings::switched_off(&configuration), ["off"]);
        assert_eq!(McpServerSettings::of(&configuration).keys().collect::<Vec<_>>(), ["near"]);
        // One that is switched on is unavailable, and no other.
        let configuration =
            load(LoadOptions::new().program(json!({"mcp": {"on": server, "near": {"command": "y"}}})));
        let used = McpServerSettings::of(&configuration);
        assert!(matches!(used["on"], McpServerSettings::Unavailable(_)), "{used:?}");
        assert!(matches!(used["near"], McpServerSettings::Command(_)), "{used:?}");
    }
}

/// A server of two sources could send the secrets of one to the address of the other.
#[test]
fn a_later_source_replaces_a_server_as_a_whole() {
    let first = json!({"mcp": {"a": {"url": "https://x.example", "headers": {"Key": "secret"}}, "b": {"command": "b"}}});
    let configuration = load(LoadOptions::new().program(first).set("mcp.a={ url: 'https://evil.example' }"));
    let servers = McpServerSettings::of(&configuration);
    let McpServerSettings::Url(a) = &servers["a"] else { panic!("{servers:?}") };
    assert_eq!((&*a.url, a.headers.len()), ("https://evil.example", 0));
    assert!(servers.contains_key("b"));
}

#[test]
fn the_errors_of_a_server_are_those_of_the_form_that_was_meant() {
    for (server, expected) in [
        (json!({"comand": "x"}), "mcp.a.comand: expected one of the keys"),
        (json!({"url": "ftp://x"}), "mcp.a.url: expected a string that matches the pattern"),
        (json!({"oauth": {}}), "mcp.a.url: expected a string"),
        (json!({"sandbox": "off"}), "mcp.a.command: expected a string"),
        (
            json!({"command": "x", "url": "https://x"}),
            "expected a command or an address, got both `command` and `url`",
        ),
        (
            json!({"timeoutMs": 5}),
            "expected an object with the key `command` or the key `url`, got an object with neither",
        ),
    ] {
        let options = LoadOptions::new().program(json!({"mcp": {"a": server}}));
        let error = Configuration::load(options).unwrap_err().to_string();
        assert!(error.contains(expected), "{server}: {error}");
    }
}

#[test]
fn every_key_of_a_server_is_in_the_schema_with_a_description() {
    let schema = Configuration::schema().unwrap();
    let section = &schema["properties"]["mcp"];
    assert_eq!(section["description"], "MCP servers, by name.");
    for (form, keys) in [
        (
            0,
            &[
                "args",
                "command",
                "cwd",
                "enabled",
                "env",
                "maxMessageBytes",
                "network",
                "sandbox",
                "timeoutMs",
            ][..],
        ),
        (1, &["enabled", "headers", "maxMessageBytes", "oauth", "timeoutMs", "type", "url"]),
        (2, &["enabled"]),
    ] {
        let form = &section["additionalProperties"]["anyOf"][form];
        let properties = form["properties"].as_object().unwrap();
        let mut names: Vec<&str> = properties.keys().map(String::as_str).collect();
        names.sort_unstable();
        assert_eq!((names, &form["additionalProperties"]), (keys.to_vec(), &Value::Bool(false)));
        assert!(properties.values().all(|property| property["description"].is_string()), "{form}");
    }
}

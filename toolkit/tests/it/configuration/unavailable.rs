//! A section that names a missing variable or file is unavailable itself, and nothing else is.

use super::Place;
use super::sections::{AcmeSettings, AgentSettings, GreetSettings, SearchSettings};
use super::servers::{self, Server};
use serde_json::{Value, json};
use toolkit::{Toolkit, config::Configuration};

/// A configuration with one owner that needs what is not there, and others that do not.
fn load(user: &str) -> Configuration {
    let place = Place::new();
    place.write("user/toolkit.json5", user).write("user/empty.txt", "\n");
    Configuration::load(place.options().environment([("EMPTY", ""), ("KEPT", "kept-elsewhere")])).unwrap()
}

#[test]
fn a_server_without_its_secret_is_unavailable_and_says_why() {
    for (value, reason) in [
        ("'Bearer ${env:NO}'", "the variable `NO` of the environment is not set"),
        ("'${env:EMPTY}'", "the variable `EMPTY` of the environment is empty"),
        ("{ file: 'none.txt' }", "does not exist"),
        ("{ file: 'empty.txt' }", "is empty"),
        ("{ file: '.' }", "it is not a regular file"),
    ] {
        let configuration = load(&format!(
            "{{ mcp: {{\n far: {{ url: 'https://x.example', headers: {{ Key: {value} }} }},\n \
             near: {{ command: 'x', env: {{ K: '${{env:KEPT}}' }} }} }}, permission: {{ 'mcp:far': 'deny' }} }}"
        ));
        let servers = servers::used(&configuration);
        let Err(far) = &servers["far"] else { panic!("{servers:?}") };
        assert!(far.contains(reason) && far.contains("toolkit.json5:2:"), "{far}");
        let Ok(Server::Command(near)) = &servers["near"] else { panic!("{servers:?}") };
        assert_eq!(near.env["K"].expose(), "kept-elsewhere");
        let toolkit = Toolkit::empty().configuration(configuration).build().unwrap();
        let told: Vec<String> = toolkit.diagnostics().iter().map(ToString::to_string).collect();
        assert_eq!(
            told.iter()
                .filter(|told| told.contains("mcp.far is unavailable: ") && told.contains(reason))
                .count(),
            1,
            "{told:?}"
        );
    }
}

/// A text with a variable is checked when the variable is replaced, whatever the schema demands of the text.
#[test]
fn an_address_may_be_a_variable() {
    for (value, expected) in [
        ("https://x.example/mcp", None),
        ("ftp://x.example", Some("mcp.far.url: expected a string that matches the pattern ^(https?://")),
        ("", Some("mcp.far.url: the variable `FAR` of the environment is empty")),
    ] {
        let place = Place::new();
        place.write(
            "user/toolkit.json5",
            "{ mcp: { far: { url: '${env:FAR}' }, off: { url: '${env:OFF}', enabled: false }, near: { command: 'x' } } }",
        );
        let configuration = Configuration::load(place.options().environment([("FAR", value)])).unwrap();
        let servers = servers::used(&configuration);
        match (expected, &servers["far"]) {
            (None, Ok(Server::Url(far))) => assert_eq!(far.url, value),
            (Some(reason), Err(far)) => {
                assert!(far.contains(reason), "{far}");
                assert!(value.is_empty() || !far.contains(value), "{far}");
            }
            (_, far) => panic!("{value}: {far:?}"),
        }
        assert!(matches!(servers["near"], Ok(Server::Command(_))), "{servers:?}");
        assert!(!servers.contains_key("off"), "{servers:?}");
    }
}

#[test]
fn a_section_without_its_secret_is_unavailable_and_no_other() {
    let configuration = load(
        "{ plugins: { acme: { key: '${env:NO}' }, other: { level: 3 } }, tools: { web: { search: { apiKey: { file: 'none.txt' } } }, \
         settings: { greet: { word: 'Hi' }, talk2: { x: '${env:NO}' } }, deny: ['exec'] }, toolAgent: { model: '${env:NO}', maxToolCalls: 7 } }",
    );
    for (section, error) in [
        ("plugins.acme", configuration.section::<AcmeSettings>("plugins.acme").err()),
        ("tools.web.search", configuration.section::<SearchSettings>("tools.web.search").err()),
        ("tools.settings.talk2", configuration.section::<Value>("tools.settings.talk2").err()),
    ] {
        let error = error.unwrap_or_else(|| panic!("{section} is there")).to_string();
        assert!(error.contains("toolkit.json5:1:") && error.contains(section), "{error}");
    }
    assert_eq!(configuration.section::<Value>("plugins.other").unwrap(), json!({ "level": 3 }));
    assert_eq!(configuration.section::<GreetSettings>("tools.settings.greet").unwrap().word, "Hi");
    assert_eq!(configuration.policy().0.tools.deny, ["exec"]);
    // Without the value the default counts.
    let agent: AgentSettings = configuration.section("toolAgent").unwrap();
    assert_eq!((agent.model, agent.max_tool_calls), (None, 7));
    let toolkit = Toolkit::empty().permission_keys(["exec"]).configuration(configuration).build().unwrap();
    let told: Vec<String> = toolkit.diagnostics().iter().map(ToString::to_string).collect();
    for owner in ["plugins.acme", "tools.web.search", "tools.settings.talk2", "toolAgent"] {
        let line = format!("{owner} is unavailable: ");
        assert_eq!(told.iter().filter(|told| told.contains(&line)).count(), 1, "{owner}: {told:?}");
    }
}

#[test]
fn a_reference_that_cannot_be_read_stops_the_host() {
    for value in ["'${env:NO'", "'${env:}'"] {
        let place = Place::new();
        place.write(
            "user/toolkit.json5",
            &format!("{{ mcp: {{ far: {{ url: 'https://x', headers: {{ K: {value} }} }} }} }}"),
        );
        assert!(place.fails().contains("mcp.far.headers.K: `${env:"), "{value}");
    }
}

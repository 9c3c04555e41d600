//! Services with a section of their own within that of the plugin.

use super::{Depot, Watch, builder};
use std::sync::Arc;
use toolkit::config::{ConfigSection, Configuration, LoadOptions, Secret};
use toolkit::prelude::*;
use toolkit::{Config, Tool};

#[toolkit::args]
struct GateSettings {
    /// How wide it is.
    #[arg(default = 3, range(1..=9))]
    width: u32,
    /// Its key.
    key: Option<Secret>,
}

struct Gate(u32);

#[toolkit::service(section = "gate")]
fn gate(config: &Config<GateSettings>) -> Gate {
    Gate(config.width + u32::from(config.key.is_some()))
}

#[toolkit::args]
struct YardSettings {
    /// The name of the yard.
    #[arg(default = "yard")]
    name: String,
    /// True if it is lit; a key that every plugin has, too.
    enabled: Option<bool>,
}

#[toolkit::tool_factory(section = "yard")]
fn of_yard(config: &Config<YardSettings>) -> Tool {
    let lit = if config.enabled == Some(true) { " is lit" } else { "" };
    toolkit::tool_ref!(see_gate).named(format!("see_{}{}", config.name, lit.replace(' ', "_")))
}

/// Says how wide the gate is.
#[tool(read_only)]
fn see_gate(gate: &State<Gate>) -> u32 {
    gate.0.0
}

/// Says the name of the depot.
#[tool(read_only)]
fn see_depot(depot: &State<Depot>) -> String {
    depot.name.clone()
}

fn load(set: &[&str]) -> Result<Configuration, String> {
    let options = set.iter().fold(LoadOptions::new(), |options, set| options.set(*set));
    Configuration::load(options.environment([("GATE", "k")])).map_err(|error| error.to_string())
}

#[tokio::test]
async fn each_service_reads_its_own_and_a_missing_secret_stops_no_other() {
    for (set, gate, depot) in [
        (&[][..], Ok("3"), Ok("main")),
        (&["plugins.depot.gate.width=5", "plugins.depot.name=north"], Ok("5"), Ok("north")),
        (&["plugins.depot={enabled: true, name: 'north', gate: {key: '${env:GATE}'}}"], Ok("4"), Ok("north")),
        (&["plugins.depot.gate.key=${env:NONE}"], Err("plugins.depot.gate.key"), Ok("main")),
        (&["plugins.depot.key=${env:NONE}", "plugins.depot.gate.width=2"], Ok("2"), Err("plugins.depot.key")),
    ] {
        let configuration = load(set).unwrap();
        let toolkit = builder(&Arc::new(Watch::default())).configuration(configuration).build().unwrap();
        let toolbox = toolkit.toolbox(&Caller::new()).await;
        for (name, expected) in [("see_gate", gate), ("see_depot", depot)] {
            let answer = toolbox.call(ToolCall::new("1", name, "{}")).await;
            match expected {
                Ok(expected) => assert_eq!(answer.text(), expected, "{set:?}"),
                Err(expected) => {
                    assert!(
                        answer.is_error() && answer.text().contains(expected),
                        "{set:?}: {}",
                        answer.text()
                    );
                }
            }
        }
    }
}

#[tokio::test]
async fn a_factory_has_a_section_of_its_own_too() {
    let configuration = load(&["plugins.depot.yard={name: 'court', enabled: true}"]).unwrap();
    let toolkit = builder(&Arc::new(Watch::default())).configuration(configuration).build().unwrap();
    let toolbox = toolkit.toolbox(&Caller::new()).await;
    assert_eq!(toolbox.call(ToolCall::new("1", "see_court_is_lit", "{}")).await.text(), "3");
}

#[test]
fn an_invalid_value_in_a_services_section_is_reported_with_its_place() {
    for (set, expected) in [
        ("plugins.depot.gate.width=10", "plugins.depot.gate.width"),
        ("plugins.depot.gate.wdth=1", "did you mean `width`"),
        ("plugins.depot.gat.width=1", "did you mean `gate`"),
        ("plugins.depot.gate=1", "plugins.depot.gate"),
    ] {
        let error = load(&[set]).unwrap_err();
        assert!(error.contains(expected), "{set}: {error}");
    }
}

/// The schema for editors shows both, and the keys of every plugin once.
#[test]
fn the_schema_has_the_section_within_that_of_the_plugin() {
    let schema = Configuration::schema().unwrap();
    let depot = &schema["properties"]["plugins"]["properties"]["depot"]["properties"];
    for key in ["enabled", "joinGroups", "name", "gate", "yard"] {
        assert!(depot.get(key).is_some(), "{key}: {depot}");
    }
    assert!(depot["gate"]["properties"].get("joinGroups").is_none(), "{depot}");
}

#[toolkit::args]
struct Other {
    /// A port.
    port: Option<u16>,
}

#[test]
fn two_types_for_one_section_are_named_with_their_functions() {
    let load = |section| Configuration::load(LoadOptions::new().section(section)).unwrap_err().to_string();
    let error = load(ConfigSection::of_plugin::<Other>("depot"));
    for part in [
        "`plugins.depot` is there twice",
        "`Config<services::Settings>` by `depot` (toolkit/tests/services.rs:",
        "`services::sections::Other`",
        "#[toolkit::service(section = \"name\")]",
    ] {
        assert!(error.contains(part), "{error}");
    }
    let error = load(ConfigSection::of_plugin::<Other>("depot").part("gate"));
    assert!(error.contains("by `gate` (toolkit/tests/services/sections.rs:"), "{error}");
    assert!(error.contains("give each function another `section"), "{error}");
    let error = load(ConfigSection::of_plugin::<Other>("depot").part("name"));
    assert!(error.contains("has a field `name`"), "{error}");
    let error = load(ConfigSection::of_plugin::<Other>("depot").part("enabled"));
    assert!(error.contains("every plugin has this key"), "{error}");
}

#[test]
fn two_services_of_one_type_are_refused_with_both_places() {
    let line = line!() + 1;
    let twice = || Toolkit::empty().service(Gate(1)).shared_service(Arc::new(Gate(2)));
    let problems = twice().build().unwrap_err().problems;
    let [problem] = &*problems else { panic!("{problems:?}") };
    assert!(
        problem.starts_with("the service `services::sections::Gate` is provided 2 times, at "),
        "{problem}"
    );
    let columns: Vec<&str> = problem.split(&format!("toolkit/tests/services/sections.rs:{line}:")).collect();
    assert_eq!(columns.len(), 3, "{problem}");
    let error = Toolkit::builder().service(Arc::new(Watch::default())).build().unwrap_err().to_string();
    assert!(
        error.contains(
            "takes `State<services::Watch>`, but `.service(..)` at toolkit/tests/services/sections.rs:"
        ),
        "{error}"
    );
    assert!(error.contains("provides an `Arc<services::Watch>`: write `.shared_service(..)`"), "{error}");
    // A default is only that.
    let one = Toolkit::empty().service(Gate(1)).default_service(Arc::new(Gate(2))).build();
    assert!(one.is_ok());
}

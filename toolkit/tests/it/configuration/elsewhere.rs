//! Values that are kept elsewhere, and values that a type refuses although its schema allows them.

use super::sections::{AcmeSettings, AgentSettings, GreetSettings, SearchSettings};
use super::servers::{self, Server};
use toolkit::config::{ConfigSection, Configuration, LoadOptions};

#[test]
fn what_is_kept_elsewhere_is_fetched_wherever_it_may_stand() {
    let options = || LoadOptions::new().environment([("KEPT", "kept-elsewhere")]);
    let text = "'x ${env:KEPT}'";
    let load = |key: &str| Configuration::load(options().set(format!("{key}={text}")));
    let expected = "x kept-elsewhere";
    assert_eq!(
        load("toolAgent.model").unwrap().section::<AgentSettings>("toolAgent").unwrap().model.as_deref(),
        Some(expected)
    );
    let search: SearchSettings =
        load("tools.web.search.baseUrl").unwrap().section("tools.web.search").unwrap();
    assert_eq!(search.base_url.as_deref(), Some(expected));
    let greet: GreetSettings =
        load("tools.settings.greet.word").unwrap().section("tools.settings.greet").unwrap();
    assert_eq!(greet.word, expected);
    let acme: AcmeSettings = load("plugins.acme.endpoint").unwrap().section("plugins.acme").unwrap();
    assert_eq!(acme.endpoint.as_deref(), Some(expected));
    let server = options().set(format!("mcp.a={{ command: 'x', env: {{ K: {text} }} }}"));
    let servers = servers::used(&Configuration::load(server).unwrap());
    let Ok(Server::Command(server)) = &servers["a"] else { panic!("{servers:?}") };
    assert_eq!(server.env["K"].expose(), expected);
    // In rules a name that is none would deny nothing.
    for key in
        ["tools.profile", "tools.deny", "agents.kid.tools.deny", "plugins.acme.joinGroups", "plugins.prefer"]
    {
        let value = if key == "tools.profile" { text.to_owned() } else { format!("[{text}]") };
        let error = Configuration::load(options().set(format!("{key}={value}"))).unwrap_err().to_string();
        assert!(error.contains("`${env:…}` is not replaced here"), "{key}: {error}");
    }
}

/// Refuses more than its schema says.
#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Picky {
    #[serde(deserialize_with = "even")]
    #[expect(dead_code, reason = "it is only decoded")]
    number: u8,
}

fn even<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<u8, D::Error> {
    match <u8 as serde::Deserialize>::deserialize(deserializer)? {
        255 => panic!("the type's own fault"),
        number if number % 2 == 1 => Err(serde::de::Error::custom(format!("{number} is odd"))),
        number => Ok(number),
    }
}

#[test]
fn what_a_type_refuses_is_told_when_it_is_loaded() {
    let load = |number: u8, secret: Option<&str>| {
        let options = LoadOptions::new().section(ConfigSection::of_tool::<Picky>("picky"));
        let options = options.set(format!("tools.settings.picky={{ number: {number}, enabled: true }}"));
        Configuration::load(secret.into_iter().fold(options, LoadOptions::set))
    };
    assert!(load(2, None).is_ok() && load(2, Some("plugins.acme.key=abcdefgh")).is_ok());
    for (number, secret, expected) in [
        (3, None, "tools.settings.picky: 3 is odd"),
        (255, None, "the type's own fault"),
        // It may repeat a secret.
        (3, Some("plugins.acme.key=abcdefgh"), "tools.settings.picky: its type refuses a value in it"),
    ] {
        let error = load(number, secret).unwrap_err();
        assert!(error.to_string().contains(expected) && error.problems.len() == 1, "{number}: {error}");
    }
}

/// Takes short words only.
#[toolkit::args]
struct ShortSettings {
    #[arg(default = "x", length(1..=16))]
    word: String,
}

#[test]
fn what_comes_from_elsewhere_has_to_fit_too() {
    let load = |value: &str, more: &str| {
        let options = LoadOptions::new().section(ConfigSection::of_tool::<ShortSettings>("short"));
        let options = options.set("tools.settings.short.word='${env:WORD}'").set(more);
        Configuration::load(options.environment([("WORD", value)]))
    };
    let short: ShortSettings =
        load("kept", "enableToolCalls=true").unwrap().section("tools.settings.short").unwrap();
    assert_eq!(short.word, "kept");
    let long = "kept-where-nobody-looks";
    // Whoever needs it says what is wrong, each for itself.
    let configuration = load(long, "plugins.acme.key='${env:NO}'").unwrap();
    for (error, expected) in [
        (
            configuration.section::<ShortSettings>("tools.settings.short").err(),
            "tools.settings.short.word: expected",
        ),
        (configuration.section::<AcmeSettings>("plugins.acme").err(), "plugins.acme.key: the variable `NO`"),
    ] {
        let error = error.unwrap();
        let told: Vec<String> = error.problems.iter().map(ToString::to_string).collect();
        assert!(matches!(told.as_slice(), [told] if told.contains(expected)), "{told:?}");
        assert!(!error.to_string().contains(long), "{error}");
    }
}

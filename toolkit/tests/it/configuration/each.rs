//! Sections of each agent and of each channel, and the workspaces of agents.

use super::Place;
use serde_json::json;
use std::path::PathBuf;
use toolkit::Toolkit;
use toolkit::config::{ConfigGate, ConfigSection, Configuration, LoadOptions, Secret};

/// The settings of a chat platform.
#[derive(Debug, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ChatSettings {
    /// Its token.
    token: Secret,
    /// The seconds between two requests.
    #[serde(default = "thirty")]
    #[schemars(range(min = 1, max = 60))]
    poll_seconds: u32,
}

fn thirty() -> u32 {
    30
}

/// The settings of sessions.
#[derive(Debug, Default, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
struct SessionSettings {
    /// The most runs.
    #[schemars(range(min = 1))]
    max_runs: Option<u32>,
    /// A greeting.
    greeting: Option<String>,
}

fn options(place: &Place) -> LoadOptions {
    place.options().section(ConfigSection::of_channels::<ChatSettings>("chat")).section(
        ConfigSection::of_agents::<SessionSettings>("sessions").void_because("no sessions are kept here"),
    )
}

fn load(place: &Place) -> Configuration {
    Configuration::load(options(place)).unwrap()
}

fn fails(place: &Place) -> String {
    place.shown(&Configuration::load(options(place)).unwrap_err())
}

#[test]
fn channels_and_agents_have_the_sections_that_were_declared_beside_their_own_keys() {
    let place = Place::new();
    place.write(
        "user/toolkit.json5",
        "{ channels: {
             team: { chat: { token: 'secret-token', pollSeconds: 5 }, tools: { deny: ['exec'] }, senders: { '7': {} } },
             'a.b/c': { chat: { token: '${env:KEPT}' } },
             console: {},
           },
           agents: { ada: { sessions: { maxRuns: 2, greeting: '${env:KEPT}' }, model: 'large' }, bob: {} } }",
    );
    let configuration =
        Configuration::load(options(&place).environment([("KEPT", "kept-elsewhere")])).unwrap();
    let mut channels = configuration.each_section::<ChatSettings>("channels", "chat");
    assert_eq!(channels.keys().collect::<Vec<_>>(), ["a.b/c", "team"]);
    let team = channels.remove("team").unwrap().unwrap();
    assert_eq!((team.token.expose(), team.poll_seconds), ("secret-token", 5));
    let other = channels.remove("a.b/c").unwrap().unwrap();
    assert_eq!((other.token.expose(), other.poll_seconds), ("kept-elsewhere", 30));
    let sessions: SessionSettings = configuration.section("agents.ada.sessions").unwrap();
    let greeting = Some("kept-elsewhere".to_owned());
    assert_eq!(sessions, SessionSettings { max_runs: Some(2), greeting });
    assert_eq!(
        configuration.section::<SessionSettings>("agents.bob.sessions").unwrap(),
        SessionSettings::default()
    );
    // The keys of the runtime have their meaning beside them.
    assert_eq!(configuration.policy().0.channels["team"].deny, ["exec"]);
    assert_eq!(configuration.agent("ada").model.as_deref(), Some("large"));
    let shown = configuration.document();
    assert_eq!(shown["channels"]["team"]["chat"], json!({ "token": "[redacted]", "pollSeconds": 5 }));
}

#[test]
fn a_key_of_a_channel_or_agent_that_nothing_declares_is_refused_with_the_nearest_name() {
    for (text, expected) in [
        ("{ channels: { team: { chta: { token: 'x' } } } }", "the unknown `chta`; did you mean `chat`?"),
        ("{ channels: { team: { chat: { tokne: 'x' } } } }", "the unknown `tokne`; did you mean `token`?"),
        (
            "{ channels: { team: { chat: { token: 'x', pollSeconds: 61 } } } }",
            "channels.team.chat.pollSeconds",
        ),
        ("{ channels: { team: { chat: {} } } }", "channels.team.chat.token: expected"),
        ("{ channels: { team: { senders: { a: { chat: { token: 'x' } } } } } }", "the unknown `chat`"),
        ("{ agents: { ada: { chat: { token: 'x' } } } }", "the unknown `chat`"),
        ("{ agents: { ada: { sessions: { maxRuns: 0 } } } }", "agents.ada.sessions.maxRuns"),
        ("{ agents: { ada: { model: '${env:X}' } } }", "is not replaced here"),
    ] {
        let place = Place::new();
        place.write("user/toolkit.json5", text);
        let told = fails(&place);
        assert!(told.contains(expected) && told.contains("toolkit.json5:1:"), "{text}: {told}");
    }
    let place = Place::new();
    place.write("user/toolkit.json5", "{ channels: { team: { chat: { token: 'x' } } } }");
    assert!(place.fails().contains("the unknown `chat`"), "{}", place.fails());
}

#[test]
fn variables_and_flags_set_a_section_of_a_channel() {
    let place = Place::new();
    let options = options(&place)
        .environment([("TOOLKIT_CHANNELS__TEAM__CHAT__TOKEN", "of-a-variable")])
        .set("channels.team.chat.pollSeconds=7");
    let configuration = Configuration::load(options).unwrap();
    let team =
        configuration.each_section::<ChatSettings>("channels", "chat").remove("team").unwrap().unwrap();
    assert_eq!((team.token.expose(), team.poll_seconds), ("of-a-variable", 7));
}

/// A channel of two sources could send the secrets of one to the address of the other.
#[test]
fn a_later_file_replaces_a_section_of_a_channel_or_agent_as_a_whole() {
    let place = Place::new();
    place.write(
        "user/toolkit.json5",
        "{ channels: { team: { chat: { token: 'of-the-user', pollSeconds: 5 }, tools: { deny: ['exec'] } } },
           agents: { ada: { sessions: { maxRuns: 2, greeting: 'hi' }, model: 'large' } } }",
    );
    place.write(
        "user/other.json5",
        "{ channels: { team: { chat: { token: 'of-the-other' }, tools: { deny: ['read'] } } },
           agents: { ada: { sessions: { greeting: 'hello' } } } }",
    );
    let named = options(&place).file(place.path("user/other.json5"));
    let read = |options: LoadOptions| {
        let configuration = Configuration::load(options).unwrap();
        let team =
            configuration.each_section::<ChatSettings>("channels", "chat").remove("team").unwrap().unwrap();
        let sessions: SessionSettings = configuration.section("agents.ada.sessions").unwrap();
        let tools = configuration.policy().0.channels["team"].deny.clone();
        let model = configuration.agent("ada").model;
        (team.token.expose().to_owned(), team.poll_seconds, sessions, tools, model)
    };
    let sessions = SessionSettings { max_runs: None, greeting: Some("hello".to_owned()) };
    let tools = vec!["exec".to_owned(), "read".to_owned()];
    assert_eq!(
        read(named.clone()),
        ("of-the-other".to_owned(), 30, sessions, tools.clone(), Some("large".to_owned()))
    );
    // An option for a key sets it alone; one for the section replaces it.
    let (token, seconds, ..) = read(named.clone().set("channels.team.chat.pollSeconds=7"));
    assert_eq!((&*token, seconds), ("of-the-other", 7));
    let (token, seconds, ..) = read(
        named.set("channels.team.chat.pollSeconds=7").set("channels.team.chat={ token: 'of-an-option' }"),
    );
    assert_eq!((&*token, seconds), ("of-an-option", 30));
}

#[test]
fn a_channel_without_its_secret_is_unavailable_and_no_other_is() {
    let place = Place::new();
    place.write(
        "user/toolkit.json5",
        "{ channels: { one: { chat: { token: '${env:NO}' }, tools: { deny: ['exec'] } }, two: { chat: { token: 'x' } } } }",
    );
    let configuration = load(&place);
    let channels = configuration.each_section::<ChatSettings>("channels", "chat");
    let why = place.shown(channels["one"].as_ref().unwrap_err());
    assert!(why.contains("the variable `NO` of the environment is not set"), "{why}");
    assert!(channels["two"].is_ok());
    assert_eq!(configuration.policy().0.channels["one"].deny, ["exec"]);
    let toolkit = Toolkit::empty().permission_keys(["exec"]).configuration(configuration).build().unwrap();
    let told: Vec<String> = toolkit.diagnostics().iter().map(ToString::to_string).collect();
    assert!(told.iter().any(|told| told.contains("channels.one.chat is unavailable: ")), "{told:?}");
}

#[test]
fn an_untrusted_file_sets_no_section_of_a_channel_or_agent() {
    let place = Place::new();
    place.write(
        "work/toolkit.json5",
        "{ channels: { team: { chat: { token: 'evil' }, tools: { deny: ['exec'] } } },
           agents: { ada: { sessions: { maxRuns: 9 }, workspace: '/' } } }",
    );
    let configuration = load(&place);
    assert!(configuration.each_section::<ChatSettings>("channels", "chat").is_empty());
    assert_eq!(
        configuration.section::<SessionSettings>("agents.ada.sessions").unwrap(),
        SessionSettings::default()
    );
    assert_eq!(configuration.agent("ada").workspace, None);
    let ignored: Vec<&str> = configuration.ignored().iter().map(|key| &*key.pointer).collect();
    let expected = ["/channels/team/chat/token", "/agents/ada/sessions/maxRuns", "/agents/ada/workspace"];
    assert_eq!(ignored, expected);
    assert_eq!(configuration.policy().1[0].1.channels["team"].deny, ["exec"]);
}

#[test]
fn a_section_of_agents_that_no_host_uses_is_reported() {
    let place = Place::new();
    place.write("user/toolkit.json5", "{ agents: { ada: { sessions: { maxRuns: 2 } }, bob: {} } }");
    let told = |builder: toolkit::Builder| -> Vec<String> {
        let toolkit = builder.configuration(load(&place)).build().unwrap();
        toolkit.diagnostics().iter().map(ToString::to_string).collect()
    };
    let all = told(Toolkit::empty());
    let expected = "`agents.ada.sessions.maxRuns` has no effect: no sessions are kept here";
    assert!(all.len() == 1 && all[0].contains(expected), "{all:?}");
    assert_eq!(told(Toolkit::empty().uses_section("agents.*.sessions")), [""; 0]);
}

#[test]
fn a_section_that_does_not_fit_is_refused_when_the_schema_is_made() {
    const GATES: &[ConfigGate] = &[ConfigGate::AtMost { key: "pollSeconds" }];
    for (section, expected) in [
        (ConfigSection::of_channels::<ChatSettings>("senders"), "it has the path of another key"),
        (ConfigSection::of_agents::<ChatSettings>("workspace"), "it has the path of another key"),
        (ConfigSection::of_channels::<ChatSettings>("chat").gates(GATES), "has no gates"),
        (ConfigSection::at::<ChatSettings>("channels.team.chat"), "`of_agents` or `of_channels`"),
    ] {
        let error = Configuration::load(LoadOptions::new().section(section)).unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
    }
    let twice = || ConfigSection::of_channels::<ChatSettings>("chat");
    let error = Configuration::load(LoadOptions::new().section(twice()).section(twice())).unwrap_err();
    assert!(error.to_string().contains("the section `channels.*.chat` is there twice"), "{error}");
}

#[test]
fn the_workspace_of_an_agent_is_relative_to_the_file_that_it_stands_in() {
    let place = Place::new();
    let of = |text: &str| {
        place.write("user/toolkit.json5", &format!("{{ agents: {{ ada: {{ workspace: '{text}' }} }} }}"));
        place.load().agent("ada").workspace
    };
    assert_eq!(of("ada"), Some(place.path("user/ada")));
    assert_eq!(of("./a/b"), Some(place.path("user/a/b")));
    assert_eq!(of("/srv/ada"), Some(PathBuf::from("/srv/ada")));
    let home = of("~/ada").unwrap();
    assert!(home.is_absolute() && home.ends_with("ada") && !home.starts_with(place.path("user")), "{home:?}");
    // No file has it.
    let set = Configuration::load(place.options().set("agents.ada.workspace=ada")).unwrap();
    assert_eq!(set.agent("ada").workspace, Some(std::env::current_dir().unwrap().join("ada")));
    assert_eq!(place.load().agent("bob").workspace, None);
    place.write("user/toolkit.json5", "{ agents: { ada: { workspace: '' } } }");
    assert!(place.fails().contains("agents.ada.workspace"), "{}", place.fails());
}

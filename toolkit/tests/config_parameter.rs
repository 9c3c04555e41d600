//! `Config<T>` as a tool's parameter.

#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

use toolkit::prelude::*;
use toolkit::{
    Config,
    config::{ConfigSection, Configuration, LoadOptions},
};

#[toolkit::args]
struct Settings {
    /// The word to greet with.
    #[arg(default = "Hello", length(1..))]
    word: String,
    /// How often.
    #[arg(default = 1, range(1..=3))]
    times: usize,
}

/// Greets somebody.
#[tool(read_only)]
async fn greet(name: String, config: Config<Settings>) -> String {
    format!("{} {name}", vec![config.word.as_str(); config.times].join(" "))
}

const SHOUT: &str = "shout_out";

/// Greets somebody aloud, on the blocking pool.
#[tool(name = SHOUT, read_only)]
fn shout(config: &Config<Settings>) -> String {
    config.word.to_uppercase()
}

async fn answer(options: LoadOptions, name: &str, arguments: &str) -> String {
    let toolkit = Toolkit::builder().configuration(Configuration::load(options).unwrap()).build().unwrap();
    toolkit.toolbox(&Caller::new()).await.call(ToolCall::new("1", name, arguments)).await.text()
}

#[tokio::test]
async fn a_tool_gets_its_own_section() {
    for (set, name, expected) in [
        (None, "greet", "Hello Ada"),
        (Some("tools.settings.greet={word: 'Hi', times: 2}"), "greet", "Hi Hi Ada"),
        (Some("tools.settings.greet={enabled: true, word: 'Hi'}"), "greet", "Hi Ada"),
        (Some("tools.settings.greet.word=Hi"), "shout_out", "HELLO"),
        (Some("tools.settings.shout_out.word=Hi"), "shout_out", "HI"),
    ] {
        let options = set.into_iter().fold(LoadOptions::new(), LoadOptions::set);
        let arguments = if name == "greet" { r#"{"name": "Ada"}"# } else { "{}" };
        assert_eq!(answer(options, name, arguments).await, expected, "{set:?}");
    }
}

#[test]
fn what_is_wrong_in_it_stops_the_start() {
    for (set, expected) in [
        ("tools.settings.greet.times=4", "times"),
        ("tools.settings.greet.wrd=Hi", "did you mean `word`"),
        ("tools.settings.greet={word: ''}", "word"),
        ("tools.settings.shout_out={word: ''}", "word"),
    ] {
        let error = Configuration::load(LoadOptions::new().set(set)).expect_err(set).to_string();
        assert!(error.contains(expected), "{error}");
    }
}

#[toolkit::args]
struct Line {
    /// The number to call.
    number: String,
}

/// Calls somebody.
#[tool(read_only)]
async fn ring(line: Config<Line>) -> String {
    line.number.clone()
}

#[test]
fn a_section_that_is_absent_and_cannot_be_is_told_at_the_start() {
    let told = |options: LoadOptions| -> Vec<String> {
        let configuration = Configuration::load(options).unwrap();
        let toolkit = Toolkit::empty()
            .tool(tool_ref!(ring))
            .tool(tool_ref!(greet))
            .configuration(configuration)
            .build();
        toolkit.unwrap().diagnostics().iter().map(|told| told.message.clone()).collect()
    };
    let nowhere = || LoadOptions::new().user_file("/nowhere/toolkit.json5");
    for options in [nowhere(), nowhere().set("tools.settings.greet.word=Hi")] {
        let [message] = &*told(options) else { panic!("one is absent") };
        assert_eq!(
            message,
            "`tools.settings.ring` is not configured, so `config_parameter::Line` cannot be read: missing field `number`; \
             set it in `/nowhere/toolkit.json5`, or give the field a default, or make it an `Option`"
        );
    }
    assert_eq!(told(nowhere().set("tools.settings.ring.number=1")), [""; 0]);
}

#[tokio::test]
async fn a_tool_made_from_another_has_its_own_section_too() {
    let section = ConfigSection::of_tool::<Settings>("welcome");
    let options = LoadOptions::new().section(section).set("tools.settings.welcome.word=Welcome");
    let toolkit = Toolkit::empty()
        .tool(toolkit::tool_ref!(greet).named("welcome"))
        .configuration(Configuration::load(options).unwrap())
        .build()
        .unwrap();
    let toolbox = toolkit.toolbox(&Caller::new()).await;
    assert_eq!(toolbox.call(ToolCall::new("1", "welcome", r#"{"name": "Ada"}"#)).await.text(), "Welcome Ada");
}

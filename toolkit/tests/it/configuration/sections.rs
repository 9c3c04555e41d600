//! Sections of crates: checked, decoded, with their secrets, and given to the tool that they belong to.

use super::Place;
use serde_json::json;
use std::collections::BTreeMap;
use toolkit::config::{ConfigError, ConfigGate, ConfigSection, Configuration, LoadOptions, Secret};
use toolkit::prelude::*;

/// A section like that of a tool for commands.
#[toolkit::args]
#[serde(rename_all = "camelCase")]
struct ExecSettings {
    #[arg(default = "ask")]
    security: String,
    #[arg(default)]
    path_prepend: Vec<String>,
    #[arg(default)]
    safe_bins: Vec<String>,
    apply_patch: Option<ApplyPatch>,
}

#[toolkit::args]
#[serde(rename_all = "camelCase")]
struct ApplyPatch {
    allow_models: Option<Vec<String>>,
}

/// A section like that of a tool for searches.
#[toolkit::args]
#[serde(rename_all = "camelCase")]
pub(crate) struct SearchSettings {
    pub(crate) base_url: Option<String>,
    api_key: Option<Secret>,
    /// In seconds.
    #[arg(default = 10, range(1..=600))]
    timeout_seconds: u64,
}

#[toolkit::args]
#[serde(rename_all = "camelCase")]
struct TalkSettings {
    #[arg(default = true)]
    enabled: bool,
}

/// A section like that of an agent, which only some programs run.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub(crate) struct AgentSettings {
    /// If true, it does not ask.
    pub(crate) auto_confirm_dangerous: bool,
    /// The most calls of a task.
    #[schemars(range(min = 1, max = 10_000))]
    pub(crate) max_tool_calls: u32,
    /// The most time of a task, in milliseconds.
    #[schemars(range(min = 1_000))]
    pub(crate) timeout_ms: u64,
    /// Its model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) model: Option<String>,
}

impl Default for AgentSettings {
    fn default() -> Self {
        Self { auto_confirm_dangerous: false, max_tool_calls: 50, timeout_ms: 300_000, model: None }
    }
}

toolkit::config_section!(
    ConfigSection::at::<AgentSettings>("toolAgent")
        .lenient()
        .void_because("this program runs no agent that tasks are delegated to")
);

/// The plugin's settings.
#[toolkit::args]
#[serde(rename_all = "camelCase")]
pub(crate) struct AcmeSettings {
    pub(crate) endpoint: Option<String>,
    #[arg(default = 1, range(1..=9))]
    level: u8,
    key: Option<Secret>,
    keys: Option<BTreeMap<String, Secret>>,
}

#[toolkit::args]
#[serde(rename_all = "camelCase")]
pub(crate) struct GreetSettings {
    #[arg(default = "Hello", length(1..))]
    pub(crate) word: String,
}

toolkit::config_section!(
    ConfigSection::at::<ExecSettings>("tools.exec")
        .tool("exec")
        .gates(&[ConfigGate::Models { tool: "apply_patch", key: "applyPatch.allowModels" }])
);
toolkit::config_section!(ConfigSection::at::<SearchSettings>("tools.web.search").tool("search"));
toolkit::config_section!(
    ConfigSection::at::<TalkSettings>("tools.talk")
        .gates(&[ConfigGate::Enabled { tool: "talk", key: "enabled" }])
);
toolkit::config_section!(ConfigSection::of_plugin::<AcmeSettings>("acme"));
toolkit::config_section!(ConfigSection::of_tool::<GreetSettings>("greet"));

/// Greets.
#[tool(read_only, alias = "hail")]
async fn greet(ctx: &ToolContext) -> Result<String, ToolError> {
    Ok(ctx.config::<GreetSettings>()?.word.clone())
}

/// Searches.
#[tool(read_only)]
async fn search(ctx: &ToolContext) -> Result<String, ToolError> {
    let settings = ctx.config::<SearchSettings>()?;
    Ok(format!("{} {}", settings.timeout_seconds, settings.api_key.is_some()))
}

/// Tells its secret.
#[tool(read_only)]
async fn blab(ctx: &ToolContext) -> Result<String, ToolError> {
    let settings: SearchSettings = ctx.config()?;
    Err(ToolError::failed(format!(
        "the key {} is wrong",
        settings.api_key.map_or(String::new(), |key| key.expose().to_owned())
    )))
}

fn toolkit_of(configuration: Configuration) -> Toolkit {
    Toolkit::empty()
        .without_asking_first()
        .tool(toolkit::tool_ref!(greet))
        .tool(toolkit::tool_ref!(search))
        .tool(toolkit::tool_ref!(blab))
        .configuration(configuration)
        .build()
        .unwrap()
}

async fn call(toolkit: &Toolkit, tool: &str) -> String {
    toolkit.toolbox(&Caller::new()).await.call(ToolCall::new("1", tool, "{}")).await.text().clone()
}

#[tokio::test]
async fn a_tool_gets_its_section() {
    for (flags, tool, expected) in [
        (&[][..], "greet", "Hello"),
        (&["tools.settings.greet.word=Ahoy", "tools.settings.greet.enabled=true"], "greet", "Ahoy"),
        (&["tools.settings.greet={ autoExecute: true }"], "greet", "Hello"),
        (&[], "search", "10 false"),
        (&["tools.web.search.timeoutSeconds=20", "tools.web.search.apiKey=abcdefgh"], "search", "20 true"),
    ] {
        let options = flags.iter().fold(LoadOptions::new(), |options, flag| options.set(*flag));
        let toolkit = toolkit_of(Configuration::load(options).unwrap());
        assert_eq!(call(&toolkit, tool).await, expected, "{flags:?}");
    }
    // A section that no record names is checked when it is asked for.
    let configuration = Configuration::load(LoadOptions::new().set("tools.settings.hello.word=")).unwrap();
    let tool = toolkit::tool_ref!(greet).named("hello");
    let toolkit = Toolkit::empty().tool(tool).configuration(configuration).build().unwrap();
    let error = call(&toolkit, "hello").await;
    assert!(
        error.contains("tools.settings.hello.word: expected a string of at least 1 character"),
        "{error}"
    );
}

#[test]
fn a_section_is_checked_when_it_is_loaded() {
    for (flag, expected) in [
        (
            "tools.settings.greet.word=",
            "tools.settings.greet.word: expected a string of at least 1 character",
        ),
        ("tools.settings.greet.wrod=x", "`tools.settings.greet` has no key `wrod`; did you mean `word`?"),
        (
            "tools.settings.greet={ wrod: 'x' }",
            "tools.settings.greet.wrod: expected one of the keys `enabled`, `autoExecute`, `word`",
        ),
        (
            "tools.settings.hail={}",
            "tools.settings.hail: expected the name of a tool, got another name of `greet`; write `greet`",
        ),
        ("tools.web.search.timeoutSeconds=0", "expected an integer from 1 to 600, got the number 0"),
        ("plugins.acme.level=10", "plugins.acme.level: expected an integer from 1 to 9"),
        ("plugins.acme={ endpont: 'x' }", "did you mean `endpoint`?"),
        ("tools.nothing={}", "`tools` has no key `nothing`"),
        ("plugins.acme.key={ flie: 'x' }", "plugins.acme.key"),
    ] {
        let error = Configuration::load(LoadOptions::new().set(flag)).unwrap_err().to_string();
        assert!(error.contains(expected), "{flag}: {error}");
    }
}

#[test]
fn sections_of_the_host_and_plugins_decode() {
    let configuration = Configuration::load(
        LoadOptions::new()
            .set("plugins.acme={ enabled: true, joinGroups: ['fs'], level: 3, endpoint: 'x' }")
            .set("plugins.other.free=[1.0]"),
    );
    let configuration = configuration.unwrap();
    let acme: AcmeSettings = configuration.section("plugins.acme").unwrap();
    assert_eq!((acme.level, acme.endpoint.as_deref()), (3, Some("x")));
    let other: BTreeMap<String, Vec<u8>> = configuration.section("plugins.other").unwrap();
    assert_eq!(other["free"], [1]);
    let absent: AcmeSettings = configuration.section("plugins.absent").unwrap();
    assert_eq!(absent.level, 1);
    let error = configuration.section::<GreetSettings>("plugins.other").err().unwrap().to_string();
    assert!(error.contains("--set plugins.other.free: plugins.other.free: expected one of the"), "{error}");
}

#[test]
fn gates_are_part_of_the_policy() {
    let configuration = Configuration::load(
        LoadOptions::new()
            .set("tools.talk.enabled=false")
            .set("tools.exec.applyPatch.allowModels=['openai/*']"),
    );
    let policy = configuration.unwrap().policy().0;
    assert_eq!(policy.enabled, [("talk".to_owned(), false)].into());
    assert_eq!(
        policy.models["apply_patch"],
        (vec!["openai/*".to_owned()], "/tools/exec/applyPatch/allowModels".to_owned())
    );
    assert_eq!(
        policy.origins.find("/tools/settings/talk/enabled").unwrap().to_string(),
        "--set tools.talk.enabled"
    );
    // A plugin that is on elsewhere stays off here.
    let both = LoadOptions::new().set("tools.talk.enabled=false").set("tools.settings.talk.enabled=true");
    assert!(!Configuration::load(both).unwrap().policy().0.enabled["talk"]);
}

#[test]
fn a_switch_is_told_where_it_was_turned_off() {
    let (own, section) = ("tools.settings.talk.enabled", "tools.talk.enabled");
    for (flags, expected) in [
        (&[(own, "false")][..], Some(own)),
        (&[(section, "false")], Some(section)),
        (&[("tools.settings.greet.enabled", "false"), (section, "false")], Some(section)),
        (&[(own, "true"), (section, "false")], Some(section)),
        (&[(own, "false"), (section, "true")], Some(own)),
        // Of two the tool's own.
        (&[(own, "false"), (section, "false")], Some(own)),
        (&[(section, "true")], None),
    ] {
        let set = |options: LoadOptions, (key, value): &(&str, &str)| options.set(format!("{key}={value}"));
        let policy = Configuration::load(flags.iter().fold(LoadOptions::new(), set)).unwrap().policy().0;
        assert_eq!(policy.enabled.get("talk"), expected.map(|_| &false), "{flags:?}");
        let Some(expected) = expected else { continue };
        let origin = policy.origins.find("/tools/settings/talk/enabled").unwrap().to_string();
        assert_eq!(origin, format!("--set {expected}"), "{flags:?}");
    }
}

#[test]
fn secrets_come_from_where_they_are_kept() {
    let place = Place::new();
    place.write("user/key.txt", "file-secret\n").write("user/two.txt", "two\nlines\r\n");
    place.write(
        "user/toolkit.json5",
        "{ plugins: { acme: { key: 'Bearer ${env:TOKEN}!', keys: { a: { file: 'key.txt' }, b: { file: 'two.txt' }, c: 'plain-secret' } } } }",
    );
    let configuration = Configuration::load(place.options().environment([("TOKEN", "env-secret")])).unwrap();
    let acme: AcmeSettings = configuration.section("plugins.acme").unwrap();
    assert_eq!(acme.key.as_ref().map(Secret::expose), Some("Bearer env-secret!"));
    let keys = acme.keys.as_ref().unwrap();
    assert_eq!(
        (keys["a"].expose(), keys["b"].expose(), keys["c"].expose()),
        ("file-secret", "two\nlines", "plain-secret")
    );
    let shown = configuration.document();
    assert_eq!(
        shown["plugins"]["acme"],
        json!({"key": "[redacted]", "keys": {"a": {"file": "key.txt"}, "b": {"file": "two.txt"}, "c": "[redacted]"}})
    );
    let only = Configuration::load(
        LoadOptions::new().set("plugins.acme.key='${env:A}'").environment([("A", "abcd")]),
    )
    .unwrap();
    assert_eq!(only.document()["plugins"]["acme"]["key"], "${env:A}");
    let all =
        format!("{configuration:?} {shown} {:?} {}", acme.key, serde_json::to_string(&acme.key).unwrap());
    for secret in ["env-secret", "file-secret", "plain-secret"] {
        assert!(!all.contains(secret), "{all}");
    }
}

#[test]
fn secrets_that_are_not_there_are_named() {
    let place = Place::new();
    place.write("user/empty.txt", "\n");
    for (section, expected) in [
        ("key: '${env:NO}'", "plugins.acme.key: the variable `NO` of the environment is not set"),
        ("key: '${env:EMPTY}'", "the variable `EMPTY` of the environment is empty"),
        ("key: { file: 'none.txt' }", "user/none.txt"),
        ("key: { file: 'empty.txt' }", "user/empty.txt is empty"),
        ("key: { file: '.' }", "it is not a regular file"),
        ("endpoint: 'a${env:NO}b'", "plugins.acme.endpoint: the variable `NO`"),
    ] {
        place.write("user/toolkit.json5", &format!("{{ plugins: {{ acme: {{ {section} }} }} }}"));
        let configuration = Configuration::load(place.options().environment([("EMPTY", "")])).unwrap();
        let error = place.shown(&configuration.section::<AcmeSettings>("plugins.acme").err().unwrap());
        assert!(error.contains(expected) && error.contains("user/toolkit.json5:1:"), "{section}: {error}");
    }
    // Of a server that is off nothing is needed.
    Configuration::load(
        LoadOptions::new().set("mcp.a={ command: 'x', env: { K: '${env:NO}' }, enabled: false }"),
    )
    .unwrap();
    let flag = Configuration::load(LoadOptions::new().set("plugins.acme.key={ file: 'x' }"))
        .unwrap_err()
        .to_string();
    assert!(flag.contains("is relative, which works only in a configuration file"), "{flag}");
}

#[tokio::test]
async fn a_secret_of_the_configuration_is_taken_out_of_errors() {
    let options = LoadOptions::new().section(ConfigSection::of_tool::<SearchSettings>("blab"));
    let options = options
        .set("tools.settings.blab.apiKey='${env:KEY}'")
        .environment([("KEY", "correct-horse-battery")]);
    let toolkit = toolkit_of(Configuration::load(options).unwrap());
    assert_eq!(call(&toolkit, "blab").await, "the key [redacted] is wrong");
}

#[test]
fn sections_that_cannot_be_are_refused() {
    for (section, expected) in [
        (
            ConfigSection::at::<GreetSettings>("agents.x"),
            "its path begins with neither `tools.` nor `plugins.`, and is not one key",
        ),
        (ConfigSection::at::<GreetSettings>("channels"), "it has the path of another key"),
        (ConfigSection::at::<GreetSettings>("tools.exec.more"), "one is nested in the other"),
        (ConfigSection::at::<GreetSettings>("tools.exec"), "is there twice"),
        (ConfigSection::at::<GreetSettings>("tools.web"), "one is nested in the other"),
        (ConfigSection::at::<GreetSettings>("tools.deny"), "it has the path of another key"),
        (ConfigSection::at::<GreetSettings>("tools.deny.x"), "it is nested in another section"),
        (ConfigSection::of_plugin::<GreetSettings>("prefer"), "no plugin can have this id"),
        (
            ConfigSection::of_tool::<TalkSettings>("talk"),
            "its type has a field `enabled`, which the configuration has itself",
        ),
        (
            ConfigSection::of_tool::<Vec<String>>("talk"),
            "its type must be a struct with named fields, or a map",
        ),
    ] {
        let error = Configuration::load(LoadOptions::new().section(section)).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn sections_of_nobody_are_told_of() {
    let configuration = Configuration::load(
        LoadOptions::new()
            .set("tools.settings.gret.enabled=false")
            .set("plugins.acmee.x=1")
            .set("plugins.prefer=[]"),
    );
    let diagnostics: Vec<String> =
        toolkit_of(configuration.unwrap()).diagnostics().iter().map(ToString::to_string).collect();
    assert_eq!(
        diagnostics,
        [
            "warning: there is no tool `gret`, so its section has no effect yet; did you mean `greet`? (--set tools.settings.gret.enabled)",
            "warning: there is no plugin `acmee`, so its section has no effect yet; did you mean `acme`? (--set plugins.acmee.x)",
        ]
    );
}

/// Providers by name, of which each stands for itself, and one word beside them.
#[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
struct Providers {
    first: Option<String>,
    #[serde(flatten)]
    by_name: BTreeMap<String, Provider>,
}

#[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Provider {
    key: Option<Secret>,
    #[serde(default)]
    #[schemars(range(max = 9))]
    level: u8,
}

fn load_providers(user: &str, project: &str) -> Result<Configuration, ConfigError> {
    let place = Place::new();
    place.write("user/toolkit.json5", user).write("work/toolkit.json5", project);
    let section = ConfigSection::at::<Providers>("providers").members();
    Configuration::load(place.options().environment([("KEPT", "kept-elsewhere")]).section(section))
}

#[test]
fn a_section_at_the_root_has_members_that_stand_for_themselves() {
    let user = "{ providers: { first: 'a', a: { key: '${env:KEPT}', level: 3 }, b: { key: '${env:NO}' }, c: { key: { file: 'none' } } } }";
    let configuration = load_providers(user, "{}").unwrap();
    let (providers, unavailable) = configuration.section_members::<Providers>("providers").unwrap();
    assert_eq!(providers.first.as_deref(), Some("a"));
    assert_eq!(providers.by_name.keys().collect::<Vec<_>>(), ["a"]);
    let a = &providers.by_name["a"];
    assert_eq!((a.level, a.key.as_ref().unwrap().expose()), (3, "kept-elsewhere"));
    assert_eq!(unavailable.keys().collect::<Vec<_>>(), ["b", "c"]);
    assert!(unavailable["b"].contains("the variable `NO` of the environment is not set"), "{unavailable:?}");
    assert!(!configuration.document().to_string().contains("kept-elsewhere"));
    // The whole cannot be used where it is not a member that names what is not there.
    let configuration = load_providers("{ providers: { first: '${env:NO}', a: {} } }", "{}").unwrap();
    assert!(configuration.section_members::<Providers>("providers").is_err());
    // Nothing at all is an empty section.
    let (providers, _) =
        load_providers("{}", "{}").unwrap().section_members::<Providers>("providers").unwrap();
    assert!(providers.by_name.is_empty());
}

#[test]
fn a_section_at_the_root_is_checked_and_untrusted_files_add_nothing() {
    for (user, expected) in [
        ("{ providers: { a: { level: 10 } } }", "providers.a.level"),
        ("{ providers: { a: { lvel: 1 } } }", "providers.a"),
        ("{ providers: { a: 'x' } }", "providers.a"),
    ] {
        let error = load_providers(user, "{}").unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
    let project = "{ providers: { first: 'evil', evil: { level: 1 } }, agents: { main: { model: 'evil' } } }";
    let configuration =
        load_providers("{ agents: { main: { name: 'Main', model: 'a' } } }", project).unwrap();
    let (providers, _) = configuration.section_members::<Providers>("providers").unwrap();
    assert!(providers.first.is_none() && providers.by_name.is_empty());
    let main = configuration.agent("main");
    assert_eq!((main.name.as_deref(), main.model.as_deref()), (Some("Main"), Some("a")));
    let ignored: Vec<&str> = configuration.ignored().iter().map(|key| key.pointer.as_str()).collect();
    assert_eq!(ignored, ["/providers/first", "/providers/evil/level", "/agents/main/model"]);
    assert_eq!(configuration.agent("other").model, None);
}

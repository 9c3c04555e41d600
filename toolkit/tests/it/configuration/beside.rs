//! Settings of a configuration beside those of the program: both hold.

use super::Place;
use serde_json::json;
use toolkit::prelude::*;
use toolkit::{
    Tool,
    config::Configuration,
    permission::{PermissionSettings, Permissions},
    policy::{Policy, Refusal},
    tool_ref,
};

/// Releases.
#[tool(permission = "release")]
async fn deploy() -> &'static str {
    "done"
}

/// A toolkit with the tool, its configuration from these texts: the user's, and one that nobody trusts.
fn builder(user: &str, untrusted: &str) -> toolkit::Builder {
    let place = Place::new();
    place.write("user/toolkit.json5", user).write("work/toolkit.json5", untrusted);
    let configuration = Configuration::load(place.options()).unwrap();
    Toolkit::empty().tool(tool_ref!(deploy)).configuration(configuration)
}

/// Returns true if the tool runs, with nobody there to be asked.
async fn runs(builder: toolkit::Builder) -> bool {
    let toolbox = builder.build().unwrap().toolbox(&Caller::new()).await;
    toolbox.call(ToolCall::new("1", "deploy", "{}")).await.text() == "done"
}

#[tokio::test]
async fn rules_of_the_configuration_follow_those_of_the_program() {
    for (own, user, untrusted, expected) in [
        (None, None, None, false),
        (None, Some("allow"), None, true),
        (Some("allow"), None, None, true),
        (Some("ask"), Some("allow"), None, true),
        (Some("allow"), Some("ask"), None, false),
        (Some("allow"), Some("deny"), None, false),
        (Some("deny"), Some("allow"), None, false),
        // Of what nobody trusts only what is stricter counts.
        (None, None, Some("allow"), false),
        (None, Some("allow"), Some("ask"), false),
        (Some("allow"), None, Some("deny"), false),
        (Some("ask"), None, Some("allow"), false),
    ] {
        let text = |word: Option<&str>| {
            let rules = word.map(|word| json!({ "permission": { "release": word } }));
            rules.unwrap_or_else(|| json!({})).to_string()
        };
        let mut builder = builder(&text(user), &text(untrusted));
        if let Some(own) = own {
            let mut settings = PermissionSettings::default();
            settings.everybody = serde_json::from_value(json!({ "release": own })).unwrap();
            builder = builder.permissions(Permissions::new([settings]));
        }
        assert_eq!(runs(builder).await, expected, "{own:?} {user:?} {untrusted:?}");
    }
}

#[tokio::test]
async fn a_tool_runs_by_itself_only_where_no_file_says_otherwise() {
    let text = |runs: Option<bool>| match runs {
        Some(runs) => format!("{{ tools: {{ settings: {{ deploy: {{ autoExecute: {runs} }} }} }} }}"),
        None => "{}".to_owned(),
    };
    for (own, user, untrusted, expected) in [
        (None, None, None, false),
        (None, Some(true), None, true),
        (None, Some(false), None, false),
        (Some(true), None, None, true),
        (Some(true), Some(false), None, false),
        (Some(false), Some(true), None, true),
        (None, None, Some(true), false),
        (None, Some(true), Some(false), false),
        (Some(true), None, Some(false), false),
    ] {
        let mut builder = builder(&text(user), &text(untrusted));
        if let Some(own) = own {
            builder = builder.permissions(Permissions::default().auto_execute("deploy", own));
        }
        assert_eq!(runs(builder).await, expected, "{own:?} {user:?} {untrusted:?}");
    }
}

/// Lets all tools through, or none.
#[derive(Debug)]
struct LetsAll(bool);

impl Policy for LetsAll {
    fn check(&self, _: &Caller, _: &Tool) -> Result<(), Refusal> {
        if self.0 { Ok(()) } else { Err(Refusal::new("the program", "it lets nothing through")) }
    }
}

#[tokio::test]
async fn a_policy_of_the_programs_stays_beside_the_configuration() {
    for (own, user, untrusted, expected) in [
        (None, "{}", "{}", true),
        (None, "{ tools: { deny: ['deploy'] } }", "{}", false),
        (None, "{}", "{ tools: { deny: ['deploy'] } }", false),
        (Some(true), "{}", "{}", true),
        (Some(true), "{ tools: { deny: ['deploy'] } }", "{}", false),
        (Some(true), "{}", "{ tools: { deny: ['deploy'] } }", false),
        (Some(false), "{}", "{}", false),
        (Some(false), "{ tools: { allow: ['deploy'] } }", "{}", false),
    ] {
        let builder = builder(user, untrusted);
        let builder = own.into_iter().fold(builder, |builder, own| builder.policy(LetsAll(own)));
        let toolbox = builder.build().unwrap().toolbox(&Caller::new()).await;
        assert_eq!(toolbox.tool("deploy").is_some(), expected, "{own:?} {user} {untrusted}");
    }
}

/// The record of trusted files must not be written by those whom it binds, wherever the host keeps it.
#[tokio::test]
async fn no_tool_writes_where_trust_is_remembered() {
    for user in [None, Some("{}")] {
        let place = Place::new();
        if let Some(user) = user {
            place.write("user/toolkit.json5", user);
        }
        let configuration = Configuration::load(place.options()).unwrap();
        let toolkit = Toolkit::empty().tool(tool_ref!(put)).configuration(configuration).build().unwrap();
        let toolbox = toolkit.toolbox(&Caller::new().with_workspace(place.path("work"))).await;
        let path = place.path("data/trust.json");
        let refused = toolbox.call(ToolCall::new("1", "put", json!({ "path": path }))).await.text();
        assert!(refused.contains("where tools cannot write"), "{user:?}: {refused}");
    }
}

/// Wants to write a file.
#[tool(read_only)]
async fn put(ctx: &ToolContext, path: &Path) -> Result<&'static str, ToolError> {
    ctx.check_file_access(path, toolkit::approval::Access::Write).await?;
    Ok("may")
}

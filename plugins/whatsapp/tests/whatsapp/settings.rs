//! Configuration, permissions and the tools that exist.

use super::bench::{Bench, NUMBER_ID, TOKEN, cloud_api, contact, place, with};
use serde_json::json;
use toolkit::lint::Lint;
use toolkit::prelude::*;
use toolkit::{
    ToolErrorKind,
    approval::Answer as Reply,
    config::{Configuration, LoadOptions},
    descriptor::Source,
};
use toolkit_loopback::Loopback;

#[tokio::test]
async fn what_is_not_configured_is_said() {
    let token = format!("plugins.whatsapp.token={TOKEN}");
    let number = format!("plugins.whatsapp.phoneNumberId='{NUMBER_ID}'");
    for (settings, expected) in [
        (vec![], "plugins.whatsapp.phoneNumberId"),
        (vec![token.as_str()], "plugins.whatsapp.phoneNumberId"),
        (vec![number.as_str()], "plugins.whatsapp.token"),
        (vec![number.as_str(), "plugins.whatsapp.token=two words"], "is not a valid access token"),
        (vec![number.as_str(), "plugins.whatsapp.token=\"a\\nb\""], "is not a valid access token"),
    ] {
        let settings = [&settings[..], &["permission.message=allow"]].concat();
        let error = Bench::new("http://127.0.0.1:1", &settings, Reply::deny())
            .error("whatsapp_send_location", place())
            .await;
        assert_eq!(error.kind(), ToolErrorKind::Unavailable, "{error}");
        assert!(error.message().contains(expected) && !error.message().contains("two words"), "{error}");
    }
    for wrong in [
        "phoneNumberId=12/34",
        "apiVersion=25",
        "apiVersion=v25.0/x",
        "baseUrl=https://x?y",
        "timeoutSeconds=301",
    ] {
        assert!(
            Configuration::load(LoadOptions::new().set(format!("plugins.whatsapp.{wrong}"))).is_err(),
            "{wrong}"
        );
    }
    let server = Loopback::start(cloud_api).await;
    let bench = Bench::ready(server.url());
    for (caller, kind) in [
        (Caller::new().with_channel("whatsapp"), ToolErrorKind::InvalidArguments),
        (Caller::new().with_channel("whatsapp").with_conversation("somebody"), ToolErrorKind::Failed),
    ] {
        let toolbox = bench.toolkit.toolbox(&caller).await;
        let error =
            toolbox.call(ToolCall::new("1", "whatsapp_send_location", place())).await.outcome.unwrap_err();
        assert_eq!(error.kind(), kind, "{error}");
        assert!(error.message().contains("give `to`"), "{error}");
    }
    assert!(server.requests().is_empty());
}

#[tokio::test]
async fn a_person_is_asked_before_anything_is_sent() {
    let server = Loopback::start(cloud_api).await;
    for (settings, reply, expected) in [
        (&[][..], Reply::deny_saying("not now"), false),
        (&[], Reply::allow(), true),
        (&["permission.message=deny"], Reply::allow(), false),
        (&["permission={message:[{match:'whatsapp:+16505551234',do:'allow'}]}"], Reply::deny(), true),
        (&["permission={message:[{match:'whatsapp:+1650555999*',do:'allow'}]}"], Reply::deny(), false),
    ] {
        let before = server.requests().len();
        let bench = Bench::with(server.url(), settings, reply);
        let mut events = bench.toolkit.events();
        let arguments = contact(json!({ "phones": [{ "phone": "+16505559999" }] }));
        let result = bench.call("whatsapp_send_contact", arguments).await;
        assert_eq!(!result.is_error(), expected, "{settings:?}: {}", result.text());
        assert_eq!(server.requests().len() - before, usize::from(expected), "{settings:?}");
        let told = format!("{:?}", std::iter::from_fn(|| events.try_next()).collect::<Vec<_>>());
        if settings.is_empty() {
            for part in [
                "Send a contact to this conversation on WhatsApp, +16505551234",
                "Barbara J. Johnson: +16505559999",
            ] {
                assert!(told.contains(part), "{part}: {told}");
            }
        }
    }
}

/// In three countries a person has two numbers that differ in a digit.
#[tokio::test]
async fn a_rule_about_a_person_holds_for_both_numbers() {
    let server = Loopback::start(cloud_api).await;
    for (one, other) in [
        ("+525512345678", "+5215512345678"),
        ("+541112345678", "+5491112345678"),
        ("+551187654321", "+5511987654321"),
    ] {
        for (denied, named) in [(one, one), (one, other), (other, one), (other, other)] {
            let rule = format!("permission={{message:[{{match:'whatsapp:{denied}',do:'deny'}}]}}");
            let bench = Bench::with(server.url(), &[&rule], Reply::allow());
            let error = bench.error("whatsapp_send_location", with(place(), json!({ "to": named }))).await;
            assert_eq!(error.kind(), ToolErrorKind::Denied, "{denied} {named}: {error}");
        }
        let both = format!(
            "permission={{message:[{{match:'whatsapp:{one}',do:'allow'}},{{match:'whatsapp:{other}',do:'allow'}}]}}"
        );
        let bench = Bench::with(server.url(), &[&both], Reply::deny());
        let result = bench.call("whatsapp_send_location", with(place(), json!({ "to": one }))).await;
        assert!(!result.is_error(), "{one}: {}", result.text());
    }
}

#[tokio::test]
async fn it_is_there_in_its_channel_alone() {
    let bench = Bench::ready("http://127.0.0.1:1");
    for name in ["whatsapp_send_contact", "whatsapp_send_location"] {
        let tool = bench.toolkit.tool(name).unwrap();
        assert_eq!((tool.plugin_id(), tool.source()), (Some("whatsapp"), &Source::channel("whatsapp")));
    }
    let names = async |caller: &Caller, settings: &[&str]| -> Vec<String> {
        let bench = Bench::new("http://127.0.0.1:1", settings, Reply::deny());
        let toolbox = bench.toolkit.toolbox(caller).await;
        toolbox.definitions().into_iter().map(|tool| tool.name).collect()
    };
    let here = Caller::new().with_channel("whatsapp");
    assert_eq!(names(&here, &[]).await, ["whatsapp_send_contact", "whatsapp_send_location"]);
    for elsewhere in [Caller::new(), Caller::new().with_channel("telegram")] {
        assert!(names(&elsewhere, &[]).await.is_empty(), "{elsewhere:?}");
    }
    assert_eq!(names(&here, &["tools.deny=[\"whatsapp_send_contact\"]"]).await, ["whatsapp_send_location"]);
    for gone in
        ["tools.deny=[\"whatsapp\"]", "tools.deny=[\"group:plugins\"]", "plugins.whatsapp.enabled=false"]
    {
        assert!(names(&here, &[gone]).await.is_empty(), "{gone}");
    }
}

/// A model stumbles over nothing in these tools.
#[test]
fn lint_finds_nothing() {
    let toolkit = Toolkit::builder().build().unwrap();
    assert!(toolkit.tools().len() >= 2, "{toolkit}");
    let findings = Lint::new().check(&toolkit.tools());
    assert!(findings.is_empty(), "{findings:#?}");
}

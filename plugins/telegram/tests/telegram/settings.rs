//! Configuration, permissions and the tools that exist.

use super::bench::{Bench, bot_api, poll, token, with};
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
    for (settings, expected) in [
        (vec![], "set `plugins.telegram.token`"),
        (vec!["plugins.telegram.token=secret-nonsense"], "is not a bot token"),
        (vec!["plugins.telegram.token=1:a/../../x"], "is not a bot token"),
    ] {
        let bench = Bench::new(
            "http://127.0.0.1:1",
            &[&settings[..], &["permission.message=allow"]].concat(),
            Reply::deny(),
        );
        let error = bench.error("telegram_send_poll", poll()).await;
        assert_eq!(error.kind(), ToolErrorKind::Unavailable, "{error}");
        assert!(error.message().contains(expected), "{error}");
        assert!(!error.message().contains("nonsense") && !error.message().contains("a/.."), "{error}");
    }
    for wrong in
        ["plugins.telegram.baseUrl=ftp://x", "plugins.telegram.timeoutSeconds=0", "plugins.telegram.tokn=x"]
    {
        assert!(Configuration::load(LoadOptions::new().set(wrong)).is_err(), "{wrong}");
    }
    // Where the call came from is not known, or is no chat.
    let server = Loopback::start(bot_api).await;
    let bench = Bench::ready(server.url());
    for (caller, kind) in [
        (Caller::new().with_channel("telegram"), ToolErrorKind::InvalidArguments),
        (Caller::new().with_channel("telegram").with_conversation("a/b"), ToolErrorKind::Failed),
    ] {
        let toolbox = bench.toolkit.toolbox(&caller).await;
        let error = toolbox.call(ToolCall::new("1", "telegram_send_poll", poll())).await.outcome.unwrap_err();
        assert_eq!(error.kind(), kind, "{error}");
        assert!(error.message().contains("give `chat_id`"), "{error}");
    }
    assert!(server.requests().is_empty());
}

#[tokio::test]
async fn a_person_is_asked_before_anything_is_sent() {
    let server = Loopback::start(bot_api).await;
    for (settings, reply, expected) in [
        (&[][..], Reply::deny_saying("not now"), false),
        (&[], Reply::allow(), true),
        (&["permission.message=deny"], Reply::allow(), false),
        (&["permission={message:[{match:'telegram:-1001234567890',do:'allow'}]}"], Reply::deny(), true),
        (&["permission={message:[{match:'telegram:5',do:'allow'}]}"], Reply::deny(), false),
    ] {
        let before = server.requests().len();
        let bench = Bench::new(server.url(), &[&[token().as_str()], settings].concat(), reply);
        let mut asks = bench.toolkit.events();
        let result = bench.call("telegram_send_poll", poll()).await;
        assert_eq!(!result.is_error(), expected, "{settings:?}: {}", result.text());
        assert_eq!(server.requests().len() - before, usize::from(expected), "{settings:?}");
        if !expected {
            assert_eq!(result.outcome.unwrap_err().kind(), ToolErrorKind::Denied);
        }
        let told = format!("{:?}", std::iter::from_fn(|| asks.try_next()).collect::<Vec<_>>());
        if settings.is_empty() {
            for part in
                ["Send a poll to this conversation on Telegram, -1001234567890", "Where?", "Here\\nThere"]
            {
                assert!(told.contains(part), "{part}: {told}");
            }
        }
    }
}

/// Telegram knows a name in whatever case, so a rule about it holds in each.
#[tokio::test]
async fn a_rule_about_a_name_holds_however_it_is_written() {
    let server = Loopback::start(bot_api).await;
    for name in ["@toolkit_news", "@Toolkit_News", "@TOOLKIT_NEWS"] {
        for (rule, reply, expected) in [("deny", Reply::allow(), false), ("allow", Reply::deny(), true)] {
            let rule = format!("permission={{message:[{{match:'telegram:@toolkit_news',do:'{rule}'}}]}}");
            let bench = Bench::new(server.url(), &[&token(), &rule], reply);
            let result = bench.call("telegram_send_poll", with(poll(), json!({ "chat_id": name }))).await;
            assert_eq!(!result.is_error(), expected, "{name} {rule}: {}", result.text());
        }
    }
}

#[tokio::test]
async fn it_is_there_in_its_channel_alone() {
    let bench = Bench::ready("http://127.0.0.1:1");
    for name in ["telegram_send_poll", "telegram_pin_message"] {
        let tool = bench.toolkit.tool(name).unwrap();
        assert_eq!((tool.plugin_id(), tool.source()), (Some("telegram"), &Source::channel("telegram")));
    }
    let names = async |caller: &Caller, settings: &[&str]| -> Vec<String> {
        let bench = Bench::new("http://127.0.0.1:1", settings, Reply::deny());
        let toolbox = bench.toolkit.toolbox(caller).await;
        toolbox.definitions().into_iter().map(|tool| tool.name).collect()
    };
    let here = Caller::new().with_channel("telegram");
    assert_eq!(names(&here, &[]).await, ["telegram_pin_message", "telegram_send_poll"]);
    for elsewhere in [Caller::new(), Caller::new().with_channel("whatsapp")] {
        assert!(names(&elsewhere, &[]).await.is_empty(), "{elsewhere:?}");
    }
    assert_eq!(names(&here, &["tools.deny=[\"telegram_pin_message\"]"]).await, ["telegram_send_poll"]);
    for gone in [
        "tools.deny=[\"telegram\"]",
        "tools.deny=[\"group:plugins\"]",
        "plugins.telegram.enabled=false",
        "channels.telegram.tools.deny=[\"*\"]",
    ] {
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

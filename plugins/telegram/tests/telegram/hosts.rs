//! The tools in a host that has accounts of its own: no request is made by the tools, and the host decides where an action goes.

use super::bench::{Bench, poll, with};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use toolkit::prelude::*;
use toolkit::{ToolErrorKind, approval::Answer as Reply};
use toolkit_channel::{
    ActionOutcome, ActionState, Conversation, Future, PlatformAction, PlatformConversation, PlatformService,
    WantedConversation,
};

/// A host whose session is in the chat 7, by the account `home`.
struct Outbox {
    state: ActionState,
    wanted: Mutex<Vec<WantedConversation>>,
    acted: Mutex<Vec<PlatformAction>>,
}

impl Outbox {
    fn new(state: ActionState) -> Arc<Self> {
        Arc::new(Self { state, wanted: Mutex::default(), acted: Mutex::default() })
    }
}

impl PlatformService for Outbox {
    fn find<'a>(
        &'a self,
        _: &'a ToolContext,
        wanted: &'a WantedConversation,
    ) -> Future<'a, Result<PlatformConversation, ToolError>> {
        self.wanted.lock().unwrap().push(wanted.clone());
        let is_own = wanted.peer.as_deref().is_none_or(|peer| peer == "7");
        Box::pin(async move {
            if !is_own {
                return Err(ToolError::new(ToolErrorKind::InvalidArguments, "nobody is there"));
            }
            Ok(PlatformConversation {
                channel: "telegram".to_owned(),
                account: "home".to_owned(),
                conversation: Conversation::direct("7"),
                is_own,
            })
        })
    }

    fn act<'a>(
        &'a self,
        _: &'a ToolContext,
        _: &'a PlatformConversation,
        action: PlatformAction,
    ) -> Future<'a, Result<ActionOutcome, ToolError>> {
        self.acted.lock().unwrap().push(action);
        let message_id = (self.state == ActionState::Delivered).then(|| "42".to_owned());
        let reason = (self.state != ActionState::Delivered).then(|| "the line is down".to_owned());
        let outcome = ActionOutcome { id: "12".to_owned(), state: self.state, reason, message_id };
        Box::pin(std::future::ready(Ok(outcome)))
    }
}

fn bench(outbox: &Arc<Outbox>, settings: &[&str], reply: Reply) -> Bench {
    let service = Arc::clone(outbox) as Arc<dyn PlatformService>;
    Bench::of(Toolkit::builder().shared_service(service), settings, reply)
}

const ALLOWED: &[&str] = &["permission.message=allow"];

#[tokio::test]
async fn an_action_is_handed_over_without_a_token_of_the_tools() {
    for (state, told) in [
        (ActionState::Delivered, "delivered"),
        (ActionState::Waiting, "waiting (the line is down)"),
        (ActionState::Refused, "refused (the line is down)"),
        (ActionState::Unknown, "nobody knows whether it was done"),
    ] {
        let outbox = Outbox::new(state);
        let bench = bench(&outbox, ALLOWED, Reply::deny());
        let result = bench.call("telegram_send_poll", poll()).await;
        let sent: Value = serde_json::from_str(&result.text()).unwrap();
        assert_eq!((&sent["outbox_id"], &sent["chat_id"]), (&json!("12"), &json!(7)), "{sent}");
        assert_eq!(sent["state"], serde_json::to_value(state).unwrap());
        assert_eq!(sent.get("message_id").is_some(), state == ActionState::Delivered, "{sent}");
        let result = bench.call("telegram_pin_message", json!({ "message_id": 9 })).await.text();
        assert!(result.contains("Row 12 of the outbox") && result.contains(told), "{result}");
        let acted = outbox.acted.lock().unwrap();
        assert_eq!(acted[0].name, "poll");
        assert_eq!(acted[0].arguments["options"], json!([{ "text": "Here" }, { "text": "There" }]));
        let pin = json!({ "message_id": 9, "disable_notification": false });
        assert_eq!((acted[1].name.as_str(), &acted[1].arguments), ("pin", &pin));
    }
}

#[tokio::test]
async fn the_host_says_which_chat_it_is_and_rules_hold_for_that() {
    let outbox = Outbox::new(ActionState::Delivered);
    // The caller's conversation is another one.
    let other = "permission={message:[{match:'telegram:-1001234567890',do:'allow'}]}";
    let own = "permission={message:[{match:'telegram:7',do:'allow'}]}";
    for (rule, expected) in [(other, false), (own, true)] {
        let bench = bench(&outbox, &[rule], Reply::deny());
        let result = bench.call("telegram_send_poll", poll()).await;
        assert_eq!(!result.is_error(), expected, "{rule}: {}", result.text());
    }
    let bench = bench(&outbox, ALLOWED, Reply::deny());
    for (chat, peer) in [("@Toolkit_News", "@toolkit_news"), ("5", "5"), ("-1009999", "-1009999")] {
        let error = bench.error("telegram_send_poll", with(poll(), json!({ "chat_id": chat }))).await;
        assert_eq!(error.kind(), ToolErrorKind::InvalidArguments, "{error}");
        let wanted = outbox.wanted.lock().unwrap().pop().unwrap();
        assert_eq!((wanted.channel.as_str(), wanted.peer.as_deref()), ("telegram", Some(peer)));
    }
    let topic = with(poll(), json!({ "message_thread_id": 3 }));
    assert!(!bench.call("telegram_send_poll", topic).await.is_error());
    assert_eq!(outbox.wanted.lock().unwrap().pop().unwrap().thread.as_deref(), Some("3"));
    assert_eq!(outbox.acted.lock().unwrap().len(), 2, "of what is not allowed, nothing is handed over");
}

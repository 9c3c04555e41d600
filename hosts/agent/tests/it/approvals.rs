//! Approvals in a run.

use crate::common::{builder, call, finish, log, results, scripted};
use serde_json::json;
use std::sync::Arc;
use toolkit::prelude::*;
use toolkit::{
    Ask, Caller,
    approval::{Answer as PersonsAnswer, AskDetail, Question, ScriptedApprover},
    tool_ref,
};
use toolkit_agent::{Agent, DelegationRequest, Observer};
use toolkit_models::{Answer, Model};

/// Asks about an action of any kind.
#[tool(asks)]
async fn act(ctx: &ToolContext, kind: String, guarded: bool) -> Result<String, ToolError> {
    let ask = Ask::new(&kind, "act").with_text("kind", &kind);
    ctx.ask(if guarded { ask.guarded() } else { ask }).await?;
    Ok("acted".to_owned())
}

fn ask(id: &str, kind: &str, guarded: bool) -> toolkit::ToolCall {
    call(id, "act", json!({"kind": kind, "guarded": guarded}))
}

#[tokio::test]
async fn without_an_approver_nothing_is_approved() {
    let log = log();
    let model = scripted([Answer::calls([call("1", "ask_first", json!({"text": "a"}))]), finish("done")]);
    builder(&log, &model).build().run(DelegationRequest::new("x"), Observer::none()).await;
    assert_eq!(log.lines(), [""; 0]);
    assert!(results(&model.requests()[1].messages)[0].2);
}

#[tokio::test]
async fn automatic_confirmation_allows_what_a_person_would_be_asked() {
    let log = log();
    let model = scripted([Answer::calls([call("1", "ask_first", json!({"text": "a"}))]), finish("done")]);
    let unattended = Caller::new().with_unattended("nobody is there");
    let agent = builder(&log, &model).caller(unattended).auto_confirm(true).build();
    agent.run(DelegationRequest::new("x"), Observer::none()).await;
    assert_eq!(log.lines(), ["ask_first a"]);
}

#[tokio::test]
async fn automatic_confirmation_never_passes_a_deny_or_a_guarded_path() {
    let load = toolkit::config::LoadOptions::new().set("permission.deploy=deny");
    let configuration = toolkit::config::Configuration::load(load).unwrap();
    let toolkit = || {
        Toolkit::empty()
            .tool(tool_ref!(act))
            .configuration(configuration.clone())
            .permission_keys(["*"])
            .build()
            .unwrap()
    };
    let calls = || {
        Answer::calls([
            ask("1", "exec", false),
            ask("2", "deploy", false),
            ask("3", "sensitive", false),
            ask("4", "protected", false),
            ask("5", "exec", true),
        ])
    };
    let run = async |person: Option<Arc<ScriptedApprover>>| {
        let model = scripted([calls(), finish("done")]);
        let shared: Arc<dyn Model> = Arc::clone(&model) as _;
        let mut builder = Agent::builder(toolkit(), shared).auto_confirm(true);
        if let Some(person) = person {
            builder = builder.approver(person);
        }
        builder.build().run(DelegationRequest::new("x"), Observer::none()).await;
        let results = results(&model.requests()[1].messages);
        results.into_iter().map(|(_, _, failed)| failed).collect::<Vec<_>>()
    };
    assert_eq!(run(None).await, [false, true, true, true, true]);
    // A person is asked what is left, and nothing else.
    let person = Arc::new(ScriptedApprover::new([
        PersonsAnswer::allow(),
        PersonsAnswer::deny_saying("no"),
        PersonsAnswer::allow(),
    ]));
    assert_eq!(run(Some(Arc::clone(&person))).await, [false, true, false, true, false]);
    let kinds: Vec<String> = person
        .asked()
        .iter()
        .map(|pending| match pending.question() {
            Question::Approve(ask) => match &ask.details[..] {
                [AskDetail::Text { value, .. }] => value.clone(),
                other => panic!("{other:?}"),
            },
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(kinds, ["sensitive", "protected", "exec"]);
}

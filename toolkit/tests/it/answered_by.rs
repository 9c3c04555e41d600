//! The person who answered a question, as the host names it: in events, in the history and for a journal.

#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

use serde_json::json;
use std::sync::{Arc, Mutex};
use toolkit::approval::{
    Answer, AskJournal, CallbackApprover, Journaling, PendingAsk, Reply, ScriptedApprover,
};
use toolkit::events::Event;
use toolkit::history::{HistoryQuery, MemoryHistory};
use toolkit::prelude::*;
use toolkit::text::Redactor;
use toolkit::{Approver, Ask, CallOptions, tool_ref};

/// Asks for permission, and then for a value.
#[tool(asks)]
async fn asks_twice(ctx: &ToolContext) -> Result<(), ToolError> {
    ctx.ask(Ask::new("edit", "one").with_pattern("a").before_acting()).await?;
    ctx.elicit::<Word>("Which word?").await?;
    Ok(())
}

#[toolkit::args]
struct Word {
    /// The word.
    word: String,
}

#[derive(Default)]
struct Names(Mutex<Vec<Option<String>>>);

impl AskJournal for Names {
    fn asked<'a>(&'a self, _ask: &'a PendingAsk) -> Journaling<'a> {
        Box::pin(async { Ok(()) })
    }

    fn answered<'a>(&'a self, _ask: &'a PendingAsk, reply: &'a Reply) -> Journaling<'a> {
        self.0.lock().unwrap().push(reply.answered_by.clone());
        Box::pin(async { Ok(()) })
    }
}

/// Returns the names of the events, of the history and of the journal after a call of the tool.
async fn names(
    approver: impl Approver,
    answer: impl AsyncFn(&Toolkit),
) -> (Vec<Option<String>>, Vec<Option<String>>, Vec<Option<String>>) {
    let (history, journal) = (Arc::new(MemoryHistory::new(Redactor::new())), Arc::new(Names::default()));
    let toolkit = Toolkit::empty()
        .tool(tool_ref!(asks_twice))
        .approver(approver)
        .history(Arc::clone(&history))
        .build()
        .unwrap();
    let toolbox = toolkit.toolbox(&Caller::new()).await;
    let mut events = toolbox.events();
    let options = CallOptions::new().ask_journal(Arc::clone(&journal) as Arc<dyn AskJournal>);
    let (_, ()) = tokio::join!(
        toolbox.call_with(ToolCall::new("1", "asks_twice", json!({})), options),
        answer(&toolkit)
    );
    let mut told = Vec::new();
    while let Some(event) = events.try_next() {
        if let Event::Answered { answered_by, .. } = event.event {
            told.push(answered_by);
        }
    }
    let entries = history.calls(&HistoryQuery::new());
    let recorded = entries.iter().flat_map(|entry| entry.asks.iter().map(|ask| ask.answered_by.clone()));
    let recorded = recorded.collect();
    let noted = journal.0.lock().unwrap().clone();
    (told, recorded, noted)
}

fn given(names: &[&str]) -> Vec<Option<String>> {
    names.iter().map(|name| Some((*name).to_owned())).collect()
}

#[tokio::test]
async fn an_approver_names_the_person_in_events_history_and_journal() {
    let script = ScriptedApprover::new([])
        .with_rule(|ask| ask.question().setting().is_some(), Reply::new(Answer::allow()).by("ada"))
        .with_rule(|_| true, Reply::new(Answer::Declined).by("bob"));
    let both = given(&["ada", "bob"]);
    assert_eq!(names(script, async |_| {}).await, (both.clone(), both, given(&["ada"])));
}

#[tokio::test]
async fn an_answer_from_elsewhere_names_the_person_whom_the_host_knows() {
    let answer = async |toolkit: &Toolkit| {
        for (name, answer) in [("ada", Answer::allow()), ("bob", Answer::Declined)] {
            let id = loop {
                if let Some(ask) = toolkit.asks().list(None).first() {
                    break ask.id().to_owned();
                }
                tokio::task::yield_now().await;
            };
            toolkit.asks().answer(&id, Reply::new(answer).by(name)).unwrap();
        }
    };
    let both = given(&["ada", "bob"]);
    let silent = CallbackApprover::new(|_: &PendingAsk| None);
    assert_eq!(names(silent, answer).await, (both.clone(), both, given(&["ada"])));
}

#[tokio::test]
async fn an_answer_that_a_client_sends_names_nobody() {
    let approver = CallbackApprover::new(|ask: &PendingAsk| {
        let kind = if ask.scopes().is_empty() { "declined" } else { "allow" };
        let sent =
            json!({ "type": kind, "answeredBy": "mallory", "answered_by": "mallory", "by": "mallory" });
        serde_json::from_value::<Answer>(sent).unwrap()
    });
    assert_eq!(names(approver, async |_| {}).await, (vec![None, None], vec![None, None], vec![None]));
}

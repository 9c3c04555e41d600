//! The record of a call that a host keeps beside its questions.

#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

use serde_json::json;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use toolkit::approval::{Answer, AskJournal, Journaling, PendingAsk, Reply, ScriptedApprover};
use toolkit::prelude::*;
use toolkit::{CallOptions, ToolErrorKind, tool_ref};

/// The lines, in their order: those of the journal, and those of the functions.
#[derive(Default)]
struct Lines {
    lines: Mutex<Vec<&'static str>>,
    is_full: AtomicBool,
}

impl Lines {
    fn add(&self, line: &'static str) -> Journaling<'_> {
        self.lines.lock().unwrap().push(line);
        Box::pin(async { Ok(()) })
    }

    fn take(&self) -> Vec<&'static str> {
        std::mem::take(&mut *self.lines.lock().unwrap())
    }
}

impl AskJournal for Lines {
    fn asked<'a>(&'a self, _ask: &'a PendingAsk) -> Journaling<'a> {
        self.add("asked")
    }

    fn answered<'a>(&'a self, _ask: &'a PendingAsk, _reply: &'a Reply) -> Journaling<'a> {
        self.add("answered")
    }

    fn begins(&self) -> Journaling<'_> {
        if self.is_full.load(Ordering::SeqCst) {
            return Box::pin(async { Err("the disk is full".to_owned()) });
        }
        self.add("begins")
    }
}

/// Does something that a person must allow.
#[tool]
async fn journaled(lines: State<Lines>) -> String {
    lines.add("acted").await.unwrap();
    "done".to_owned()
}

/// Does something on a thread, which needs no question.
#[tool(auto_execute)]
fn journaled_blocking(lines: State<Lines>) -> String {
    drop(lines.add("acted"));
    drop(lines);
    "done".to_owned()
}

#[tokio::test]
async fn the_beginning_of_a_function_is_recorded_after_the_questions_before_it() {
    let lines = Arc::new(Lines::default());
    let toolkit = Toolkit::empty()
        .tools([tool_ref!(journaled), tool_ref!(journaled_blocking)])
        .shared_service(Arc::clone(&lines))
        .approver(ScriptedApprover::new([Answer::allow_for_session(), Answer::allow()]))
        .build()
        .unwrap();
    let toolbox = toolkit.toolbox(&Caller::new().with_session("s")).await;
    let call = async |tool: &str| {
        let options = CallOptions::new().ask_journal(Arc::clone(&lines) as Arc<dyn AskJournal>);
        toolbox.call_with(ToolCall::new("1", tool, json!({})), options).await
    };
    for (tool, expected) in [
        ("journaled", &["asked", "answered", "begins", "acted"][..]),
        // The person has allowed it for the session.
        ("journaled", &["begins", "acted"]),
        ("journaled_blocking", &["begins", "acted"]),
    ] {
        assert_eq!(call(tool).await.text(), "done");
        assert_eq!(lines.take(), expected, "{tool}");
    }
    lines.is_full.store(true, Ordering::SeqCst);
    for tool in ["journaled", "journaled_blocking"] {
        let result = call(tool).await;
        assert_eq!(result.error().unwrap().kind(), ToolErrorKind::Failed);
        let expected =
            "the beginning of the call could not be recorded, so nothing was done: the disk is full";
        assert!(result.text().contains(expected), "{}", result.text());
        assert_eq!(lines.take(), [""; 0], "{tool}");
    }
}

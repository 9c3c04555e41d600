//! Edits by the same session while the person thinks about another one.

#![cfg(all(feature = "fs", unix))]
#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

use serde_json::{Value, json};
use std::fs;
use std::sync::Arc;
use tokio::sync::{mpsc, oneshot};
use toolkit::approval::{Answer, CallbackApprover};
use toolkit::prelude::*;

fn one(old: &str, new: &str) -> Value {
    json!({ "file_path": "a", "old_string": old, "new_string": new })
}

fn all(old: &str, new: &str) -> Value {
    json!({ "file_path": "a", "old_string": old, "new_string": new, "replace_all": true })
}

/// Returns the content of the file `a` and the result of `asked`, which is allowed only after `meanwhile` was made.
async fn edited(content: &str, asked: Value, meanwhile: Value) -> (String, String) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a");
    fs::write(&path, content).unwrap();
    let (questions, mut question) = mpsc::channel(1);
    let approver = CallbackApprover::from_async(move |_| {
        let questions = questions.clone();
        async move {
            let (sender, answer) = oneshot::channel();
            questions.send(sender).await.unwrap();
            answer.await.unwrap_or(Answer::Declined)
        }
    });
    let toolkit = Toolkit::empty()
        .tool(toolkit::tool_ref!(builtin_tools::fs::edit))
        .approver(approver)
        .build()
        .unwrap();
    let caller = Caller::new().with_session("s").with_workspace(directory.path());
    let toolbox = Arc::new(toolkit.toolbox(&caller).await);
    let begin = |id: &'static str, arguments: Value| {
        let toolbox = Arc::clone(&toolbox);
        tokio::spawn(async move { toolbox.call(ToolCall::new(id, "edit", arguments)).await })
    };
    let first = begin("first", asked);
    let first_answer: oneshot::Sender<Answer> = question.recv().await.unwrap();
    let second = begin("second", meanwhile);
    question.recv().await.unwrap().send(Answer::allow()).unwrap();
    assert_eq!(second.await.unwrap().error(), None);
    first_answer.send(Answer::allow()).unwrap();
    let told = first.await.unwrap();
    (told.text(), fs::read_to_string(&path).unwrap())
}

#[tokio::test]
async fn an_edit_lands_beside_another_one() {
    for (content, asked, meanwhile, told, expected) in [
        (
            "one\ntwo\nthree\n",
            one("two", "2"),
            one("three", "3"),
            "edited a: replaced 1 place, on line 2 (+1 -1 lines)",
            "one\n2\n3\n",
        ),
        // Its place is another one by then.
        (
            "one\ntwo\n",
            one("two", "2"),
            one("one", "0\none"),
            "edited a: replaced 1 place, on line 3 (+1 -1 lines)",
            "0\none\n2\n",
        ),
        ("x y x\n", all("x", "1"), one("y", "2"), "edited a: replaced 2 places (+1 -1 lines)", "1 2 1\n"),
    ] {
        let what = format!("{asked} after {meanwhile}");
        assert_eq!(edited(content, asked, meanwhile).await, (told.to_owned(), expected.to_owned()), "{what}");
    }
}

#[tokio::test]
async fn an_edit_is_made_only_as_it_was_allowed() {
    const OTHER: &str = "another edit of this session changed a in the same place meanwhile; nothing was done. Read it \
                         again";
    for (content, asked, meanwhile, why, expected) in [
        // One place more.
        ("x y x\n", all("x", "1"), one("y", "x"), "", "x x x\n"),
        // One place less.
        ("x y x\n", all("x", "1"), one("y x", "y"), "", "x y\n"),
        // The same text would go, but it is there in another form.
        ("a\r\nb\r\n", one("a\nb\n", "a\nc\nd\n"), one("a\r\nb\r\n", "a\nb\n"), "", "a\nb\n"),
        // Other text would come, since the lines are at another depth.
        ("f:\n\ta\n", one("    a\n", "    b\n"), one("\ta", "\t\ta"), "", "f:\n\t\ta\n"),
        // The text is nowhere any more.
        (
            "one\ntwo\n",
            one("two", "2"),
            one("two", "zwei"),
            ": old_string is not in a, nor is it in a looser form; nothing was changed\nthere is no similar text in the file; \
             read the file again",
            "one\nzwei\n",
        ),
        // It is in two places.
        (
            "one\ntwo\n",
            one("two", "2"),
            one("one", "two"),
            ": old_string is in 2 places of a: on lines 1, 2; add lines around it until it is in one place, or set \
             `replace_all`",
            "two\ntwo\n",
        ),
    ] {
        let what = format!("{asked} after {meanwhile}");
        let told = format!("{OTHER}{why}");
        assert_eq!(edited(content, asked, meanwhile).await, (told, expected.to_owned()), "{what}");
    }
}

//! Two sessions of one toolkit in one workspace: nothing of one is in the other.

use super::{Editor, all_tools, write};
use crate::common::{call, log, results, scripted};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::{Arc, Mutex};
use toolkit_models::{Answer, ScriptedReply};

fn ask(text: &str) -> Answer {
    Answer::calls([call("1", "ask_first", json!({"text": text}))])
}

/// An editor whose sessions share a toolkit, two sessions, and the ids of the sessions of the toolkit that ended.
async fn two(
    replies: impl IntoIterator<Item = impl Into<ScriptedReply>>,
    capabilities: Value,
    confirms: bool,
) -> (Editor, String, String, Arc<Mutex<Vec<String>>>) {
    let ended = Arc::<Mutex<Vec<String>>>::default();
    let toolkit = {
        let ended = Arc::clone(&ended);
        all_tools(&log()).on_session_end("note", move |id| ended.lock().unwrap().push(id.to_owned()))
    };
    let mut editor =
        Editor::sharing(scripted(replies), capabilities, confirms, toolkit.build().unwrap()).await;
    let (one, other) = (editor.session().await, editor.session().await);
    (editor, one, other, ended)
}

/// Returns the session of a message of the agent.
fn of(message: &Value) -> &str {
    message["params"]["sessionId"].as_str().unwrap()
}

#[tokio::test]
async fn unsaved_text_of_one_session_does_not_hinder_the_other() {
    let reads = || Answer::calls([call("0", "read", json!({"file_path": "a.txt"}))]);
    let writes = |text: &str| write("1", Path::new("a.txt"), text);
    let replies = [
        reads(),
        writes("of one\n"),
        Answer::text("Done."),
        reads(),
        writes("of the other\n"),
        Answer::text("Done."),
    ];
    let reading = json!({"fs": {"readTextFile": true}});
    let (mut editor, one, other, _) = two(replies, reading, true).await;
    let file = editor.work().join("a.txt");
    std::fs::write(&file, "old\n").unwrap();
    for (session, text) in [(&one, "typed, not saved\n"), (&other, "old\n")] {
        let id = editor.begin(session, "Write it").await;
        let read = editor.until(|message| message["method"] == "fs/read_text_file").await;
        assert_eq!(of(&read), session);
        editor.send(&json!({"jsonrpc": "2.0", "id": read["id"], "result": {"content": text}})).await;
        editor.answer_to(id).await.unwrap();
    }
    let requests = editor.model.requests();
    let [of_one, of_other] = [2, 5].map(|place| results(&requests[place].messages).pop().unwrap());
    assert!(of_one.2 && of_one.1.contains("unsaved changes"), "{of_one:?}");
    assert!(!of_other.2, "{of_other:?}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "of the other\n");
    let asked = editor.seen.iter().filter(|message| message["method"] == "fs/read_text_file");
    assert_eq!(asked.count(), 2, "each session asks for itself alone");
    editor.close().await;
}

#[tokio::test]
async fn an_answer_for_one_session_does_not_count_in_the_other() {
    let end = || Answer::text("Well.");
    let replies = [
        ask("a"),
        end(),
        ask("a"),
        end(),
        ask("a"),
        end(),
        ask("b"),
        end(),
        ask("b"),
        end(),
        ask("b"),
        end(),
    ];
    let (mut editor, one, other, _) = two(replies, json!({}), false).await;
    for (answer, in_other) in [("reject_always", "reject_once"), ("allow_session", "allow_once")] {
        for (session, option) in [(&one, answer), (&other, in_other)] {
            let id = editor.begin(session, "Go").await;
            let question = editor.asked().await;
            assert_eq!(of(&question), session);
            editor.choose(&question, option).await;
            editor.answer_to(id).await.unwrap();
        }
        editor.seen.clear();
        editor.prompt(&one, "Again").await.unwrap();
        let is_asked = editor.seen.iter().any(|message| message["method"] == "session/request_permission");
        assert!(!is_asked, "the answer counts in the session where it was given");
    }
    editor.close().await;
}

#[tokio::test]
async fn the_same_question_of_two_sessions_is_asked_in_each() {
    let replies = [ask("a"), ask("a"), Answer::text("Well."), Answer::text("Well.")];
    let (mut editor, one, other, _) = two(replies, json!({}), false).await;
    let (first, second) = (editor.begin(&one, "Go").await, editor.begin(&other, "Go").await);
    let questions = [editor.asked().await, editor.asked().await];
    let mut asked = questions.each_ref().map(of);
    asked.sort_unstable();
    let mut sessions = [&*one, &*other];
    sessions.sort_unstable();
    assert_eq!(asked, sessions);
    for question in &questions {
        let option = if of(question) == one { "allow_once" } else { "reject_once" };
        editor.choose(question, option).await;
    }
    // Answers come in any order.
    for _ in [first, second] {
        let ended = editor.until(|message| message.get("result").is_some()).await;
        assert_eq!(ended["result"]["stopReason"], "end_turn");
    }
    let requests = editor.model.requests();
    let refused = requests[2..].iter().map(|request| results(&request.messages)[0].2);
    assert_eq!(refused.filter(|refused| *refused).count(), 1);
    editor.close().await;
}

#[tokio::test]
async fn a_mode_is_that_of_one_session() {
    let replies = [Answer::text("Well."), Answer::text("Well.")];
    let (mut editor, one, other, _) = two(replies, json!({}), false).await;
    editor.call("session/set_mode", json!({"sessionId": one, "modeId": "read-only"})).await.unwrap();
    for session in [&one, &other] {
        editor.prompt(session, "Go").await.unwrap();
    }
    let requests = editor.model.requests();
    let asks = requests.iter().map(|request| {
        let tools = request.tools.as_ref().unwrap().tools();
        tools.iter().any(|tool| tool.name == "ask_first")
    });
    assert_eq!(asks.collect::<Vec<_>>(), [false, true]);
    editor.close().await;
}

#[tokio::test]
async fn a_session_that_is_cancelled_or_closed_leaves_the_other_as_it_is() {
    let replies = [
        ask("a").into(),
        ask("b").into(),
        ScriptedReply::from(Answer::text("Well.")),
        Answer::text("Still.").into(),
    ];
    let (mut editor, one, other, ended) = two(replies, json!({}), false).await;
    let first = editor.begin(&one, "Go").await;
    let of_one = editor.asked().await;
    let second = editor.begin(&other, "Go").await;
    let of_other = editor.asked().await;
    assert_eq!((of(&of_one), of(&of_other)), (&*one, &*other));
    editor.notify("session/cancel", json!({"sessionId": one})).await;
    assert_eq!(editor.answer_to(first).await.unwrap()["stopReason"], "cancelled");
    editor.call("session/close", json!({"sessionId": one})).await.unwrap();
    assert_eq!(*ended.lock().unwrap(), [format!("agent {one}")]);
    editor.choose(&of_other, "allow_once").await;
    assert_eq!(editor.answer_to(second).await.unwrap()["stopReason"], "end_turn");
    assert_eq!(editor.prompt(&other, "Go on").await.unwrap()["stopReason"], "end_turn");
    editor.call("session/close", json!({"sessionId": other})).await.unwrap();
    assert_eq!(*ended.lock().unwrap(), [format!("agent {one}"), format!("agent {other}")]);
    editor.close().await;
}

//! Sessions beside each other, opened again, and their end.

use super::{Editor, code};
use crate::common::{call, results, scripted};
use serde_json::{Value, json};
use std::io;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use toolkit_agent::{FileStore, StoredTranscript, TranscriptStore, TranscriptWriter, Transcripts};
use toolkit_models::{Answer, ScriptedReply};

#[tokio::test]
async fn sessions_are_apart() {
    let mut editor = Editor::new(scripted([ScriptedReply::Stall, Answer::text("Well.").into()])).await;
    let (one, other) = (editor.session().await, editor.session().await);
    let first = editor.begin(&one, "One").await;
    editor.until_asked(1).await;
    assert_eq!(editor.prompt(&other, "Two").await.unwrap()["stopReason"], "end_turn");
    editor.notify("session/cancel", json!({"sessionId": one})).await;
    assert_eq!(editor.answer_to(first).await.unwrap()["stopReason"], "cancelled");
    editor.close().await;
}

#[tokio::test]
async fn each_session_ends_in_order() {
    let model = scripted([Answer::text("Well.")]);
    let mut editor = Editor::new(model).await;
    let (one, other) = (editor.session().await, editor.session().await);
    let _third = editor.session().await;
    let ended = Arc::clone(&editor.ended);
    let count = || ended.load(Ordering::SeqCst);
    assert_eq!(count(), 0);
    editor.call("session/close", json!({"sessionId": one})).await.unwrap();
    assert_eq!(count(), 1, "closed by the editor");
    editor.prompt(&other, "Hello").await.unwrap();
    let setup = json!({"cwd": editor.work(), "mcpServers": [], "sessionId": other});
    editor.call("session/load", setup.clone()).await.unwrap();
    assert_eq!(count(), 2, "opened again");
    let missing = json!({"cwd": editor.work(), "mcpServers": [], "sessionId": "nothing"});
    editor.call("session/load", missing).await.unwrap_err();
    assert_eq!(count(), 3, "not opened after all");
    editor.close().await;
    assert_eq!(count(), 5, "the editor went away");
}

#[tokio::test]
async fn a_session_is_loaded_with_all_that_was_said() {
    let model = scripted([
        Answer::calls([call("1", "look", json!({"text": "seen"})), call("2", "fail", json!({"text": "x"}))]),
        Answer::text("I looked."),
        Answer::text("I know."),
        Answer::text("Still."),
    ]);
    let mut editor = Editor::new(model).await;
    let session = editor.session().await;
    editor.prompt(&session, "Look").await.unwrap();
    let setup = json!({"cwd": editor.work(), "mcpServers": [], "sessionId": session});
    editor.seen.clear();
    let answer = editor.call("session/load", setup.clone()).await.unwrap();
    assert_eq!(answer["modes"]["currentModeId"], "ask");
    assert_eq!(editor.text("user_message_chunk"), "Look");
    assert_eq!(editor.text("agent_message_chunk"), "I looked.");
    let calls = editor.updates("tool_call");
    let states: Vec<_> = calls.iter().map(|call| call["status"].clone()).collect();
    assert_eq!(states, ["completed", "failed"]);
    assert!(calls[0]["content"].to_string().contains("seen"), "{calls:?}");
    let last = editor.seen.last().unwrap();
    assert!(last.get("result").is_some(), "updates come before the answer");
    editor.prompt(&session, "What did you see?").await.unwrap();
    let requests = editor.model.requests();
    assert_eq!(requests[2].messages.len(), 5);
    // Without a replay.
    editor.call("session/close", json!({"sessionId": session})).await.unwrap();
    assert_eq!(code(editor.prompt(&session, "Hello?").await), -32002);
    editor.seen.clear();
    editor.call("session/resume", setup).await.unwrap();
    assert!(editor.updates("user_message_chunk").is_empty());
    editor.prompt(&session, "And now?").await.unwrap();
    let sessions = editor.call("session/list", json!({"cwd": editor.work()})).await.unwrap();
    assert_eq!(
        (&sessions["sessions"][0]["sessionId"], &sessions["sessions"][0]["title"]),
        (&json!(session), &json!("Look"))
    );
    let none = editor.call("session/list", json!({"cwd": "/nowhere"})).await.unwrap();
    assert_eq!(none["sessions"], json!([]));
    editor.close().await;
}

#[tokio::test]
async fn a_session_that_ended_releases_its_toolkit() {
    let mut editor = Editor::new(scripted([Answer::text("Well."), Answer::text("Well.")])).await;
    let (one, other) = (editor.session().await, editor.session().await);
    editor.prompt(&one, "Hello").await.unwrap();
    editor.prompt(&other, "Hello").await.unwrap();
    let services = Arc::clone(&editor.services);
    let released = async |place: usize| {
        let is_held = || services.lock().unwrap()[place].upgrade().is_some();
        let gone = async {
            while is_held() {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(std::time::Duration::from_mins(1), gone).await.expect("it is released");
    };
    assert!(services.lock().unwrap().iter().all(|service| service.upgrade().is_some()));
    editor.call("session/close", json!({"sessionId": one})).await.unwrap();
    released(0).await;
    assert!(services.lock().unwrap()[1].upgrade().is_some(), "the other session goes on");
    // Opened again, a session has a toolkit of its own.
    let setup = json!({"cwd": editor.work(), "mcpServers": [], "sessionId": other});
    editor.call("session/load", setup).await.unwrap();
    released(1).await;
    editor.close().await;
    released(2).await;
}

#[tokio::test]
async fn a_damaged_session_is_loaded_from_a_fork_under_its_own_id() {
    let answers = ["One.", "Two.", "Three."].map(Answer::text);
    let mut editor = Editor::new(scripted(answers)).await;
    let session = editor.session().await;
    editor.prompt(&session, "First").await.unwrap();
    editor.call("session/close", json!({"sessionId": session})).await.unwrap();
    let file = editor.directory.path().join("agents").join(format!("{session}.jsonl"));
    let damaged = std::fs::read_to_string(&file).unwrap() + "{\"record\":\n";
    std::fs::write(&file, &damaged).unwrap();
    let setup = json!({"cwd": editor.work(), "mcpServers": [], "sessionId": session});
    for (said, task) in [("One.", "Second"), ("One.Two.", "Third")] {
        editor.seen.clear();
        editor.call("session/load", setup.clone()).await.unwrap();
        let told = editor.text("agent_message_chunk");
        assert!(told.starts_with(said), "{told}");
        assert!(told.contains(&format!("transcript `{session}` is damaged: line")), "{told}");
        assert!(editor.updates("agent_message_chunk").len() > 1);
        editor.prompt(&session, task).await.unwrap();
    }
    assert_eq!(editor.model.requests()[2].messages.len(), 5);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), damaged);
    editor.close().await;
}

#[tokio::test]
async fn a_prompt_that_is_sent_again_is_done_once() {
    let mut editor = Editor::new(scripted(["One.", "Two."].map(Answer::text))).await;
    let session = editor.session().await;
    let prompt = |id: &str| {
        let text = json!([{"type": "text", "text": "Hello"}]);
        json!({"sessionId": session, "prompt": text, "messageId": id})
    };
    for _ in 0..2 {
        let answer = editor.call("session/prompt", prompt("m1")).await.unwrap();
        assert_eq!(answer, json!({"stopReason": "end_turn", "userMessageId": "m1"}));
    }
    assert_eq!(editor.model.requests().len(), 1);
    let setup = json!({"cwd": editor.work(), "mcpServers": [], "sessionId": session});
    editor.seen.clear();
    editor.call("session/load", setup).await.unwrap();
    assert_eq!(editor.updates("user_message_chunk")[0]["messageId"], "m1");
    editor.call("session/prompt", prompt("m1")).await.unwrap();
    editor.call("session/prompt", prompt("m2")).await.unwrap();
    assert_eq!(editor.model.requests().len(), 2);
    for bad in [String::new(), "m".repeat(257)] {
        assert_eq!(code(editor.call("session/prompt", prompt(&bad)).await), -32602);
    }
    editor.close().await;
}

#[tokio::test]
async fn an_editor_that_goes_away_ends_the_run() {
    let mut editor = Editor::new(scripted([Answer::calls([call("1", "stall", json!({}))])])).await;
    let session = editor.session().await;
    editor.begin(&session, "Go").await;
    editor.until(|message| message.to_string().contains("in_progress")).await;
    let transcripts = Transcripts::new(editor.directory.path().join("agents"));
    let directory = std::mem::replace(&mut editor.directory, tempfile::tempdir().unwrap());
    editor.close().await;
    let messages = transcripts.messages(&session).unwrap();
    crate::common::assert_messages_whole(&messages);
    assert_eq!(messages.len(), 3);
    drop(directory);
}

#[tokio::test]
async fn a_prompt_that_the_editors_end_cut_goes_on_when_it_is_sent_again() {
    let mut editor = Editor::new(scripted([Answer::calls([call("1", "stall", json!({}))])])).await;
    let session = editor.session().await;
    let prompt = json!([{"type": "text", "text": "Go"}]);
    let prompt = json!({"sessionId": session, "prompt": prompt, "messageId": "m1"});
    editor.request("session/prompt", prompt.clone()).await;
    editor.until(|message| message.to_string().contains("in_progress")).await;
    let directory = std::mem::replace(&mut editor.directory, tempfile::tempdir().unwrap());
    editor.close().await;

    let transcripts = Transcripts::new(directory.path().join("agents"));
    let mut editor = Editor::again(directory, transcripts, scripted([Answer::text("At last.")])).await;
    let setup = json!({"cwd": editor.work(), "mcpServers": [], "sessionId": session});
    editor.call("session/load", setup).await.unwrap();
    let answer = editor.call("session/prompt", prompt).await.unwrap();
    assert_eq!(answer, json!({"stopReason": "end_turn", "userMessageId": "m1"}));
    let requests = editor.model.requests();
    let results = results(&requests[0].messages);
    assert_eq!((results.len(), results[0].2), (1, true), "{results:?}");
    editor.close().await;
}

#[tokio::test]
async fn a_question_that_the_editors_end_left_open_is_asked_again() {
    let ask = Answer::calls([call("1", "ask_first", json!({"text": "a"}))]);
    let mut editor = Editor::new(scripted([ask])).await;
    let session = editor.session().await;
    let prompt = json!([{"type": "text", "text": "Go"}]);
    let prompt = json!({"sessionId": session, "prompt": prompt, "messageId": "m1"});
    editor.request("session/prompt", prompt.clone()).await;
    editor.asked().await;
    let directory = std::mem::replace(&mut editor.directory, tempfile::tempdir().unwrap());
    editor.close().await;

    let transcripts = Transcripts::new(directory.path().join("agents"));
    let mut editor = Editor::again(directory, transcripts, scripted([Answer::text("At last.")])).await;
    let setup = json!({"cwd": editor.work(), "mcpServers": [], "sessionId": session});
    editor.call("session/load", setup).await.unwrap();
    let sent = editor.request("session/prompt", prompt).await;
    let question = editor.asked().await;
    editor.choose(&question, "allow_once").await;
    assert_eq!(editor.answer_to(sent).await.unwrap()["stopReason"], "end_turn");
    let results = results(&editor.model.requests()[0].messages);
    assert_eq!(results, [("1".to_owned(), "a".to_owned(), false)]);
    editor.close().await;
}

/// A store whose reading waits until it is let go on.
#[derive(Debug)]
struct SlowStore(FileStore, Mutex<Receiver<()>>);

impl TranscriptStore for SlowStore {
    fn list(&self) -> io::Result<Vec<StoredTranscript>> {
        self.0.list()
    }

    fn get(&self, id: &str) -> io::Result<StoredTranscript> {
        // Its sender is gone once the other request has its answer.
        let _ = self.1.lock().unwrap().recv_timeout(Duration::from_secs(15));
        self.0.get(id)
    }

    fn read(&self, id: &str, segment: u32) -> io::Result<Box<dyn io::Read + Send>> {
        self.0.read(id, segment)
    }

    fn create(&self, id: &str, line: &[u8]) -> io::Result<Box<dyn TranscriptWriter>> {
        self.0.create(id, line)
    }

    fn create_whole(&self, id: &str, lines: &[u8]) -> io::Result<()> {
        self.0.create_whole(id, lines)
    }

    fn open(&self, id: &str) -> io::Result<Box<dyn TranscriptWriter>> {
        self.0.open(id)
    }

    fn remove_oldest(&self, id: &str, segment: u32) -> io::Result<()> {
        self.0.remove_oldest(id, segment)
    }

    fn path(&self, id: &str, segment: u32) -> std::path::PathBuf {
        self.0.path(id, segment)
    }
}

/// All run on one thread.
#[tokio::test]
async fn the_editor_is_served_while_a_session_is_loaded() {
    let mut editor = Editor::new(scripted([Answer::text("One.")])).await;
    let session = editor.session().await;
    editor.prompt(&session, "Hello").await.unwrap();
    let directory = std::mem::replace(&mut editor.directory, tempfile::tempdir().unwrap());
    editor.close().await;

    let (go_on, waits) = channel();
    let agents = directory.path().join("agents");
    let store = SlowStore(FileStore::new(&agents), Mutex::new(waits));
    let transcripts = Transcripts::in_store(Arc::new(store), agents);
    let mut editor = Editor::again(directory, transcripts, scripted([Answer::text("Two.")])).await;
    let setup = json!({"cwd": editor.work(), "mcpServers": [], "sessionId": session});
    let loading = editor.request("session/load", setup).await;
    editor.call("authenticate", json!({})).await.unwrap();
    assert!(!editor.seen.iter().any(|message| message["id"] == json!(loading)));
    drop(go_on);
    editor.until(|message| message["id"] == json!(loading)).await;
    editor.close().await;
}

#[tokio::test]
async fn of_segments_that_were_removed_the_last_one_shows_what_it_carries() {
    let mut editor = Editor::new(scripted([Answer::text("New.")])).await;
    let session = editor.session().await;
    editor.call("session/close", json!({"sessionId": session})).await.unwrap();
    let agents = editor.directory.path().join("agents");
    let first = agents.join(format!("{session}.jsonl"));
    let mut header: Value = serde_json::from_str(&std::fs::read_to_string(&first).unwrap()).unwrap();
    header["carries"] = json!(true);
    let text = |text: &str| json!([{"type": "text", "text": text}]);
    let call = json!({"type": "tool_call", "id": "1", "name": "look", "arguments": {"text": "a"}});
    let result = json!({"callId": "1", "name": "look", "content": text("looked")});
    let carried = json!({"record": "carried", "task": "Old task", "turns": 1, "nextId": 5, "messages": [
        {"id": 1, "kind": "task", "message": {"role": "user", "content": text("Old task")}},
        {"id": 4, "kind": "summary", "message": {"role": "user", "content": text("What was so far")}},
        {"id": 2, "kind": "answer", "message": {"role": "assistant", "content": [call]}},
        {"id": 3, "kind": "results", "message": {"role": "tools", "results": [result]}},
    ]});
    std::fs::write(agents.join(format!("{session}.2.jsonl")), format!("{header}\n{carried}\n")).unwrap();
    std::fs::remove_file(first).unwrap();
    editor.seen.clear();
    let setup = json!({"cwd": editor.work(), "mcpServers": [], "sessionId": session});
    editor.call("session/load", setup).await.unwrap();
    assert_eq!(editor.text("user_message_chunk"), "Old task");
    assert_eq!(editor.text("agent_message_chunk"), "What was so far");
    let calls = editor.updates("tool_call");
    assert_eq!((calls.len(), &calls[0]["status"]), (1, &json!("completed")), "{calls:?}");
    assert!(calls[0].to_string().contains("looked"), "{calls:?}");
    assert_eq!(editor.prompt(&session, "Go on").await.unwrap()["stopReason"], "end_turn");
    editor.close().await;
}

//! The list of transcripts, which reads their beginnings and ends alone.

use crate::common::{builder, call, finish, log, scripted, transcripts};
use crate::watched_store::{Step, WatchedStore};
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;
use toolkit_agent::{ContextSettings, DelegationRequest, RunOptions, Transcripts};
use toolkit_models::Answer;

fn path(transcripts: &Transcripts, name: &str) -> PathBuf {
    transcripts.directory().join(format!("{name}.jsonl"))
}

/// Runs a task in so many turns with texts of so many bytes, and returns the id.
async fn conversation(transcripts: &Transcripts, turns: usize, bytes: usize) -> String {
    let text = |turn: usize| format!("{turn}{}", "x".repeat(bytes));
    let answer =
        |turn: usize| Answer::calls([call(&turn.to_string(), "look", json!({ "text": text(turn) }))]);
    let answers: Vec<Answer> = (1..turns).map(answer).chain([finish("done")]).collect();
    let agent = builder(&log(), &scripted(answers)).context(ContextSettings::new().window_tokens(u64::MAX));
    let request = DelegationRequest::new("do it");
    let agent = agent.transcripts(transcripts.clone()).build();
    let mut session = agent.session(&request).unwrap();
    let result = session.run(request, RunOptions::new()).await;
    assert!(result.success, "{result:?}");
    session.id().to_owned()
}

/// Adds a line of so many bytes to the end of a transcript: a note to the model.
fn add_note(transcripts: &Transcripts, id: &str, number: u64, bytes: usize) {
    let text = fs::read_to_string(path(transcripts, id)).unwrap();
    let note = text.lines().find(|line| line.contains("\"record\":\"message\"")).unwrap();
    let mut note: Value = serde_json::from_str(note).unwrap();
    (note["id"], note["kind"]) = (number.into(), "note".into());
    note["message"]["content"][0]["text"] = "x".repeat(bytes).into();
    fs::write(path(transcripts, id), format!("{text}{note}\n")).unwrap();
}

#[tokio::test]
async fn a_long_transcript_is_listed_without_reading_it_whole() {
    let (_directory, transcripts) = transcripts();
    let id = conversation(&transcripts, 45, 5_000).await;
    // The last answer is near the end first, then behind the bytes that are read at first, and then far from the end.
    let notes = [(0, 3), (100_000, 1), (4_000_000, 0)];
    for (number, (bytes, parts)) in (0..).zip(notes) {
        if bytes > 0 {
            add_note(&transcripts, &id, 900 + number, bytes);
        }
        assert_eq!(transcripts.messages(&id).unwrap().len() as u64, 91 + number);
        let length = fs::metadata(path(&transcripts, &id)).unwrap().len();
        let store = WatchedStore::new(&transcripts, Step::Listed, 1, || {});
        let [info] = &*store.transcripts(&transcripts).list() else { panic!("{bytes}") };
        assert_eq!((&*info.task, info.turns), ("do it", 45));
        let most = length.checked_div(parts).unwrap_or(2 * length);
        assert!(store.bytes() < most, "{bytes}: {} of {length}", store.bytes());
    }
}

#[tokio::test]
async fn a_list_tells_of_each_what_its_lines_add_up_to() {
    let (_directory, transcripts) = transcripts();
    let id = conversation(&transcripts, 4, 10).await;
    let text = fs::read_to_string(path(&transcripts, &id)).unwrap();
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    for count in 1..=lines.len() {
        let parsed: Vec<Value> =
            lines[..count].iter().map(|line| serde_json::from_str(line).unwrap()).collect();
        let is = |kind: &'static str| parsed.iter().filter(move |line| line["record"] == kind).count();
        let (turns, task) = (is("answer"), if is("run") > 0 { "do it" } else { "" });
        let next = lines.get(count).map_or("", |line| &line[..line.len() / 2]);
        // A line that is not whole, one that is damaged, and none.
        for rest in [next.to_owned(), "{}\n".to_owned(), String::new()] {
            fs::write(path(&transcripts, &id), lines[..count].concat() + &rest).unwrap();
            let [info] = &*transcripts.list() else { panic!("{count} {rest:?}") };
            assert_eq!((info.turns as usize, &*info.task), (turns, task), "{count} {rest:?}");
        }
    }
    // The end of a conversation of a newer program is not read by this one.
    fs::write(path(&transcripts, &id), text + "{\"record\":\"format\",\"version\":99}\n").unwrap();
    assert_eq!(transcripts.list(), []);
}

/// The turns and the task are in the first line that a segment carries.
#[tokio::test]
async fn a_later_segment_is_listed_with_the_turns_before_it() {
    let (_directory, transcripts) = transcripts();
    let id = conversation(&transcripts, 4, 10).await;
    let text = fs::read_to_string(path(&transcripts, &id)).unwrap();
    let mut header: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    header["carries"] = true.into();
    let carried = json!({ "record": "carried", "task": "do it", "turns": 4, "nextId": 9, "messages": [] });
    let answer = text.lines().find(|line| line.contains("\"record\":\"answer\"")).unwrap();
    let mut answer: Value = serde_json::from_str(answer).unwrap();
    (answer["id"], answer["turn"]) = (9.into(), 4.into());
    for (more, turns) in [(String::new(), 4), (format!("{answer}\n"), 5)] {
        fs::write(path(&transcripts, &format!("{id}.2")), format!("{header}\n{carried}\n{more}")).unwrap();
        let [info] = &*transcripts.list() else { panic!("{more}") };
        assert_eq!((&*info.task, info.turns), ("do it", turns));
    }
    // Without the line that it carries, the segment before is told.
    fs::write(path(&transcripts, &format!("{id}.2")), format!("{header}\n")).unwrap();
    let [info] = &*transcripts.list() else { panic!() };
    assert_eq!((&*info.task, info.turns), ("do it", 4));
}

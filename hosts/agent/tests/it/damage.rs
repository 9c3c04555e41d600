//! Damaged transcripts: the conversation goes on in a fork that has the lines before the damage, and its owner is told.

use crate::common::{builder, log, scripted, transcripts};
use crate::conversations::in_time;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use toolkit_agent::{
    Agent, ConversationOptions, Conversations, DelegationRequest, FinalAnswer, IncomingMessage,
    ObservedEvent, TranscriptError, Transcripts,
};
use toolkit_models::Answer;

/// The directory of transcripts of the child, which opens the damaged one.
const DIRECTORY: &str = "TOOLKIT_AGENT_TEST_DAMAGE_IN";

fn agent(transcripts: &Transcripts, answers: &[&str]) -> Agent {
    let model = scripted(answers.iter().map(|text| Answer::text(*text)).collect::<Vec<_>>());
    builder(&log(), &model).final_answer(FinalAnswer::Text).transcripts(transcripts.clone()).build()
}

fn path(transcripts: &Transcripts, id: &str) -> PathBuf {
    transcripts.directory().join(format!("{id}.jsonl"))
}

fn records(transcripts: &Transcripts, id: &str) -> Vec<Value> {
    let text = fs::read_to_string(path(transcripts, id)).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// A transcript with the messages `a` and `b`, each with its answer.
async fn two_answers(transcripts: &Transcripts) -> String {
    let conversations = Conversations::new();
    let session = agent(transcripts, &["one", "two"]).session(&DelegationRequest::default()).unwrap();
    let conversation = conversations.open("c", session, ConversationOptions::new()).unwrap();
    for id in ["a", "b"] {
        in_time(conversation.send(IncomingMessage::new(id, id)).unwrap().ended()).await.unwrap();
    }
    conversations.end_all().await;
    conversation.id().to_owned()
}

/// Damages the nth line of a kind, and returns its number, counted from 1.
fn damage(transcripts: &Transcripts, id: &str, kind: &str, nth: usize) -> usize {
    let begins = format!("{{\"record\":\"{kind}\"");
    let path = path(transcripts, id);
    let whole = fs::read_to_string(&path).unwrap();
    let mut lines: Vec<String> = whole.lines().map(str::to_owned).collect();
    let (place, _) = lines.iter().enumerate().filter(|(_, line)| line.contains(&begins)).nth(nth).unwrap();
    lines[place].truncate(12);
    fs::write(path, lines.join("\n") + "\n").unwrap();
    place + 1
}

#[tokio::test]
async fn a_damaged_transcript_goes_on_in_a_fork_and_its_owner_is_told() {
    let (_directory, transcripts) = transcripts();
    let id = two_answers(&transcripts).await;
    // The answer to `b`: its message was consumed before.
    let line = damage(&transcripts, &id, "answer", 1);
    let before = fs::read(path(&transcripts, &id)).unwrap();
    let agent = agent(&transcripts, &["three", "four"]);
    let refused = agent.resume(&id).unwrap_err();
    assert!(matches!(&refused, TranscriptError::Corrupt { line: at, .. } if *at == line), "{refused}");

    let session = agent.resume_or_fork(&id).unwrap();
    let told = session.damage().unwrap().clone();
    assert_eq!((&*told.damaged, told.line, &*told.fork), (&*id, line, session.id()));
    assert_ne!(told.fork, id);
    let said = told.to_string();
    assert!([&id, &told.fork, &format!("line {line}")].iter().all(|part| said.contains(*part)), "{said}");
    let texts: Vec<String> =
        session.messages().iter().map(|message| format!("{:?}", message.message)).collect();
    assert_eq!(texts.len(), 3, "{texts:?}");

    let conversations = Conversations::new();
    let conversation = conversations.open("c", session, ConversationOptions::new()).unwrap();
    let observation = conversation.observe();
    let first = &observation.so_far[0].event;
    assert_eq!(first, &ObservedEvent::ForkedBeforeDamage { damage: told.clone() });
    assert_eq!(conversation.damage(), Some(&told));
    // A message that was consumed before the damage is not done again.
    for message in ["a", "b"] {
        let receipt = conversation.send(IncomingMessage::new(message, message)).unwrap();
        assert!(in_time(receipt.is_consumed()).await);
    }
    let ended = in_time(conversation.send(IncomingMessage::new("c", "c")).unwrap().ended()).await.unwrap();
    assert_eq!(ended.result.summary, "three");
    conversations.end_all().await;
    assert_eq!(fs::read(path(&transcripts, &id)).unwrap(), before, "the damaged file stays as it is");

    // Opened by its id again, the conversation goes on where it was.
    let again = agent.resume_or_fork(&id).unwrap();
    assert_eq!((again.id(), again.consumer("c")), (&*told.fork, Some(&*ended.run)));
    assert_eq!(again.damage(), Some(&told));
    drop(again);
    assert!(agent.resume_or_fork(&told.fork).unwrap().damage().is_none());
}

#[tokio::test]
async fn a_message_that_was_consumed_behind_the_damage_is_not_done_again() {
    let (_directory, transcripts) = transcripts();
    let id = two_answers(&transcripts).await;
    // The run of `b` begins there: its message stands behind.
    damage(&transcripts, &id, "run", 1);
    let model = scripted([Answer::text("three")]);
    let agent =
        builder(&log(), &model).final_answer(FinalAnswer::Text).transcripts(transcripts.clone()).build();
    let session = agent.resume_or_fork(&id).unwrap();
    assert_eq!(session.messages().len(), 2);
    let conversations = Conversations::new();
    let conversation = conversations.open("c", session, ConversationOptions::new()).unwrap();
    for message in ["a", "b"] {
        let receipt = conversation.send(IncomingMessage::new(message, message)).unwrap();
        assert!(in_time(receipt.is_consumed()).await, "{message}");
    }
    assert_eq!(model.requests().len(), 0);
    let ended = in_time(conversation.send(IncomingMessage::new("c", "c")).unwrap().ended()).await.unwrap();
    assert_eq!(ended.result.summary, "three");
    conversations.end_all().await;
}

#[tokio::test]
async fn a_fork_that_is_damaged_is_forked_in_its_turn() {
    let (_directory, transcripts) = transcripts();
    let id = two_answers(&transcripts).await;
    let line = damage(&transcripts, &id, "end", 1);
    let agent = agent(&transcripts, &["three"]);
    let first = agent.resume_or_fork(&id).unwrap().id().to_owned();
    damage(&transcripts, &first, "answer", 1);
    let session = agent.resume_or_fork(&id).unwrap();
    let told = session.damage().unwrap();
    assert_eq!((&*told.damaged, told.line, &*told.fork), (&*id, line, session.id()));
    assert!(told.fork != first && told.fork != id);
    assert!(session.consumer("b").is_some());
}

#[tokio::test]
async fn without_a_whole_first_line_it_is_refused() {
    let (_directory, transcripts) = transcripts();
    let id = two_answers(&transcripts).await;
    damage(&transcripts, &id, "transcript", 0);
    let error = agent(&transcripts, &[]).resume_or_fork(&id).unwrap_err();
    assert!(matches!(error, TranscriptError::Corrupt { line: 1, .. }), "{error}");
    assert!(error.to_string().contains("begin a new conversation"), "{error}");
    assert_eq!(fs::read_dir(transcripts.directory()).unwrap().count(), 1);
}

#[test]
fn child() {
    let Some(directory) = std::env::var_os(DIRECTORY) else { return };
    let transcripts = Transcripts::new(Path::new(&directory));
    let damaged = transcripts.list().into_iter().map(|info| info.id).min().unwrap();
    drop(agent(&transcripts, &[]).resume_or_fork(&damaged).unwrap());
}

#[tokio::test]
async fn a_fork_is_there_whole_or_not_at_all() {
    for point in ["transcript_line:1", "transcript_line:5", "transcript_copied:1"] {
        let (_directory, transcripts) = transcripts();
        let id = two_answers(&transcripts).await;
        damage(&transcripts, &id, "end", 1);
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "damage::child", "--test-threads", "1"]);
        command.env(DIRECTORY, transcripts.directory()).env("TOOLKIT_FAIL_POINT", point);
        assert!(!command.output().unwrap().status.success(), "{point}");
        assert_eq!(transcripts.list().len(), 1, "{point}");
        let session = agent(&transcripts, &[]).resume_or_fork(&id).unwrap();
        assert_eq!(session.messages().len(), 4, "{point}");
    }
}

#[tokio::test]
async fn a_transcript_of_version_1_is_marked_when_it_goes_on() {
    let (_directory, transcripts) = transcripts();
    let id = two_answers(&transcripts).await;
    let text = fs::read_to_string(path(&transcripts, &id)).unwrap();
    let of_version_1 = text.replacen("\"version\":3", "\"version\":1", 1);
    assert_ne!(text, of_version_1);
    fs::write(path(&transcripts, &id), &of_version_1).unwrap();
    for _ in 0..2 {
        drop(agent(&transcripts, &[]).resume(&id).unwrap());
        let marks: Vec<Value> = records(&transcripts, &id)
            .into_iter()
            .filter(|record| record["record"] == "format")
            .map(|record| record["version"].clone())
            .collect();
        assert_eq!(marks, [3]);
    }
    // A fork has one version, which its first line tells.
    let fork = transcripts.fork(&id, None).unwrap();
    let records = records(&transcripts, &fork);
    assert_eq!(records[0]["version"], 3);
    assert!(records.iter().all(|record| record["record"] != "format"));
    // Lines of a version that is not known are not read.
    fs::write(path(&transcripts, &id), format!("{of_version_1}{{\"record\":\"format\",\"version\":99}}\n"))
        .unwrap();
    let transcript_count = transcripts.list().len();
    for error in [agent(&transcripts, &[]).resume(&id), agent(&transcripts, &[]).resume_or_fork(&id)] {
        let error = error.unwrap_err();
        assert!(matches!(error, TranscriptError::NewerVersion { version: 99, .. }), "{error}");
    }
    // It is no damage, before which the conversation could go on.
    let fork_of = |record: &Value| record["forkedFrom"]["damagedLine"].is_number();
    let files = fs::read_dir(transcripts.directory()).unwrap().map(|entry| entry.unwrap().path());
    let heads = files.filter_map(|file| fs::read_to_string(file).ok()?.lines().next().map(str::to_owned));
    assert!(heads.map(|head| serde_json::from_str(&head).unwrap()).all(|head| !fork_of(&head)));
    assert_eq!(transcripts.list().len(), transcript_count);
}

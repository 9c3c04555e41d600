//! Segments of a transcript: a new one begins after each summary, and a conversation goes on without the ones before.

use crate::common::{assert_messages_whole, builder, call, finish, log, transcripts};
use crate::conversations::in_time;
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use toolkit_agent::{
    Agent, ContextSettings, ConversationOptions, Conversations, DelegationRequest, IncomingMessage, Limits,
    Retention, RewindOptions, Rewound, TranscriptError, Transcripts,
};
use toolkit_models::{Answer, Message, Scripted};

/// The messages of each conversation.
const MESSAGES: [&str; 3] = ["m1", "m2", "m3"];

/// Reads ten long texts for each message; a summary is asked for meanwhile.
fn agent(transcripts: &Transcripts) -> Agent {
    let model = Scripted::with(|request| {
        crate::common::assert_whole(&request.messages);
        let text = |message: &Message| match message {
            Message::User(message) => message.content[0].as_text().unwrap_or_default().to_owned(),
            _ => String::new(),
        };
        if text(request.messages.last().unwrap()).contains("has to be shortened") {
            return Answer::text("what was so far").into();
        }
        let task = request.messages.iter().rev().map(text).find(|text| text.starts_with('m')).unwrap();
        let marks = request.messages.iter().filter_map(|message| match message {
            Message::Assistant(answer) => answer.tool_calls().next().map(|call| call.id.clone()),
            _ => None,
        });
        let last = marks.filter_map(|mark| mark.strip_prefix(&format!("{task}-"))?.parse().ok()).next_back();
        match last.unwrap_or(0) {
            10 => finish(&format!("read {task}")).into(),
            number => {
                let id = format!("{task}-{}", number + 1);
                Answer::calls([call(&id, "long", json!({"chars": 3_000, "mark": id}))]).into()
            }
        }
    });
    builder(&log(), &Arc::new(model))
        .limits(Limits::none())
        .context(ContextSettings::new().window_tokens(6_000))
        .transcripts(transcripts.clone())
        .build()
}

fn path(transcripts: &Transcripts, id: &str, segment: u32) -> PathBuf {
    transcripts.directory().join(match segment {
        1 => format!("{id}.jsonl"),
        _ => format!("{id}.{segment}.jsonl"),
    })
}

/// The number of the last segment, which follow each other without a gap.
fn last(transcripts: &Transcripts, id: &str) -> u32 {
    (2..1_000).find(|segment| !path(transcripts, id, *segment).exists()).unwrap() - 1
}

fn records(transcripts: &Transcripts, id: &str, segment: u32) -> Vec<Value> {
    let text = fs::read_to_string(path(transcripts, id, segment)).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// A conversation with all messages, and its number of segments.
async fn conversation(transcripts: &Transcripts) -> (String, u32) {
    let conversations = Conversations::new();
    let session = agent(transcripts).session(&DelegationRequest::default()).unwrap();
    let conversation = conversations.open("c", session, ConversationOptions::new()).unwrap();
    for id in MESSAGES {
        let ended = conversation.send(IncomingMessage::new(id, id)).unwrap().ended();
        let ended = in_time(ended).await.unwrap();
        assert!(ended.result.success, "{:?}", ended.result);
    }
    conversations.end_all().await;
    let id = conversation.id().to_owned();
    let segments = last(transcripts, &id);
    assert!(segments >= 3, "{segments}");
    (id, segments)
}

#[tokio::test]
async fn a_segment_begins_after_each_summary_and_adds_up_to_the_ones_before() {
    let (_directory, transcripts) = transcripts();
    let (id, segments) = conversation(&transcripts).await;
    for segment in 1..segments {
        assert_eq!(records(&transcripts, &id, segment).last().unwrap()["record"], "summarised");
        let next = records(&transcripts, &id, segment + 1);
        assert_eq!((&next[0]["record"], &next[1]["record"]), (&json!("transcript"), &json!("carried")));
    }
    let messages = transcripts.messages(&id).unwrap();
    assert_messages_whole(&messages);
    let info = &transcripts.list()[0];
    assert_eq!((transcripts.list().len(), &*info.id, &*info.task), (1, &*id, "m1"));
    assert_eq!(info.turns, 33);
    // All answers are there still.
    assert_eq!(transcripts.replay(&id).unwrap().answers().count(), 33);
    // Nothing but the last segment is read to go on.
    for segment in 1..segments {
        fs::write(path(&transcripts, &id, segment), "damaged\n").unwrap();
    }
    let session = agent(&transcripts).resume(&id).unwrap();
    assert_eq!(session.messages(), messages);
    for message in MESSAGES {
        let run = session.consumer(message).unwrap();
        assert!(session.end_of(run).unwrap().success);
    }
    drop(session);
    let again = &transcripts.list()[0];
    assert_eq!((&again.id, &again.task, again.turns), (&info.id, &info.task, info.turns));
}

#[tokio::test]
async fn a_message_of_an_earlier_segment_can_be_forked() {
    let (_directory, transcripts) = transcripts();
    let (id, segments) = conversation(&transcripts).await;
    for segment in 1..=segments {
        let records = records(&transcripts, &id, segment);
        let answers = records.iter().filter(|record| record["record"] == "answer");
        let Some(answer) = answers.map(|record| record["id"].as_u64().unwrap()).next() else { continue };
        let fork = transcripts.fork(&id, Some(answer)).unwrap();
        let messages = transcripts.messages(&fork).unwrap();
        // With the results of its calls.
        assert_eq!(messages.last().unwrap().id, answer + 1, "segment {segment}");
        let session = agent(&transcripts).resume(&fork).unwrap();
        assert_messages_whole(&session.messages());
    }
    let whole = transcripts.fork(&id, None).unwrap();
    assert_eq!(transcripts.messages(&whole).unwrap(), transcripts.messages(&id).unwrap());
    let error = transcripts.fork(&id, Some(10_000)).unwrap_err();
    assert!(matches!(error, TranscriptError::UnknownMessage { last, .. } if last > 50), "{error}");
}

#[tokio::test]
async fn earlier_segments_are_removed_also_while_the_conversation_is_open() {
    let (_directory, transcripts) = transcripts();
    let (id, segments) = conversation(&transcripts).await;
    let messages = transcripts.messages(&id).unwrap();
    let session = agent(&transcripts).resume(&id).unwrap();
    let bytes = |segment| path(&transcripts, &id, segment).metadata().unwrap().len();
    let left = bytes(segments - 1) + bytes(segments);
    let cleaned = transcripts.clean_up(&Retention::new().max_segments(2));
    assert_eq!((cleaned.removed_segments, cleaned.left_bytes), (segments as usize - 2, left));
    assert_eq!((cleaned.removed, cleaned.in_use), (Vec::new(), Vec::new()));
    assert!(
        !path(&transcripts, &id, segments - 2).exists() && path(&transcripts, &id, segments - 1).exists()
    );
    drop(session);
    assert_eq!(agent(&transcripts).resume(&id).unwrap().messages(), messages);
    let error = transcripts.fork(&id, Some(2)).unwrap_err();
    assert!(matches!(error, TranscriptError::MissingMessages { first: 1, last, .. } if last >= 2), "{error}");
    let error = transcripts.fork(&id, Some(0)).unwrap_err();
    assert!(matches!(error, TranscriptError::UnknownMessage { .. }), "{error}");
    let info = &transcripts.list()[0];
    assert_eq!((&*info.task, info.turns), ("m1", 33));
    // The last one stays whatever the limit is.
    transcripts.clean_up(&Retention::new().max_segments(0));
    assert_eq!(agent(&transcripts).resume(&id).unwrap().messages(), messages);
}

#[tokio::test]
async fn a_message_that_cannot_be_read_any_more_is_not_rewound() {
    let is_missing = |error: &TranscriptError| matches!(error, TranscriptError::MissingMessages { .. });
    let (_directory, transcripts) = transcripts();
    let (id, segments) = conversation(&transcripts).await;
    let rewind =
        |message: Option<u64>| transcripts.rewind(&id, RewindOptions::new().message(message).force(true));
    let begin = |segment| records(&transcripts, &id, segment)[1]["nextId"].as_u64().unwrap();
    assert_eq!(rewind(Some(2)).unwrap(), Rewound::default());
    // Behind a damaged line, an earlier segment has a gap.
    let file = path(&transcripts, &id, 1);
    let whole = fs::read_to_string(&file).unwrap();
    let lines: Vec<&str> = whole.split_inclusive('\n').collect();
    fs::write(&file, lines[..lines.len() / 2].concat() + "{\n" + &lines[lines.len() / 2..].concat()).unwrap();
    let error = rewind(Some(begin(2) - 2)).unwrap_err();
    assert!(is_missing(&error), "{error}");
    assert!(rewind(Some(2)).is_ok() && rewind(Some(begin(2))).is_ok());
    // The copies of the removed segments are still put back.
    let changed = transcripts.directory().join("changed");
    fs::write(&changed, "now").unwrap();
    let copies = file.with_extension("files");
    fs::create_dir(&copies).unwrap();
    let change =
        json!({"turn": 0, "call": "1", "path": changed.canonicalize().unwrap(), "before": null, "at": 0});
    fs::write(copies.join("changes.jsonl"), format!("{change}\n")).unwrap();
    transcripts.clean_up(&Retention::new().max_segments(2));
    let error = rewind(Some(begin(segments - 1) - 1)).unwrap_err();
    assert!(is_missing(&error), "{error}");
    assert!(is_missing(&transcripts.replay(&id).unwrap_err()));
    assert!(rewind(Some(begin(segments - 1))).unwrap().removed.is_empty());
    let rewound = rewind(None).unwrap();
    assert!(rewound.removed.len() == 1 && !changed.exists(), "{rewound:?}");
    assert!(rewound.not_covered[0].contains("cannot be read any more"), "{rewound:?}");
}

/// A conversation whose last segment has a damaged line.
async fn damaged(transcripts: &Transcripts, line: usize) -> String {
    let (id, segments) = conversation(transcripts).await;
    let file = path(transcripts, &id, segments);
    let whole = fs::read_to_string(&file).unwrap();
    let mut lines: Vec<&str> = whole.lines().collect();
    lines[line - 1] = "{";
    fs::write(&file, lines.join("\n") + "\n").unwrap();
    let refused = agent(transcripts).resume(&id).unwrap_err();
    assert!(matches!(refused, TranscriptError::Corrupt { line: at, .. } if at == line), "{refused}");
    id
}

#[tokio::test]
async fn before_a_damaged_beginning_the_segment_before_goes_on() {
    for line in [1, 2] {
        let (_directory, transcripts) = transcripts();
        let id = damaged(&transcripts, line).await;
        let session = agent(&transcripts).resume_or_fork(&id).unwrap();
        assert_eq!(session.damage().unwrap().line, line);
        assert!(session.messages().iter().any(|message| format!("{message:?}").contains("what was so far")));
        // Those that the damaged segment tells of, too.
        for message in MESSAGES {
            assert!(session.consumer(message).is_some(), "{message}");
        }
    }
}

#[tokio::test]
async fn messages_that_were_consumed_behind_several_damages_stay_so() {
    let (_directory, transcripts) = transcripts();
    let id = damaged(&transcripts, 1).await;
    let before = last(&transcripts, &id) - 1;
    let file = path(&transcripts, &id, before);
    let whole = fs::read_to_string(&file).unwrap();
    let lines: Vec<&str> = whole.lines().collect();
    let consumed = json!({
        "record": "message", "id": 1_000, "kind": "task", "message": Message::user("four"), "consumes": ["m4"]
    });
    fs::write(&file, format!("{}\n{}\n{{\n{consumed}\n", lines[0], lines[1])).unwrap();
    let session = agent(&transcripts).resume_or_fork(&id).unwrap();
    assert!(session.consumer("m4").is_some());
}

#[tokio::test]
async fn a_damaged_beginning_without_the_segment_before_is_refused() {
    for line in [1, 2] {
        let (_directory, transcripts) = transcripts();
        let id = damaged(&transcripts, line).await;
        transcripts.clean_up(&Retention::new().max_segments(1));
        let error = agent(&transcripts).resume_or_fork(&id).unwrap_err();
        assert!(error.to_string().contains("begin a new conversation"), "{error}");
    }
}

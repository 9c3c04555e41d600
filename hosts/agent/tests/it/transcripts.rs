//! Transcripts: written as it happens, resumed whatever their last bytes are, forked, replayed.

use crate::common::{
    assert_messages_whole, assert_requests_whole, builder, call, finish, log, results, scripted, transcripts,
};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::sync::Arc;
use toolkit::ToolCall;
use toolkit_agent::{
    Agent, DelegationRequest, Kind, Observer, RunOptions, StopReason, TranscriptError, Transcripts,
};
use toolkit_models::{Answer, Message, ToolOutput, Usage};

fn answers() -> Vec<Answer> {
    vec![
        Answer::calls([call("1", "look", json!({"text": "a"})), call("2", "change", json!({"text": "b"}))])
            .with_usage(Usage::new(5, 5)),
        Answer::text("Half of it is done."),
        Answer::calls([call("3", "fail", json!({"text": "c"}))]),
        finish("done"),
    ]
}

/// Runs a task, and returns the transcript's id.
async fn record(transcripts: &Transcripts) -> String {
    let log = log();
    let agent = builder(&log, &scripted(answers())).transcripts(transcripts.clone()).build();
    let request = DelegationRequest::new("do it").with_agent("ada");
    let mut session = agent.session(&request).unwrap();
    let result = session.run(request, RunOptions::new()).await;
    assert!(result.success, "{result:?}");
    session.id().to_owned()
}

fn file(transcripts: &Transcripts, id: &str) -> std::path::PathBuf {
    transcripts.directory().join(format!("{id}.jsonl"))
}

fn resuming(transcripts: &Transcripts) -> Agent {
    builder(&log(), &scripted([finish("at last")])).transcripts(transcripts.clone()).build()
}

#[tokio::test]
async fn a_transcript_is_the_conversation() {
    let (_directory, transcripts) = transcripts();
    let id = record(&transcripts).await;
    let messages = transcripts.messages(&id).unwrap();
    assert_messages_whole(&messages);
    let kinds: Vec<Value> = messages.iter().map(|message| json!(message.kind)).collect();
    assert_eq!(
        kinds,
        ["task", "answer", "results", "answer", "note", "answer", "results", "answer", "results"]
    );
    let info = &transcripts.list()[0];
    assert_eq!((&*info.id, &*info.task, info.turns), (&*id, "do it", 4));
    assert_eq!(info.agent.as_deref(), Some("ada"));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&file(&transcripts, &id)), 0o600);
        assert_eq!(mode(transcripts.directory()), 0o700);
    }
}

#[tokio::test]
async fn cut_at_any_byte_it_is_resumed_and_no_call_is_repeated() {
    let (_directory, transcripts) = transcripts();
    let id = record(&transcripts).await;
    let whole = fs::read(file(&transcripts, &id)).unwrap();
    let first_line = whole.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    let mut seen_interrupted = false;
    for end in 0..=whole.len() {
        fs::write(file(&transcripts, &id), &whole[..end]).unwrap();
        let agent = resuming(&transcripts);
        if end < first_line {
            assert!(matches!(agent.resume(&id), Err(TranscriptError::Corrupt { .. })), "{end}");
            continue;
        }
        let session = agent.resume(&id).unwrap();
        let messages = session.messages();
        assert_messages_whole(&messages);
        let text = format!("{messages:?}");
        seen_interrupted |= text.contains("interrupted") && text.contains("not run");
        drop(session);
        // Read again, it is the same: what was lost has its result in the file.
        assert_eq!(transcripts.messages(&id).unwrap(), messages, "{end}");
    }
    assert!(seen_interrupted);
}

#[tokio::test]
async fn a_call_that_had_started_is_interrupted_and_the_run_goes_on() {
    let (_directory, transcripts) = transcripts();
    let id = record(&transcripts).await;
    let path = file(&transcripts, &id);
    let whole = fs::read_to_string(&path).unwrap();
    // Up to the start of the second call.
    let lines: Vec<&str> = whole.lines().collect();
    let started =
        lines.iter().rposition(|line| line.contains("\"started\"") && line.contains("[1]")).unwrap();
    fs::write(&path, format!("{}\n{{\"record\":\"resu", lines[..=started].join("\n"))).unwrap();
    let (log, model) = (log(), scripted([finish("at last")]));
    let agent = builder(&log, &model).transcripts(transcripts.clone()).build();
    let mut session = agent.resume(&id).unwrap();
    let result = session.go_on(RunOptions::new()).await;
    assert!(result.success);
    assert_eq!(log.lines(), [""; 0], "no call is repeated");
    let requests = model.requests();
    assert_requests_whole(&requests);
    let results = results(&requests[0].messages);
    assert_eq!((&*results[0].1, results[0].2), ("a", false));
    assert!(results[1].2 && results[1].1.starts_with("interrupted"), "{results:?}");
    assert_eq!(transcripts.list()[0].turns, 2);
}

#[tokio::test]
async fn a_session_is_not_opened_while_it_is_unknown_what_became_of_a_call() {
    let (_directory, transcripts) = transcripts();
    let id = record(&transcripts).await;
    let path = file(&transcripts, &id);
    let whole = fs::read_to_string(&path).unwrap();
    let is_started = |line: &&str| line.contains("\"started\"") && line.contains("[1]");
    let started = whole.lines().position(|line| is_started(&line)).unwrap();
    let lines: Vec<&str> = whole.lines().take(started + 1).chain([""]).collect();
    let begun = lines.join("\n");
    fs::write(&path, &begun).unwrap();
    let model = scripted([finish("at last")]);
    let with = |recovery: fn(&ToolCall) -> Result<Option<ToolOutput>, String>| {
        let agent = builder(&log(), &model).transcripts(transcripts.clone());
        agent.recovery(move |_, call| recovery(call)).build()
    };
    let failing = with(|_| Err("the disk is away".to_owned()));
    let error = failing.resume(&id).unwrap_err();
    assert!(matches!(&error, TranscriptError::Unrecovered { reason, .. } if reason == "the disk is away"));
    assert_eq!(fs::read_to_string(&path).unwrap(), begun, "nothing is said of the call");
    let knowing = with(|call| Ok(Some(ToolOutput::text(call, "done by then"))));
    assert!(knowing.resume(&id).unwrap().go_on(RunOptions::new()).await.success);
    let results = results(&model.requests()[0].messages);
    assert_eq!((&*results[1].1, results[1].2), ("done by then", false));
}

#[tokio::test]
async fn what_was_said_before_is_there_when_it_is_resumed() {
    let (_directory, transcripts) = transcripts();
    let id = record(&transcripts).await;
    let before = transcripts.messages(&id).unwrap();
    let model = scripted([finish("more")]);
    let agent = builder(&log(), &model).transcripts(transcripts.clone()).build();
    let mut session = agent.resume(&id).unwrap();
    assert!(session.run(DelegationRequest::new("and more"), RunOptions::new()).await.success);
    let sent = &model.requests()[0].messages;
    let expected: Vec<Message> = before.into_iter().map(|message| message.message).collect();
    assert!(sent.starts_with(&expected));
    assert_eq!(sent.last(), Some(&Message::user("and more")));
    assert_eq!(session.files_modified(), [std::path::PathBuf::from("/b")]);
}

#[tokio::test]
async fn only_one_run_writes_a_transcript() {
    let (_directory, transcripts) = transcripts();
    let agent = resuming(&transcripts);
    let session = agent.session(&DelegationRequest::new("x")).unwrap();
    let id = session.id().to_owned();
    let error = agent.resume(&id).unwrap_err();
    assert!(matches!(error, TranscriptError::InUse { .. }), "{error}");
    drop(session);
    assert!(agent.resume(&id).is_ok());
}

#[tokio::test]
async fn a_fork_is_a_conversation_of_its_own() {
    let (_directory, transcripts) = transcripts();
    let id = record(&transcripts).await;
    let messages = transcripts.messages(&id).unwrap();
    for message in &messages {
        let fork = transcripts.fork(&id, Some(message.id)).unwrap();
        assert_ne!(fork, id);
        let copy = transcripts.messages(&fork).unwrap();
        assert_messages_whole(&copy);
        // The results of its calls belong to an answer.
        let last = copy.last().unwrap();
        let is_results = last.kind == Kind::Results && last.id == message.id + 1;
        assert!(last.id == message.id || is_results, "{message:?}");
        assert_eq!(copy[..], messages[..copy.len()]);
        let mut session = resuming(&transcripts).resume(&fork).unwrap();
        assert!(session.go_on(RunOptions::new()).await.success);
    }
    assert_eq!(transcripts.messages(&id).unwrap(), messages);
    assert_eq!(transcripts.messages(&transcripts.fork(&id, None).unwrap()).unwrap(), messages);
    let error = transcripts.fork(&id, Some(99)).unwrap_err();
    assert!(error.to_string().contains("has no message 99"), "{error}");
}

#[tokio::test]
async fn a_run_is_replayed_without_a_model() {
    let (_directory, transcripts) = transcripts();
    let id = record(&transcripts).await;
    let log = log();
    let model = Arc::new(transcripts.replay(&id).unwrap().model());
    let result = builder(&log, &model).build().run(DelegationRequest::new("do it"), Observer::none()).await;
    assert!(result.success);
    assert_eq!(log.lines(), ["look a", "change b"]);
    let sent: Vec<Message> = model.requests().last().unwrap().messages.clone();
    let recorded: Vec<Message> =
        transcripts.messages(&id).unwrap().into_iter().map(|message| message.message).collect();
    assert_eq!(sent[..], recorded[..sent.len()]);
}

#[tokio::test]
async fn damage_is_said_with_its_line_and_what_stands_before_can_be_forked() {
    let (_directory, transcripts) = transcripts();
    let id = record(&transcripts).await;
    let path = file(&transcripts, &id);
    let whole = fs::read_to_string(&path).unwrap();
    let mut lines: Vec<&str> = whole.lines().collect();
    lines[4] = "{\"record\": \"message\"";
    fs::write(&path, lines.join("\n") + "\n").unwrap();
    let error = resuming(&transcripts).resume(&id).unwrap_err();
    assert!(matches!(error, TranscriptError::Corrupt { line: 5, .. }), "{error}");
    let fork = transcripts.fork(&id, None).unwrap();
    let session = resuming(&transcripts).resume(&fork).unwrap();
    assert_messages_whole(&session.messages());
    // A line that cannot follow the others is damage too.
    lines[4] = r#"{"record":"result","answer":77,"call":0,"output":{"callId":"1","name":"x","content":[]}}"#;
    fs::write(&path, lines.join("\n") + "\n").unwrap();
    assert!(matches!(transcripts.messages(&id), Err(TranscriptError::Corrupt { line: 5, .. })));
}

#[tokio::test]
async fn an_id_names_no_file_elsewhere() {
    let (directory, transcripts) = transcripts();
    fs::write(directory.path().join("other.jsonl"), "{}").unwrap();
    for id in ["../other", "", "a/b", "nobody", "..", &"a".repeat(500)] {
        assert!(matches!(transcripts.messages(id), Err(TranscriptError::Unknown { .. })), "{id}");
    }
}

#[cfg(unix)]
#[tokio::test]
async fn nothing_is_done_that_cannot_be_recorded() {
    // Nobody but root could write there all the same.
    let (_directory, transcripts) = transcripts();
    let log = log();
    fs::create_dir_all(transcripts.directory().parent().unwrap()).unwrap();
    fs::write(transcripts.directory(), "a file").unwrap();
    let agent = builder(&log, &scripted(answers())).transcripts(transcripts.clone()).build();
    let result = agent.run(DelegationRequest::new("x"), Observer::none()).await;
    assert_eq!(result.stop_reason, StopReason::TranscriptError);
    assert_eq!(log.lines(), [""; 0]);
}

#[tokio::test]
async fn a_transcript_of_another_workspace_is_not_resumed() {
    let (directory, transcripts) = transcripts();
    let (one, other) = (directory.path().join("one"), directory.path().join("other"));
    fs::create_dir(&one).unwrap();
    fs::create_dir(&other).unwrap();
    let agent = |workspace: &Path| {
        let caller = toolkit::Caller::new().with_workspace(workspace);
        let model = scripted([finish("done")]);
        builder(&log(), &model).caller(caller).transcripts(transcripts.clone()).build()
    };
    let request = DelegationRequest::new("do it");
    let mut session = agent(&one).session(&request).unwrap();
    assert!(session.run(request, RunOptions::new()).await.success);
    let id = session.id().to_owned();
    drop(session);
    let before = fs::read(file(&transcripts, &id)).unwrap();
    for error in [agent(&other).resume(&id).unwrap_err(), agent(&other).fork(&id, None).unwrap_err()] {
        assert!(matches!(error, TranscriptError::OtherWorkspace { .. }), "{error}");
        assert!(error.to_string().contains(&one.display().to_string()), "{error}");
    }
    assert_eq!(fs::read(file(&transcripts, &id)).unwrap(), before);
    assert_eq!(transcripts.list().len(), 1);
    // The same directory by another path is the same workspace.
    #[cfg(unix)]
    {
        let link = directory.path().join("link");
        std::os::unix::fs::symlink(&one, &link).unwrap();
        assert!(agent(&link).resume(&id).is_ok());
    }
    assert!(agent(&one).fork(&id, None).is_ok());

    // As for an agent whose directory moves.
    let caller = toolkit::Caller::new().with_workspace(&other);
    let model = scripted([finish("again")]);
    let builder = builder(&log(), &model).caller(caller).transcripts(transcripts.clone());
    let mut moved = builder.in_any_workspace().build().resume(&id).unwrap();
    assert!(moved.run(DelegationRequest::new("go on"), RunOptions::new()).await.success);
    let system = model.requests()[0].system.clone();
    assert!(system.contains(&other.display().to_string()), "{system}");
}

#[tokio::test]
async fn a_sub_agents_transcript_is_forked_and_not_resumed() {
    let (_directory, transcripts) = transcripts();
    let model = Arc::new(toolkit_models::Scripted::with(|request| {
        let is_first = request.messages.len() == 1;
        let Message::User(task) = &request.messages[0] else { panic!("{request:?}") };
        match task.content[0].as_text() {
            Some("main") if is_first => {
                Answer::calls([call("d", "delegate", json!({"task": "part"}))]).into()
            }
            _ => finish("done").into(),
        }
    }));
    let limits = toolkit_agent::Limits::none().max_depth(1);
    let agent = builder(&log(), &model).limits(limits).transcripts(transcripts.clone()).build();
    assert!(agent.run(DelegationRequest::new("main"), Observer::none()).await.success);
    let sub = transcripts.list().into_iter().find(|info| info.depth == 1).unwrap();
    let error = agent.resume(&sub.id).unwrap_err();
    assert!(matches!(error, TranscriptError::SubAgent { .. }), "{error}");
    let copy = agent.fork(&sub.id, None).unwrap();
    assert_eq!(copy.messages().len(), transcripts.messages(&sub.id).unwrap().len());
    let info = transcripts.list().into_iter().find(|info| info.id == copy.id()).unwrap();
    assert_eq!(info.depth, 0);
}

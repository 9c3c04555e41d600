//! A process that is killed at any point within a run: the run is resumed, its conversation is whole, and no call is made twice.

use crate::common::{assert_messages_whole, assert_whole};
use serde_json::json;
use std::collections::HashSet;
use std::fs::{self, OpenOptions};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Arc;
use toolkit::prelude::*;
use toolkit::tool_ref;
use toolkit_agent::{Agent, AgentEvent, DelegationRequest, Limits, RunOptions, Transcripts};
use toolkit_models::{Answer, Message, Scripted};

/// The directory in which the child works; it is a child where this is set.
const DIRECTORY: &str = "TOOLKIT_AGENT_TEST_KILLED_IN";
/// How many turns the task takes.
const TURNS: usize = 6;

struct Effects(PathBuf);

impl Effects {
    fn note(&self, text: &str) {
        let mut file = OpenOptions::new().create(true).append(true).open(&self.0).unwrap();
        file.write_all(format!("{text}\n").as_bytes()).unwrap();
        point();
    }
}

/// Tells the parent that a further point is reached, and reads a byte from it: it waits for one, and goes on at the end of the input.
fn point() {
    {
        let mut out = std::io::stdout().lock();
        let _ = out.write_all(b"point\n").and_then(|()| out.flush());
    }
    let _ = std::io::stdin().lock().read_exact(&mut [0]);
}

/// Does something that must not be done twice.
#[tool(auto_execute)]
async fn effect(effects: State<Effects>, id: String) -> ToolOutput {
    effects.note(&id);
    tokio::task::yield_now().await;
    point();
    ToolOutput::text(format!("did {id}"))
}

/// Looks.
#[tool(read_only)]
async fn glance(id: String) -> String {
    point();
    id
}

/// The program that is killed: it begins the task, or goes on with it.
#[test]
fn child() {
    let Some(directory) = std::env::var_os(DIRECTORY).map(PathBuf::from) else { return };
    let toolkit = Toolkit::empty()
        .tool(tool_ref!(effect))
        .tool(tool_ref!(glance))
        .service(Effects(directory.join("effects")))
        .build()
        .unwrap();
    let model = Scripted::with(|request| {
        point();
        assert_whole(&request.messages);
        let turn = request.messages.iter().filter(|message| matches!(message, Message::Assistant(_))).count();
        if turn >= TURNS {
            return crate::common::finish("done").into();
        }
        let effect = |number: usize| {
            let id = format!("{turn}-{number}");
            crate::common::call(&id, "effect", json!({"id": id}))
        };
        let glance = crate::common::call(&format!("{turn}-g"), "glance", json!({"id": "g"}));
        Answer::calls([effect(0), glance.clone(), effect(1), effect(2)]).into()
    });
    let transcripts = Transcripts::new(directory.join("agents"));
    let agent = Agent::builder(toolkit, Arc::new(model))
        .limits(Limits::none())
        .transcripts(transcripts.clone())
        .build();
    let options = RunOptions::new().observer(|_: AgentEvent| point());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let result = runtime.block_on(async {
        let request = DelegationRequest::new("do all of it");
        match transcripts.list().first() {
            None => agent.run_with(request, options).await,
            Some(info) if transcripts.messages(&info.id).unwrap().is_empty() => {
                agent.resume(&info.id).unwrap().run(request, options).await
            }
            Some(info) => agent.resume(&info.id).unwrap().go_on(options).await,
        }
    });
    assert!(result.success, "{result:?}");
    fs::write(directory.join("done"), "").unwrap();
}

fn start(directory: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "kill::child", "--nocapture", "--test-threads", "1"])
        .env(DIRECTORY, directory)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Lets the program pass so many points. At the next one it waits until the returned value is dropped, so that it does not end before a
/// slow parent kills it. Where the points may be more than a pipe has room for, it waits at none.
fn let_go(child: &mut Child, points: usize) -> Option<ChildStdin> {
    let mut input = child.stdin.take().unwrap();
    if points > 1000 {
        return None;
    }
    // An error is ignored: it may have ended.
    let _ = input.write_all(&vec![0_u8; points]);
    Some(input)
}

/// Kills the program after `points` points, and again, until it is done.
pub(crate) fn check(points: &mut dyn FnMut() -> usize) -> usize {
    let directory = tempfile::tempdir().unwrap();
    let mut kills = 0;
    while !directory.path().join("done").exists() {
        assert!(kills < 500, "it comes to no end");
        let mut child = start(directory.path());
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut left = points();
        let input = let_go(&mut child, left);
        while left > 0 && lines.next().is_some_and(|line| line.is_ok()) {
            left -= 1;
        }
        if left == 0 {
            child.kill().unwrap();
            kills += 1;
            let _ = child.wait_with_output();
        } else {
            drop(input);
            let output = child.wait_with_output().unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        }
        check_transcript(directory.path());
    }
    kills
}

fn check_transcript(directory: &Path) {
    let transcripts = Transcripts::new(directory.join("agents"));
    let list = transcripts.list();
    assert!(list.len() <= 1, "{list:?}");
    let effects = fs::read_to_string(directory.join("effects")).unwrap_or_default();
    let mut seen = HashSet::new();
    for effect in effects.lines() {
        assert!(seen.insert(effect.to_owned()), "{effect} was done twice");
    }
    let Some(info) = list.first() else { return };
    let messages = transcripts.messages(&info.id).unwrap();
    if directory.join("done").exists() {
        assert_messages_whole(&messages);
        // Each kill after the last answer, and before the test knew of it, makes the model answer once more.
        assert!(info.turns as usize > TURNS, "{} turns", info.turns);
        // A result that says so was done, and what is reported as not run was not.
        let texts = crate::common::results(messages.iter().map(|message| &message.message));
        for (id, text, is_error) in texts {
            match (text.strip_prefix("did "), is_error) {
                (Some(done), false) => assert!(seen.contains(done), "{id}"),
                _ if text.starts_with("not run") => assert!(!seen.contains(&id), "{id}"),
                _ => {}
            }
        }
    }
}

#[test]
fn killed_at_some_points_it_is_resumed() {
    // Early and late ones, in one run and in runs after each other.
    let mut points = [3, 1, 9, 17, 2, 30, 5, 45, 26].into_iter().chain(std::iter::repeat(usize::MAX));
    let kills = check(&mut || points.next().unwrap_or(usize::MAX));
    assert!(kills >= 5, "{kills}");
}

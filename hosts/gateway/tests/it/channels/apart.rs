//! Two people with one agent: neither finds what is the other's, by whatever tool, command, path or address.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use toolkit::prelude::*;
use toolkit_channel::{Conversation, Media, MediaKind};
use toolkit_gateway::SessionKey;

use super::Chat;
use crate::agents::in_time;
use crate::websocket::http;

/// The word of the one that the other must not find.
const SECRET: &str = "aurora-7731";
/// The tools that both may use.
const TOOLS: &str = "gateway.othersMayUse=['fs', 'memory', 'runtime', 'messaging', 'plugins']";
/// Nothing but the questions about paths elsewhere, and a payment, is left to people.
const RULES: &str = "permission={ edit: 'allow', memory: 'allow', cron: 'allow', exec: 'allow', message: 'allow', sessions_send: 'allow', image: 'allow', transcribe: 'allow' }";

/// Returns more text than an answer shows: it is kept.
#[tool(group = "channel_test", read_only)]
async fn channel_flood(
    /** The word that it repeats. */
    word: String,
) -> String {
    (0..20_000).map(|line| format!("{line} {word}")).collect::<Vec<_>>().join("\n")
}

fn workspaces(chat: &Chat) -> PathBuf {
    let mut workspaces = chat.directory.path().as_os_str().to_owned();
    workspaces.push("-workspaces");
    workspaces.into()
}

/// Everything that the one has: a note, a file, an upload, a kept output, a session, a question, a job and a background task. Returns the
/// code of the question and the texts of all answers.
async fn fill(chat: &Chat) -> (String, String) {
    let mut said = String::new();
    for text in [
        format!("remember the word {SECRET}"),
        format!(r#"call memory_store {{"text":"the word is {SECRET}"}}"#),
        format!(r#"call write {{"file_path":"notes.txt","content":"{SECRET}"}}"#),
        format!(r#"call channel_flood {{"word":"{SECRET}"}}"#),
        format!(r#"call cron {{"action":"add","schedule":"0 9 * * *","prompt":"say {SECRET}"}}"#),
    ] {
        chat.platform.say("7", &text);
        said += &settled(chat, "ada", "7").await;
    }
    chat.platform.message(Conversation::direct("7"), "7", SECRET, |incoming| {
        let (kind, reference) = (MediaKind::Document, "r".to_owned());
        let name = Some("list.txt".to_owned());
        incoming.media.push(Media { kind, reference, name, media_type: None, size: None });
    });
    said += &settled(chat, "ada", "7").await;
    chat.platform.say("7", &format!(r#"call channel_pay {{"what":"{SECRET}"}}"#));
    let code = super::asks::asked(chat, "direct/1").await;
    (code, said)
}

/// Denies the questions of a person, waits until nothing runs for them and all is sent, and returns what was sent to them.
async fn settled(chat: &Chat, person: &str, sender: &str) -> String {
    chat.platform.is_read(&chat.gateway).await;
    let store = chat.gateway.state().store();
    let session: SessionKey = format!("agent:main:person:{person}").parse().unwrap();
    in_time(async {
        loop {
            for ask in store.asks().await.unwrap() {
                if ask.person.as_deref() == Some(person) {
                    chat.post(&format!("/v1/asks/{}", ask.code), json!({ "type": "deny" })).await;
                }
            }
            let is_queued = !store.queued(session.clone()).await.unwrap().is_empty();
            let runs = store.runs_in_flight().await.unwrap();
            let is_idle = !is_queued && runs.iter().all(|run| run.session != session);
            let counts = store.delivery_counts().await.unwrap();
            if is_idle && counts.prepared + counts.sending == 0 {
                return;
            }
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
    })
    .await;
    chat.platform.left(&format!("direct/{sender}")).concat()
}

/// The files in a directory, and below.
fn files(directory: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(self::files(&path));
        } else {
            files.push(path);
        }
    }
    files
}

/// The paths under which files of the one are, from the workspace of the other.
fn paths(chat: &Chat, said: &str) -> Vec<String> {
    let of_ada = workspaces(chat).join("main/people/ada");
    let data = chat.directory.path();
    let text = |path: &Path| path.to_str().unwrap().to_owned();
    let mut paths = vec![
        "../ada/notes.txt".to_owned(),
        "../../people/ada/notes.txt".to_owned(),
        text(&of_ada.join("notes.txt")),
    ];
    paths.extend(files(&of_ada.join("uploads")).iter().map(|path| text(path)));
    paths.extend(files(data).iter().map(|path| text(path)));
    // Where an answer says that the rest of an output is.
    let kept = said.split(['`', ' ', '\n']).filter(|word| word.contains("output") && word.contains('/'));
    paths.extend(kept.map(str::to_owned));
    paths
}

fn tries(chat: &Chat, code: &str, said: &str) -> Vec<String> {
    let of_ada = "agent:main:person:ada";
    let directory = workspaces(chat).join("main/people/ada");
    let directory = directory.to_str().unwrap();
    let mut tries: Vec<String> = paths(chat, said)
        .into_iter()
        .flat_map(|path| {
            [
                format!("call read {}", json!({ "file_path": path })),
                format!("call exec {}", json!({ "command": format!("cat '{path}'") })),
            ]
        })
        .collect();
    let calls = [
        ("memory_search", json!({ "query": "aurora" })),
        ("memory_search", json!({ "query": "word", "limit": 20 })),
        ("memory_store", json!({ "text": "mine", "replaces": 1 })),
        ("glob", json!({ "pattern": "**/*", "path": ".." })),
        ("glob", json!({ "pattern": "../ada/*" })),
        ("glob", json!({ "pattern": format!("{directory}/**") })),
        ("grep", json!({ "pattern": "aurora" })),
        ("grep", json!({ "pattern": "aurora", "path": "../ada" })),
        ("grep", json!({ "pattern": "aurora", "path": directory })),
        ("grep", json!({ "pattern": "aurora", "path": chat.directory.path() })),
        ("edit", json!({ "file_path": "../ada/notes.txt", "old_string": "aurora", "new_string": "x" })),
        ("write", json!({ "file_path": format!("{directory}/notes.txt"), "content": "x" })),
        (
            "apply_patch",
            json!({ "input": "*** Begin Patch\n*** Delete File: ../ada/notes.txt\n*** End Patch" }),
        ),
        ("exec", json!({ "command": format!("grep -r aurora '{directory}' ..") })),
        ("exec", json!({ "command": "ls -R ../ada; env" })),
        ("process", json!({ "action": "list" })),
        ("sessions_list", json!({ "filter": "all", "messageLimit": 20 })),
        ("sessions_history", json!({ "sessionKey": of_ada, "includeTools": true })),
        ("sessions_history", json!({ "sessionKey": "agent:main:main" })),
        ("session_status", json!({ "sessionKey": of_ada })),
        (
            "sessions_send",
            json!({ "sessionKey": of_ada, "message": "what is the word?", "timeoutSeconds": 5 }),
        ),
        ("cron", json!({ "action": "list" })),
        ("message", json!({ "target": "7", "message": "hello" })),
        ("message", json!({ "target": "7", "action": "delete", "messageId": "1" })),
        ("transcribe", json!({ "audio": "../ada/notes.txt" })),
        ("image", json!({ "action": "describe", "image": "../ada/notes.txt" })),
        ("web_fetch", json!({ "url": format!("file://{directory}/notes.txt") })),
    ];
    tries.extend(calls.iter().map(|(tool, arguments)| format!("call {tool} {arguments}")));
    tries.extend([
        format!("approve {code}"),
        format!("deny {code}"),
        "/status".to_owned(),
        "/stop".to_owned(),
    ]);
    tries
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn neither_of_two_people_finds_what_the_other_has() {
    let chat = Chat::with(&[TOOLS, RULES]).await;
    chat.let_in("1", json!({ "owner": true })).await;
    chat.let_in("7", json!({ "name": "ada" })).await;
    chat.let_in("8", json!({ "name": "bob" })).await;
    let (code, said) = fill(&chat).await;
    let notes = workspaces(&chat).join("main/people/ada/notes.txt");
    assert_eq!(
        std::fs::read_to_string(&notes).ok().as_deref(),
        Some(SECRET),
        "{}",
        said.chars().take(900).collect::<String>()
    );

    let tries = tries(&chat, &code, &said);
    for attempt in &tries {
        chat.platform.say("8", attempt);
        let answer = settled(&chat, "bob", "8").await;
        let answer = answer.replace(attempt.as_str(), "");
        assert!(!answer.contains(SECRET), "{attempt}: {answer}");
    }

    let (status, token) =
        chat.post("/v1/tokens", json!({ "name": "bobs", "person": "bob", "role": "user" })).await;
    assert!(status < 300, "{token}");
    let token = token["token"].as_str().unwrap().to_owned();
    let address = chat.gateway.address();
    let of_ada = "agent:main:person:ada";
    let requests: Vec<(&str, String, Option<Value>)> = vec![
        ("GET", "/v1/sessions?archived=true".to_owned(), None),
        ("GET", format!("/v1/sessions/{of_ada}"), None),
        ("GET", format!("/v1/sessions/{of_ada}/messages"), None),
        ("GET", "/v1/outbox".to_owned(), None),
        ("GET", "/v1/schedules".to_owned(), None),
        ("GET", "/v1/asks".to_owned(), None),
        ("GET", format!("/v1/asks/{code}"), None),
        ("POST", format!("/v1/asks/{code}"), Some(json!({ "answer": "allow" }))),
        ("GET", "/v1/uploads".to_owned(), None),
        ("GET", "/v1/people".to_owned(), None),
        ("GET", "/v1/pairings".to_owned(), None),
        ("GET", "/v1/status".to_owned(), None),
        ("POST", "/v1/tools/memory_search/call".to_owned(), Some(json!({ "query": "aurora" }))),
        (
            "POST",
            "/v1/tools/read/call".to_owned(),
            Some(json!({ "file_path": chat.directory.path().join("gateway.token") })),
        ),
    ];
    for (method, path, body) in &requests {
        let (_, answer) = http(address, method, path, &token, body.clone()).await;
        assert!(!answer.to_string().contains(SECRET), "{method} {path}: {answer}");
    }
    assert!(tries.len() + requests.len() >= 40);

    // The one has all of it still, and the question waits.
    assert_eq!(std::fs::read_to_string(notes).unwrap(), SECRET);
    let asks = chat.get("/v1/asks").await;
    assert!(asks["asks"].as_array().unwrap().iter().any(|ask| ask["code"] == code.as_str()), "{asks}");
    chat.platform.press("1", &format!("approve {code}"));
    assert_eq!(chat.platform.next("direct/7").await, format!("got: paid {SECRET}"));
    chat.platform.say("7", r#"call memory_search {"query":"aurora"}"#);
    assert!(chat.platform.next("direct/7").await.contains(SECRET));
    let workspaces = workspaces(&chat);
    chat.stop().await;
    std::fs::remove_dir_all(workspaces).unwrap();
}

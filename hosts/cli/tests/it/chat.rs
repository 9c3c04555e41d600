//! `chat`, at a terminal and from the lines of standard input.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

use crate::agent::{Bench, call, chunks};
use crate::fixture::terminal::Terminal;
use serde_json::{Value, json};
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
#[cfg(target_os = "linux")]
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;
use toolkit_loopback::Answer;
use toolkit_tests::run;

/// The sign that keys are read: the terminal is asked to mark pasted text.
const READY: &str = "\u{1b}[?2004h";

fn text(text: &str) -> Answer {
    chunks(&json!({"role": "assistant", "content": text}), "stop")
}

/// Runs `chat` on a terminal of its own, with `script` as the person at it.
async fn at_a_terminal(
    bench: &Bench,
    args: &str,
    script: impl FnOnce(Terminal) -> Terminal + Send + 'static,
) -> (String, Option<i32>) {
    let line = format!("'{}' chat {args}", env!("CARGO_BIN_EXE_toolkit"));
    let mut environment = std::process::Command::new("true");
    bench.prepare(&mut environment);
    let variables: Vec<_> = environment
        .get_envs()
        .filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned())))
        .collect();
    let work = bench.work();
    let ended = tokio::task::spawn_blocking(move || {
        let terminal = Terminal::running(&line, |mut command| {
            command.current_dir(work).envs(variables).env("TERM", "xterm").env("NO_COLOR", "1");
            command
        });
        script(terminal).end()
    });
    ended.await.unwrap()
}

/// The texts of the user in a request.
fn said(request: &Value) -> Vec<String> {
    let messages = request["messages"].as_array().unwrap().iter();
    messages.filter(|message| message["role"] == "user").map(|message| text_of(&message["content"])).collect()
}

fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        parts => parts.as_array().unwrap().iter().filter_map(|part| part["text"].as_str()).collect(),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn each_line_of_standard_input_is_a_message() {
    let bench = Bench::new([
        text("Good day."),
        call("1", "read", &json!({"file_path": "notes.txt"})),
        text("The milk."),
        text("You are welcome."),
    ])
    .await;
    let input = "Hello\n\nWhat do I have \\\nto remember?\n/tools\n/nothing\n/new\nThanks\n";
    let mut command = bench.any_command(&["chat"]);
    let output = tokio::task::spawn_blocking(move || {
        let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let mut child = child.unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        child.wait_with_output().unwrap()
    });
    let output = output.await.unwrap();
    let (out, err) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert!(output.status.success(), "{err}");
    assert_eq!(out, "Good day.\nThe milk.\nYou are welcome.\n");
    assert!(err.contains("read") && err.contains("no command `/nothing`"), "{err}");
    let requests = bench.server.requests();
    assert_eq!(said(&requests[1].json()), ["Hello", "What do I have \nto remember?"]);
    assert_eq!(said(&requests[3].json()), ["Thanks"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conversation_is_resumed() {
    let bench = Bench::new([text("one"), text("two")]).await;
    for (args, line) in [(&["chat"][..], "first\n"), (&["chat", "--resume"], "second")] {
        let mut command = bench.any_command(args);
        let output = tokio::task::spawn_blocking(move || {
            let mut child =
                command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
            child.stdin.take().unwrap().write_all(line.as_bytes()).unwrap();
            child.wait_with_output().unwrap()
        });
        assert!(output.await.unwrap().status.success());
    }
    assert_eq!(said(&bench.server.requests()[1].json()), ["first", "second"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_conversation_goes_on_before_the_damage_and_says_so() {
    let bench = Bench::new([text("one"), text("two"), text("three")]).await;
    let say = async |args: &[&str], line: &'static str| {
        let mut command = bench.any_command(args);
        let output = tokio::task::spawn_blocking(move || {
            let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
            let mut child = child.unwrap();
            child.stdin.take().unwrap().write_all(line.as_bytes()).unwrap();
            child.wait_with_output().unwrap()
        });
        let output = output.await.unwrap();
        assert!(output.status.success());
        (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
    };
    say(&["chat"], "first\n").await;
    let agents = bench.directory.path().join("data/agents");
    let file = std::fs::read_dir(&agents).unwrap().next().unwrap().unwrap().path();
    let id = file.file_stem().unwrap().to_str().unwrap().to_owned();
    let damaged = std::fs::read_to_string(&file).unwrap() + "{\"record\":\n";
    std::fs::write(&file, &damaged).unwrap();
    let resume = format!("--resume={id}");
    let (_, err) = say(&["chat", &resume], "second\n").await;
    let line = damaged.lines().count();
    assert!(err.contains(&format!("transcript `{id}` is damaged: line {line} cannot be read")), "{err}");
    let fork = err.split("goes on in transcript `").nth(1).unwrap().split('`').next().unwrap();
    assert!(err.contains(&format!("Continuing {fork}")), "{err}");
    // By its old id, it goes on in the same fork.
    let (_, err) = say(&["chat", &resume], "third\n").await;
    assert!(err.contains(&format!("Continuing {fork}")), "{err}");
    assert_eq!(said(&bench.server.requests()[1].json()), ["first", "second"]);
    assert_eq!(said(&bench.server.requests()[2].json()), ["first", "second", "third"]);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), damaged);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_that_fails_is_the_exit_code_at_the_end() {
    let bench = Bench::new([Answer::json(400, &json!({"error": {"message": "no such model"}}))]).await;
    let mut command = bench.any_command(&["chat"]);
    let output = tokio::task::spawn_blocking(move || {
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(b"Hello\n").unwrap();
        child.wait_with_output().unwrap()
    });
    let output = output.await.unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8(output.stderr).unwrap().contains("no such model"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_talks_completes_and_leaves() {
    let bench = Bench::new([text("Good day."), text("As you wish.")]).await;
    let (seen, code) = at_a_terminal(&bench, "", |terminal| {
        terminal
            .then(READY)
            .type_in("/he\t\r")
            .then("/session")
            .then(READY)
            .type_in("Look at not\t\r")
            .then("Good day.")
            .then(READY)
            .type_in("two \\\rlines\r")
            .then("As you wish.")
            .then(READY)
            .type_in("\u{4}")
    })
    .await;
    assert_eq!(code, Some(0), "{seen}");
    assert!(seen.contains("--resume="), "{seen}");
    let requests = bench.server.requests();
    assert_eq!(said(&requests[1].json()), ["Look at notes.txt", "two \nlines"]);
    // The lines are remembered, for their owner alone.
    let history = bench.directory.path().join("data/chat_history");
    assert!(std::fs::read_to_string(&history).unwrap().contains("Look at notes.txt"));
    assert_eq!(std::fs::metadata(&history).unwrap().permissions().mode() & 0o077, 0);
}

/// Returns the directories in `/proc` of the processes of `chat` in a directory.
#[cfg(target_os = "linux")]
fn chats(work: &Path) -> Vec<PathBuf> {
    let is_chat = |process: &Path| {
        let words = std::fs::read(process.join("cmdline")).unwrap_or_default();
        let words: Vec<&[u8]> = words.split(|byte| *byte == 0).collect();
        words.get(1) == Some(&&b"chat"[..])
            && std::fs::read_link(process.join("cwd")).is_ok_and(|cwd| cwd == work)
    };
    let processes = std::fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path());
    processes.filter(|process| is_chat(process)).collect()
}

/// Returns how often each thread of the processes of `chat` in a directory went to sleep so far. A thread that ended is left out.
#[cfg(target_os = "linux")]
fn sleeps(work: &Path) -> std::collections::HashMap<PathBuf, u64> {
    let threads = chats(work)
        .into_iter()
        .flat_map(|process| std::fs::read_dir(process.join("task")).into_iter().flatten().flatten());
    let of_thread = |thread: std::fs::DirEntry| {
        let status = std::fs::read_to_string(thread.path().join("status")).ok()?;
        let count = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"))?;
        Some((thread.path(), count.trim().parse::<u64>().ok()?))
    };
    threads.filter_map(of_thread).collect()
}

/// Waits until `chat` in a directory has read each line that its terminal has echoed.
#[cfg(target_os = "linux")]
fn wait_until_read(work: &Path) {
    use rustix::fs::{Mode, OFlags};
    let standard_inputs = chats(work).into_iter().map(|process| process.join("fd/0"));
    let mut terminals =
        standard_inputs.filter(|input| std::fs::read_link(input).is_ok_and(|at| at.starts_with("/dev/pts")));
    let path = terminals.next().expect("`chat` at a terminal");
    let flags = OFlags::RDONLY | OFlags::NOCTTY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let terminal = rustix::fs::open(path, flags, Mode::empty()).unwrap();
    let begin = std::time::Instant::now();
    let unread = || rustix::io::ioctl_fionread(&terminal).unwrap();
    while unread() > 0 {
        assert!(begin.elapsed() < Duration::from_mins(1), "the line is not read");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Waits until `chat` has most likely read what was typed.
#[cfg(not(target_os = "linux"))]
fn wait_until_read(_work: &Path) {
    std::thread::sleep(Duration::from_secs(3));
}

/// A slow machine makes fewer wake-ups, never more; but the tasks that begin with the host come to rest later there.
#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread")]
async fn an_idle_prompt_waits_for_keys_without_looking_for_them() {
    let bench = Bench::new([]).await;
    let work = std::fs::canonicalize(bench.work()).unwrap();
    let (seen, code) = at_a_terminal(&bench, "", move |terminal| {
        let terminal = terminal.then(READY);
        let mut before = sleeps(&work);
        let mut woke: Vec<u64> = Vec::new();
        while woke.len() < 15 && woke.last().is_none_or(|more| *more >= 40) {
            std::thread::sleep(Duration::from_secs(2));
            let now = sleeps(&work);
            assert!(!now.is_empty(), "there are no threads");
            let more = |(thread, count): (&PathBuf, &u64)| {
                count.saturating_sub(before.get(thread).copied().unwrap_or_default())
            };
            woke.push(now.iter().map(more).sum());
            before = now;
        }
        assert!(woke.last().is_some_and(|more| *more < 40), "it woke so often, each in 2 seconds: {woke:?}");
        terminal.type_in("\u{4}")
    })
    .await;
    assert_eq!(code, Some(0), "{seen}");
}

#[tokio::test(flavor = "multi_thread")]
async fn ctrl_c_cancels_the_turn_and_keeps_the_conversation() {
    let bench = Arc::new(Bench::new([Answer::Hang, text("Still here.")]).await);
    let waiting = Arc::clone(&bench);
    let runtime = tokio::runtime::Handle::current();
    let (seen, code) = at_a_terminal(&bench, "", move |terminal| {
        let terminal = terminal.then(READY).type_in("wait\r");
        runtime.block_on(waiting.server.received(1));
        terminal
            .type_in("\u{3}")
            .then("the conversation continues")
            .then(READY)
            .type_in("and now?\r")
            .then("Still here.")
            .then(READY)
            .type_in("\u{3}")
            .then("again ends the chat")
            .then(READY)
            .type_in("\u{3}")
    })
    .await;
    assert_eq!(code, Some(130), "{seen}");
    assert_eq!(said(&bench.server.requests()[1].json()), ["wait\nand now?"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_line_that_is_typed_while_the_model_works_reaches_it() {
    let bench = Bench::new([
        call("1", "exec", &json!({"command": "until test -e go; do sleep 0.05; done; echo went"})),
        text("Both."),
    ])
    .await;
    let work = std::fs::canonicalize(bench.work()).unwrap();
    let (seen, code) = at_a_terminal(&bench, "--set permission.exec=allow", move |terminal| {
        let terminal = terminal.then(READY).type_in("wait for it\r").then("▸").type_in("and hurry\r");
        let terminal = terminal.then("and hurry\r\n");
        // The command ends only once the line is read.
        wait_until_read(&work);
        std::fs::write(work.join("go"), "").unwrap();
        terminal.then("Both.").then(READY).type_in("/exit\r")
    })
    .await;
    assert_eq!(code, Some(0), "{seen}");
    let requests = bench.server.requests();
    assert_eq!(said(&requests[1].json()), ["wait for it", "and hurry"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_is_answered_at_the_same_terminal() {
    let bench = Bench::asking([
        call("1", "write", &json!({"file_path": "new.txt", "content": "new\n"})),
        text("Written."),
    ])
    .await;
    let file = bench.work().join("new.txt");
    let (seen, code) = at_a_terminal(&bench, "", |terminal| {
        terminal
            .then(READY)
            .type_in("write it\r")
            .then("y once")
            .type_in("y\r")
            .then("Written.")
            .then(READY)
            .type_in("\u{4}")
    })
    .await;
    assert_eq!(code, Some(0), "{seen}");
    assert!(seen.contains("+new"), "{seen}");
    assert_eq!(std::fs::read_to_string(file).unwrap(), "new\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_end_of_a_background_job_begins_a_turn() {
    let answers = || {
        let job = json!({"command": "until test -e go; do sleep 0.05; done", "run_in_background": true});
        [call("1", "exec", &job), text("It runs."), text("It is over."), text("Good.")]
    };
    // At a terminal, while nothing is typed.
    let bench = Bench::new(answers()).await;
    let work = bench.work();
    let (seen, code) = at_a_terminal(&bench, "--set permission.exec=allow", move |terminal| {
        let terminal = terminal.then(READY).type_in("start it\r").then("It runs.").then(READY);
        std::fs::write(work.join("go"), "").unwrap();
        let terminal = terminal.then("It is over.");
        // The sign of the prompt was seen before: the answer is the last of the turn, which ends within a moment.
        std::thread::sleep(Duration::from_millis(300));
        terminal.type_in("thanks\r").then("Good.").type_in("/exit\r")
    })
    .await;
    assert_eq!(code, Some(0), "{seen}");
    let requests = bench.server.requests();
    let texts = said(&requests[2].json());
    assert!(texts.len() == 2 && texts[1].contains("background job ended"), "{texts:?}");
    assert_eq!(said(&requests[3].json()).last().unwrap(), "thanks");

    // With lines of standard input.
    let bench = Bench::new(answers()).await;
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_toolkit"));
    command.args(["chat", "--set", "permission.exec=allow"]);
    bench.prepare(&mut command);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(b"start it\n").unwrap();
    bench.server.received(2).await;
    std::fs::write(bench.work().join("go"), "").unwrap();
    bench.server.received(3).await;
    stdin.write_all(b"thanks\n").unwrap();
    bench.server.received(4).await;
    drop(stdin);
    let output = tokio::task::spawn_blocking(move || child.wait_with_output()).await.unwrap().unwrap();
    let out = String::from_utf8(output.stdout).unwrap();
    assert_eq!(out, "It runs.\nIt is over.\nGood.\n", "{}", String::from_utf8_lossy(&output.stderr));
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn a_signal_at_the_prompt_ends_the_chat_in_order() {
    use std::io::{BufRead as _, BufReader, Write as _};
    for (signal, code) in [("-TERM", 143), ("-HUP", 129), ("-QUIT", 131)] {
        let bench = Bench::new([text("hello")]).await;
        let mut command = bench.any_command(&["chat"]);
        let ended = tokio::task::spawn_blocking(move || {
            let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
            let mut input = child.stdin.take().unwrap();
            writeln!(input, "hi").unwrap();
            let mut output = BufReader::new(child.stdout.take().unwrap());
            let mut line = String::new();
            while !line.contains("hello") {
                assert_ne!(output.read_line(&mut line).unwrap(), 0, "{line}");
            }
            run(Command::new("kill").args([signal, &child.id().to_string()])).success();
            let ended = child.wait().unwrap();
            drop(input);
            ended.code()
        });
        assert_eq!(ended.await.unwrap(), Some(code), "{signal}");
    }
}

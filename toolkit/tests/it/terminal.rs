//! The terminal that a process belongs to, and pipes that must not be taken for it.
#![cfg(unix)]

use std::fs;
use std::io::{Read, Write};
use std::process::{Command, Stdio};
use toolkit::{
    Approver, Ask,
    approval::{Origin, PendingAsk, Question, TerminalApprover},
};

const PROMPT: &str = "said to the model: ";

/// A process of its own for the other tests: asks, and prints the answer.
#[test]
#[ignore = "started by the other tests"]
fn asks_on_the_terminal() {
    if std::env::var_os("ASK_ON_THE_TERMINAL").is_none() {
        return;
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let question = Question::Approve(Ask::new("exec", "push to main"));
    let ask = PendingAsk::detached(Origin::new("1", "exec"), question);
    let answer = runtime.block_on(TerminalApprover::new().ask(&ask)).unwrap();
    println!("ANSWER {}", serde_json::to_string(&answer.answer).unwrap());
}

fn this_test() -> String {
    let program = std::env::current_exe().expect("a test knows where it is");
    format!(
        "ASK_ON_THE_TERMINAL=1 '{}' --exact terminal::asks_on_the_terminal --ignored --nocapture",
        program.display()
    )
}

#[test]
fn a_pipe_neither_answers_nor_gets_the_question() {
    let directory = tempfile::tempdir().unwrap();
    let output = directory.path().join("output");
    let command = format!("printf 'y\\ny\\n' | {} > '{}'", this_test(), output.display());
    // Gives the command a terminal of its own, and carries its own input and output there.
    let mut terminal = Command::new("script")
        .args(["--quiet", "--command", &command, "/dev/null"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("`script` of util-linux is needed");
    let (mut keyboard, mut screen) = (terminal.stdin.take().unwrap(), terminal.stdout.take().unwrap());
    let mut seen = String::new();
    while !seen.contains(PROMPT) {
        let mut buffer = [0; 1024];
        let count = screen.read(&mut buffer).unwrap();
        assert_ne!(count, 0, "nobody was asked: {seen}");
        seen.push_str(&String::from_utf8_lossy(&buffer[..count]));
    }
    assert!(seen.contains("push to main"), "{seen}");
    keyboard.write_all(b"use a branch\n").unwrap();
    screen.read_to_string(&mut seen).unwrap();
    terminal.wait().unwrap();
    let output = fs::read_to_string(output).unwrap();
    assert!(output.contains(r#"ANSWER {"type":"deny","message":"use a branch","by":"person"}"#), "{output}");
    assert!(!output.contains(PROMPT), "{output}");
}

#[test]
fn without_a_terminal_nobody_is_asked() {
    let output = Command::new("setsid")
        .args(["--wait", "sh", "-c", &format!("printf 'y\\n' | {}", this_test())])
        .stdin(Stdio::null())
        .output()
        .expect("`setsid` of util-linux is needed");
    let output = String::from_utf8(output.stdout).unwrap();
    assert!(
        output.contains(r#"ANSWER {"type":"deny","message":"there is no terminal (/dev/tty: "#),
        "{output}"
    );
    assert!(output.contains(r#""by":"nobody_there"}"#), "{output}");
}

//! The terminal approver on a pseudo-terminal.

use super::*;
use crate::asks::Asks;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use serde_json::json;
use std::fs::File;
use std::io::{Read, Write};
use std::sync::Arc;
use toolkit_core::ask::{Ask, Origin};

/// The far end of a terminal, operated by a simulated person.
struct Person {
    terminal: Arc<File>,
    device: PathBuf,
    /// Keeps the terminal open between questions, as a shell does.
    _shell: Device,
    seen: Vec<u8>,
}

impl Person {
    fn new() -> Self {
        let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&terminal).unwrap();
        unlockpt(&terminal).unwrap();
        let device = PathBuf::from(ptsname(&terminal, Vec::new()).unwrap().into_string().unwrap());
        let shell = Device::open(&device).unwrap();
        Self { terminal: Arc::new(File::from(terminal)), device, _shell: shell, seen: Vec::new() }
    }

    /// Reads until `text` appears; the input after it is left for the next call.
    async fn sees(&mut self, text: &str) -> String {
        loop {
            if let Some(at) = memchr::memmem::find(&self.seen, text.as_bytes()) {
                let rest = self.seen.split_off(at + text.len());
                let seen = std::mem::replace(&mut self.seen, rest);
                return String::from_utf8_lossy(&seen).into_owned();
            }
            let terminal = Arc::clone(&self.terminal);
            let read = tokio::task::spawn_blocking(move || {
                let mut buffer = [0; 4096];
                let count = (&*terminal).read(&mut buffer).unwrap();
                buffer[..count].to_vec()
            });
            // A character may be split between two reads.
            self.seen.extend(read.await.unwrap());
        }
    }

    fn types(&self, text: &str) {
        (&*self.terminal).write_all(text.as_bytes()).unwrap();
    }
}

fn question(title: &str) -> PendingAsk {
    PendingAsk::detached(Origin::new("1", "exec"), Question::Approve(Ask::new("exec", title)))
}

/// Returns an approver without colours, regardless of the environment of the tests.
fn on(person: &Person) -> TerminalApprover {
    TerminalApprover::on(&person.device).colours(false)
}

fn asked(person: &Person, title: &str) -> tokio::task::JoinHandle<Option<Answer>> {
    let (approver, ask) = (on(person), question(title));
    tokio::spawn(async move { approver.ask(&ask).await.map(|reply| reply.answer) })
}

#[tokio::test]
async fn a_person_answers() {
    for (typed, expected) in [
        ("y\n", Answer::allow()),
        ("\n\nyes\n", Answer::allow()),
        ("n\n", Answer::deny()),
        ("use a branch\n", Answer::deny_saying("use a branch")),
        ("\u{4}", Answer::Cancelled),
        // The first Ctrl-D passes on the part of a line, the second one is the end of input.
        ("y\u{4}\u{4}", Answer::Cancelled),
    ] {
        let mut person = Person::new();
        let answer = asked(&person, "push \u{1b}[2J to main");
        let seen = person.sees("said to the model: ").await;
        assert!(seen.contains("  push \\u{1b}[2J to main\r\n"), "{seen}");
        person.types(typed);
        assert_eq!(answer.await.unwrap(), Some(expected), "{typed:?}");
    }
}

#[tokio::test]
async fn a_person_allows_it_for_longer_where_that_is_offered() {
    let (session, always) = ("s session, ", "a always, ");
    let ask = || Ask::new("exec", "push").with_pattern("git push");
    let here = || Origin::new("1", "exec").with_workspace("/srv/project");
    for (origin, ask, typed, offered, expected) in [
        (here(), ask(), "s\n", &[session, always][..], Answer::allow_for_session()),
        (here(), ask(), "always\n", &[session, always], Answer::allow_always()),
        (here(), ask(), "y\n", &[session, always], Answer::allow()),
        (here(), ask().raised(), "s\n", &[session], Answer::allow_for_session()),
        (Origin::new("1", "exec"), ask(), "s\n", &[session], Answer::allow_for_session()),
        (here(), ask().once_only(), "y\n", &[], Answer::allow()),
    ] {
        let mut person = Person::new();
        let approver = on(&person);
        let pending = PendingAsk::detached(origin, Question::Approve(ask));
        let answer = tokio::spawn(async move { approver.ask(&pending).await.map(|reply| reply.answer) });
        let seen = person.sees("said to the model: ").await;
        for line in [session, always] {
            assert_eq!(seen.contains(line), offered.contains(&line), "{seen}");
        }
        let remembered = match offered.len() {
            0 => "  pattern: git push\r\n",
            1 => "  s remembers: git push\r\n",
            _ => "  s and a remember: git push\r\n",
        };
        assert!(seen.contains(remembered), "{seen}");
        // A scope that is not offered is neither an answer nor a message to the model.
        if !offered.contains(&always) {
            person.types("a\n");
            person.sees("It cannot be allowed for that long").await;
            person.sees("said to the model: ").await;
        }
        person.types(typed);
        assert_eq!(answer.await.unwrap(), Some(expected), "{typed:?}");
    }
}

#[tokio::test]
async fn a_long_change_is_shown_whole_or_says_that_it_is_not() {
    let said = "It is too long to be shown whole; the omissions are marked above.";
    for (lines, is_whole) in [(2_000, true), (2_001, false)] {
        let mut person = Person::new();
        let ask = Ask::new("edit", "t").with_diff("f", "+line\n".repeat(lines));
        let pending = PendingAsk::detached(Origin::new("1", "edit"), Question::Approve(ask));
        let approver = on(&person);
        let answer = tokio::spawn(async move { approver.ask(&pending).await.map(|reply| reply.answer) });
        let seen = person.sees("said to the model: ").await;
        let shown = seen.matches("  │ +line\r\n").count();
        assert_eq!((seen.contains(said), shown == lines), (!is_whole, is_whole), "{shown} of {lines}");
        person.types("n\n");
        assert_eq!(answer.await.unwrap(), Some(Answer::deny()));
    }
}

#[tokio::test]
async fn the_whole_of_a_long_question_can_be_viewed_before_the_answer() {
    const UNSEEN: &str = "Not all of it is shown. v shows the whole, page by page";
    const END: &str = "said to the model: ";
    let lines: Vec<String> = (1..=3_001).map(|line| format!("+line {line}\n")).collect();
    let lines = lines.concat();
    let ask = Ask::new("edit", "t").with_diff("f", &lines);
    let pending = PendingAsk::detached(Origin::new("1", "edit"), Question::Approve(ask));
    let mut person = Person::new();
    let approver = on(&person);
    let answer = tokio::spawn(async move { approver.ask(&pending).await.map(|reply| reply.answer) });
    let seen = person.sees(END).await;
    assert!(
        seen.contains(UNSEEN) && seen.contains("v view all, ") && !seen.contains("+line 1500\r\n"),
        "{seen}"
    );
    // Stopped after the first page, it was not viewed whole. No line in between is an answer.
    person.types("v\n");
    let seen = person.sees("Enter shows more, q stops: ").await;
    assert!(seen.contains("Line 22 of 3") && seen.matches("  │ ").count() < 22, "{seen}");
    person.types("y\n");
    person.sees("Line 44 of 3").await;
    person.types("q\n");
    assert!(person.sees(END).await.contains(UNSEEN));
    person.types("view\n");
    let mut whole = String::new();
    loop {
        let page = person.sees(": ").await;
        let is_last = page.contains("That is all of it.");
        whole += &page;
        if is_last {
            whole += &person.sees(END).await;
            break;
        }
        if page.ends_with("q stops: ") {
            person.types("\n");
        }
    }
    // The approver runs on this thread: a pause would look to it as if the process had been stopped.
    person.types("y\n");
    assert_eq!(answer.await.unwrap(), Some(Answer::allow()));
    assert!(!whole.contains(UNSEEN) && whole.contains("v view all, "), "it was viewed whole");
    let shown: BTreeSet<&str> = whole.lines().collect();
    assert!((1..=3_001).all(|line| shown.contains(&*format!("  │ +line {line}"))), "{whole}");
}

#[tokio::test]
async fn the_end_of_input_between_pages_cancels() {
    let ask = Ask::new("edit", "t").with_diff("f", "+line\n".repeat(3_000));
    let pending = PendingAsk::detached(Origin::new("1", "edit"), Question::Approve(ask));
    let mut person = Person::new();
    let approver = on(&person);
    let answer = tokio::spawn(async move { approver.ask(&pending).await.map(|reply| reply.answer) });
    person.sees("said to the model: ").await;
    person.types("v\n");
    person.sees("q stops: ").await;
    person.types("\u{4}");
    assert_eq!(answer.await.unwrap(), Some(Answer::Cancelled));
}

#[tokio::test]
async fn a_question_that_is_shown_whole_offers_no_pages() {
    let mut person = Person::new();
    let answer = asked(&person, "push");
    let seen = person.sees("said to the model: ").await;
    assert!(!seen.contains("v view all") && !seen.contains("Not all of it"), "{seen}");
    person.types("v\n");
    person.sees("All of it is shown above.").await;
    person.types("n\n");
    assert_eq!(answer.await.unwrap(), Some(Answer::deny()));
}

#[tokio::test]
async fn values_are_filled_in() {
    let schema = serde_json::json!({
        "type": "object",
        "properties": {"host": {"type": "string"}, "port": {"type": "integer", "maximum": 10}},
        "required": ["host"],
    });
    let elicitation = Elicitation::new("which host?", schema).unwrap();
    let mut person = Person::new();
    let (asks, approver) = (Asks::default(), on(&person));
    let task = {
        let elicitation = elicitation.clone();
        tokio::spawn(async move { asks.elicit(&approver, Origin::default(), elicitation).await })
    };
    person.sees("host (text): ").await;
    person.types("\n");
    person.sees("it is required\r\n  host (text): ").await;
    person.types("example.org\n");
    person.sees("port (a whole number, optional): ").await;
    person.types("11\n");
    person.sees("y sends this, other text declines: ").await;
    person.types("y\n");
    person.sees("/port: expected an integer of at most 10").await;
    person.sees("host (text): ").await;
    person.types("example.org\n");
    person.sees("optional): ").await;
    person.types("10\n");
    person.sees("y sends this, other text declines: ").await;
    person.types("y\n");
    assert_eq!(task.await.unwrap(), Ok(Some(serde_json::json!({"host": "example.org", "port": 10}))));
}

#[tokio::test]
async fn values_are_sent_only_after_an_explicit_yes() {
    let optional = ("note (text, optional): ", "note");
    let required = ("host (text): ", "host");
    let boolean = ("sure (y or n, optional, else true): ", "sure");
    let schema = |field: &str| match field {
        "note" => json!({"type": "object", "properties": {"note": {"type": "string"}}}),
        "host" => {
            json!({"type": "object", "properties": {"host": {"type": "string"}}, "required": ["host"]})
        }
        "sure" => json!({"type": "object", "properties": {"sure": {"type": "boolean", "default": true}}}),
        _ => json!({"type": "object", "properties": {}}),
    };
    let (yes, declined, cancelled) =
        (|value: Value| Answer::value(value), || Answer::Declined, || Answer::Cancelled);
    for (field, typed, expected) in [
        (None, "y\n", yes(json!({}))),
        (None, "YES \n", yes(json!({}))),
        (None, "n\n", declined()),
        (None, "no!\n", declined()),
        (None, "decline\n", declined()),
        (None, "\n", declined()),
        (None, "yes please\n", declined()),
        (None, "\u{4}", cancelled()),
        (None, "y\u{4}\u{4}", cancelled()),
        (Some(optional), "\ny\n", yes(json!({}))),
        (Some(optional), "\nn\n", declined()),
        (Some(optional), "n\nno!\n", declined()),
        (Some(optional), "\n\n", declined()),
        (Some(optional), "\n\u{4}", cancelled()),
        (Some(optional), "\u{4}", cancelled()),
        (Some(required), "decline\ndecline\n", declined()),
        (Some(required), "a\ny\n", yes(json!({"host": "a"}))),
        (Some(required), "a\n\u{4}", cancelled()),
        (Some(required), "\u{4}", cancelled()),
        (Some(boolean), "n\nn\n", declined()),
        (Some(boolean), "n\ny\n", yes(json!({"sure": false}))),
        (Some(boolean), "\nno\n", declined()),
    ] {
        let (prompt, name) = field.unwrap_or(("y accepts, other text declines: ", ""));
        let elicitation = Elicitation::new("go on?", schema(name)).unwrap();
        let mut person = Person::new();
        let approver = on(&person);
        let pending = PendingAsk::detached(Origin::default(), Question::Elicit(elicitation));
        let answer = tokio::spawn(async move { approver.ask(&pending).await.map(|reply| reply.answer) });
        person.sees(prompt).await;
        let mut keys = typed;
        // The lines after the first one are for the prompt that asks for confirmation.
        if field.is_some()
            && let Some((first, rest)) = typed.split_once('\n')
        {
            person.types(&format!("{first}\n"));
            person.sees(", other text declines: ").await;
            keys = rest;
        }
        person.types(keys);
        assert_eq!(answer.await.unwrap(), Some(expected), "{name} {typed:?}");
    }
}

#[tokio::test]
async fn what_was_typed_before_does_not_answer() {
    let mut person = Person::new();
    person.types("y\ny\n");
    person.sees("y\r\ny\r\n").await;
    let answer = asked(&person, "anything");
    person.sees("said to the model: ").await;
    person.types("n\n");
    assert_eq!(answer.await.unwrap(), Some(Answer::deny()));
}

#[tokio::test]
async fn questions_queue_and_a_withdrawn_one_takes_no_answer_with_it() {
    let mut person = Person::new();
    let first = asked(&person, "first");
    let seen = person.sees("said to the model: ").await;
    assert!(seen.contains("  first\r\n"), "{seen}");
    let second = asked(&person, "second");
    // A line is partly typed for the first question, which is then withdrawn.
    person.types("y");
    person.sees("y").await;
    first.abort();
    let seen = person.sees("said to the model: ").await;
    assert!(seen.contains("  second\r\n") && !seen.contains("first"), "{seen}");
    person.types("\n");
    person.sees("Once more:\r\n").await;
    person.types("no\n");
    assert_eq!(second.await.unwrap(), Some(Answer::deny()));
}

#[tokio::test]
async fn without_a_terminal_it_denies_and_says_so() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("file");
    std::fs::write(&file, "y\n").unwrap();
    for device in [directory.path().join("absent"), file] {
        let answer = TerminalApprover::on(&device).ask(&question("x")).await.unwrap();
        let Answer::Deny { message: Some(message), by: DeniedBy::NobodyThere, .. } = answer.answer else {
            panic!("{answer:?}");
        };
        assert!(message.contains("there is no terminal"), "{message}");
        assert!(message.ends_with("or allow it with the setting `permission.exec`"), "{message}");
    }
}

#[tokio::test]
async fn a_terminal_that_hangs_up_denies() {
    let mut person = Person::new();
    let answer = asked(&person, "x");
    person.sees("said to the model: ").await;
    drop(person);
    let answer = answer.await.unwrap().unwrap();
    assert!(answer.into_permission("x").is_err());
}

/// Returns an ordinary question about a command.
fn about(command: &str) -> PendingAsk {
    let ask = Ask::new("exec", command)
        .with_command(command, "/srv/project")
        .with_text("why", format!("{command}: it is not known to only read"))
        .with_text("runs in", "a sandbox: it writes in the workspace alone, without network")
        .with_claim("Runs the tests")
        .with_pattern("cargo test *");
    let origin =
        Origin::new("1", "exec").with_session("workspace /srv/project").with_workspace("/srv/project");
    PendingAsk::detached(origin, Question::Approve(ask))
}

#[tokio::test]
async fn an_ordinary_question_has_eight_lines_and_help_and_enter_ask_again() {
    let mut person = Person::new();
    let (approver, ask) = (on(&person), about("cargo test"));
    let answer = tokio::spawn(async move { approver.ask(&ask).await.map(|reply| reply.answer) });
    let seen = person.sees("said to the model: ").await;
    assert!(seen.lines().count() <= 8, "{seen}");
    assert!(seen.contains("session workspace /srv/project\r\n"), "{seen}");
    person.types("\n");
    let seen = person.sees("said to the model: ").await;
    assert!(seen.contains("Type one of the letters below and press Enter; ? explains them.\r\n"), "{seen}");
    person.types("?\n");
    let seen = person.sees("said to the model: ").await;
    for line in
        ["y allows this once.", "until the session ends.", "until it is revoked.", "  pattern: cargo test *"]
    {
        assert!(seen.contains(&format!("{line}\r\n")), "{line} in {seen}");
    }
    person.types("s\n");
    assert_eq!(answer.await.unwrap(), Some(Answer::allow_for_session()));
}

#[tokio::test]
async fn a_process_that_was_stopped_shows_the_question_again() {
    let mut person = Person::new();
    let answer = asked(&person, "push");
    person.sees("said to the model: ").await;
    // The process is blocked meanwhile, as if it were stopped.
    std::thread::sleep(device::GAP + std::time::Duration::from_millis(100));
    let seen = person.sees("said to the model: ").await;
    assert!(seen.contains("Permission needed: exec") && seen.contains("  push\r\n"), "{seen}");
    person.types("y\n");
    assert_eq!(answer.await.unwrap(), Some(Answer::allow()));
}

#[tokio::test]
async fn a_diff_is_coloured_and_nothing_else_commands_the_terminal() {
    let diff = "@@ -1 +1 @@\n-\u{1b}[2Jold\n+new\n";
    for has_colours in [true, false] {
        let mut person = Person::new();
        let ask = Ask::new("edit", "write \u{1b}]0;title\u{7}").with_diff("f", diff);
        let pending = PendingAsk::detached(Origin::new("1", "edit"), Question::Approve(ask));
        let approver = TerminalApprover::on(&person.device).colours(has_colours);
        let answer = tokio::spawn(async move { approver.ask(&pending).await.map(|reply| reply.answer) });
        let seen = person.sees("said to the model: ").await;
        assert_eq!(seen.contains("  │ \u{1b}[31m-\\u{1b}[2Jold\u{1b}[0m\r\n"), has_colours, "{seen:?}");
        assert_eq!(seen.contains("  │ \u{1b}[32m+new\u{1b}[0m\r\n"), has_colours, "{seen:?}");
        // The only escape sequences are the four colours of the approver.
        for (at, _) in seen.match_indices('\u{1b}') {
            let is_own =
                ["[0m", "[1m", "[31m", "[32m", "[36m"].iter().any(|own| seen[at + 1..].starts_with(own));
            assert!(has_colours && is_own, "{seen:?}");
        }
        person.types("n\n");
        assert_eq!(answer.await.unwrap(), Some(Answer::deny()));
    }
}

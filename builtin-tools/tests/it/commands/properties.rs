//! Random pairs of calls: a lasting answer to the question about the first never lets the second run unasked if anything that the person was
//! shown, or that identifies the caller, differs.

use crate::commands::house::House;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::{Arc, Mutex};
use toolkit::approval::{AllowScope, Answer, CallbackApprover, PendingAsk, Question};
use toolkit::config::{Configuration, LoadOptions};
use toolkit::prelude::*;
use toolkit::{Ask, ToolErrorKind};

/// Number of pairs; `APPROVAL_CASES` sets another one.
const CASES: u32 = 40;

/// Each with true if it runs the content of a file of the workspace.
const COMMANDS: [(&str, bool); 14] = [
    ("make all", true),
    ("make all -s", true),
    ("make -C sub all", true),
    ("cd sub && make all", true),
    ("./run", true),
    ("bash s.sh", true),
    ("sh < s.sh", true),
    ("touch made", false),
    ("touch made other", false),
    ("A=1 touch made", false),
    ("curl -s http://127.0.0.1:9/", false),
    ("curl -s http://127.0.0.1:9/ -d x", false),
    ("curl -s http://127.0.0.2:9/", false),
    ("git push http://127.0.0.1:9/x", false),
];
const DIRECTORIES: [&str; 3] = [".", "sub", "other"];
const ENVIRONMENTS: [&[(&str, &str)]; 3] = [&[], &[("MAKEFLAGS", "-s")], &[("MAKEFLAGS", "-n")]];
const INPUTS: [Option<&str>; 3] = [None, Some(""), Some("x")];
const NAMES: [Option<&str>; 3] = [None, Some("one"), Some("two")];

/// Indexes of what makes up a call and its surroundings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is an independent property of a call")]
struct Case {
    command: usize,
    directory: usize,
    environment: usize,
    input: usize,
    escalates: bool,
    /// The content of the scripts.
    content: usize,
    sandbox: bool,
    network: bool,
    /// True if a rule denies a directory.
    denies: bool,
    agent: usize,
    channel: usize,
    conversation: usize,
    sender: usize,
}

fn cases() -> impl Strategy<Value = Case> {
    let call = (0..COMMANDS.len(), 0..3_usize, 0..3_usize, 0..3_usize, any::<bool>());
    let around = (0..2_usize, any::<bool>(), any::<bool>(), any::<bool>());
    let caller = (0..3_usize, 0..3_usize, 0..3_usize, 0..3_usize);
    (call, around, caller).prop_map(|(call, around, caller)| {
        let (command, directory, environment, input, escalates) = call;
        let (content, sandbox, network, denies) = around;
        let (agent, channel, conversation, sender) = caller;
        Case {
            command,
            directory,
            environment,
            input,
            escalates,
            content,
            sandbox,
            network,
            denies,
            agent,
            channel,
            conversation,
            sender,
        }
    })
}

/// The first call, and a later one in which up to two properties differ.
fn pairs() -> impl Strategy<Value = (Case, Case)> {
    (cases(), cases(), prop::collection::vec(0..13_usize, 0..=2)).prop_map(|(first, other, changed)| {
        let mut later = first;
        for property in changed {
            match property {
                0 => later.command = other.command,
                1 => later.directory = other.directory,
                2 => later.environment = other.environment,
                3 => later.input = other.input,
                4 => later.escalates = other.escalates,
                5 => later.content = other.content,
                6 => later.sandbox = other.sandbox,
                7 => later.network = other.network,
                8 => later.denies = other.denies,
                9 => later.agent = other.agent,
                10 => later.channel = other.channel,
                11 => later.conversation = other.conversation,
                _ => later.sender = other.sender,
            }
        }
        (first, later)
    })
}

impl Case {
    fn configuration(&self) -> Value {
        let network = if self.network { "on" } else { "off" };
        let denied = if self.denies { json!([{ "match": "private/", "do": "deny" }]) } else { json!([]) };
        json!({
            "tools": { "exec": { "enableSandbox": self.sandbox, "network": network } },
            "permission": { "read": denied },
        })
    }

    fn arguments(&self) -> Value {
        let mut arguments =
            json!({ "command": COMMANDS[self.command].0, "workdir": DIRECTORIES[self.directory] });
        if !ENVIRONMENTS[self.environment].is_empty() {
            arguments["env"] = ENVIRONMENTS[self.environment].iter().copied().collect();
        }
        if let Some(input) = INPUTS[self.input] {
            arguments["stdin"] = input.into();
        }
        if self.escalates {
            arguments["escalate"] = "no-sandbox".into();
        }
        arguments
    }

    fn caller(&self, workspace: &Path) -> Caller {
        let mut caller = Caller::new().with_session("s").with_workspace(workspace);
        if let Some(agent) = NAMES[self.agent] {
            caller = caller.with_agent(agent);
        }
        if let Some(channel) = NAMES[self.channel] {
            caller = caller.with_channel(channel);
        }
        if let Some(conversation) = NAMES[self.conversation] {
            caller = caller.with_conversation(conversation);
        }
        if let Some(sender) = NAMES[self.sender] {
            caller = caller.with_sender(sender);
        }
        caller
    }

    /// Writes the scripts of the workspace.
    fn write(&self, workspace: &Path) {
        let version = self.content;
        for directory in DIRECTORIES {
            let directory = workspace.join(directory);
            fs::create_dir_all(&directory).unwrap();
            fs::write(directory.join("Makefile"), format!("all:\n\t@echo {version}\n")).unwrap();
            fs::write(directory.join("s.sh"), format!("echo {version}\n")).unwrap();
            fs::write(directory.join("run"), format!("#!/bin/sh\necho {version}\n")).unwrap();
            fs::set_permissions(directory.join("run"), fs::Permissions::from_mode(0o755)).unwrap();
        }
    }

    /// Calls the tool in a host of its own with this data directory. Returns the questions, and true if the call was refused.
    async fn call(&self, house: &House, data: &str, answer: fn() -> Answer) -> (Vec<Ask>, bool) {
        let workspace = house.path(".");
        self.write(&workspace);
        house.configure(&self.configuration());
        let user = workspace.join("../user/toolkit.json5");
        let configuration = Configuration::load(LoadOptions::new().user_file(user)).unwrap();
        let asked: Arc<Mutex<Vec<Ask>>> = Arc::default();
        let seen = Arc::clone(&asked);
        let approver = CallbackApprover::new(move |ask: &PendingAsk| {
            let Question::Approve(ask) = ask.question() else { return Answer::deny() };
            seen.lock().unwrap().push(ask.clone());
            answer()
        });
        let data = workspace.join("..").join(data);
        fs::create_dir_all(&data).unwrap();
        let toolkit = Toolkit::builder()
            .configuration(configuration)
            .data_dir(data.canonicalize().unwrap())
            .approver(approver)
            .build()
            .unwrap();
        let toolbox = toolkit.toolbox(&self.caller(&workspace)).await;
        let result = toolbox.call(ToolCall::new("1", "exec", self.arguments())).await;
        let is_refused = result.error().is_some_and(|error| error.kind() == ToolErrorKind::Denied);
        let asked = std::mem::take(&mut *asked.lock().unwrap());
        (asked, is_refused)
    }
}

/// Returns why the second call may not run unasked, if it was asked about in the same way as the first.
fn difference(first: &Case, later: &Case) -> Option<&'static str> {
    let runs_content = COMMANDS[first.command].1;
    [
        ("command", first.command != later.command),
        ("directory", first.directory != later.directory),
        ("environment", first.environment != later.environment),
        ("input", first.input != later.input),
        ("escalation", first.escalates != later.escalates),
        ("content", runs_content && first.content != later.content),
        ("less sandbox", first.sandbox && !later.sandbox),
        // Without a sandbox, neither holds a command.
        ("more network", first.sandbox && !first.network && later.network),
        ("a rule less", first.sandbox && first.denies && !later.denies),
        ("agent", first.agent != later.agent),
        ("channel", first.channel != later.channel),
        ("conversation", first.conversation != later.conversation),
        ("sender", first.sender != later.sender),
    ]
    .into_iter()
    .find_map(|(name, differs)| differs.then_some(name))
}

#[test]
fn an_answer_covers_what_was_shown_and_no_other_call() {
    let cases = std::env::var("APPROVAL_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(CASES);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let mut runner = TestRunner::new(Config {
        cases,
        max_shrink_iters: 100,
        failure_persistence: None,
        ..Config::default()
    });
    let outcome = runner.run(&pairs(), |(first, later)| {
        runtime.block_on(async {
            let house = House::new(json!({})).await;
            let (shown, is_refused) = first.call(&house, "data", Answer::allow_always).await;
            prop_assert!(shown.len() == 1 && !is_refused, "{:?}", shown);
            let (asked, is_refused) = later.call(&house, "data", Answer::deny).await;
            prop_assert_eq!(asked.is_empty(), !is_refused);
            // The question that somebody sees who was asked nothing before.
            let (anew, _) = later.call(&house, "empty", Answer::deny).await;
            let difference = difference(&first, &later);
            if asked.is_empty() {
                prop_assert_eq!(difference, None);
                prop_assert_eq!(&shown, &anew);
            }
            // Another host does not know an answer for a session.
            if first == later && shown[0].at_most == AllowScope::Always {
                prop_assert!(asked.is_empty(), "{:?}", asked);
            }
            Ok(())
        })
    });
    if let Err(failed) = outcome {
        panic!("{failed}");
    }
}

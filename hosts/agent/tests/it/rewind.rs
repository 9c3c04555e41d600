//! Putting the files of a run back.

use crate::common::{assert_messages_whole, call, finish, scripted, transcripts};
use serde_json::json;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use toolkit::{AllowAll, Approver, Caller, Toolkit};
use toolkit_agent::{
    Agent, Checkpoints, DelegationRequest, Limits, RewindOptions, RunOptions, TranscriptError, Transcripts,
};
use toolkit_models::{Answer, Message, Scripted};

toolkit::link!(core: builtin_tools);

struct Bench {
    _directory: tempfile::TempDir,
    workspace: PathBuf,
    transcripts: Transcripts,
}

fn before(message: Option<u64>) -> RewindOptions {
    RewindOptions::new().message(message)
}

fn bench() -> Bench {
    let (directory, transcripts) = transcripts();
    let workspace = directory.path().canonicalize().unwrap().join("work");
    fs::create_dir(&workspace).unwrap();
    fs::write(workspace.join("a.txt"), "one\ntwo\n").unwrap();
    fs::write(workspace.join("gone.txt"), "was here\n").unwrap();
    Bench { _directory: directory, workspace, transcripts }
}

impl Bench {
    fn agent(&self, model: Arc<Scripted>) -> Agent {
        self.agent_with(model, AllowAll)
    }

    fn agent_with(&self, model: Arc<Scripted>, approver: impl Approver) -> Agent {
        let toolkit = Toolkit::builder()
            .leave_out_incomplete()
            .approver(approver)
            .data_dir(self.transcripts.directory().parent().unwrap().join("data"))
            .change_hook(Checkpoints::new(self.transcripts.clone()).hook())
            .build()
            .unwrap();
        Agent::builder(toolkit, model)
            .caller(Caller::new().with_workspace(&self.workspace))
            .limits(Limits::none().max_depth(2))
            .transcripts(self.transcripts.clone())
            .build()
    }

    async fn run(&self, answers: impl IntoIterator<Item = Answer>) -> String {
        let agent = self.agent(scripted(answers));
        let request = DelegationRequest::new("change files");
        let mut session = agent.session(&request).unwrap();
        let result = session.run(request, RunOptions::new()).await;
        assert!(result.success, "{result:?}");
        assert!(result.errors.is_empty(), "{result:?}");
        assert_messages_whole(&session.messages());
        session.id().to_owned()
    }

    fn read(&self, name: &str) -> Option<String> {
        fs::read_to_string(self.workspace.join(name)).ok()
    }

    fn path(&self, name: &str) -> PathBuf {
        self.workspace.join(name)
    }
}

fn changes() -> Vec<Answer> {
    vec![
        Answer::calls(["a.txt", "gone.txt"].map(|file| call(file, "read", json!({"file_path": file})))),
        Answer::calls([
            call("2", "edit", json!({"file_path": "a.txt", "old_string": "two", "new_string": "2"})),
            call("3", "write", json!({"file_path": "new/b.txt", "content": "b\n"})),
        ]),
        Answer::calls([
            call("2", "edit", json!({"file_path": "a.txt", "old_string": "one", "new_string": "1"})),
            call(
                "4",
                "apply_patch",
                json!({
                    "input": "*** Begin Patch\n*** Delete File: gone.txt\n*** End Patch"
                }),
            ),
            call("5", "exec", json!({"command": "echo more >> c.txt"})),
        ]),
        finish("done"),
    ]
}

#[tokio::test]
async fn files_are_as_they_were_before_a_turn() {
    let bench = bench();
    let id = bench.run(changes()).await;
    assert_eq!(bench.read("a.txt").as_deref(), Some("1\n2\n"));
    assert_eq!(bench.read("gone.txt"), None);
    let messages = bench.transcripts.messages(&id).unwrap();
    let answers: Vec<u64> = messages
        .iter()
        .filter(|message| matches!(message.message, Message::Assistant(_)))
        .map(|message| message.id)
        .collect();

    // Before the third answer, by its number or that of its results.
    let rewound = bench.transcripts.rewind(&id, before(Some(answers[2] + 1))).unwrap();
    assert_eq!(rewound.restored, [bench.path("a.txt"), bench.path("gone.txt")]);
    assert!(rewound.failed.is_empty(), "{rewound:?}");
    assert_eq!(rewound.not_covered, ["the command `echo more >> c.txt`"]);
    assert_eq!(bench.read("a.txt").as_deref(), Some("one\n2\n"));
    assert_eq!(bench.read("gone.txt").as_deref(), Some("was here\n"));
    assert_eq!(bench.read("new/b.txt").as_deref(), Some("b\n"));
    // Once more, there is nothing to do.
    assert!(bench.transcripts.rewind(&id, before(Some(answers[2]))).unwrap().restored.is_empty());

    // Before all of them.
    let rewound = bench.transcripts.rewind(&id, before(None)).unwrap();
    assert_eq!(
        (&rewound.restored[..], &rewound.removed[..]),
        (&[bench.path("a.txt")][..], &[bench.path("new/b.txt")][..])
    );
    assert_eq!(bench.read("a.txt").as_deref(), Some("one\ntwo\n"));
    assert_eq!(bench.read("new/b.txt"), None);
    assert!(matches!(
        bench.transcripts.rewind(&id, before(Some(99))),
        Err(TranscriptError::UnknownMessage { .. })
    ));
}

#[tokio::test]
async fn what_a_sub_agent_changed_belongs_to_the_turn_that_delegated() {
    let bench = bench();
    let model = Arc::new(Scripted::with(|request| {
        let answered =
            request.messages.iter().filter(|message| matches!(message, Message::Assistant(_))).count();
        let is_sub =
            matches!(&request.messages[0], Message::User(task) if task.content[0].as_text() == Some("part"));
        match (is_sub, answered) {
            (false, 0) => Answer::calls([call("d", "delegate", json!({"task": "part"}))]).into(),
            (true, 0) => {
                Answer::calls([call("w", "write", json!({"file_path": "sub.txt", "content": "sub\n"}))])
                    .into()
            }
            _ => finish("done").into(),
        }
    }));
    let agent = bench.agent(model);
    let request = DelegationRequest::new("main");
    let mut session = agent.session(&request).unwrap();
    assert!(session.run(request, RunOptions::new()).await.success);
    let id = session.id().to_owned();
    assert_eq!(bench.read("sub.txt").as_deref(), Some("sub\n"));
    let rewound = bench.transcripts.rewind(&id, before(None)).unwrap();
    assert_eq!(rewound.removed, [bench.path("sub.txt")]);
    assert_eq!(bench.read("sub.txt"), None);
}

#[cfg(unix)]
#[tokio::test]
async fn a_link_that_was_put_there_meanwhile_is_not_followed() {
    let bench = bench();
    let id = bench.run(changes()).await;
    let outside = bench.transcripts.directory().join("outside");
    fs::create_dir_all(&outside).unwrap();
    fs::write(outside.join("b.txt"), "not ours\n").unwrap();
    fs::remove_dir_all(bench.path("new")).unwrap();
    std::os::unix::fs::symlink(&outside, bench.path("new")).unwrap();
    let rewound = bench.transcripts.rewind(&id, before(None)).unwrap();
    assert_eq!(rewound.failed.len(), 1, "{rewound:?}");
    assert_eq!(fs::read_to_string(outside.join("b.txt")).unwrap(), "not ours\n");
}

#[tokio::test]
async fn without_room_for_a_copy_nothing_is_changed() {
    let bench = bench();
    let model = scripted([
        Answer::calls([call("1", "write", json!({"file_path": "new.txt", "content": "n\n"}))]),
        finish("done"),
    ]);
    let agent = bench.agent(model);
    let request = DelegationRequest::new("write");
    let mut session = agent.session(&request).unwrap();
    // Where the copies belong stands a file.
    fs::write(bench.transcripts.directory().join(format!("{}.files", session.id())), "").unwrap();
    let result = session.run(request, RunOptions::new()).await;
    assert!(result.errors[0].contains("no copy of it can be kept"), "{result:?}");
    assert_eq!(bench.read("new.txt"), None);
}

#[tokio::test]
async fn later_changes_of_others_are_kept() {
    let bench = bench();
    let id = bench.run(changes()).await;
    fs::write(bench.path("a.txt"), "1\n2\nof the user\n").unwrap();
    fs::write(bench.path("gone.txt"), "made again\n").unwrap();
    let rewound = bench.transcripts.rewind(&id, before(None)).unwrap();
    assert_eq!(rewound.changed_since, [bench.path("a.txt"), bench.path("gone.txt")]);
    assert_eq!(rewound.removed, [bench.path("new/b.txt")]);
    assert!(rewound.restored.is_empty() && rewound.failed.is_empty(), "{rewound:?}");
    assert_eq!(bench.read("a.txt").as_deref(), Some("1\n2\nof the user\n"));
    assert_eq!(bench.read("gone.txt").as_deref(), Some("made again\n"));

    let rewound = bench.transcripts.rewind(&id, before(None).force(true)).unwrap();
    assert_eq!(rewound.restored, [bench.path("a.txt"), bench.path("gone.txt")]);
    assert!(rewound.changed_since.is_empty(), "{rewound:?}");
    assert_eq!(bench.read("a.txt").as_deref(), Some("one\ntwo\n"));
    assert_eq!(bench.read("gone.txt").as_deref(), Some("was here\n"));
}

#[tokio::test]
async fn commands_are_named_if_they_ran_also_those_of_sub_agents() {
    let bench = bench();
    let model = Arc::new(Scripted::with(|request| {
        let answered =
            request.messages.iter().filter(|message| matches!(message, Message::Assistant(_))).count();
        let Message::User(task) = &request.messages[0] else { panic!("{request:?}") };
        let exec = |id: &str, command: &str| call(id, "exec", json!({"command": command}));
        let delegate = |task: &str| call(task, "delegate", json!({"task": task}));
        match (task.content[0].as_text().unwrap(), answered) {
            ("main", 0) => Answer::calls([exec("1", "echo first > first"), delegate("early")]).into(),
            ("main", 1) => Answer::calls([
                exec("1", "echo main > main"),
                exec("2", "echo forbidden > forbidden"),
                call("3", "exec", json!({"command": 7})),
                call("4", "exec", json!({"command": "false > failed"})),
                delegate("sub"),
            ])
            .into(),
            ("early", 0) => Answer::calls([exec("1", "echo early > early")]).into(),
            ("sub", 0) => Answer::calls([exec("1", "echo sub > sub"), delegate("deep")]).into(),
            ("deep", 0) => Answer::calls([exec("1", "echo deep > deep")]).into(),
            _ => finish("done").into(),
        }
    }));
    let approver = toolkit::approval::CallbackApprover::new(|ask| {
        if format!("{:?}", ask.question()).contains("forbidden") {
            toolkit::approval::Answer::deny()
        } else {
            toolkit::approval::Answer::allow()
        }
    });
    let agent = bench.agent_with(model, approver);
    let request = DelegationRequest::new("main");
    let mut session = agent.session(&request).unwrap();
    let result = session.run(request, RunOptions::new()).await;
    assert!(result.success, "{result:?}");
    assert_eq!(bench.read("forbidden"), None, "{result:?}");
    assert!(bench.read("deep").is_some(), "{result:?}");
    let messages = session.messages();
    let second = messages.iter().filter(|message| matches!(message.message, Message::Assistant(_))).nth(1);
    let id = session.id().to_owned();
    let rewound = bench.transcripts.rewind(&id, before(second.map(|message| message.id))).unwrap();
    assert_eq!(
        rewound.not_covered,
        ["echo main > main", "false > failed", "echo sub > sub", "echo deep > deep"]
            .map(|command| format!("the command `{command}`"))
    );
    let rewound = bench.transcripts.rewind(&id, before(None)).unwrap();
    assert_eq!(rewound.not_covered.len(), 6, "{rewound:?}");
    // A sub-agent's transcript is not rewound by itself.
    let sub = bench.transcripts.list().into_iter().find(|info| info.task == "sub").unwrap();
    let error = bench.transcripts.rewind(&sub.id, before(None)).unwrap_err();
    assert!(matches!(&error, TranscriptError::SubAgent { parent, .. } if *parent == id), "{error}");
}

//! `cron`: jobs that are added, shown, changed and removed from the command line.

use super::*;

#[tokio::test(flavor = "multi_thread")]
async fn a_job_that_is_added_from_the_command_line_is_answered_and_shown() {
    let bench = Bench::new([text("All is well.")]).await;
    let none = run(&bench, &["cron", "list"]).await;
    assert!(String::from_utf8_lossy(&none.stderr).contains("toolkit cron add"), "{none:?}");
    // Without a gateway: it is due once one runs.
    let report = ["--schedule", "0 8 * * mon-fri", "--timezone", "Europe/Berlin", "--prompt", "Report"];
    let added = as_json(&bench, &[&["cron", "add"], &report[..], &["--timeout", "60"]].concat()).await;
    let (id, session) = (added["id"].as_str().unwrap(), added["sessionKey"].as_str().unwrap());
    assert_eq!(session, format!("agent:main:cron:{id}"));
    printed(&bench, &["cron", "run", id]).await;

    let _gateway = started(&bench);
    let run_of = async || as_json(&bench, &["cron", "runs", id]).await["runs"][0].clone();
    while run_of().await["endedAt"].is_null() {}
    assert_eq!((&run_of().await["state"], &run_of().await["manual"]), (&json!("done"), &json!(true)));
    let shown = printed(&bench, &["sessions", "show", session]).await;
    assert!(shown.contains("Report") && shown.contains("All is well."), "{shown}");
    let runs = printed(&bench, &["cron", "runs", id]).await;
    assert!(runs.contains("done  (beside the schedule)"), "{runs}");

    let listed = printed(&bench, &["cron", "list"]).await;
    for part in [id, "0 8 * * mon-fri (Europe/Berlin)", "T08:00:00+0", "“Report”", session] {
        assert!(listed.contains(part), "{part}: {listed}");
    }
    // Its run beside the schedule has not moved its next time.
    let next = added["nextAt"].as_i64().unwrap();
    assert!(as_json(&bench, &["cron", "list"]).await["jobs"][0]["nextAt"].as_i64().unwrap() >= next);
    let change = ["cron", "update", id, "--prompt", "Other", "--timeout", "0", "--disabled"];
    let changed = as_json(&bench, &change).await;
    assert_eq!(
        (&changed["prompt"], &changed["timeoutSeconds"], &changed["enabled"], &changed["schedule"]),
        (&json!("Other"), &Value::Null, &json!(false), &json!("0 8 * * mon-fri"))
    );
    assert!(printed(&bench, &["cron", "list"]).await.contains("  paused\n"));
    printed(&bench, &["cron", "remove", id]).await;
    let again = run(&bench, &["cron", "remove", id]).await;
    assert!(String::from_utf8_lossy(&again.stderr).contains("no job"), "{again:?}");
    assert_eq!(bench.server.requests().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_of_each_second_runs_by_itself_in_the_session_and_with_the_tool_that_it_names() {
    let bench = Bench::new([]).await;
    let _gateway = started(&bench);
    let job = ["cron", "add", "--every", "1s", "--tool", "cron", "--session-key", "main", "--arguments"];
    let output = run(&bench, &[&job[..], &["[]"]].concat()).await;
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let added = as_json(&bench, &[&job[..], &[r#"{"action": "list"}"#]].concat()).await;
    assert_eq!(added["sessionKey"], "agent:main:main");
    let id = added["id"].as_str().unwrap();
    // Two times of the schedule, neither asked for.
    let runs = loop {
        let runs = as_json(&bench, &["cron", "runs", id]).await["runs"].clone();
        if runs.as_array().unwrap().iter().filter(|run| !run["endedAt"].is_null()).count() >= 2 {
            break runs;
        }
    };
    assert!(runs.as_array().unwrap().iter().all(|run| run["manual"] == false), "{runs}");
    let first = runs.as_array().unwrap().last().unwrap();
    assert!(first["state"] == "done" && first["result"].as_str().unwrap().contains(id), "{first}");
    assert_eq!(bench.server.requests().len(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_that_is_wrong_is_refused_by_the_command_line_or_the_gateway() {
    let bench = Bench::new([]).await;
    for (args, code, said) in [
        (&["add", "--prompt", "a"][..], 2, "--schedule"),
        (&["add", "--every", "1h"], 2, "--prompt"),
        (
            &["add", "--every", "1h", "--at", "2040-01-01T00:00:00Z", "--prompt", "a"],
            2,
            "cannot be used with",
        ),
        (&["add", "--every", "1h", "--prompt", "a", "--tool", "b"], 2, "cannot be used with"),
        (&["add", "--every", "1h", "--timezone", "UTC", "--prompt", "a"], 2, "cannot be used with"),
        (&["add", "--every", "1h", "--prompt", "a", "--missed", "never"], 2, "never"),
        (&["add", "--every", "1h", "--prompt", "a", "--agent", "none"], 1, "no agent `none`"),
        (
            &["add", "--every", "1h", "--prompt", "a", "--session-key", "main", "--model", "m"],
            1,
            "a session of its own",
        ),
        (&["add", "--schedule", "* * *", "--prompt", "a"], 1, "five"),
        (&["add", "--at", "2001-01-01T00:00:00Z", "--prompt", "a"], 1, "has passed"),
        (&["update", "nobody", "--prompt", "a"], 1, "no job `nobody`"),
        (&["run", "nobody"], 1, "no job `nobody`"),
        (&["runs", "nobody"], 1, "no job `nobody`"),
    ] {
        let output = run(&bench, &[&["cron"], args].concat()).await;
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(code) && told.contains(said), "{args:?}: {told}");
    }
    assert_eq!(as_json(&bench, &["cron", "list"]).await, json!({ "jobs": [] }));
}

/// The commands of `toolkit` in a section of the guide, as words, without the name of the program.
fn commands_of_guide(section: &str) -> Vec<Vec<String>> {
    let guide = fs::read_to_string(toolkit_tests::repository().join("docs/gateway.md")).unwrap();
    let (_, text) = guide.split_once(&format!("\n## {section}\n")).expect("the guide has the section");
    let text = text.split_once("\n## ").map_or(text, |(text, _)| text);
    let commands = text.lines().filter_map(|line| line.strip_prefix("toolkit "));
    let words = |command: &str| {
        let command = command.split_once(" #").map_or(command, |(command, _)| command);
        let parts = command.split('"').enumerate();
        let words = parts.flat_map(|(number, part)| match number % 2 {
            0 => part.split_whitespace().map(str::to_owned).collect(),
            _ => vec![part.to_owned()],
        });
        words.collect()
    };
    commands.map(words).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_commands_of_the_guide_lead_to_a_daily_report() {
    const ID_IN_GUIDE: &str = "3f2a9c01b7de";
    let bench = Bench::new([text("Nothing is new.")]).await;
    let _gateway = started(&bench);
    let mut id = String::new();
    let mut outputs = Vec::new();
    for command in commands_of_guide("A daily report") {
        // It would write a unit of systemd for the user who runs the tests.
        if command == ["gateway", "install"] {
            continue;
        }
        let command: Vec<String> = command.iter().map(|word| word.replace(ID_IN_GUIDE, &id)).collect();
        let command: Vec<&str> = command.iter().map(String::as_str).collect();
        outputs.push(printed(&bench, &command).await);
        if id.is_empty() {
            let jobs = as_json(&bench, &["cron", "list"]).await;
            jobs["jobs"][0]["id"].as_str().unwrap().clone_into(&mut id);
        }
        if command[..2] == ["cron", "run"] {
            while as_json(&bench, &["cron", "runs", &id]).await["runs"][0]["endedAt"].is_null() {}
        }
    }
    let [added, listed, _, runs, shown] = &outputs[..] else { panic!("{outputs:?}") };
    assert!(added.contains(&id) && added == listed, "{outputs:?}");
    assert!(runs.contains("  done  ") && shown.contains("Nothing is new."), "{outputs:?}");
    let prompt = bench.server.requests()[0].json()["messages"].to_string();
    assert!(prompt.contains("in five lines"), "{prompt}");
}

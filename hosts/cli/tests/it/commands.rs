//! Commands by the command: it is its own supervisor, and a person at the terminal is asked.

#![cfg(all(target_os = "linux", feature = "runtime"))]
#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

use crate::fixture::terminal::Terminal;
use std::fs;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

fn user(config: &str) -> TempDir {
    let user = tempfile::tempdir().unwrap();
    for directory in ["work", "user", "data"] {
        fs::create_dir(user.path().join(directory)).unwrap();
    }
    fs::write(user.path().join("user/toolkit.json5"), config).unwrap();
    user
}

fn toolkit(user: &TempDir, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_toolkit"));
    command.args(arguments).current_dir(user.path().join("work")).stdin(Stdio::null());
    command.env("TOOLKIT_CONFIG_DIR", user.path().join("user"));
    command.env("TOOLKIT_DATA_DIR", user.path().join("data"));
    command
}

#[test]
fn what_only_reads_runs_and_the_rest_needs_a_person() {
    let user = user("{}");
    let ran = toolkit(&user, &["call", "exec", "--command", "echo one; pwd"]).output().unwrap();
    let out = String::from_utf8_lossy(&ran.stdout).into_owned();
    assert!(
        ran.status.success() && out.starts_with("one\n") && out.contains("[exit code 0, after"),
        "{ran:?}"
    );
    let failed = toolkit(&user, &["call", "bash", "--command", "echo out; exit 3"]).output().unwrap();
    let told = String::from_utf8_lossy(&failed.stderr).into_owned();
    assert!(!failed.status.success() && told.contains("out\n") && told.contains("exit code 3"), "{failed:?}");
    let denied = toolkit(&user, &["call", "exec", "--command", "touch made"]).output().unwrap();
    assert_eq!(denied.status.code(), Some(5), "{denied:?}");
    assert!(!user.path().join("work/made").exists());
}

#[test]
fn a_question_about_a_command_has_ten_lines_and_names_each_thing_once() {
    const PROMPT: &str = "y once, ";
    let user = user("{}");
    let line = format!("'{}' call exec --command 'rm -rf build'", env!("CARGO_BIN_EXE_toolkit"));
    let terminal = Terminal::running(&line, |mut command| {
        command.current_dir(user.path().join("work")).env("NO_COLOR", "1");
        command.env("TOOLKIT_CONFIG_DIR", user.path().join("user"));
        command.env("TOOLKIT_DATA_DIR", user.path().join("data"));
        command
    });
    let (seen, code) = terminal.until(PROMPT).type_in("n\n").end();
    let seen = seen.replace("\r\n", "\n");
    let (question, _) = seen.split_once(PROMPT).unwrap();
    assert_eq!(code, Some(5), "{seen}");
    assert!(question.trim_start().lines().count() < 10, "{question}");
    for part in [
        "  │ rm -rf build\n",
        "  why: rm ",
        "  warning: it can destroy data",
        "work/build\n",
        "  s remembers: exactly",
        "  only while: it runs in that; no rule is about paths",
    ] {
        assert_eq!(question.matches(part).count(), 1, "{part} in {question}");
    }
}

#[test]
fn where_nobody_is_there_what_would_help_is_named() {
    let user = user("{}");
    for (command, expected) in [
        ("touch made", "or allow it with `tools.exec.security: \"auto\"` where a sandbox holds what it does"),
        (
            "make all",
            "or allow it with an entry such as `permission: { exec: [{ match: \"make all\", do: \"allow\" }] }`",
        ),
        (
            "make all -k",
            "or allow it with an entry such as `permission: { exec: [{ match: \"make all *\", do: \"allow\" }] }`",
        ),
        ("cat .env", "run it in one"),
    ] {
        fs::write(user.path().join("work/.env"), "SECRET=1\n").unwrap();
        let mut call = Command::new("setsid");
        call.args(["--wait", env!("CARGO_BIN_EXE_toolkit"), "call", "exec", "--command", command]);
        call.current_dir(user.path().join("work")).stdin(Stdio::null());
        call.env("TOOLKIT_CONFIG_DIR", user.path().join("user"));
        call.env("TOOLKIT_DATA_DIR", user.path().join("data"));
        let denied = call.output().unwrap();
        let told = String::from_utf8_lossy(&denied.stderr).into_owned();
        assert_eq!(denied.status.code(), Some(5), "{told}");
        assert!(told.contains(expected) && !told.contains("the setting `permission.exec`"), "{told}");
        // The entry that is named lets it run.
        if let Some(rules) = told.split("exec: ").nth(1).and_then(|rules| rules.split(" }`").next()) {
            let entry = format!("permission.exec={rules}");
            let explained =
                toolkit(&user, &["explain", "command", command, "--set", &entry]).output().unwrap();
            let told = String::from_utf8_lossy(&explained.stdout).into_owned();
            assert!(told.starts_with("allow"), "{command} with {rules}: {told} {explained:?}");
        }
    }
}

#[test]
fn nothing_stays_in_the_background_of_a_call() {
    let user = user("{ permission: { exec: [{ match: 'sleep *', do: 'allow' }] } }");
    let call = |more: &[&str]| {
        let arguments = [&["call", "exec", "--command", "sleep 0.1; echo done"], more].concat();
        toolkit(&user, &arguments).output().unwrap()
    };
    let refused = call(&["--run-in-background"]);
    let told = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(!refused.status.success() && told.contains("this program ends with the call"), "{told}");
    let waits = call(&["--yield-ms", "10"]);
    assert!(waits.status.success() && waits.stdout.starts_with(b"done\n[exit code 0"), "{waits:?}");
}

/// The processes that have this in their arguments.
fn alive(marker: &str) -> usize {
    let processes = fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    let lines = processes.map(|process| fs::read(process.path().join("cmdline")).unwrap_or_default());
    lines.filter(|line| String::from_utf8_lossy(line).contains(marker)).count()
}

#[test]
fn a_host_that_is_killed_takes_its_commands_along_and_leaves_their_output() {
    let marker = format!("4{:08}", std::process::id());
    // It is allowed by a rule, so that nobody has to be asked.
    let user = user(
        "{ permission: { exec: [{ match: 'env *', do: 'allow' }, { match: 'setsid *', do: 'allow' }] } }",
    );
    let command = format!("echo written; (setsid sleep {marker} &) ; sleep {marker} & sleep {marker}");
    let mut host = toolkit(&user, &["call", "exec", "--command", &command, "--yield-ms", "3000000"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let until = Instant::now() + Duration::from_mins(1);
    while fs::read_dir(user.path().join("data/tool-output")).map_or(0, Iterator::count) == 0
        || alive(&marker) < 4
    {
        assert!(Instant::now() < until && host.try_wait().unwrap().is_none(), "{} are there", alive(&marker));
        std::thread::sleep(Duration::from_millis(10));
    }
    host.kill().unwrap();
    host.wait().unwrap();
    let killed = Instant::now();
    while alive(&marker) > 0 {
        assert!(killed.elapsed() < Duration::from_secs(30), "{} are left", alive(&marker));
        std::thread::sleep(Duration::from_millis(10));
    }
    let session = fs::read_dir(user.path().join("data/tool-output")).unwrap().next().unwrap().unwrap().path();
    let output = || {
        let file = fs::read_dir(&session).ok()?.next()?.ok()?.path();
        fs::read_to_string(file).ok()
    };
    // The supervisor writes the rest of it once the processes are gone.
    let gone = Instant::now();
    while output().as_deref() != Some("written\n") {
        assert!(gone.elapsed() < Duration::from_secs(30), "{:?}", output());
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn what_would_become_of_a_command_is_explained_and_nothing_runs() {
    let user = user(
        "{ permission: { exec: [{ match: 'touch *', do: 'allow' }, { match: 'make deploy', do: 'deny' }], \
         edit: 'allow' } }",
    );
    let explain = |command: &str, options: &[&str]| {
        let run = toolkit(&user, &[&["explain", "command", command], options].concat()).output().unwrap();
        assert!(run.stderr.is_empty(), "{run:?}");
        (run.status.code().unwrap(), String::from_utf8(run.stdout).unwrap())
    };
    for (command, code, first) in [
        ("cat a.txt | sort", 0, "allow: it runs without a prompt (read-only)\n"),
        ("cat a.txt | tee made", 0, "ask: it needs approval before it runs (write)\n"),
        ("touch made", 0, "allow: it runs without a prompt (write)\n"),
        ("make deploy", 5, "deny: it does not run (unknown)\n  denied by the rule"),
        ("sudo id", 5, "deny: it does not run (forbidden)\n"),
        ("cat 'a", 0, "ask: it needs approval before it runs (unknown)\n"),
    ] {
        let (found, page) = explain(command, &[]);
        assert!(found == code && page.starts_with(first), "{command}: {found} {page}");
    }
    assert!(!user.path().join("work/made").exists());
    let (_, tree) = explain("cat a.txt | tee made; sh -c 'rm -r made'", &[]);
    for line in [
        "allow  cat a.txt  (read-only)\n",
        "ask    tee made  (write)\n",
        "  ask    rm -r made  (dangerous)\n",
    ] {
        assert!(tree.contains(line), "{tree}");
    }
    let (_, json) = explain("cat a.txt > .git/config", &["-o", "json"]);
    assert!(json.starts_with("{\n  \"verdict\": \"ask\",\n"), "{json}");
    let page: serde_json::Value = serde_json::from_str(&json).unwrap();
    let part = &page["parts"][0];
    assert_eq!(
        (&part["verdict"], &part["text"]),
        (&"ask".into(), &"cat a.txt > .git/config".into()),
        "{json}"
    );
    let made = part["paths"].as_array().unwrap().iter().find(|path| path["access"] == "write").unwrap();
    assert!(made["path"].as_str().unwrap().ends_with("work/.git/config"), "{json}");
    assert!(made["asked"].as_str().unwrap().starts_with("permission.protected"), "{json}");
}

#[test]
fn the_doctor_says_what_holds_and_what_that_means() {
    let user = user("{ tools: { exec: { security: 'deny', sandboxMode: 'read-only' } } }");
    let page = toolkit(&user, &["doctor"]).output().unwrap();
    let text = String::from_utf8_lossy(&page.stdout).into_owned();
    assert!(page.status.success() && text.contains("seccomp  "), "{page:?}");
    assert!(
        text.contains("`tools.exec.security` is `deny`") && text.contains("can change no file"),
        "{text}"
    );
    for says in [
        "at most 1073741824 bytes are kept",
        "processes and threads and ",
        " MiB of memory at once, ",
        "a local socket with a path",
    ] {
        assert!(text.contains(says), "{says}: {text}");
    }
    let page = toolkit(&user, &["doctor", "-o", "json"]).output().unwrap();
    let found: serde_json::Value = serde_json::from_slice(&page.stdout).unwrap();
    let features = found["features"].as_array().unwrap();
    let missing = features.iter().filter(|feature| !feature["missing"].is_null()).count();
    assert_eq!(found["sandbox"] == "whole", missing == 0, "{found}");
    assert_eq!(features.len(), 8);
    let providers = found["searchProviders"].as_array().unwrap();
    let names: Vec<_> = providers.iter().map(|provider| provider["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["brave", "perplexity", "searxng"]);
    assert!(text.contains("web_search by searxng     missing: searxng has no address"), "{text}");
    let settings = ["tools.web.search.provider=searxng", "tools.web.search.baseUrl=http://localhost:8888"];
    let page = toolkit(&user, &["doctor", "--set", settings[0], "--set", settings[1]]).output().unwrap();
    assert!(
        String::from_utf8_lossy(&page.stdout).contains("web_search by searxng     works, and is used"),
        "{page:?}"
    );
    let denied = toolkit(&user, &["doctor", "--set", "tools.deny=[\"exec\"]"]).output().unwrap();
    assert_eq!(denied.status.code(), Some(5), "{denied:?}");
}

#[test]
fn the_doctor_says_which_keys_have_no_effect() {
    let user = user("{\n  toolAgent: { maxToolCalls: 5,\n    model: 'small' },\n}");
    let void = |key: &str| {
        format!("`toolAgent.{key}` has no effect: this program runs no agent that tasks are delegated to")
    };
    let page = toolkit(&user, &["doctor"]).output().unwrap();
    let text = String::from_utf8_lossy(&page.stdout).into_owned();
    for (key, line) in [("maxToolCalls", ":2:"), ("model", ":3:")] {
        let told = text.lines().find(|told| told.contains(&void(key)));
        assert!(told.is_some_and(|told| told.contains(line)), "{key}: {text}");
    }
    let page = toolkit(&user, &["doctor", "-o", "json"]).output().unwrap();
    let found: serde_json::Value = serde_json::from_slice(&page.stdout).unwrap();
    assert_eq!(found["diagnostics"][0]["message"], void("maxToolCalls"), "{found}");
    // Where it cannot say anything else, it says that.
    let denied = toolkit(&user, &["doctor", "--set", "tools.deny=[\"exec\"]"]).output().unwrap();
    let text = String::from_utf8_lossy(&denied.stderr).into_owned();
    assert!(denied.status.code() == Some(5) && text.contains(&void("model")), "{denied:?}");
}

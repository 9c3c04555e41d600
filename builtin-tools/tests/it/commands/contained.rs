//! The effects of a sandbox. Where this system has not got all of it, commands are asked about as without one.

use crate::commands::house::{House, fact, is_whole};
use serde_json::json;
use std::process::Command;
use toolkit::{ToolErrorKind, approval::Answer};

#[tokio::test(flavor = "multi_thread")]
async fn what_a_working_sandbox_contains_is_not_asked_about() {
    let house = House::with(json!({ "tools": { "exec": { "security": "auto" } } }), |_| Answer::deny()).await;
    let is_whole = toolkit_sandbox::probe().is_whole();
    for (command, contained) in [
        ("touch made; ls made", true),
        ("make nothing", true),
        ("python3 -c 'print(1)'", true),
        ("cat .env", false),
        ("touch ../outside", false),
        ("mkdir sub; rm -rf sub", false),
        ("curl http://127.0.0.1", false),
    ] {
        let result = house.exec(command).await;
        let asked = house.asked().len();
        assert_eq!(asked, usize::from(!(is_whole && contained)), "{command}: {}", result.text());
        if asked == 0 {
            assert_eq!(fact(&result, "sandbox")["whole"], json!(true), "{command}: {}", result.text());
        }
    }
    assert_eq!(house.path("made").exists(), is_whole);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_is_bounded_more_narrowly_writes_within_that_alone() {
    // Below no directory that a sandbox covers.
    let outside = std::env::current_dir().unwrap().join(format!("narrowed-{}", std::process::id()));
    std::fs::create_dir(&outside).unwrap();
    let _gone = Gone(outside.clone());
    for name in ["one", "two"] {
        std::fs::create_dir(outside.join(name)).unwrap();
    }
    let (one, two) = (outside.join("one"), outside.join("two"));
    let settings = json!({ "tools": { "exec": { "security": "auto", "allowedDirectories": [one, two] } } });
    let house = House::with(settings, |_| Answer::deny()).await;
    std::fs::create_dir_all(house.path("sub")).unwrap();
    let is_whole = toolkit_sandbox::probe().is_whole();
    let narrowed = house.narrowed(&[house.path("sub"), one.clone()]).await;
    for (command, file, contained) in [
        ("touch sub/here".to_owned(), house.path("sub/here"), true),
        (format!("touch {}/f", one.display()), one.join("f"), true),
        (format!("touch {}/f", two.display()), two.join("f"), false),
        ("touch above".to_owned(), house.path("above"), false),
        ("cat a.txt".to_owned(), house.path("none"), false),
    ] {
        let result = narrowed.exec(&command).await;
        let is_made = is_whole && contained;
        assert_eq!(house.asked().is_empty(), is_made, "{command}: {}", result.text());
        assert_eq!(file.exists(), is_made, "{command}: {}", result.text());
    }
    // The configuration is as it was for all others.
    house.exec(&format!("touch {}/f", two.display())).await;
    assert_eq!(two.join("f").exists(), is_whole);
}

/// Made by git, which need not be told who anybody is.
fn make_repository(house: &House) {
    for arguments in
        [&["init", "-q"][..], &["config", "user.name", "n"], &["config", "user.email", "n@example.invalid"]]
    {
        let made = Command::new("git").args(arguments).current_dir(house.path(".")).status().unwrap();
        assert!(made.success());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_person_allowed_is_done() {
    let house = House::new(json!({})).await;
    make_repository(&house);
    std::fs::create_dir_all(house.path(".vscode")).unwrap();
    std::fs::create_dir_all(house.path("deep")).unwrap();
    // Below no directory that a sandbox covers.
    let outside = std::env::current_dir().unwrap().join(format!("outside-{}", std::process::id()));
    std::fs::create_dir(&outside).unwrap();
    std::fs::write(outside.join("f"), "far\n").unwrap();
    let _gone = Gone(outside.clone());
    let out = outside.display();
    let name = format!("/tmp/named-{}", std::process::id());
    for (command, says) in [
        (format!("echo x > {out}/g; cat {out}/g"), "x"),
        (format!("cp a.txt {out}/h && mv {out}/h {out}/i && rm {out}/i && ls {out}"), "f\ng"),
        (format!("touch inside; cat {out}/f"), "far"),
        ("touch inside; cat .env".to_owned(), "SECRET=1"),
        ("echo x > .vscode/tasks.json; cat .vscode/tasks.json".to_owned(), "x"),
        ("echo x > .git/hooks/pre-merge-commit; cat .git/hooks/pre-merge-commit".to_owned(), "x"),
        ("git config user.name other; git config user.name".to_owned(), "other"),
        ("git add a.txt; git commit -q -m one; git log --format=%s".to_owned(), "one"),
        ("cd deep && git tag here && git tag".to_owned(), "here"),
        (format!("echo x > {name}; cat {name}; rm {name}"), "x"),
    ] {
        let result = house.exec(&command).await;
        assert!(!result.is_error() && result.text().starts_with(says), "{command}: {}", result.text());
        assert!(!house.asked().is_empty(), "{command}");
    }
    // In a directory of the repository that is a workspace by itself.
    let inner = house.within("deep").await;
    let result = inner.exec("touch x; git add x; git commit -q -m two; git log -1 --format=%s").await;
    assert!(result.text().starts_with("two"), "{}", result.text());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_person_allowed_is_contained_all_the_same() {
    if !is_whole() {
        // Then the parts that are missing are told, which is what the test of the results looks at.
        return;
    }
    let house = House::new(json!({})).await;
    make_repository(&house);
    std::fs::create_dir_all(house.path(".vscode")).unwrap();
    let outside = std::env::current_dir().unwrap().join(format!("outside-of-{}", std::process::id()));
    let python = |script: &str| format!("python3 -c \"{script}\"");
    for (command, says) in [
        // The directories that the question did not name.
        (python(&format!("open('{}', 'w')", outside.display())), "sandbox"),
        (python("open('.vscode/tasks.json', 'w')"), "sandbox"),
        (python("open('.git/hooks/pre-commit', 'w')"), "sandbox"),
        ("touch inside; exec 3<>/dev/tcp/127.0.0.1/1".to_owned(), "exit code 1"),
        (python("import socket; socket.create_connection(('127.0.0.1', 1))"), "its localhost is private"),
    ] {
        let result = house.exec(&command).await;
        assert!(result.is_error() && result.text().contains(says), "{command}: {}", result.text());
    }
    assert!(!outside.exists() && house.path("inside").exists());
    // Servers of its own it finds.
    let script = "import socket; s = socket.create_server(('', 0)); socket.create_connection(('localhost', s.getsockname()[1])); print('met')";
    let result = house.exec(&python(script)).await;
    assert!(result.text().starts_with("met\n"), "{}", result.text());
    // One finds in /tmp what another left there, and nobody else does.
    let name = format!("/tmp/left-{}", std::process::id());
    house.exec(&python(&format!("open('{name}', 'w').write('here')"))).await;
    assert!(!std::path::Path::new(&name).exists());
    for command in [format!("touch inside; cat {name}"), format!("cat {name}")] {
        let result = house.exec(&command).await;
        assert!(result.text().starts_with("here\n"), "{command}: {}", result.text());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn where_nobody_was_asked_what_decides_and_what_is_secret_is_left_alone() {
    let house = House::with(json!({ "tools": { "exec": { "security": "auto" } } }), |_| Answer::deny()).await;
    if !toolkit_sandbox::probe().is_whole() {
        return;
    }
    make_repository(&house);
    std::fs::create_dir_all(house.path("sub/deep/.git/hooks")).unwrap();
    std::fs::write(house.path("sub/key.pem"), "key").unwrap();
    for path in [
        ".git/HEAD",
        ".git/commondir",
        ".git/info/attributes",
        ".git/modules/x",
        "sub/deep/.git/config",
        ".vscode/tasks.json",
        ".envrc",
        ".mcp.json",
        ".github/workflows/x.yml",
        ".husky/pre-commit",
        ".cargo/config.toml",
    ] {
        let script = format!(
            "python3 -c \"import os; os.makedirs(os.path.dirname('./{path}'), exist_ok=True); open('{path}', 'w').write('evil')\""
        );
        let result = house.exec(&script).await;
        assert!(result.is_error() && house.asked().is_empty(), "{path}: {}", result.text());
        let is_evil = std::fs::read_to_string(house.path(path)).is_ok_and(|text| text == "evil");
        assert!(!is_evil, "{path} was written");
    }
    for path in [".env", "sub/key.pem", "/etc/shadow"] {
        let result = house.exec(&format!("python3 -c \"print(open('{path}').read())\"")).await;
        assert!(result.is_error() && house.asked().is_empty(), "{path}: {}", result.text());
        assert!(result.text().contains("Permission denied"), "{path}: {}", result.text());
    }
    for path in [".vscode", ".husky", ".envrc"] {
        assert!(!house.path(path).exists(), "{path} is left");
    }
    // A part of git that writes is asked about, and with it the whole command.
    for command in ["git add a.txt", "touch made; git add a.txt", "touch made; curl http://127.0.0.1:1"] {
        let result = house.exec(command).await;
        let asked = house.asked();
        assert_eq!(asked.len(), 1, "{command}: {}", result.text());
        let shown = format!("{:?}", asked[0]);
        assert!(shown.contains("touch") == command.contains("touch"), "{shown}");
        assert!(!command.contains("curl") || shown.contains("with network"), "{shown}");
    }
    assert!(!house.path("made").exists());
    // A link where something is to be kept from being made: then it is asked about.
    std::os::unix::fs::symlink("/nonexistent", house.path(".husky")).unwrap();
    house.exec("touch made").await;
    assert_eq!(house.asked().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_rule_allows_beside_it_lets_nothing_unasked_out() {
    if !is_whole() {
        return;
    }
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    // The network, which the rule allows to `curl` alone; then the home directory, where it may write.
    let connects = format!("python3 -c \"import socket; socket.create_connection(('127.0.0.1', {port}))\"");
    let home = std::path::PathBuf::from(std::env::var_os("HOME").unwrap());
    let [allowed, beside] =
        ["allowed", "beside"].map(|name| home.join(format!(".{name}-{}", std::process::id())));
    let writes = format!("python3 -c \"open('{}', 'w')\"", beside.display());
    let rules = json!({
        "exec": [{ "match": "curl *", "do": "allow" }],
        "edit": "allow",
        "external_directory": "allow",
    });
    let config = json!({ "tools": { "exec": { "security": "auto" } }, "permission": rules });
    let house = House::with(config, |_| Answer::deny()).await;
    for command in [
        format!("curl -s -m 2 http://127.0.0.1:{port}; {connects}"),
        format!("echo x > {}; {writes}", allowed.display()),
    ] {
        let result = house.exec(&command).await;
        let sandbox = fact(&result, "sandbox");
        assert!(house.asked().is_empty() && result.is_error(), "{command}: {}", result.text());
        assert_eq!(
            (&sandbox["whole"], &sandbox["network"]),
            (&json!(true), &json!("off")),
            "{command}: {sandbox}"
        );
    }
    assert!(listener.accept().is_err() && !beside.exists());
    // The `/tmp` of all, of which it may read one file.
    let names = ["shared", "other", "beside"].map(|name| format!("/tmp/{name}-{}", std::process::id()));
    let [shared, other, beside] = names;
    let _gone = [&shared, &other].map(|path| {
        std::fs::write(path, "shared\n").unwrap();
        Gone(path.into())
    });
    let looks = format!("import os; print(os.listdir('/tmp')); open('{beside}', 'w')");
    let result = house.exec(&format!("cat {shared}; python3 -c \"{looks}\"")).await;
    let text = result.text();
    assert!(house.asked().is_empty() && text.starts_with("shared\n") && text.contains("['"), "{text}");
    assert!(!text.contains("other-") && !std::path::Path::new(&beside).exists(), "{text}");
}

/// Removes a file or directory in the end.
struct Gone(std::path::PathBuf);

impl Drop for Gone {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_editor_that_cannot_keep_its_history_ends_without_a_question() {
    if !is_whole() {
        return;
    }
    let house = House::new(json!({})).await;
    let home = std::env::current_dir().unwrap().join(format!("home-{}", std::process::id()));
    std::fs::create_dir(&home).unwrap();
    let _gone = Gone(home.clone());
    std::fs::write(home.join(".viminfo"), "\n").unwrap();
    let env = json!({ "HOME": home });
    let reads = "python3 -c 'import os; open(os.path.expanduser(\"~/.viminfo\"))'";
    let result = house.call("exec", json!({ "command": reads, "env": env, "workdir": home })).await;
    assert!(result.text().contains("Permission denied"), "{}", result.text());
    if Command::new("vim").arg("--version").output().is_err() {
        return;
    }
    // In its home directory, which is there for it wherever that lies, and cannot be written to.
    let command = format!("vim -u NONE -N {}", house.path("new.txt").display());
    let arguments =
        json!({ "command": command, "env": env, "workdir": home, "pty": true, "run_in_background": true });
    let id = fact(&house.call("exec", arguments).await, "taskId").as_str().unwrap().to_owned();
    let typed = json!({ "action": "write", "task_id": id, "data": "ihello\u{1b}:set viminfo='10\r:wq\r" });
    let mut seen = house.call("process", typed).await.text();
    for _ in 0..20 {
        if seen.contains("exit code") {
            break;
        }
        seen = house.call("process", json!({ "action": "poll", "task_id": id, "wait_ms": 500 })).await.text();
    }
    assert!(seen.contains("exit code 0"), "{seen}");
    assert_eq!(std::fs::read_to_string(house.path("new.txt")).unwrap(), "hello\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_leaves_the_sandbox_is_asked_for() {
    let house = House::with(json!({}), |_| Answer::deny()).await;
    let refused = house.call("exec", json!({ "command": "ls", "escalate": "no-sandbox" })).await;
    assert_eq!((refused.error().unwrap().kind(), house.asked().len()), (ToolErrorKind::Denied, 1));
    let house = House::new(json!({ "tools": { "exec": { "sandbox": "required" } } })).await;
    let refused = house.call("exec", json!({ "command": "ls", "escalate": "no-sandbox" })).await;
    assert_eq!((refused.error().unwrap().kind(), house.asked().len()), (ToolErrorKind::Denied, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_sandbox_did_is_told_with_the_way_out_and_nothing_else_is() {
    if !is_whole() {
        return;
    }
    // A host that a question does not name is not let through by its answer.
    let elsewhere = "python3 -c 'open(\"/usr/no-such-file\", \"w\")'; exit 1";
    let network = "python3 -c 'import socket; socket.getaddrinfo(\"example.org\", 80)'; exit 1";
    for (settings, command, told, untold) in [
        (json!({}), "touch a; echo 'error in src/run/mod.rs:3' >&2; exit 1", "exit code 1", "sandbox"),
        (json!({}), "touch a; echo \"panicked at $PWD/x.rs\"; exit 1", "exit code 1", "sandbox"),
        (json!({}), "touch a; seq 100000; exit 1", "Output cut", "sandbox"),
        (
            json!({}),
            "touch a; seq 100000; ls /tmp/nothing-here; exit 1",
            "/tmp and /run are its own",
            "network",
        ),
        (json!({}), network, "`escalate: \"network\"`", "no-sandbox"),
        (json!({}), elsewhere, "`escalate: \"no-sandbox\"`", "no network"),
        (json!({ "sandbox": "required" }), elsewhere, "go on without", "escalate"),
        (json!({ "sandbox": "required" }), network, "`escalate: \"network\"`", "no-sandbox"),
        (
            json!({ "ask": "off", "security": "auto" }),
            "touch a; python3 nothing.py; exit 1",
            "exit code 1",
            "escalate",
        ),
        (
            json!({}),
            "touch a; echo \"unable to unlink '.git/config': Read-only file system\"",
            "protected",
            "no network",
        ),
        (
            json!({}),
            "touch a; echo \"unable to unlink '/etc/x': Read-only file system\"",
            "exit code 0",
            "sandbox",
        ),
    ] {
        let house = House::new(json!({ "tools": { "exec": settings } })).await;
        std::fs::create_dir(house.path(".vscode")).unwrap();
        let result = house.exec(command).await;
        let text = result.text();
        let end = text.rfind("[exit code").map(|at| text[at..].to_owned()).unwrap_or_default();
        assert!(text.contains(told) && !end.contains(untold), "{settings} {command}: {text}");
    }
    // Whoever ended it knows why it failed.
    let house = House::new(json!({})).await;
    let arguments = json!({ "command": "touch a; ls /tmp/nothing-here; sleep 1000", "timeout": 1500 });
    let text = house.call("exec", arguments).await.text();
    assert!(text.contains("timed out") && !text.contains("sandbox"), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_metadata_say_what_holds_and_why_nothing_does() {
    let is_whole = is_whole();
    for (settings, command, mode, network, words) in [
        (json!({}), "touch a", json!("workspace-write"), json!("off"), "a sandbox: "),
        (json!({ "network": "on" }), "touch a", json!("workspace-write"), json!("on"), "a sandbox: "),
        (
            json!({ "sandboxMode": "read-only" }),
            "touch a; true",
            json!("read-only"),
            json!("off"),
            "a sandbox: ",
        ),
        (json!({}), "cat a.txt", json!("read-only"), json!("off"), "a sandbox: it can only read"),
        (json!({ "sandbox": "off" }), "touch a", json!(null), json!(null), "no sandbox"),
    ] {
        let house = House::new(json!({ "tools": { "exec": settings } })).await;
        let result = house.exec(command).await;
        let sandbox = fact(&result, "sandbox");
        assert!(sandbox["words"].as_str().unwrap().starts_with(words), "{sandbox}");
        if is_whole {
            assert_eq!((&sandbox["mode"], &sandbox["network"]), (&mode, &network), "{settings}: {sandbox}");
            assert!(mode.is_null() || sandbox["missing"] == json!([]), "{sandbox}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sandbox_that_cannot_be_set_up_says_what_to_change() {
    if !is_whole() {
        return;
    }
    let settings = json!({ "tools": { "exec": { "allowedDirectories": ["/"] } } });
    let house = House::new(settings).await;
    let result = house.exec("touch made").await;
    assert_eq!(result.error().unwrap().kind(), ToolErrorKind::Unavailable);
    for words in ["`/`", "`tools.exec.allowedDirectories`", "`tools.exec.sandboxMode` to \"full\""] {
        assert!(
            result.text().contains(words) && !result.text().contains("use the mode"),
            "{}",
            result.text()
        );
    }
}

//! Files that commands in a sandbox must not leave behind.

use crate::commands::house::{House, fact, is_whole};
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;
use toolkit::{ToolResult, approval::Answer};

/// Makes these files, each with a text.
fn makes(paths: &[&str], text: &str) -> String {
    let paths: Vec<String> = paths.iter().map(|path| format!("'{path}'")).collect();
    format!(
        "python3 -c \"import os\nfor path in [{}]:\n  os.makedirs(os.path.dirname('./' + path), exist_ok=True)\n  open(path, 'w').write('{text}')\"",
        paths.join(", ")
    )
}

fn moved(result: &ToolResult) -> Vec<Value> {
    fact(result, "quarantined").as_array().cloned().unwrap_or_default()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_nobody_was_asked_about_is_moved_away_at_any_depth() {
    let house = House::with(json!({ "tools": { "exec": { "security": "auto" } } }), |_| Answer::deny()).await;
    if !toolkit_sandbox::probe().is_whole() {
        return;
    }
    let paths = [
        "toolkit.json5",
        "src/.env",
        "src/.Env.local",
        "newdir/.git/hooks/post-checkout",
        "a/b/c/d/e/f/g/h/.vscode/tasks.json",
        "a/.github/workflows/x.yml",
        "a/.bashrc",
        "a/.gitlab-ci.yml",
        "a/.mcp.json",
        "node_modules/x/.git/hooks/post-checkout",
        "bare/HEAD",
        "bare/objects/x",
        "bare/refs/x",
        "bare/hooks/post-checkout",
    ];
    let result = house.exec(&makes(&paths, "evil")).await;
    assert!(!result.is_error() && house.asked().is_empty(), "{}", result.text());
    for path in &paths[..11] {
        assert!(!house.path(path).exists(), "{path}: {}", result.text());
    }
    assert_eq!(moved(&result).len(), 11, "{}", result.text());
    assert!(
        result.text().contains("moved away") && result.text().contains("Tell the user"),
        "{}",
        result.text()
    );
    for moved in moved(&result) {
        let to = moved["to"].as_str().unwrap();
        assert!(to.contains("/data/quarantine/") && Path::new(to).exists(), "{to}");
    }
    // By what else comes to the same name.
    let renames = "os.mkdir('x'); open('x/commondir', 'w'); os.rename('x', 'src/";
    for script in [
        &format!("{renames}.git')"),
        &format!("{renames}.GIT')"),
        "os.symlink('../a.txt', 'src/.env')",
        "os.link('a.txt', 'src/.env')",
        "os.system('(mkdir -p src/.git/hooks; echo evil > src/.git/hooks/pre-commit) & wait')",
        "os.system('mkdir -p src/.git/hooks; echo evil > src/.git/hooks/pre-commit; chmod 111 src'); os._exit(1)",
    ] {
        let result = house.exec(&format!("python3 -c \"import os; {script}\"")).await;
        let command = script;
        assert_eq!((moved(&result).len(), house.asked().len()), (1, 0), "{command}: {}", result.text());
        Command::new("chmod").args(["755", "src"]).current_dir(house.path(".")).status().unwrap();
        let left =
            [".git", ".GIT", ".env"].map(|name| house.path("src").join(name).symlink_metadata().is_ok());
        assert_eq!(left, [false; 3], "{command}");
    }
    // Ordinary files stay: `.env.example`, files that tools have put there, and a repository that runs nothing.
    for command in [
        makes(&["src/.env.example", "node_modules/y/.npmrc", "node_modules/y/cert.pem"], "x"),
        unasked("git init -q fresh && cd fresh && echo x > y && git add y"),
    ] {
        let result = house.exec(&command).await;
        assert!(moved(&result).is_empty() && !result.is_error(), "{command}: {}", result.text());
    }
    assert!(
        house.path("fresh/.git/config").exists()
            && house.path("src/.env.example").exists()
            && house.path("node_modules/y/cert.pem").exists()
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn git_runs_nothing_that_was_planted() {
    let house = House::with(json!({ "tools": { "exec": { "security": "auto" } } }), |_| Answer::deny()).await;
    if !toolkit_sandbox::probe().is_whole() {
        return;
    }
    let plants = "git init -q src && git -C src config core.fsmonitor 'touch ran; false'";
    let result = house.exec(&unasked(plants)).await;
    assert_eq!(moved(&result).len(), 1, "{}", result.text());
    let status = Command::new("git").arg("status").current_dir(house.path("src")).output().unwrap();
    assert!(!status.status.success() && !house.path("src/ran").exists());
}

/// By a program of which nobody knows what it runs.
fn unasked(script: &str) -> String {
    format!("python3 -c \"import os, sys; sys.exit(os.system(r\\\"\\\"\\\"{script}\\\"\\\"\\\") != 0)\"")
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_person_was_asked_about_stays_and_nothing_else_does() {
    if !is_whole() {
        return;
    }
    let house = House::new(json!({})).await;
    std::fs::create_dir(house.path("src")).unwrap();
    std::fs::create_dir(house.path("other")).unwrap();
    for (command, stays) in [
        ("echo x > src/.env", "src/.env"),
        ("cp .env other", "other/.env"),
        ("mkdir -p src/.vscode && echo x > src/.vscode/tasks.json", "src/.vscode/tasks.json"),
        ("git init -q made && git -C made config core.fsmonitor ./x", "made/.git/config"),
    ] {
        let result = house.exec(command).await;
        assert!(!result.is_error() && moved(&result).is_empty(), "{command}: {}", result.text());
        assert!(!house.asked().is_empty() && house.path(stays).exists(), "{command}: {}", result.text());
    }
    let result = house.exec(&makes(&["lib/.git/hooks/post-checkout", "lib/.env"], "evil")).await;
    assert_eq!(moved(&result).len(), 2, "{}", result.text());
    assert!(!house.path("lib/.git").exists() && !house.path("lib/.env").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_in_the_background_leaves_nothing_for_the_next_command() {
    let house = House::with(json!({ "tools": { "exec": { "security": "auto" } } }), |_| Answer::deny()).await;
    if !toolkit_sandbox::probe().is_whole() {
        return;
    }
    let script = format!("{}; touch done; sleep 1000", makes(&["src/.env", "src/.git/hooks/x"], "evil"));
    let started = house.call("exec", json!({ "command": script, "run_in_background": true })).await;
    let id = fact(&started, "taskId").as_str().unwrap_or_else(|| panic!("{}", started.text())).to_owned();
    for _ in 0..1000 {
        if house.path("done").exists() {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    assert!(house.path("done").exists() && house.path("src/.env").exists());
    // It reads only, so no sandbox contains it.
    let result = house.exec("ls -a src").await;
    assert!(!result.text().contains(".env") && !result.text().contains(".git"), "{}", result.text());
    let news = house.call("process", json!({ "action": "poll", "task_id": id, "wait_ms": 10 })).await;
    assert!(news.text().contains("moved away") && moved(&news).len() == 2, "{}", news.text());
    let news = house.call("process", json!({ "action": "poll", "task_id": id, "wait_ms": 10 })).await;
    assert!(news.text().contains("no news"), "{}", news.text());
    house.process("stop", &id).await;
}

//! The paths that a command in a sandbox reads and writes agree with the rules about paths, whatever let the command run.

use crate::commands::house::{House, Inner, Says, is_whole};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use toolkit::approval::Answer;

const SECRET: &str = "TOPSECRET";

/// A house with a file `secret/a.txt`, and scripts that read and write it without naming it in the command.
async fn house(permission: &Value, security: &str, says: Says) -> House {
    let config = json!({ "tools": { "exec": { "security": security } }, "permission": permission });
    made(config, says).await
}

async fn made(config: Value, says: Says) -> House {
    let house = House::with(config, says).await;
    fs::create_dir(house.path("secret")).unwrap();
    fs::write(house.path("secret/a.txt"), format!("{SECRET}\n")).unwrap();
    fs::write(house.path("read.sh"), "cat secret/a.txt\n").unwrap();
    fs::write(house.path("write.sh"), "echo changed > secret/a.txt\n").unwrap();
    fs::write(house.path("read.py"), "print(open('secret/a.txt').read())\n").unwrap();
    fs::write(house.path("Makefile"), "all:\n\t@cat secret/a.txt\n").unwrap();
    house
}

const READERS: &[&str] = &[
    "python3 -c \"print(open('secret/a.txt').read())\"",
    "python3 read.py",
    "perl -pe 1 secret/a.txt",
    "perl -e 'open F, \"secret/a.txt\"; print <F>'",
    "tar cf - secret",
    "make",
    "bash read.sh",
    "echo Y2F0IHNlY3JldC9hLnR4dAo= | base64 -d | sh",
    "mkdir -p made; cp -r . made; cat made/secret/a.txt",
    "ln secret/a.txt other; cat other",
];
const WRITERS: &[&str] = &[
    "python3 -c \"open('secret/a.txt', 'w').write('changed')\"",
    "perl -i -pe 's/TOP/changed/' secret/a.txt",
    "bash write.sh",
    "perl -e 'rename \"secret\", \"moved\"; mkdir \"secret\"; open F, \">secret/a.txt\"; print F \"changed\"'",
];

/// Everything that lets a command run: `tools.exec.security`, the rule for commands, and the person's answer.
fn ways() -> [(&'static str, Value, Says); 3] {
    let nothing = json!([]);
    let allowed = json!([{ "match": "*", "do": "allow" }]);
    [
        ("auto", nothing.clone(), |_| Answer::deny()),
        ("ask", allowed, |_| Answer::deny()),
        ("ask", nothing, |_| Answer::allow()),
    ]
}

fn with_exec(mut permission: Value, exec: &Value) -> Value {
    permission["exec"] = exec.clone();
    permission
}

#[tokio::test(flavor = "multi_thread")]
async fn a_denied_path_is_not_read_whatever_let_the_command_run() {
    if !is_whole() {
        return;
    }
    for (security, exec, says) in ways() {
        for rules in [
            json!({ "read": [{ "match": "secret/", "do": "deny" }] }),
            json!({ "read": [{ "match": "**/a.txt", "do": "deny" }] }),
            json!({ "re*": [{ "match": "/secret/*", "do": "deny" }] }),
        ] {
            let house = house(&with_exec(rules.clone(), &exec), security, says).await;
            for command in READERS {
                let result = house.exec(command).await;
                assert!(!result.text().contains(SECRET), "{security} {rules} {command}: {}", result.text());
                assert!(!house.path("other").exists() || !command.contains("ln "), "{command}");
                let _ = fs::remove_dir_all(house.path("made"));
            }
            // The scripts work.
            fs::write(house.path("read.sh"), "cat Makefile").unwrap();
            let result = house.exec("bash read.sh").await;
            assert!(result.text().starts_with("all:\n"), "{security} {rules}: {}", result.text());
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_path_to_ask_about_is_not_read_by_a_command_that_does_not_name_it() {
    if !is_whole() {
        return;
    }
    for (security, exec, says) in ways() {
        let rules = json!({ "read": [{ "match": "secret/", "do": "ask" }] });
        let house = house(&with_exec(rules, &exec), security, says).await;
        for command in ["python3 read.py", "bash read.sh", "make all"] {
            let result = house.exec(command).await;
            assert!(!result.text().contains(SECRET), "{security} {command}: {}", result.text());
        }
        let result = house.exec("cat secret/a.txt; touch made").await;
        let is_approved = security == "ask" && exec == json!([]);
        assert_eq!(result.text().contains(SECRET), is_approved, "{security}: {}", result.text());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_denied_path_is_not_written_whatever_let_the_command_run() {
    if !is_whole() {
        return;
    }
    for (security, exec, says) in ways() {
        for rules in [
            json!({ "edit": [{ "match": "secret/", "do": "deny" }] }),
            json!({ "edit": [{ "match": "secret/a.txt", "do": "deny" }] }),
            json!({ "e*t": [{ "match": "*.txt", "do": "deny" }] }),
        ] {
            let house = house(&with_exec(rules.clone(), &exec), security, says).await;
            for command in WRITERS {
                let result = house.exec(command).await;
                let text = fs::read_to_string(house.path("secret/a.txt")).unwrap();
                assert_eq!(text, format!("{SECRET}\n"), "{security} {rules} {command}: {}", result.text());
            }
            let result = house.exec("bash read.sh").await;
            assert!(result.text().contains(SECRET), "{security} {rules}: {}", result.text());
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rule_over_everything_makes_contained_commands_ask() {
    if !is_whole() {
        return;
    }
    for (rules, is_asked) in [
        (json!({ "read": "deny" }), true),
        (json!({ "read": "ask" }), true),
        (json!({ "edit": "ask" }), true),
        (json!({ "edit": "deny" }), true),
        (json!({ "external_directory": "deny" }), true),
        (json!({ "*": "ask" }), true),
        (json!({ "read": [{ "match": "*", "do": "ask" }] }), true),
        (json!({ "read": [{ "match": "/**/secret", "do": "deny" }] }), true),
        (json!({ "edit": "allow" }), false),
        (json!({ "sensitive": "deny" }), false),
        (json!({ "external_directory": [{ "match": "/srv/nothing/", "do": "deny" }] }), false),
    ] {
        let house = house(&rules, "auto", |_| Answer::deny()).await;
        let result = house.exec("python3 -c 'print(1)'").await;
        assert_eq!(house.asked().len(), usize::from(is_asked), "{rules}: {}", result.text());
        assert_eq!(result.error().is_none(), !is_asked, "{rules}: {}", result.text());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_rules_of_an_agent_hold_its_commands() {
    if !is_whole() {
        return;
    }
    let config = json!({
        "tools": { "exec": { "security": "auto" } },
        "agents": { "kid": { "permission": { "read": [{ "match": "secret/", "do": "deny" }] } } },
    });
    let house = made(config, |_| Answer::deny()).await;
    let kid: Inner = house.of_agent("kid").await;
    for _ in 0..2 {
        let denied = kid.exec("bash read.sh").await;
        assert!(denied.is_error() && !denied.text().contains(SECRET), "{}", denied.text());
        let result = house.exec("bash read.sh").await;
        assert!(result.text().contains(SECRET), "{}", result.text());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_denied_place_outside_the_workspace_is_hidden() {
    if !is_whole() {
        return;
    }
    // Below no directory that a sandbox covers.
    let home = PathBuf::from(std::env::var_os("HOME").unwrap());
    let outside = home.join(format!(".masked-{}", std::process::id()));
    fs::create_dir_all(outside.join("in/deep")).unwrap();
    let _gone = Gone(outside.clone());
    for path in ["a.txt", "in/deep/b.txt"] {
        fs::write(outside.join(path), SECRET).unwrap();
    }
    let out = outside.display().to_string();
    let reads = |path: &str| format!("python3 -c \"print(open('{out}/{path}').read())\"");
    for (kind, pattern, path, is_read) in [
        ("external_directory", format!("{out}/"), "a.txt", false),
        ("external_directory", format!("{out}/in/"), "in/deep/b.txt", false),
        ("external_directory", format!("{out}/in/"), "a.txt", true),
        ("read", format!("{out}/*.txt"), "a.txt", false),
        ("read", format!("{out}/in/*/b.txt"), "in/deep/b.txt", false),
        ("read", format!("{out}/in/*/b.txt"), "a.txt", true),
        ("external_directory", "/usr/".to_owned(), "a.txt", true),
    ] {
        for decision in ["deny", "ask"] {
            let rules = json!({ kind: [{ "match": pattern, "do": decision }] });
            let house = house(&rules, "auto", |_| Answer::deny()).await;
            let result = house.exec(&reads(path)).await;
            let text = result.text();
            assert!(house.asked().is_empty(), "{rules} {path}: {text}");
            assert_eq!(text.contains(SECRET), is_read, "{rules} {path}: {text}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn secrets_are_hidden_wherever_they_are() {
    if !is_whole() {
        return;
    }
    for (security, exec, says) in ways() {
        let house = house(&json!({ "exec": exec }), security, says).await;
        let many = house.path("many");
        fs::create_dir(&many).unwrap();
        for number in 0..5_200 {
            fs::write(many.join(number.to_string()), "").unwrap();
        }
        for path in ["a/b/c/d/e/f/g/.env", "many/.env", "node_modules/x/.npmrc", "target/deploy.pem"] {
            fs::create_dir_all(house.path(path).parent().unwrap()).unwrap();
            fs::write(house.path(path), SECRET).unwrap();
        }
        fs::hard_link(house.path("many/.env"), house.path("many/linked")).unwrap();
        for path in
            ["a/b/c/d/e/f/g/.env", "many/.env", "many/linked", "node_modules/x/.npmrc", "target/deploy.pem"]
        {
            // The path is not in the command.
            fs::write(house.path("read.sh"), format!("cat {path}\n")).unwrap();
            let result = house.exec("bash read.sh").await;
            assert!(
                result.is_error() && !result.text().contains(SECRET),
                "{security} {path}: {}",
                result.text()
            );
        }
        // One that appears, one that is gone, one whose directory has another name.
        fs::write(house.path("many/late.key"), SECRET).unwrap();
        fs::remove_file(house.path("target/deploy.pem")).unwrap();
        fs::write(house.path("target/deploy"), SECRET).unwrap();
        fs::rename(house.path("a/b"), house.path("a/renamed")).unwrap();
        for (path, is_read) in
            [("many/late.key", false), ("target/deploy", true), ("a/renamed/c/d/e/f/g/.env", false)]
        {
            fs::write(house.path("read.sh"), format!("cat {path}\n")).unwrap();
            let result = house.exec("bash read.sh").await;
            assert_eq!(result.text().contains(SECRET), is_read, "{security} {path}: {}", result.text());
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_secret_is_shown_to_the_command_that_was_allowed_to_use_it() {
    if !is_whole() {
        return;
    }
    let script = "python3 -c \"print(open('.env').read())\"";
    let house = House::new(json!({})).await;
    let result = house.exec(script).await;
    assert!(!result.text().contains("SECRET=1"), "{}", result.text());
    let result = house.exec("touch made; cat .env").await;
    assert!(result.text().contains("SECRET=1"), "{}", result.text());
    // A directory that something is copied to is no reason to read what is in it.
    let result = house.exec(&format!("cp a.txt . ; {script}")).await;
    assert!(!result.text().contains("SECRET=1"), "{}", result.text());
    for security in ["auto", "ask"] {
        let rules = json!({
            "sensitive": [{ "match": ".env", "do": "allow" }],
            "exec": [{ "match": "*", "do": "allow" }],
        });
        let config = json!({ "tools": { "exec": { "security": security } }, "permission": rules });
        let house = House::with(config, |_| Answer::deny()).await;
        fs::write(house.path("read.sh"), "cat .env\n").unwrap();
        let result = house.exec("bash read.sh").await;
        assert!(result.text().contains("SECRET=1"), "{security}: {}", result.text());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_protected_path_is_read_only_for_a_command_that_does_not_name_it() {
    if !is_whole() {
        return;
    }
    for (security, exec, says) in ways() {
        let house = house(&json!({ "exec": exec }), security, says).await;
        for path in [
            "ci/Jenkinsfile",
            "sub/.vscode/tasks.json",
            "bare/HEAD",
            "bare/objects/x",
            "bare/refs/x",
            "bare/config",
        ] {
            fs::create_dir_all(house.path(path).parent().unwrap()).unwrap();
            fs::write(house.path(path), "as it was").unwrap();
        }
        for path in ["ci/Jenkinsfile", "sub/.vscode/tasks.json", "bare/config"] {
            fs::write(house.path("write.sh"), format!("echo changed > {path}\n")).unwrap();
            let result = house.exec("bash write.sh").await;
            assert_eq!(fs::read_to_string(house.path(path)).unwrap(), "as it was", "{security} {path}");
            assert!(result.text().contains("Read-only file system"), "{security} {path}: {}", result.text());
        }
    }
    let house = House::new(json!({})).await;
    fs::create_dir(house.path("ci")).unwrap();
    fs::write(house.path("ci/Jenkinsfile"), "").unwrap();
    let result = house.exec("echo changed > ci/Jenkinsfile").await;
    assert_eq!(fs::read_to_string(house.path("ci/Jenkinsfile")).unwrap(), "changed\n", "{}", result.text());
    let result = house.exec("rm -rf ci").await;
    assert!(!house.path("ci").exists(), "{}", result.text());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failure_names_the_masked_path() {
    if !is_whole() {
        return;
    }
    let rules = json!({ "read": [{ "match": "secret/", "do": "deny" }], "edit": [{ "match": "a.txt", "do": "ask" }] });
    let house = house(&rules, "auto", |_| Answer::deny()).await;
    for (script, says) in [
        ("cat .env", "`.env` is hidden from commands (permission.sensitive)"),
        (
            "cat secret/a.txt",
            "`secret/a.txt` is hidden from commands (reading it is denied by permission.read: `secret/`: deny",
        ),
        ("echo x > a.txt", "`a.txt` is read-only for commands (permission.edit)"),
    ] {
        fs::write(house.path("s.sh"), script).unwrap();
        let result = house.exec("bash s.sh").await;
        assert!(result.is_error() && result.text().contains(says), "{script}: {}", result.text());
    }
    let result = house.exec("ls missing; false").await;
    assert!(!result.text().contains("hidden from"), "{}", result.text());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_directory_that_cannot_be_listed_is_hidden() {
    if !is_whole() {
        return;
    }
    let house = house(&json!({}), "auto", |_| Answer::deny()).await;
    fs::set_permissions(house.path("secret"), fs::Permissions::from_mode(0o000)).unwrap();
    // The superuser lists it all the same.
    let is_closed = fs::read_dir(house.path("secret")).is_err();
    let result =
        house.exec("python3 -c \"import os; os.chmod('secret', 0o700); open('secret/a.txt')\"").await;
    fs::set_permissions(house.path("secret"), fs::Permissions::from_mode(0o700)).unwrap();
    assert_eq!(result.is_error(), is_closed, "{}", result.text());
}

/// Removes a directory in the end.
struct Gone(PathBuf);

impl Drop for Gone {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn another_name_of_a_guarded_file_is_guarded_too() {
    if !is_whole() {
        return;
    }
    let house = house(&json!({}), "auto", |_| Answer::deny()).await;
    fs::write(house.path(".env"), format!("{SECRET}\n")).unwrap();
    fs::hard_link(house.path(".env"), house.path("linked")).unwrap();
    fs::create_dir(house.path(".git")).unwrap();
    fs::create_dir(house.path("real")).unwrap();
    fs::write(house.path("real/prod"), format!("{SECRET}\n")).unwrap();
    std::os::unix::fs::symlink("real/prod", house.path(".env.local")).unwrap();
    fs::create_dir(house.path(".vscode")).unwrap();
    fs::write(house.path(".vscode/tasks.json"), "{}").unwrap();
    fs::hard_link(house.path(".vscode/tasks.json"), house.path("tasks")).unwrap();
    for command in [
        "cat linked",
        "head linked | base64",
        "cat l*",
        "cat real/prod",
        "sh -c 'cat linked'",
        "sh -c 'cat real/prod'",
    ] {
        let text = house.exec(command).await.text();
        assert!(!text.contains(SECRET) && !text.contains("VE9QU0VDUkVU"), "{command}: {text}");
    }
    house.exec("sh -c 'echo evil > tasks'").await;
    assert_eq!(fs::read_to_string(house.path(".vscode/tasks.json")).unwrap(), "{}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_directory_that_a_rule_names_and_that_is_a_link_is_not_written() {
    if !is_whole() {
        return;
    }
    let house =
        house(&json!({ "edit": [{ "match": "gen/", "do": "deny" }] }), "auto", |_| Answer::deny()).await;
    fs::create_dir(house.path("other")).unwrap();
    fs::write(house.path("other/f"), "old").unwrap();
    std::os::unix::fs::symlink("other", house.path("gen")).unwrap();
    house.exec("sh -c 'echo evil > gen/f'").await;
    assert_eq!(fs::read_to_string(house.path("other/f")).unwrap(), "old");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_approved_move_opens_nothing_to_a_program_beside_it() {
    if !is_whole() {
        return;
    }
    let house = house(&json!({}), "ask", |_| Answer::allow()).await;
    fs::create_dir_all(house.path("a/b")).unwrap();
    fs::write(house.path("a/b/id_rsa"), SECRET).unwrap();
    fs::write(house.path("r.sh"), "cat c/b/id_rsa a/b/id_rsa").unwrap();
    for command in ["mv a c; sh r.sh; mv c a", "sh r.sh; rm -r a"] {
        let text = house.exec(command).await.text();
        assert!(!text.contains(SECRET), "{command}: {text}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rule_about_all_paths_makes_a_command_ask_that_a_rule_allows() {
    let allowed = json!([{ "match": "make all", "do": "allow" }]);
    for rule in [json!({ "read": "deny" }), json!({ "edit": "ask" }), json!({ "external_directory": "deny" })]
    {
        let house = house(&with_exec(rule.clone(), &allowed), "ask", |_| Answer::deny()).await;
        let result = house.exec("make all").await;
        assert!(!house.asked().is_empty(), "{rule}: {}", result.text());
        assert!(!result.text().contains(SECRET), "{rule}: {}", result.text());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tracked_secret_is_kept_from_scripts_and_stops_nothing_else() {
    if !is_whole() {
        return;
    }
    let house = house(&json!({}), "auto", |_| Answer::deny()).await;
    fs::write(house.path("server.pem"), SECRET).unwrap();
    let script =
        "git init -q . && git add -f server.pem && git -c user.name=n -c user.email=e commit -qm one";
    let made =
        std::process::Command::new("sh").args(["-c", script]).current_dir(house.path(".")).status().unwrap();
    assert!(made.success());
    fs::write(house.path("blob.sh"), "git show HEAD:server.pem; cat server.pem").unwrap();
    let text = house.exec("bash blob.sh").await.text();
    assert!(!text.contains(SECRET) && house.asked().is_empty(), "{text}");
    let result = house.exec("touch made && ls made").await;
    assert!(house.asked().is_empty() && house.path("made").exists(), "{}", result.text());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_workspace_that_a_rule_denies_to_edit_is_read_only_for_a_command_that_a_rule_allows() {
    if !is_whole() {
        return;
    }
    let exec = json!([{ "match": "make all", "do": "allow" }]);
    let with_exception = json!([{ "match": "*", "do": "deny" }, { "match": "docs/*", "do": "allow" }]);
    for (edit, writes_docs) in [(json!("deny"), false), (with_exception, true)] {
        let house = house(&json!({ "edit": edit, "exec": exec }), "ask", |_| Answer::deny()).await;
        fs::create_dir(house.path("docs")).unwrap();
        fs::write(house.path("Makefile"), "all:\n\t-echo x > new\n\t-echo x > docs/new\n").unwrap();
        let result = house.exec("make all").await;
        assert!(house.asked().is_empty(), "{edit}: {}", result.text());
        assert!(!house.path("new").exists(), "{edit}: {}", result.text());
        assert_eq!(house.path("docs/new").exists(), writes_docs, "{edit}: {}", result.text());
    }
}

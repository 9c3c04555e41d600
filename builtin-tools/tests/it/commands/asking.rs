//! Which commands run, which are asked about, and which never run.

use crate::commands::house::{House, is_whole};
use serde_json::{Value, json};
use toolkit::{
    ToolErrorKind,
    approval::{Answer, AskDetail, PendingAsk, Question},
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Becomes {
    Runs,
    Asked,
    Denied,
}

pub(crate) async fn becomes(config: &Value, command: &str) -> Becomes {
    let house = House::with(config.clone(), |_| Answer::deny_saying("asked")).await;
    std::fs::create_dir(house.path("folder")).unwrap();
    std::fs::write(house.path("folder/inner"), "").unwrap();
    std::fs::write(house.path("folder/s.sh"), "touch made\n").unwrap();
    let result = house.exec(command).await;
    match (house.asked().len(), result.error()) {
        (1, Some(error)) if error.kind() == ToolErrorKind::Denied => Becomes::Asked,
        (0, Some(error)) if error.kind() == ToolErrorKind::Denied => Becomes::Denied,
        (0, _) => Becomes::Runs,
        other => panic!("{command}: {other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_becomes_of_commands() {
    let plain = json!({});
    let allows = |pattern: &str| json!({ "permission": { "exec": [{ "match": pattern, "do": "allow" }] } });
    let edits = |rules: Value| json!({ "permission": { "edit": rules } });
    let both = |pattern: &str| json!({ "permission": { "exec": [{ "match": pattern, "do": "allow" }], "edit": "allow" } });
    let of = |settings: Value| json!({ "tools": { "exec": settings } });
    for (config, command, expected) in [
        (plain.clone(), "cat a.txt | grep one", Becomes::Runs),
        (plain.clone(), "ls -la > /dev/null && pwd", Becomes::Runs),
        (plain.clone(), "cat .env", Becomes::Asked),
        (plain.clone(), "grep -r one .", Becomes::Asked),
        (plain.clone(), "cat /etc/fstab", Becomes::Asked),
        // Public files of the system are read without approval where the command is contained.
        (plain.clone(), "cat /etc/hostname", Becomes::Runs),
        (plain.clone(), "touch x", Becomes::Asked),
        (plain.clone(), "echo x > x", Becomes::Asked),
        (plain.clone(), "sudo ls", Becomes::Denied),
        (plain.clone(), "ls; shutdown now", Becomes::Denied),
        (plain.clone(), "echo x > /dev/sda", Becomes::Denied),
        // Rules speak of simple commands, and lift nothing but what a program does as such.
        (allows("mkfifo *"), "mkfifo x", Becomes::Asked),
        (allows("make"), "make", Becomes::Runs),
        (allows("make"), "make all", Becomes::Asked),
        (allows("make"), "make; touch x", Becomes::Asked),
        (allows("make"), "./make", Becomes::Asked),
        (of(json!({ "safeBins": ["make"] })), "make", Becomes::Asked),
        // A name says nothing of what a shell, or a program that runs another, does.
        (allows("bash"), "bash", Becomes::Asked),
        (allows("bash"), "echo 'touch x' | bash", Becomes::Asked),
        (allows("python3"), "echo 1 | python3", Becomes::Asked),
        (allows("busybox"), "echo touch x | busybox", Becomes::Asked),
        (allows("unshare"), "unshare", Becomes::Asked),
        (allows("make *"), "make all", Becomes::Runs),
        (allows("make *"), "make all; touch x", Becomes::Asked),
        (allows("make *"), "make all > ../x", Becomes::Asked),
        (allows("make *"), "./make all", Becomes::Asked),
        (allows("*"), "bash -c 'make all'", Becomes::Runs),
        // Perl is where Debian has it; Python may be a stand-in that a version manager put there.
        (allows("*"), "perl x.pl", Becomes::Runs),
        (allows("*"), "cat .env", Becomes::Asked),
        (allows("*"), "rm -rf /", Becomes::Denied),
        (json!({ "permission": { "exec": "allow" } }), "make all", Becomes::Asked),
        // Files are written as the file tools write them: what they may without a question, a command may that is allowed by itself.
        (edits(json!("allow")), "echo x > x", Becomes::Runs),
        (edits(json!("allow")), "echo x > a.txt; cat a.txt > folder/x", Becomes::Runs),
        (edits(json!("allow")), "touch x", Becomes::Asked),
        (edits(json!("allow")), "echo x > .git/config", Becomes::Asked),
        (edits(json!("allow")), "echo x > ../x", Becomes::Asked),
        (edits(json!("allow")), "cat .env > x", Becomes::Asked),
        (edits(json!("allow")), "echo x > x; git status", Becomes::Asked),
        (edits(json!("allow")), "echo x > $UNKNOWN", Becomes::Asked),
        (
            edits(json!([{ "match": "*", "do": "allow" }, { "match": "a.txt", "do": "deny" }])),
            "echo x > a.txt",
            Becomes::Denied,
        ),
        (
            edits(json!([{ "match": "*", "do": "allow" }, { "match": "a.txt", "do": "ask" }])),
            "echo x > a.txt",
            Becomes::Asked,
        ),
        (both("touch *"), "touch x", Becomes::Runs),
        (both("touch *"), "touch x a.txt .git/config", Becomes::Asked),
        (both("cp *"), "cp a.txt b.txt", Becomes::Runs),
        // Paths below a directory may have rules of their own.
        (both("mv *"), "mv folder other", Becomes::Asked),
        (both("cp *"), "cp -r folder other", Becomes::Asked),
        (json!({ "permission": { "exec": "deny" } }), "ls", Becomes::Denied),
        (
            json!({ "permission": { "exec": [{ "match": "ls*", "do": "deny" }] } }),
            "pwd; /bin/ls -l",
            Becomes::Denied,
        ),
        (json!({ "permission": { "exec": [{ "match": "ls*", "do": "ask" }] } }), "ls", Becomes::Asked),
        (
            json!({ "permission": { "read": [{ "match": "a.txt", "do": "deny" }] } }),
            "cat a.txt",
            Becomes::Denied,
        ),
        (
            json!({ "permission": { "read": [{ "match": "a.txt", "do": "deny" }] } }),
            "cat *.txt",
            Becomes::Denied,
        ),
        (of(json!({ "ask": "off" })), "make", Becomes::Denied),
        (of(json!({ "ask": "off" })), "ls", Becomes::Runs),
        (of(json!({ "ask": "always" })), "ls", Becomes::Asked),
        (of(json!({ "security": "deny" })), "make", Becomes::Denied),
        (of(json!({ "security": "deny" })), "ls", Becomes::Runs),
        (of(json!({ "safeBins": ["make"] })), "make all", Becomes::Runs),
        (of(json!({ "safeBins": ["make"] })), "make all a.txt", Becomes::Asked),
        (of(json!({ "safeBins": ["make"] })), "make all -fa.txt", Becomes::Asked),
        (of(json!({ "safeBins": ["make"] })), "make all /x", Becomes::Asked),
        (of(json!({ "safeBins": ["python3"] })), "python3 -c 1", Becomes::Asked),
        (of(json!({ "dangerousCommandWhitelist": ["rm -rf build*"] })), "rm -rf build", Becomes::Runs),
        (
            of(json!({ "dangerousCommandWhitelist": ["rm -rf build*"] })),
            "rm -rf build; touch x",
            Becomes::Asked,
        ),
        (of(json!({ "dangerousCommandWhitelist": ["rm -rf build*"] })), "rm -rf build ../x", Becomes::Asked),
        (of(json!({ "dangerousCommandWhitelist": ["rm -rf*"] })), "rm -rf /", Becomes::Denied),
    ] {
        assert_eq!(becomes(&config, command).await, expected, "{command} where {config}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rule_names_a_program_and_its_subcommand() {
    let rule = |pattern: &str, decision: &str| json!({ "permission": { "exec": [{ "match": pattern, "do": decision }] } });
    let denied = |pattern: &str| rule(pattern, "deny");
    let push = [
        "git push",
        "git push origin main",
        "git -C . push",
        "git --no-pager push",
        "git -c a=b push",
        "git --git-dir .git --work-tree=. push origin",
        "/usr/bin/git push",
        "command git push",
        "env X=y git push",
        "X=y git push",
        "\\git push",
        "'git' push",
        "g\"it\" pu''sh",
        "nice -n 5 git -C . push",
        "timeout 5 git push",
        "bash -c 'git -C . push'",
        "eval git -P push",
        "ls && git -C . push",
        "echo $(git --no-pager push)",
        "f() { git -C . push; }; f",
        "x=push; git -C . $x",
        "git -C \"$UNKNOWN\" push",
        "git -c alias.p=push p",
        "git-push",
        "exec git push",
        "git --unknown push",
    ];
    for pattern in ["git push*", "git push *"] {
        for command in push {
            assert_eq!(
                becomes(&denied(pattern), command).await,
                Becomes::Denied,
                "{command} where {pattern}"
            );
        }
    }
    for (pattern, command) in [
        ("ls *", "ls"),
        ("ls *", "/bin/ls"),
        ("ls *", "ls | wc -l"),
        ("/usr/bin/env *", "env"),
        ("docker run*", "docker --context x run y"),
        ("docker compose down*", "docker compose -f x.yml down"),
        ("kubectl delete*", "kubectl -n x delete pod y"),
        ("npm publish*", "npm --prefix x publish"),
        ("cargo publish*", "cargo +nightly publish"),
        ("systemctl restart*", "systemctl --user restart x"),
        ("gh pr merge*", "gh -R o/r pr merge 5"),
        ("pip install*", "pip -q install x"),
        ("pip install*", "python3 -m pip install x"),
        ("go install*", "go -C x install y"),
        ("apt-get install*", "apt-get -y install x"),
        ("terraform apply*", "terraform -chdir=x apply"),
    ] {
        assert_eq!(becomes(&denied(pattern), command).await, Becomes::Denied, "{command} where {pattern}");
    }
    for command in
        ["git log", "git log --grep push", "git --no-pager log push", "git status", "echo git push"]
    {
        assert_eq!(becomes(&denied("git push*"), command).await, Becomes::Runs, "{command}");
    }
    // It is asked about where it would run otherwise.
    assert_eq!(becomes(&rule("git log*", "ask"), "git log").await, Becomes::Asked);
    assert_eq!(becomes(&rule("git log*", "ask"), "git --no-pager log").await, Becomes::Asked);
    assert_eq!(becomes(&rule("ls *", "ask"), "ls").await, Becomes::Asked);
    // The literal command is allowed.
    let allowed = |pattern: &str| rule(pattern, "allow");
    for (pattern, command, expected) in [
        ("make all", "make all", Becomes::Runs),
        ("make all", "make -f x all", Becomes::Asked),
        ("make *", "make", Becomes::Asked),
        ("git push", "git -c core.sshCommand=evil push", Becomes::Asked),
        ("git push*", "git -c core.sshCommand=evil push", Becomes::Asked),
        ("git push", "git -C . push", Becomes::Asked),
        ("git *", "git -c core.sshCommand=evil push", Becomes::Asked),
        ("cargo build", "cargo +nightly build", Becomes::Asked),
        ("npm ci", "npm --prefix x ci", Becomes::Asked),
        ("docker ps", "docker -H tcp://x ps", Becomes::Asked),
    ] {
        assert_eq!(becomes(&allowed(pattern), command).await, expected, "{command} where {pattern}");
    }
    // The last entry that matches counts, and one that allows only matches what is written.
    let several = |rules: Value| json!({ "permission": { "exec": rules } });
    let first_all =
        several(json!([{ "match": "*", "do": "deny" }, { "match": "git -C . log", "do": "allow" }]));
    assert_eq!(becomes(&first_all, "git -C . log").await, Becomes::Runs);
    assert_eq!(becomes(&first_all, "git log").await, Becomes::Denied);
    let all_but =
        several(json!([{ "match": "make *", "do": "allow" }, { "match": "make install*", "do": "deny" }]));
    assert_eq!(becomes(&all_but, "make all").await, Becomes::Runs);
    assert_eq!(becomes(&all_but, "make -s install").await, Becomes::Denied);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rule_on_a_program_covers_every_call_of_it() {
    let rule = |pattern: &str, decision: &str| json!({ "permission": { "exec": [{ "match": pattern, "do": decision }] } });
    let denied = |pattern: &str| rule(pattern, "deny");
    for (pattern, command) in [
        ("cat", "cat a.txt"),
        ("cat", "cat"),
        ("cat", "/bin/cat a.txt"),
        ("cat", "echo x | cat -n"),
        ("cat", "pwd; cat a.txt"),
        ("cat", "cat a.txt | wc -l"),
        ("cat", "env cat a.txt"),
        ("cat", "bash -c 'cat a.txt'"),
        ("cat", "echo $(cat a.txt)"),
        ("git push", "git push"),
        ("git push", "git push origin main"),
        ("git push", "git -C . push origin main"),
        ("git push", "/usr/bin/git push x"),
        ("git push", "git-push x"),
        ("cargo publish", "cargo +nightly publish --dry-run"),
    ] {
        assert_eq!(becomes(&denied(pattern), command).await, Becomes::Denied, "{command} where {pattern}");
    }
    for (pattern, command) in [
        ("cat", "echo cat a.txt"),
        ("cat", "ls cat"),
        ("git push", "git log push"),
        ("ls", "pwd; lsof -v; pwd"),
    ] {
        assert_ne!(becomes(&denied(pattern), command).await, Becomes::Denied, "{command} where {pattern}");
    }
    assert_eq!(becomes(&rule("cat", "ask"), "cat a.txt").await, Becomes::Asked);
    let several = |rules: Value| json!({ "permission": { "exec": rules } });
    let but_one = several(json!([{ "match": "cat", "do": "deny" }, { "match": "cat a.txt", "do": "allow" }]));
    assert_eq!(becomes(&but_one, "cat a.txt; pwd").await, Becomes::Runs);
    assert_eq!(becomes(&but_one, "pwd; cat folder/b.txt").await, Becomes::Denied);
    // An entry that asks lifts a denial only where it is written as an exception.
    for (rules, expected) in [
        (json!([{ "match": "cat", "do": "deny" }, { "match": "cat", "do": "ask" }]), Becomes::Denied),
        (json!([{ "match": "cat", "do": "ask" }, { "match": "cat", "do": "deny" }]), Becomes::Denied),
        (json!([{ "match": "cat", "do": "deny" }, { "match": "cat *", "do": "ask" }]), Becomes::Asked),
    ] {
        assert_eq!(becomes(&several(rules.clone()), "cat a.txt").await, expected, "{rules}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sandbox_lifts_no_rule_about_a_program_whose_name_is_not_known_before() {
    if !is_whole() {
        return;
    }
    let rules = |rules: Value| json!({ "tools": { "exec": { "security": "auto" } }, "permission": { "exec": rules } });
    let denied = |pattern: &str| rules(json!([{ "match": pattern, "do": "deny" }]));
    for (pattern, command) in [
        ("cat", "$(echo cat) a.txt"),
        ("cat", "`echo cat` a.txt"),
        ("cat", "set -- cat a.txt; \"$@\""),
        ("cat", "read c <<< cat; $c a.txt"),
        ("cat", "c=$(printf cat); $c a.txt"),
        ("cat", "x=(cat a.txt); \"${x[@]}\""),
        ("cat", "c=xcat; ${c#x} a.txt"),
        ("cat", "hash -p /bin/cat k; k a.txt"),
        ("cat", "shopt -s expand_aliases\nalias k=cat\nk a.txt"),
        ("cat", "shopt -s expand_aliases\nalias ls=cat\nls a.txt"),
        ("cat", "alias k=cat; k a.txt"),
        ("cat", "complete -C cat x"),
        ("cat", "mapfile -C 'cat a.txt' -c 1 x < a.txt"),
        ("cat", "setarch x86_64 cat a.txt"),
        ("cat", "/lib64/ld-linux-x86-64.so.2 /bin/cat a.txt"),
        ("cat", "ld.so --argv0 x /bin/cat a.txt"),
        ("cat a.txt", "touch b; cat $(echo a.txt)"),
        ("id", "cat | sh"),
        ("id", "bash -s"),
        ("id", "date +id | sh"),
        ("id", "rev <<< di | sh"),
        ("id", "source <(type -P id)"),
        ("id", "exec <<< id; sh"),
        ("id", "bash /dev/fd/5"),
        ("id", "echo id > >(sh)"),
        ("id", "echo id > q9; sh q9"),
        ("id", "echo id > q8; chmod +x q8; ./q8"),
        ("id", "select x in a; do id; break; done <<< 1"),
        ("id", "for ((;;)) { id; break; }"),
        ("id", "f() [[ $(id >&2) ]]; f"),
        ("id", "coproc X while id >&2; do break; done; wait"),
        ("id", "[[ a =~ $(id>&2) ]]"),
        ("id", "ls(){ id; }; export -f ls; bash -c ls"),
        ("id", "if false; then f(){ :; }; else f(){ id >&2; }; fi; f"),
        ("id", "f(){ id >&2; }; compgen -F f"),
        ("id", "PS4='$(id>&2)'; set -x; ls"),
        ("id", "BASH_ENV='$(id>&2)' bash -c ls"),
        ("id", "PROMPT_COMMAND=id bash --norc -i <<< ls"),
        ("id", "env 'BASH_FUNC_ls%%=() { id; }' bash -c ls"),
        ("id", "x='a[$(id>&2)0]'; ((x))"),
        ("id", "x='a[$(id>&2)0]'; let x"),
        ("id", "x='a[$(id>&2)0]'; b[x]=1"),
        ("id", "test -v 'a[$(id>&2)0]'"),
        ("git push", "BASH_CMDS[cat]=/usr/bin/git; cat push -h"),
        ("id", "shopt -s expand_aliases\nBASH_ALIASES[ls]=id\nls"),
        ("git push", "GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=alias.p GIT_CONFIG_VALUE_0=push git p -h"),
        ("git push", "X=push git --config-env=alias.p=X p -h"),
        ("id", "X=id env -S '${X}'"),
        ("*/deploy.sh", "$(echo ./deploy.sh)"),
        ("git push", "git $(echo push)"),
        ("git push", "git -C . $(echo push)"),
        ("git push", "echo push | xargs git"),
        ("git push *", "git $(echo push) x"),
        ("touch *.rs", "touch $(echo b.rs)"),
    ] {
        let becomes = becomes(&denied(pattern), command).await;
        assert_ne!(becomes, Becomes::Runs, "{command} where {pattern}");
    }
    for (pattern, command) in [
        ("git push", "touch $(echo b)"),
        ("git push", "touch b && printf %s $(echo -1)"),
        ("git push", "make() { touch b; }; make"),
        ("git push", "export B=$(echo c); touch b"),
        ("git push", "for name in b c; do touch $name; done"),
        ("git push", "echo 'touch b' > s.sh"),
        ("git push", "bash folder/s.sh"),
        ("git push", "./folder/s.sh"),
        ("git push", "bash -c 'touch b'"),
        ("git push", "export B=c; B=d touch b"),
        ("git push", "set -euo pipefail; touch b"),
        ("git push", "n=$((2+3)); touch b$n"),
        ("git push", "if [ -f a.txt ]; then touch b; fi"),
        ("*/deploy.sh", "touch b$(echo c)"),
        ("*/deploy.sh", "touch b; for name in *; do echo $name; done"),
        ("git push", "python3 -c 'open(\"b\", \"w\")'"),
    ] {
        assert_eq!(becomes(&denied(pattern), command).await, Becomes::Runs, "{command} where {pattern}");
    }
    let allowed = rules(json!([{ "match": "cat *", "do": "allow" }]));
    assert_eq!(becomes(&allowed, "touch b; $(echo cat) a.txt").await, Becomes::Runs);
    // The input of the call, and a link to a program.
    let house = House::with(denied("id"), |_| Answer::deny_saying("asked")).await;
    let result = house.call("exec", json!({ "command": "sh", "stdin": "id" })).await;
    assert!(result.error().is_some_and(|error| error.kind() == ToolErrorKind::Denied), "{result:?}");
    std::os::unix::fs::symlink("/usr/bin/id", house.path("mine")).unwrap();
    let result = house.exec("./mine").await;
    assert!(result.error().is_some_and(|error| error.kind() == ToolErrorKind::Denied), "{result:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_git_shows_of_a_tracked_file_is_decided_as_for_a_program_that_reads_it() {
    let house = |tracked: &'static [&'static str], config: Value| async move {
        let house = House::with(config, |_| Answer::deny_saying("asked")).await;
        let git = |arguments: &[&str]| {
            let done =
                std::process::Command::new("git").args(arguments).current_dir(house.path(".")).output();
            let done = done.unwrap();
            assert!(done.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
        };
        git(&["init", "-q"]);
        git(&[&["add", "-f"], tracked].concat());
        git(&[
            "-c",
            "user.name=a",
            "-c",
            "user.email=a@example.org",
            "commit",
            "-q",
            "--no-gpg-sign",
            "-m",
            "one",
        ]);
        house
    };
    let showing =
        ["git show HEAD:.env", "git log -p", "git show", "git log -L 1,1:.env", "git grep -n SECRET HEAD"];
    let secret = house(&["a.txt", ".env"], json!({})).await;
    for command in showing {
        let result = secret.exec(command).await;
        assert_eq!(secret.asked().len(), 1, "{command}: {result:?}");
        assert!(!format!("{result:?}").contains("SECRET=1"), "{command}: {result:?}");
    }
    for command in
        ["git log", "git show --stat", "git show HEAD:a.txt", "git show -- a.txt", "git log -p -- ':!.env'"]
    {
        let result = secret.exec(command).await;
        assert!(secret.asked().is_empty() && result.error().is_none(), "{command}: {result:?}");
    }
    let denying = json!({ "permission": { "sensitive": "deny" } });
    let denied = house(&["a.txt", ".env"], denying).await;
    for command in ["cat .env", "git archive HEAD", "git show HEAD:.env", "git log -p"] {
        let result = denied.exec(command).await;
        let is_denied = result.error().is_some_and(|error| error.kind() == ToolErrorKind::Denied);
        assert!(denied.asked().is_empty() && is_denied, "{command}: {result:?}");
    }
    let plain = house(&["a.txt"], json!({})).await;
    for command in ["git log -p", "git show", "git diff", "git grep -n one HEAD"] {
        let result = plain.exec(command).await;
        assert!(plain.asked().is_empty() && result.error().is_none(), "{command}: {result:?}");
    }
}

fn details(ask: &PendingAsk) -> (String, String, Option<String>) {
    let Question::Approve(ask) = ask.question() else { panic!("{ask:?}") };
    let texts = ask.details.iter().map(|detail| match detail {
        AskDetail::Text { label, value } => format!("{label}: {value}\n"),
        AskDetail::Path { path, .. } => format!("path {path}\n"),
        AskDetail::Command { command, .. } => format!("command {command}\n"),
        other => format!("{other:?}\n"),
    });
    (ask.title.clone(), texts.collect(), ask.claim.clone())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_shows_what_will_really_happen() {
    let house = House::new(json!({})).await;
    let arguments = json!({
        "command": "rm -rf x; cat .env", "description": "Lists files", "env": { "FOO": "bar" }, "stdin": "y\n",
    });
    house.call("exec", arguments).await;
    let asked = house.asked();
    assert_eq!(asked.len(), 1, "one command is one question");
    let (title, details, claim) = details(&asked[0]);
    assert_eq!((title.as_str(), claim.as_deref()), ("rm -rf x; cat .env", Some("Lists files")));
    for part in [
        "command rm -rf x; cat .env\n",
        "rm -rf x: ",
        "cat .env",
        "FOO=bar",
        "its input: y",
        "warning: ",
        "runs in: ",
    ] {
        assert!(details.contains(part), "{part} is not in {details}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_allowed_is_not_asked_again_and_nothing_more_is_allowed() {
    let house = House::with(json!({}), |_| Answer::allow_for_session()).await;
    for (command, asked) in [
        ("make all", 1),
        ("make all", 0),
        ("make other", 1),
        ("make all X=1", 1),
        ("make all X=1", 0),
        ("make other && ls; make all", 1),
        ("make other && ls; make all", 0),
        ("make other > log", 1),
        ("make other > log", 0),
        ("make all > log", 1),
        ("make all '*' > log2", 1),
        ("touch x", 1),
        ("touch x", 0),
        ("touch y", 1),
        ("python3 -c 1", 1),
        ("python3 -c 1", 0),
        ("python3 -c 2", 1),
    ] {
        house.exec(command).await;
        assert_eq!(house.asked().len(), asked, "{command}");
    }
    // The same command elsewhere, or with something else to read, is another.
    house.call("exec", json!({ "command": "python3 -", "stdin": "1" })).await;
    assert_eq!(house.asked().len(), 1);
    house.call("exec", json!({ "command": "python3 -", "stdin": "2" })).await;
    assert_eq!(house.asked().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_changes_while_somebody_is_asked_is_asked_anew() {
    let house = House::with(json!({}), |ask| {
        // The person takes their time, and somebody puts a key there.
        if let Some(AskDetail::Command { cwd: Some(cwd), .. }) = ask.details.first() {
            std::fs::write(std::path::Path::new(cwd).join("z.pem"), "key").unwrap();
        }
        Answer::allow()
    })
    .await;
    let result = house.exec("touch x; cat *").await;
    assert!(!result.is_error(), "{}", result.text());
    let asked = house.asked();
    assert_eq!(asked.len(), 2, "{asked:?}");
    assert!(!details(&asked[0]).1.contains("z.pem") && details(&asked[1]).1.contains("z.pem"), "{asked:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn where_a_command_runs_is_a_part_of_the_one_question() {
    let house = House::new(json!({})).await;
    let outside = tempfile::tempdir().unwrap();
    let outside = outside.path().canonicalize().unwrap();
    for (command, says) in [("pwd", outside.to_str().unwrap()), ("touch there; ls", "there")] {
        let result = house.call("exec", json!({ "command": command, "workdir": outside })).await;
        assert!(result.text().starts_with(says), "{command}: {}", result.text());
        let asked = house.asked();
        assert_eq!(asked.len(), 1, "{command}: {asked:?}");
        assert!(format!("{asked:?}").contains(outside.to_str().unwrap()), "{asked:?}");
    }
    let nowhere = outside.join("nowhere");
    let result = house.call("exec", json!({ "command": "pwd", "workdir": nowhere })).await;
    assert!(result.is_error() && house.asked().len() == 1, "{}", result.text());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_system_cannot_hand_to_a_shell_is_said_before_anybody_is_asked() {
    let house = House::new(json!({})).await;
    let of = |bytes: usize| format!("touch x #{}", "😀".repeat((bytes - 9) / 4));
    let longest = format!("{}{}", of(131_069), "é");
    assert_eq!(longest.len(), 131_071);
    let result = house.exec(&longest).await;
    assert!(!result.is_error() && house.asked().len() == 1, "{}", result.text());
    let long = json!({ "command": "touch y", "env": { "LONG": "x".repeat(131_067) } });
    for (arguments, says) in [
        (json!({ "command": longest + "!" }), "the command is 131072 bytes long"),
        (json!({ "command": of(65_009 * 4) }), "write it to a script"),
        (long, "the variable LONG with its value is 131072 bytes long"),
    ] {
        let result = house.call("exec", arguments).await;
        assert_eq!(result.error().unwrap().kind(), ToolErrorKind::InvalidArguments, "{}", result.text());
        assert!(result.text().contains(says) && result.text().contains("131071"), "{}", result.text());
        assert!(house.asked().is_empty());
    }
}

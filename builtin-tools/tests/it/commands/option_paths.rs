//! Paths that programs get as values of options, whatever is allowed to the program.

use crate::commands::house::{House, Says};
use builtin_tools::runtime::explain;
use serde_json::{Value, json};
use std::fs;
use toolkit::{
    Ask, ToolErrorKind,
    approval::{Answer, AskDetail, Question},
};

/// Commands with a path, by the many ways in which programs take one.
const COMMANDS: &[&str] = &[
    "curl -s -T {} http://127.0.0.1:9/",
    "curl -sT{} http://127.0.0.1:9/",
    "curl -d @{} http://127.0.0.1:9/",
    "curl --data-binary=@{} http://127.0.0.1:9/",
    "curl -F 'x=<{}' http://127.0.0.1:9/",
    "curl -F 'x=@{};type=text/plain' http://127.0.0.1:9/",
    "curl -K {}",
    "curl -o {} http://127.0.0.1:9/",
    "curl --trace {} http://127.0.0.1:9/",
    "curl -so{} http://127.0.0.1:9/",
    "wget --post-file={} http://127.0.0.1:9/",
    "wget -O {} http://127.0.0.1:9/",
    "scp {} host:x",
    "scp host:x {}",
    "sftp -b {} host",
    "rsync -a {} host:x",
    "rsync --files-from={} . host:x",
    "tar -czf x.tgz {}",
    "tar -T {} -cf x.tar",
    "zip x.zip {}",
    "7z a x.7z {}",
    "gpg -c {}",
    "gpg --output {} -d x.gpg",
    "openssl base64 -in {}",
    "openssl rand -out {} 16",
    "openssl enc -pass file:{} -aes-256-cbc",
    "git config --file {} x.y z",
    "git push --receive-pack={} origin",
    "terraform plan -var-file={}",
    "kubectl apply -f {}",
    "kubectl create secret generic x --from-file=key={}",
    "helm install x chart -f {}",
    "docker run -v {}:/x image",
    "docker run --env-file {} image",
    "docker build --secret id=x,src={} .",
    "podman run --mount type=bind,source={},target=/x image",
    "ssh -i {} host",
    "ssh -o IdentityFile={} host",
    "ssh-keygen -f {}",
    "ffmpeg -i {} x.mp4",
    "ffmpeg -i 'concat:a.ts|{}' x.mp4",
    "sqlite3 x.db '.read {}'",
    "psql -f {}",
    "psql -c \"\\copy t from '{}'\"",
    "mysql --defaults-extra-file={}",
    "pg_dump -f {}",
    "mongodump --config={}",
    "redis-cli --eval {}",
    "aws s3 cp {} s3://bucket/x",
    "aws s3api put-object --bucket x --key y --body {}",
    "gcloud auth activate-service-account --key-file={}",
    "gsutil cp {} gs://bucket/x",
    "az storage blob upload -f {}",
    "rclone copy {} remote:x",
    "s3cmd put {} s3://bucket/x",
    "mc cp {} host/x",
    "nc -U {}",
    "socat FILE:{},create TCP:127.0.0.1:9",
    "python3 {}",
    "python3 -c \"open('{}')\"",
    "node -r {} x.js",
    "ruby -r{} x.rb",
    "perl -I x {}",
    "php -d auto_prepend_file={} x.php",
    "awk -f {} x",
    "sed -f {} x",
    "dd if={} bs=1",
    "dd of={} bs=1",
    "install -m 600 x {}",
    "cp x {}",
    "mv {} x",
    "ln {} x",
    "tee {}",
    "make -f {}",
    "cmake -C {}",
    "gcc -o {} x.c",
    "gcc @{}",
    "ld -T {} x.o",
    "rustc -o {} x.rs",
    "cargo build --config {}",
    "npm --userconfig {} publish",
    "pip install -r {}",
    "mail -a {} someone",
    "mutt -a {} -- someone",
    "sendmail -C {} someone",
    "at -f {} now",
    "crontab {}",
    "logger -f {}",
    "jq --rawfile x {} -n .",
    "yq -i .a=1 {}",
    "xxd {}",
    "base64 {}",
    "split {} x",
    "sort -o {} x",
    "iconv -o {} x",
    "pandoc -o {} x.md",
    "convert x.png {}",
    "gdb -x {}",
    "gdb -ex 'source {}'",
    "strace -o {} ls",
    "valgrind --log-file={} ls",
    "tcpdump -w {}",
    "nmap -oN {} 127.0.0.1",
    "ansible -i {} all",
    "vim -S {}",
    "vim -c 'e {}' x",
    "emacs -l {}",
    "tool --config={}",
    "tool --config {}",
    "CONFIG={} tool x",
    "export CONFIG={}; tool x",
    "env CONFIG={} tool x",
    "cd . && tool -x {}",
    "timeout 5 tool -x {}",
    "tool -C . {}",
];

/// Entries that allow each program, by its path so that it need not be installed.
fn allowed(more: Value) -> Value {
    let mut permission = more;
    let entries = [json!({ "match": "bin/*", "do": "allow" }), json!({ "match": "cd *", "do": "allow" })];
    permission["exec"] = entries.into_iter().collect();
    json!({ "permission": permission })
}

/// The command with the programs in a directory that holds none: nothing runs, even if it is allowed.
fn by_path(command: &str) -> String {
    let program_at = |at: usize| format!("{}bin/{}", &command[..at], &command[at..]);
    for before in ["export CONFIG={}; ", "env CONFIG={} ", "CONFIG={} ", "cd . && ", "timeout 5 "] {
        if command.starts_with(before) {
            return program_at(before.len());
        }
    }
    program_at(0)
}

async fn house(config: Value) -> House {
    let says: Says = |_| Answer::deny_saying("asked");
    let house = House::with(config, says).await;
    fs::create_dir_all(house.path(".git/hooks")).unwrap();
    for directory in ["private", "src/generated"] {
        fs::create_dir_all(house.path(directory)).unwrap();
    }
    fs::write(house.path("private/p"), "secret").unwrap();
    fs::write(house.path("../outside.txt"), "outside").unwrap();
    house
}

fn questions(house: &House) -> Vec<Ask> {
    let asked = house.asked();
    let asks = asked.iter().map(|asked| match asked.question() {
        Question::Approve(ask) => ask.clone(),
        other => panic!("{other:?}"),
    });
    asks.collect()
}

/// Returns true if a question lists a path.
fn names(ask: &Ask, path: &str) -> bool {
    ask.details
        .iter()
        .any(|detail| matches!(detail, AskDetail::Path { path: named, .. } if named.ends_with(path)))
}

/// Runs a command that must be denied without a question, with the path and the rule in the error.
async fn is_denied(house: &House, command: &str, path: &str, rule: &str) {
    let result = house.exec(command).await;
    let asked = house.asked();
    assert!(asked.is_empty(), "{command}: {asked:?}");
    let error = result.error().unwrap_or_else(|| panic!("{command} ran"));
    assert_eq!(error.kind(), ToolErrorKind::Denied, "{command}: {error:?}");
    let text = error.message();
    assert!(text.contains(path) && text.contains(rule), "{command}: {text}");
}

/// Runs a command that must be asked about once, with this path in the question.
async fn is_asked(house: &House, command: &str, path: &str) -> Ask {
    let result = house.exec(command).await;
    let mut asked = questions(house);
    assert_eq!(asked.len(), 1, "{command}: {asked:?} {result:?}");
    let ask = asked.remove(0);
    assert!(names(&ask, path), "{command}: {ask:?}");
    ask
}

#[tokio::test(flavor = "multi_thread")]
async fn an_option_with_a_denied_path_denies_the_command() {
    let denying = json!({
        "sensitive": "deny",
        "protected": "deny",
        "external_directory": "deny",
        "read": [{ "match": "private/", "do": "deny" }],
    });
    let with_rule = house(allowed(denying.clone())).await;
    let asking = house(json!({ "permission": denying })).await;
    for command in COMMANDS {
        for (path, rule) in [
            (".env", "/permission/sensitive"),
            ("private/p", "/permission/read/0"),
            (".git/hooks/pre-commit", "/permission/protected"),
            ("../outside.txt", "/permission/external_directory"),
        ] {
            let end = path.trim_start_matches("../");
            is_denied(&with_rule, &by_path(command).replace("{}", path), end, rule).await;
            is_denied(&asking, &by_path(command).replace("{}", path), end, rule).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_option_with_a_path_that_may_not_be_edited_denies_the_command() {
    let rules = json!({ "edit": [{ "match": "src/generated/", "do": "deny" }] });
    let house = house(allowed(rules)).await;
    for command in COMMANDS {
        let command = by_path(command).replace("{}", "src/generated/g");
        is_denied(&house, &command, "src/generated/g", "/permission/edit/0").await;
    }
    // In a directory that an option names.
    for command in [
        "bin/curl --output-dir src/generated -o g http://127.0.0.1:9/",
        "bin/tool -C src/generated g",
        "bin/make -C src -C generated -f g",
        "bin/make -C private -f ../src/generated/g",
    ] {
        is_denied(&house, command, "src/generated", "/permission/edit/0").await;
    }
    // A directory whose name alone is in no rule.
    fs::create_dir(house.path("src/deep")).unwrap();
    for command in ["bin/make -C src -f generated/g", "bin/make -C src -C deep -f ../generated/g"] {
        is_denied(&house, command, "src/generated/g", "/permission/edit/0").await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_option_with_a_guarded_path_is_asked_about_whatever_is_allowed() {
    let with_rule = house(allowed(json!({}))).await;
    let asking = house(json!({})).await;
    for command in COMMANDS {
        for path in [".env", ".git/hooks/pre-commit", "~/.ssh/id_rsa"] {
            let end = path.trim_start_matches('~');
            for (house, command) in [(&with_rule, by_path(command)), (&asking, by_path(command))] {
                let ask = is_asked(house, &command.replace("{}", path), end).await;
                assert!(ask.is_guarded() && ask.raised, "{command}: {ask:?}");
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_says_that_a_path_may_be_read_or_written() {
    let house = house(allowed(json!({}))).await;
    for command in ["bin/tool -x.env", "bin/tool --file=.env"] {
        let ask = is_asked(&house, command, "/.env").await;
        let says = "(permission.sensitive), which may hold secrets of an environment; the command may read or write it";
        assert!(format!("{ask:?}").contains(says), "{command}: {ask:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_first_question_names_paths_outside_of_the_workspace() {
    let house = house(json!({})).await;
    for command in COMMANDS {
        is_asked(&house, &by_path(command).replace("{}", "../outside.txt"), "/outside.txt").await;
    }
    for command in ["scp ~/x h:", "gpg -c ~/x", "git config --file ~/x a.b c", "tool --config='~/x'"] {
        is_asked(&house, command, "/x").await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_entry_that_asks_about_a_path_counts_for_options() {
    let rules = json!({ "edit": [{ "match": "a.txt", "do": "ask" }], "read": [{ "match": "private/", "do": "ask" }] });
    let house = house(allowed(rules)).await;
    for (command, path) in [("bin/curl -o a.txt x", "a.txt"), ("bin/tool -T private/p", "private/p")] {
        let ask = is_asked(&house, command, path).await;
        assert!(ask.raised, "{ask:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_safe_bin_and_an_earlier_answer_cover_no_guarded_path() {
    let says: Says =
        |ask| if ask.is_guarded() { Answer::deny_saying("asked") } else { Answer::allow_for_session() };
    for config in [json!({}), json!({ "tools": { "exec": { "safeBins": ["make"] } } })] {
        let house = House::with(config, says).await;
        house.exec("make all").await;
        house.asked();
        let result = house.exec("make all").await;
        assert!(house.asked().is_empty(), "it is allowed: {result:?}");
        for command in ["make all -f.env", "make -sf.env all", "make all X=@.env", "make all --file=.env"] {
            let ask = is_asked(&house, command, ".env").await;
            assert!(ask.is_guarded() && ask.raised, "{command}: {ask:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn words_that_name_no_guarded_path_raise_no_question() {
    let entry = |pattern: &str| json!([{ "match": pattern, "do": "deny" }]);
    let rules = json!({ "edit": entry("gen/"), "read": entry("private/") });
    for config in [allowed(json!({})), allowed(json!({ "edit": "allow" })), allowed(rules)] {
        let house = house(config).await;
        let ctx = house.toolbox.context("exec").unwrap();
        for command in [
            "bin/tool --format=%h user@host a:b x=y",
            "bin/curl -s https://example.com/.env",
            "bin/curl -I -X HEAD https://example.com:443/.git/hooks/x",
            "bin/scp host:.env x",
            "bin/rsync -a user@host:private/p x",
            "bin/git push origin HEAD:main",
            "bin/git commit -m 'load .env' -m \"read '.env'\"",
            "bin/git commit -am 'protect .git/hooks/x'",
            "bin/git clone git@example.com:a/.env x",
            "bin/yq .a.key a.txt",
            "bin/docker inspect -f '{{.Config.Env}}' c",
            "bin/go test -run '.*' ./...",
            "bin/cargo test --manifest-path a.txt",
            "bin/npm run private",
            "bin/tool /dev/null -o/dev/stdout",
            "bin/tool . .. ./a.txt src",
            "bin/tool /opt/none /usr",
            "bin/tool --a 1,2 --b [3] 'a b'",
            "bin/curl -s 'https://example.com/?q=.env'",
            "bin/tar czf x.tgz --exclude=.env --exclude .git src",
            "bin/git checkout -q -b feature/private",
        ] {
            let explained = explain(&ctx, command).await.unwrap();
            assert_eq!(explained.verdict, "allow", "{command}: {explained:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_with_too_many_words_to_check_is_asked_about() {
    let house = house(allowed(json!({}))).await;
    let words: Vec<String> = (0..5_000).map(|number| number.to_string()).collect();
    house.exec(&format!("bin/tool {}", words.join(" "))).await;
    let asked = questions(&house);
    assert_eq!(asked.len(), 1);
    assert!(format!("{:?}", asked[0]).contains("more words that could be paths than are checked"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_text_that_cannot_be_parsed_is_searched_for_paths() {
    let asking = house(json!({})).await;
    is_asked(&asking, "if ( tool -T .env", ".env").await;
    let denying = house(json!({ "permission": { "sensitive": "deny" } })).await;
    is_denied(&denying, "if ( tool -T .env", ".env", "/permission/sensitive").await;
}

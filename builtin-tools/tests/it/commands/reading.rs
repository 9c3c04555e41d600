//! Commands that run on their verdict alone, where the verdict is wrong: the program that a repository plants has no effect.

use crate::commands::house::{House, fact};
use serde_json::json;
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// Tries to have an effect in every way, and does as a filter should.
const PLANTED: &str = r#"#!/bin/sh
touch "$MARKS/touched"; echo x > "$MARKS/written"; echo x >> a.txt; mkdir made; chmod 644 "$MARKS/mode"; touch -d 2001-01-01 "$MARKS/mode"
cat .env "$WORK/.env" sub/id_rsa >&2; git show HEAD:.env >&2
python3 - <<'EOF' >&2
import os, socket
for attempt in (
    lambda: socket.create_connection(("127.0.0.1", PORT), 1),
    lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("127.0.0.1", PORT)),
    lambda: os.kill(os.getppid(), 0) or os.kill(HOST, 18),
    lambda: print(open("/proc/%d/environ" % HOST).read()),
    lambda: open("/tmp/planted-was-here-HOST", "w"),
):
    try: attempt(); print("EFFECT")
    except Exception: pass
EOF
setsid sleep 1000 > /dev/null 2>&1 &
cat
"#;

struct Marks {
    directory: tempfile::TempDir,
    port: std::net::TcpListener,
    house: House,
}

impl Marks {
    async fn new() -> Self {
        let house = House::with(json!({}), |_| toolkit::approval::Answer::deny()).await;
        let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        port.set_nonblocking(true).unwrap();
        let directory = tempfile::tempdir().unwrap();
        let marks = Self { directory, port, house };
        fs::write(marks.path("mode"), "m").unwrap();
        fs::set_permissions(marks.path("mode"), fs::Permissions::from_mode(0o600)).unwrap();
        let text = PLANTED
            .replace("$MARKS", marks.directory.path().to_str().unwrap())
            .replace("$WORK", marks.house.path(".").to_str().unwrap())
            .replace("PORT", &marks.port.local_addr().unwrap().port().to_string())
            .replace("HOST", &std::process::id().to_string());
        for place in [marks.path("planted"), marks.house.path("planted")] {
            fs::write(&place, &text).unwrap();
            fs::set_permissions(&place, fs::Permissions::from_mode(0o755)).unwrap();
        }
        marks
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.directory.path().join(name)
    }

    fn sh(&self, script: &str) {
        let made = Command::new("bash")
            .args(["-ec", script])
            .current_dir(self.house.path("."))
            .env("PLANTED", self.path("planted"))
            .env("HOME", "/nonexistent")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .envs([("GIT_AUTHOR_NAME", "a"), ("GIT_AUTHOR_EMAIL", "a@example.org")])
            .envs([("GIT_COMMITTER_NAME", "a"), ("GIT_COMMITTER_EMAIL", "a@example.org")])
            .output()
            .unwrap();
        assert!(made.status.success(), "{script}: {}", String::from_utf8_lossy(&made.stderr));
    }

    /// Runs a command, and returns its effects.
    async fn effects(&self, command: &str) -> Vec<String> {
        let before = fs::read(self.house.path("a.txt")).unwrap();
        let result = self.house.exec(command).await;
        let text = format!("{} {:?}", result.text(), result.outcome);
        let mode = fs::metadata(self.path("mode")).unwrap();
        let tmp = format!("/tmp/planted-was-here-{}", std::process::id());
        let effects = [
            (text.contains("SECRET=") || text.contains("PRIVATE"), "a secret was printed"),
            (text.contains("EFFECT"), "an attempt worked"),
            (self.path("touched").exists() || self.path("written").exists(), "it wrote outside"),
            (self.house.path("made").exists(), "it made a directory"),
            (fs::read(self.house.path("a.txt")).unwrap() != before, "it wrote into the workspace"),
            (mode.mode() & 0o777 != 0o600 || mode.mtime() < 1_000_000_100, "it changed a mode or a time"),
            (self.port.accept().is_ok(), "it connected"),
            (Path::new(&tmp).exists(), "it wrote to /tmp"),
            (is_running("sleep 1000"), "a process is left"),
        ];
        let found = effects.into_iter().filter(|(is_effect, _)| *is_effect);
        found.map(|(_, what)| format!("{command}: {what}: {text}")).collect()
    }
}

fn is_running(line: &str) -> bool {
    let processes = fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    processes
        .filter_map(|entry| fs::read(entry.path().join("cmdline")).ok())
        .any(|command| String::from_utf8_lossy(&command).replace('\0', " ").trim() == line)
}

/// An embedded repository, whose configuration is not looked at, and which git enters.
const EMBEDDED: &str = "git init -q .; git init -q sub/emb; (cd sub/emb; echo x > f.txt; git add -A; git commit -qm e); \
     git add a.txt sub/emb 2> /dev/null; git commit -qm one; \
     git -C sub/emb config filter.z.clean \"$PLANTED\"; echo '*.txt filter=z' > sub/emb/.gitattributes; \
     echo y > sub/emb/f.txt; touch -d 2030-01-01 sub/emb/f.txt";

#[tokio::test(flavor = "multi_thread")]
async fn a_program_that_a_repository_plants_has_no_effect() {
    let marks = Marks::new().await;
    marks.sh(&format!("mkdir sub; echo PRIVATE > sub/id_rsa; {EMBEDDED}"));
    for command in [
        "git status",
        "git diff",
        "git diff --stat",
        "git status --short; ls",
        "git describe --always --dirty",
    ] {
        let effects = marks.effects(command).await;
        assert!(effects.is_empty(), "{}", effects.join("\n"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn git_sees_the_files_that_it_tracks() {
    let house = House::with(json!({}), |_| toolkit::approval::Answer::deny()).await;
    let script = "git init -q . && git add -f .env a.txt && git -c user.name=u -c user.email=e commit -qm one && \
                  touch -d 2030-01-01 .env";
    let made = Command::new("sh").args(["-c", script]).current_dir(house.path(".")).status().unwrap();
    assert!(made.success());
    for (command, expected) in
        [("git status --short", ""), ("git diff --stat", ""), ("git ls-files", ".env\na.txt")]
    {
        let result = house.exec(command).await;
        let text = result.text();
        assert!(house.asked().is_empty() && !result.is_error(), "{command}: {text}");
        let is_as_expected =
            if expected.is_empty() { !text.contains(".env") } else { text.contains(expected) };
        assert!(is_as_expected, "{command}: {text}");
    }
    // Its content is shown to nobody unasked.
    for command in ["git show HEAD:.env", "git log -p", "cat .env"] {
        let result = house.exec(command).await;
        assert!(
            !house.asked().is_empty() && !result.text().contains("SECRET=1"),
            "{command}: {}",
            result.text()
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_on_its_verdict_leaves_nothing_behind() {
    let house = House::new(json!({})).await;
    let result = house.exec("sleep 987 & echo $TMPDIR").await;
    assert_eq!(fact(&result, "sandbox")["mode"], json!("read-only"), "{}", result.text());
    let tmp = result.text().lines().next().unwrap().to_owned();
    assert!(!is_running("sleep 987"));
    drop(house);
    assert!(tmp.contains("toolkit-tmp-"), "{tmp}");
    // It goes with the last task that watches the command.
    let is_gone = async {
        while Path::new(&tmp).exists() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    assert!(tokio::time::timeout(Duration::from_mins(1), is_gone).await.is_ok(), "{tmp}");
}

#[test]
fn the_documents_state_each_guarantee() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/permissions.md");
    let page = fs::read_to_string(page).unwrap();
    for said in toolkit_sandbox::probe().reading_guarantees() {
        assert!(page.contains(said.text), "docs/permissions.md does not say: {}", said.text);
    }
}

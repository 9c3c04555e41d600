//! Hosts that are killed, and hosts that never call `toolkit_sandbox::init`.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

struct Host {
    root: TempDir,
    child: Child,
    /// The metadata of each call.
    told: Vec<serde_json::Value>,
}

impl Host {
    /// Returns once all commands run.
    fn start(options: &[&str], commands: &[String]) -> Self {
        let test = std::env::current_exe().unwrap();
        let program = test.parent().unwrap().parent().unwrap().join("examples/host");
        let root = tempfile::tempdir().unwrap();
        for directory in ["work", "data"] {
            fs::create_dir(root.path().join(directory)).unwrap();
        }
        let mut child = Command::new(program)
            .args([root.path().join("work"), root.path().join("data")])
            .args(options)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(commands.join("\n").as_bytes()).unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
        let lines: Vec<String> = lines.take_while(|line| line != "ready").collect();
        let told = lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
        Self { root, child, told }
    }

    fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The processes that have this in their arguments.
fn alive(marker: &str) -> usize {
    let processes = fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    let lines = processes.map(|process| fs::read(process.path().join("cmdline")).unwrap_or_default());
    lines.filter(|line| String::from_utf8_lossy(line).contains(marker)).count()
}

fn wait_until(what: &str, patience: Duration, mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < patience, "{what}, after {patience:?}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn a_host_that_is_killed_takes_ten_jobs_along_and_leaves_their_output() {
    const JOBS: usize = 10;
    let marker = format!("5{:08}", std::process::id());
    // A child, a grandchild, a daemon that has forked twice into a session of its own, and the command itself; what is
    // written last comes right before the kill.
    let commands: Vec<String> = (0..JOBS)
        .map(|job| {
            format!(
                "echo begun {job}; (setsid sh -c 'sleep {marker} & exit' &); (sleep {marker}; true) & sleep {marker} & \
                 echo flushed {job}; sleep {marker}"
            )
        })
        .collect();
    let mut host = Host::start(&[], &commands);
    for told in &host.told {
        assert_eq!((&told["guarantee"], &told["background"]), (&"supervised".into(), &true.into()), "{told}");
    }
    assert_eq!(host.told.len(), JOBS);
    let outputs = || -> Vec<String> {
        let sessions = fs::read_dir(host.root.path().join("data/tool-output")).unwrap();
        let files = sessions.flat_map(|session| fs::read_dir(session.unwrap().path()).unwrap());
        let mut outputs: Vec<String> =
            files.map(|file| fs::read_to_string(file.unwrap().path()).unwrap()).collect();
        outputs.sort();
        outputs
    };
    wait_until("not all of them run", Duration::from_secs(20), || {
        // The sleeps, and the shells that have the number in their text.
        alive(&marker) >= JOBS * 5 && outputs().iter().all(|output| output.contains("flushed"))
    });
    host.child.kill().unwrap();
    host.child.wait().unwrap();
    wait_until("processes are left", Duration::from_secs(30), || alive(&marker) == 0);
    let expected: Vec<String> = (0..JOBS).map(|job| format!("begun {job}\nflushed {job}\n")).collect();
    assert_eq!(outputs(), expected);
    host.kill();
}

#[test]
fn a_host_without_the_call_in_its_main_is_told_what_it_lacks() {
    let marker = format!("6{:08}", std::process::id());
    let commands = [format!("echo there; sleep {marker}"), "touch made; echo done".to_owned()];
    let mut host = Host::start(&["bare"], &commands);
    assert_eq!(host.told.len(), 2);
    for told in &host.told {
        assert_eq!(told["guarantee"], "process-group", "{told}");
    }
    let sandbox = &host.told[0]["sandbox"];
    assert_eq!((&sandbox["whole"], &sandbox["holds"]), (&false.into(), &serde_json::json!([])), "{sandbox}");
    wait_until("it was not run", Duration::from_secs(10), || host.root.path().join("work/made").exists());
    host.kill();
    // Nothing takes it along: that is what the guarantee lacks.
    let left = fs::read_dir("/proc").unwrap().filter_map(Result::ok).filter_map(|process| {
        let line = fs::read(process.path().join("cmdline")).ok()?;
        let pid = process.file_name().to_string_lossy().parse::<i32>().ok()?;
        String::from_utf8_lossy(&line).contains(&marker).then_some(pid)
    });
    for pid in left.collect::<Vec<_>>() {
        let _ = Command::new("kill").args(["-KILL", &pid.to_string()]).status();
    }
}

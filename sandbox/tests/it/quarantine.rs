//! Files that a job must not leave behind.
#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

use crate::common::{Place, finish, within};
use std::io::BufRead as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};
use toolkit_sandbox::{Command, Mode, Quarantine, Repositories, Sandbox};

fn workspace(place: &Place) -> PathBuf {
    let workspace = place.path().join("workspace");
    std::fs::create_dir_all(&workspace).unwrap();
    workspace.canonicalize().unwrap()
}

fn command(place: &Place, script: &str) -> Command {
    let workspace = workspace(place);
    let quarantine =
        Quarantine::new([&workspace]).with_names([".env"]).with_store(place.path().join("store"));
    let sandbox = Sandbox::new(Mode::WorkspaceWrite, &workspace).with_quarantine(quarantine);
    place.sh(script).current_dir(&workspace).sandbox(sandbox)
}

const PLANTS: &str =
    "mkdir -p src/x/hooks; echo evil > src/x/hooks/post-checkout; mv src/x src/.git; echo x > src/.env; ";

fn is_planted(workspace: &Path) -> bool {
    workspace.join("src/.git").exists() || workspace.join("src/.env").exists()
}

#[tokio::test]
async fn it_is_moved_before_the_end_is_told() {
    let place = Place::new();
    let (job, exit) = finish(command(&place, PLANTS)).await;
    let workspace = workspace(&place);
    assert!(exit.success() && !is_planted(&workspace), "{}", place.text());
    let mut moved = job.quarantined();
    moved.sort_by(|one, other| one.from.cmp(&other.from));
    let from: Vec<_> = moved.iter().map(|moved| moved.from.clone()).collect();
    assert_eq!(from, [workspace.join("src/.env"), workspace.join("src/.git")]);
    let hook = moved[1].to.as_ref().unwrap().join("hooks/post-checkout");
    assert_eq!(std::fs::read_to_string(hook).unwrap(), "evil\n");
    within(5, job.gone()).await;
    assert_eq!(job.quarantined().len(), 2);
}

#[tokio::test]
async fn what_is_made_after_the_end_of_the_command_is_moved_when_nothing_is_left() {
    let place = Place::new();
    let script =
        format!("(exec > /dev/null; while test ! -e go; do sleep 0.01; done; {PLANTS} touch done) & :");
    let job = within(20, command(&place, &script).spawn()).await.unwrap();
    within(20, job.exited()).await;
    let workspace = workspace(&place);
    std::fs::write(workspace.join("go"), "").unwrap();
    within(20, job.gone()).await;
    assert!(workspace.join("done").exists() && !is_planted(&workspace));
    assert_eq!(job.quarantined().len(), 2);
}

#[tokio::test]
async fn it_is_moved_on_request_when_the_job_is_stopped_and_when_it_is_dropped() {
    let place = Place::new();
    let workspace = workspace(&place);
    let script = format!("{PLANTS} touch done; sleep 1000");
    let start = async || {
        let _ = std::fs::remove_file(workspace.join("done"));
        let job = within(20, command(&place, &script).spawn()).await.unwrap();
        within(20, async {
            while !workspace.join("done").exists() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        })
        .await;
        assert!(is_planted(&workspace));
        job
    };
    let job = start().await;
    within(10, job.sweep()).await;
    assert!(!is_planted(&workspace) && job.quarantined().len() == 2);
    within(10, job.stop(Duration::ZERO)).await;
    let job = start().await;
    within(10, job.stop(Duration::ZERO)).await;
    within(10, job.gone()).await;
    assert!(!is_planted(&workspace) && job.quarantined().len() == 2);
    drop(start().await);
    within(10, async {
        while is_planted(&workspace) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await;
}

#[tokio::test]
async fn what_git_makes_stays_and_cannot_be_changed_by_the_next_job() {
    let place = Place::new();
    let workspace = workspace(&place);
    let makes = "git init -q deep/er && cd deep/er && echo x > y && git add y && \
                 git -c user.name=n -c user.email=e@e commit -qm one && git clone -q . ../../clone";
    let (job, exit) = finish(command(&place, makes)).await;
    assert!(exit.success() && job.quarantined().is_empty(), "{} {:?}", place.text(), job.quarantined());
    assert!(workspace.join("deep/er/.git/config").exists() && workspace.join("clone/.git").exists());
    let (_, exit) = finish(command(&place, "echo x >> deep/er/.git/config")).await;
    assert!(!exit.success() && place.text().contains("Read-only file system"), "{}", place.text());
    // One that is allowed to change them does.
    let quarantine = Quarantine::new([&workspace]).with_repositories(Repositories::Open);
    let sandbox = Sandbox::new(Mode::WorkspaceWrite, &workspace).with_quarantine(quarantine);
    let script =
        "git -C clone config core.fsmonitor ./x && git init -q new && git -C new config core.fsmonitor x";
    let (job, exit) = finish(place.sh(script).current_dir(&workspace).sandbox(sandbox)).await;
    assert!(exit.success() && job.quarantined().is_empty(), "{}", place.text());
    assert!(workspace.join("new/.git").exists());
}

/// Makes this test program a host that starts a job and waits.
const HOST: &str = "TOOLKIT_SANDBOX_TEST_QUARANTINE_HOST";

/// Not a test of its own: the host that the next one kills.
#[tokio::test]
async fn host_to_be_killed() {
    if std::env::var_os(HOST).is_none() {
        return;
    }
    let place = Place::new();
    let script = format!("{PLANTS} touch done; sleep 1000");
    let job = within(20, command(&place, &script).spawn()).await.unwrap();
    println!("\nplace {}", place.path().display());
    within(60, job.exited()).await;
}

#[test]
fn it_is_moved_when_the_host_is_killed() {
    let mut host = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "quarantine::host_to_be_killed", "--nocapture"])
        .env(HOST, "1")
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = std::io::BufReader::new(host.stdout.take().unwrap()).lines();
    let place = lines.map_while(Result::ok).find_map(|line| line.strip_prefix("place ").map(PathBuf::from));
    let place = place.unwrap();
    let workspace = place.join("workspace");
    let until = |what: &dyn Fn() -> bool| {
        let begun = Instant::now();
        while !what() {
            assert!(begun.elapsed() < Duration::from_secs(20), "it took too long");
            std::thread::sleep(Duration::from_millis(5));
        }
    };
    until(&|| workspace.join("done").exists());
    assert!(is_planted(&workspace));
    host.kill().unwrap();
    host.wait().unwrap();
    until(&|| !is_planted(&workspace));
    std::fs::remove_dir_all(place).unwrap();
}

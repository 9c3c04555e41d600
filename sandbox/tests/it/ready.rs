//! A process that was prepared for a job before it comes: it serves like one that is made for it, and none is left behind.
#![allow(clippy::unwrap_used)]

use crate::common;

use std::time::{Duration, Instant};

use common::{Place, finish, within};
use rustix::process::{Pid, Signal, kill_process};
use toolkit_sandbox::{Mode, Sandbox};

/// Prints what a job is kept within, as it is seen from inside.
const SEEN: &str = "grep -E '^(Uid|Gid|Groups|NSpid|Cap|NoNewPrivs|Seccomp|SigBlk|SigIgn)' /proc/self/status; \
    cat /proc/self/uid_map /proc/self/gid_map; cut -d' ' -f4- /proc/self/mountinfo | grep -v overlay; \
    echo $$; set -- /proc/[0-9]*; echo $#; cat /proc/1/comm; ls /sys/class/net; ls -l /proc/self/fd | wc -l; umask; pwd";

/// The processes whose parent this is, those not that have ended.
fn children(pid: i32) -> Vec<i32> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let Ok(stat) = std::fs::read_to_string(entry.path().join("stat")) else { continue };
        let Some((id, rest)) = stat.split_once(' ') else { continue };
        let mut fields = rest.rsplit(')').next().unwrap().split_whitespace();
        if fields.next() != Some("Z") && fields.next() == Some(&*pid.to_string()) {
            found.push(id.parse().unwrap());
        }
    }
    found
}

fn spawner() -> i32 {
    children(i32::try_from(std::process::id()).unwrap())
        .into_iter()
        .find(|pid| {
            std::fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap().starts_with("toolkit-spawner")
        })
        .unwrap()
}

/// Waits until so many supervisors wait for jobs, and says which, each with the first process of its sandbox where it has one.
async fn ready(count: usize) -> Vec<(i32, Option<i32>)> {
    let spawner = spawner();
    within(10, async {
        loop {
            let waiting: Vec<_> =
                children(spawner).into_iter().map(|pid| (pid, children(pid).first().copied())).collect();
            if waiting.len() == count && waiting.iter().any(|(_, first)| first.is_some()) {
                return waiting;
            }
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    })
    .await
}

fn sandbox(place: &Place) -> Sandbox {
    Sandbox::new(Mode::WorkspaceWrite, place.path())
}

/// Runs it in a sandbox, until nothing is left of it.
async fn contained(place: &Place, script: &str) -> String {
    let (job, exit) = finish(place.sh(script).sandbox(sandbox(place))).await;
    assert!(exit.success(), "{exit:?}: {}", place.text());
    assert!(job.containment().missing.is_empty(), "{:?}", job.containment());
    within(5, job.gone()).await;
    let text = place.text();
    std::fs::remove_file(place.output()).unwrap();
    text
}

/// Waits until a process runs no more; some time after that it is waited for.
async fn ends(pid: i32) {
    let begun = Instant::now();
    let runs =
        || std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| !stat.contains(") Z "));
    while runs() {
        assert!(begun.elapsed() < Duration::from_secs(30), "{pid} is left");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

fn kill(pid: i32) {
    kill_process(Pid::from_raw(pid).unwrap(), Signal::KILL).unwrap();
}

#[tokio::test]
async fn a_job_that_was_waited_for_is_contained_like_the_first() {
    let place = Place::new();
    let first = contained(&place, SEEN).await;
    for _ in 0..3 {
        let waiting = ready(1).await;
        let (job, _) = finish(place.sh(SEEN).sandbox(sandbox(&place))).await;
        within(5, job.gone()).await;
        let text = place.text();
        std::fs::remove_file(place.output()).unwrap();
        assert_eq!(text, first);
        // It was taken by this one: it would wait for a minute.
        ends(waiting[0].0).await;
    }
}

#[tokio::test]
async fn what_waits_sees_what_was_made_meanwhile() {
    let place = Place::new();
    contained(&place, "true").await;
    ready(1).await;
    std::fs::create_dir(place.path().join("new")).unwrap();
    std::fs::write(place.path().join("new/file"), "text").unwrap();
    assert_eq!(contained(&place, "cat new/file && echo more > new/other").await, "text");
    assert_eq!(std::fs::read_to_string(place.path().join("new/other")).unwrap(), "more\n");
}

#[tokio::test]
async fn another_kind_of_job_does_not_take_what_waits() {
    let place = Place::new();
    contained(&place, "true").await;
    ready(1).await;
    // Other namespaces, and none.
    let networked = sandbox(&place).with_network(true);
    let (job, _) = finish(place.sh("readlink /proc/self/ns/net").sandbox(networked)).await;
    let own = std::fs::read_link("/proc/self/ns/net").unwrap();
    assert_eq!(place.text().trim_end(), own.display().to_string());
    within(5, job.gone()).await;
    std::fs::remove_file(place.output()).unwrap();
    let (job, _) = finish(place.sh("readlink /proc/self/ns/pid")).await;
    assert_eq!(
        place.text().trim_end(),
        std::fs::read_link("/proc/self/ns/pid").unwrap().display().to_string()
    );
    within(5, job.gone()).await;
    std::fs::remove_file(place.output()).unwrap();
    // One of each kind waits by now, and no more.
    assert_eq!(ready(2).await.iter().filter(|(_, first)| first.is_none()).count(), 1);
    let seen = contained(&place, "readlink /proc/self/ns/net").await;
    assert_ne!(seen.trim_end(), own.display().to_string());
}

#[tokio::test]
async fn a_job_starts_where_what_waited_for_it_was_killed() {
    let place = Place::new();
    contained(&place, "true").await;
    let (_, first) = ready(1).await[0];
    kill(first.unwrap());
    ends(first.unwrap()).await;
    assert_eq!(contained(&place, "echo one").await, "one\n");
    let (supervisor, first) = ready(1).await[0];
    // The spawner learns of the end and of the next job at once.
    let spawner = Pid::from_raw(spawner()).unwrap();
    kill_process(spawner, Signal::STOP).unwrap();
    kill(supervisor);
    ends(supervisor).await;
    let (seen, ()) = tokio::join!(contained(&place, "echo two"), async {
        tokio::time::sleep(Duration::from_millis(20)).await;
        kill_process(spawner, Signal::CONT).unwrap();
    });
    assert_eq!(seen, "two\n");
    ends(first.unwrap()).await;
}

#[tokio::test]
async fn nothing_waits_where_the_spawner_is_gone() {
    let place = Place::new();
    contained(&place, "true").await;
    finish(place.sh("true")).await;
    let waiting = ready(2).await;
    kill(spawner());
    let pids = waiting.into_iter().flat_map(|(supervisor, first)| [Some(supervisor), first]).flatten();
    for pid in pids {
        ends(pid).await;
    }
}

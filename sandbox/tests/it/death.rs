//! Whoever dies, the job's processes go, and what they wrote is there.
#![allow(missing_docs, clippy::unwrap_used)]

use crate::common;

use std::collections::HashSet;
use std::io::Read as _;
use std::process::Stdio;
use std::time::{Duration, Instant};

use common::{Place, marked, nothing_left, within};
use toolkit_sandbox::{Drained, End, Mode, Sandbox};

/// Makes this test binary a host that starts jobs and waits: the directory for them.
const HOST: &str = "TOOLKIT_SANDBOX_TEST_HOST";

const JOBS: usize = 10;

/// Writes a line after the other, and says in a file of its own which was the last that it has written.
const WRITER: &str = "python3 -c '
import os
n = 0
while True:
    n += 1
    os.write(1, b\"%08d\\n\" % n)
    if n % 100 == 0:
        open(\"saying\", \"w\").write(str(n))
        os.rename(\"saying\", \"said\")
'";

/// Not a test of its own: the host that the next one kills.
#[tokio::test]
async fn host_to_be_killed() {
    let Ok(marker) = std::env::var(HOST) else { return };
    let mut jobs = Vec::new();
    for number in 0..JOBS {
        let mut place = Place::new();
        place.marker.clone_from(&marker);
        // A grandchild, a daemon, one that is deaf, one that is stopped, and the writer.
        let script = format!(
            "bash -c 'sleep 1000 & wait' & (setsid bash -c '(setsid sleep 1001 &); sleep 1002' >/dev/null 2>&1 &) ; \
             (trap '' TERM HUP INT; exec sleep 1003) & sleep 1004 & kill -STOP $!; {WRITER}"
        );
        let mut command = place.sh(&script);
        if number % 2 == 1 {
            command = command.sandbox(Sandbox::new(Mode::WorkspaceWrite, place.path()));
        }
        let job = command.spawn().await.unwrap();
        within(20, async {
            while job.progress().bytes < 100_000 {
                job.changed(&job.progress()).await;
            }
        })
        .await;
        println!("place {}", place.path().display());
        jobs.push((job, place));
    }
    println!("ready");
    std::future::pending::<()>().await;
}

#[test]
fn nothing_survives_a_killed_host_and_its_output_is_whole() {
    let marker = format!("death-{}", std::process::id());
    let mut host = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "death::host_to_be_killed", "--nocapture"])
        .env(HOST, &marker)
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()
        .unwrap();
    let mut text = String::new();
    let mut stdout = host.stdout.take().unwrap();
    while !text.contains("\nready\n") {
        let mut buffer = [0; 4096];
        let length = stdout.read(&mut buffer).unwrap();
        assert!(length > 0, "the host ended: {text}");
        text.push_str(std::str::from_utf8(&buffer[..length]).unwrap());
    }
    let places: Vec<_> =
        text.lines().filter_map(|line| line.split_once("place ")).map(|(_, path)| path.to_owned()).collect();
    assert_eq!(places.len(), JOBS);
    // Six processes each at least.
    assert!(marked(&marker).len() >= 6 * JOBS, "{:?}", marked(&marker));
    let spawner = children(host.id());
    host.kill().unwrap();
    host.wait().unwrap();
    nothing_left(&marker);
    for place in places {
        let place = std::path::Path::new(&place);
        let said: u64 = std::fs::read_to_string(place.join("said")).unwrap().parse().unwrap();
        let output = std::fs::read_to_string(place.join("output")).unwrap();
        let mut last = 0;
        for line in output.lines() {
            last += 1;
            assert_eq!(line, format!("{last:08}"));
        }
        assert!(output.ends_with('\n') && last >= said && said > 0, "{last} of {said}");
        std::fs::remove_dir_all(place).unwrap();
    }
    // Nor the processes that watched them.
    let begun = std::time::Instant::now();
    // One that has ended may wait long for the system's first process to look at it.
    let runs = |pid: &u32| {
        std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| !stat.contains(") Z "))
    };
    while spawner.iter().any(runs) {
        assert!(begun.elapsed() < Duration::from_secs(30), "the spawner is left");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The processes that are children of this one now.
fn children(pid: u32) -> Vec<u32> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let Ok(stat) = std::fs::read_to_string(entry.path().join("stat")) else { continue };
        let Some((id, rest)) = stat.split_once(' ') else { continue };
        let parent = rest.rsplit(')').next().unwrap().split_whitespace().nth(1).unwrap();
        if parent == pid.to_string() {
            found.push(id.parse().unwrap());
        }
    }
    found
}

/// The spawner of this process.
fn spawner() -> u32 {
    let children = children(std::process::id());
    *children
        .iter()
        .find(|pid| {
            std::fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap().starts_with("toolkit-spawner")
        })
        .unwrap()
}

#[tokio::test]
async fn a_job_that_kills_its_supervisor_goes_with_it() {
    let place = Place::new();
    // The supervisor has written the output before it is killed.
    let script = "sleep 1000 & (setsid sleep 1001 >/dev/null 2>&1 &); echo before; \
                  until grep -q before output; do sleep 0.01; done; kill -9 $PPID; sleep 1002";
    let job = place.sh(script).spawn().await.unwrap();
    let exit = within(5, job.exited()).await;
    assert_eq!(exit.end, End::Lost);
    within(5, job.gone()).await;
    place.nothing_left();
    assert_eq!(place.text(), "before\n");
    assert!(within(5, job.processes()).await.is_empty());
    assert_eq!(within(5, job.drained(Duration::ZERO)).await, Drained::Closed);
    assert!(within(5, job.stop(Duration::ZERO)).await.left.is_empty());
    // The next has another.
    let place = Place::new();
    common::finish(place.sh("echo after")).await;
    assert_eq!(place.text(), "after\n");
}

#[tokio::test]
async fn a_stopped_supervisor_is_found_and_its_job_ends() {
    let place = Place::new();
    let script =
        "(setsid sleep 1000 &) ; until test -e go; do sleep 0.01; done; kill -STOP $PPID; sleep 1001";
    let job = place.sh(script).spawn().await.unwrap();
    std::fs::write(place.path().join("go"), "").unwrap();
    // Nobody asks for it.
    assert_eq!(within(2, job.exited()).await.end, End::Lost);
    within(2, job.gone()).await;
    place.nothing_left();
}

#[tokio::test]
async fn a_job_that_stops_all_that_watch_it_is_ended_and_the_next_starts() {
    let place = Place::new();
    let script =
        "until test -e go; do sleep 0.01; done; kill -STOP $(ps -o ppid= -p $PPID) $PPID; exec sleep 1000";
    let job = place.sh(script).spawn().await.unwrap();
    std::fs::write(place.path().join("go"), "").unwrap();
    let (supervisor, begun) = (supervisor_of(job.pid()), Instant::now());
    while !stat(supervisor).contains(") T ") {
        assert!(begun.elapsed() < Duration::from_secs(30));
        tokio::task::yield_now().await;
    }
    let next = Place::new();
    let (stopped, started) = tokio::join!(job.stop(Duration::ZERO), next.sh("echo next").spawn());
    assert!(stopped.left.is_empty(), "{stopped:?}");
    assert!(begun.elapsed() < Duration::from_mins(1));
    place.nothing_left();
    within(5, started.unwrap().drained(Duration::from_secs(5))).await;
    assert_eq!(next.text(), "next\n");
}

fn stat(pid: u32) -> String {
    std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default()
}

fn supervisor_of(pid: u32) -> u32 {
    let stat = stat(pid);
    stat.rsplit_once(") ").unwrap().1.split(' ').nth(1).unwrap().parse().unwrap()
}

#[tokio::test]
async fn without_the_spawner_jobs_end_and_the_next_is_started() {
    let places: Vec<_> = (0..3).map(|_| Place::new()).collect();
    let mut jobs = Vec::new();
    for place in &places {
        jobs.push(place.sh("(setsid sleep 1000 &) ; echo started; sleep 1001").spawn().await.unwrap());
    }
    let pid = i32::try_from(spawner()).unwrap();
    rustix::process::kill_process(
        rustix::process::Pid::from_raw(pid).unwrap(),
        rustix::process::Signal::KILL,
    )
    .unwrap();
    for (job, place) in jobs.iter().zip(&places) {
        within(5, job.exited()).await;
        within(5, job.gone()).await;
        place.nothing_left();
    }
    let place = Place::new();
    common::finish(place.sh("echo next")).await;
    assert_eq!(place.text(), "next\n");
}

#[tokio::test]
async fn a_dropped_job_is_ended_with_its_grace() {
    let place = Place::new();
    let script = "trap 'echo asked; exit' TERM; echo ready; while :; do sleep 0.01; done";
    let job = place.sh(script).grace(Duration::from_secs(5)).spawn().await.unwrap();
    within(5, async {
        while job.progress().newlines == 0 {
            job.changed(&job.progress()).await;
        }
    })
    .await;
    drop(job);
    place.nothing_left();
    // The supervisor copies the last of the output after the processes have ended.
    within(30, async {
        while !place.text().contains("asked") {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_hundred_at_once_keep_to_themselves() {
    toolkit_sandbox::supervise_with(common::SUPERVISOR);
    let mut tasks = Vec::new();
    for number in 0..100 {
        tasks.push(tokio::spawn(async move {
            let place = Place::new();
            let script = format!(
                "ls /proc/self/fd | tr '\\n' ' '; echo; (sleep 0.0{number} &); echo {number}; exit {}",
                number % 7
            );
            let job = place.sh(&script).stdin(toolkit_sandbox::Stdin::Pipe).spawn().await.unwrap();
            let exit = within(30, job.exited()).await;
            assert_eq!(exit.code(), Some(number % 7));
            within(30, job.drained(Duration::from_secs(20))).await;
            assert_eq!(place.text(), format!("0 1 2 3 \n{number}\n"));
            within(30, job.gone()).await;
            (job.id(), job.pid())
        }));
    }
    let mut ids = HashSet::new();
    for task in tasks {
        ids.insert(task.await.unwrap().0);
    }
    assert_eq!(ids.len(), 100);
    // No descriptor of theirs is left here: what there is belongs to the runtime, the spawner and the test.
    let begun = Instant::now();
    loop {
        let open = std::fs::read_dir("/proc/self/fd").unwrap().count();
        if open < 40 {
            break;
        }
        assert!(begun.elapsed() < Duration::from_secs(30), "{open} descriptors are open");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[test]
fn a_job_outlives_the_runtime_that_started_it() {
    let place = Place::new();
    let runtime = || tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let job =
        runtime().block_on(place.sh("cat; echo end").stdin(toolkit_sandbox::Stdin::Pipe).spawn()).unwrap();
    runtime().block_on(async {
        let input = job.stdin().unwrap();
        within(5, input.write(b"in\n")).await.unwrap();
        within(5, input.close()).await.unwrap();
        assert!(within(5, job.exited()).await.success());
        within(5, job.drained(Duration::from_secs(5))).await;
    });
    assert_eq!(place.text(), "in\nend\n");
    let job = runtime().block_on(place.sh("sleep 1000").spawn()).unwrap();
    drop(job);
    place.nothing_left();
}

#[tokio::test]
async fn a_full_disk_stops_the_file_but_not_the_job() {
    let place = Place::new();
    let full = std::fs::File::options().append(true).open("/dev/full").unwrap();
    let job = place
        .sh("head -c 3000000 /dev/zero; echo survived > here")
        .output(toolkit_sandbox::Output::File(full))
        .spawn()
        .await
        .unwrap();
    assert!(within(10, job.exited()).await.success());
    within(5, job.drained(Duration::from_secs(5))).await;
    let progress = job.progress();
    assert_eq!((progress.bytes, progress.written, progress.write_error), (3_000_000, 0, Some(28)));
    assert!(place.path().join("here").exists());
}

#[tokio::test]
async fn pipes_are_read_by_the_host() {
    use std::pin::pin;
    let place = Place::new();
    let job = place
        .sh("cat; echo error >&2")
        .stdin(toolkit_sandbox::Stdin::Pipe)
        .output(toolkit_sandbox::Output::Pipes)
        .spawn()
        .await
        .unwrap();
    let (out, err) = (job.take_stdout().unwrap(), job.take_stderr().unwrap());
    assert!(job.take_stdout().is_none());
    let input = job.stdin().unwrap();
    within(5, input.write(b"through\n")).await.unwrap();
    within(5, input.close()).await.unwrap();
    let read = |pipe: tokio::net::unix::pipe::Receiver| async move {
        let mut all = Vec::new();
        loop {
            pipe.readable().await.unwrap();
            let mut buffer = [0; 100];
            match pipe.try_read(&mut buffer) {
                Ok(0) => return String::from_utf8(all).unwrap(),
                Ok(length) => all.extend_from_slice(&buffer[..length]),
                Err(error) => assert_eq!(error.kind(), std::io::ErrorKind::WouldBlock),
            }
        }
    };
    assert_eq!(within(5, pin!(read(out))).await, "through\n");
    assert_eq!(within(5, pin!(read(err))).await, "error\n");
    assert!(within(5, job.exited()).await.success());
    assert_eq!(within(5, job.drained(Duration::from_secs(1))).await, Drained::Closed);
    within(5, job.gone()).await;
}

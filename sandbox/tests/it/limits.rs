//! Jobs that use more than they may.
#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

use crate::common::{Place, within};
use toolkit_sandbox::{End, Limit, Limits, Mode, Sandbox};

/// Runs a script with these limits until nothing of it is left. What it went beyond, and how it ended.
async fn limited(place: &Place, script: &str, limits: Limits, is_contained: bool) -> (Option<Limit>, End) {
    let mut command = place.sh(script).limits(limits);
    if is_contained {
        command = command.sandbox(Sandbox::new(Mode::WorkspaceWrite, place.path()).required(true));
    }
    let job = within(20, command.spawn()).await.unwrap();
    let exit = within(30, job.exited()).await;
    within(10, job.gone()).await;
    place.nothing_left();
    (job.progress().exceeded, exit.end)
}

#[tokio::test]
async fn an_output_beyond_its_limit_ends_the_job() {
    for is_contained in [false, true] {
        let place = Place::new();
        let limits = Limits::new().with_output(1 << 20);
        let (exceeded, end) = limited(&place, "yes", limits, is_contained).await;
        assert_eq!((exceeded, end), (Some(Limit::Output), End::Signal { number: 9, core: false }));
        assert_eq!(std::fs::metadata(place.output()).unwrap().len(), 1 << 20);
        // Processes that the command has left behind are ended, too.
        let place = Place::new();
        let (exceeded, end) = limited(&place, "yes & sleep 0.01", limits, is_contained).await;
        assert_eq!(exceeded, Some(Limit::Output), "{end:?}");
        let (exceeded, end) = limited(&Place::new(), "head -c 1048576 /dev/zero", limits, is_contained).await;
        assert_eq!((exceeded, end), (None, End::Code(0)));
    }
}

/// Forks for ever, and each of these does. It gives up by itself, lest it survive a test that fails.
const FORKS: &str = "exec python3 -c '
import os, time
end = time.monotonic() + 10
while time.monotonic() < end:
    try: os.fork()
    except OSError: time.sleep(0.01)'";

/// Forks without a pause, and so does each of these, until there have been 1,500. With `setsid`, no process group holds them.
fn bomb(setsid: bool) -> String {
    let leaves = if setsid { "os.setsid()" } else { "pass" };
    format!(
        "exec python3 -c '
import os, time
tokens, full = os.pipe()
os.write(full, bytes(1500)); os.set_blocking(tokens, False)
end = time.monotonic() + 8
while time.monotonic() < end:
    try:
        os.read(tokens, 1)
        if os.fork() == 0: {leaves}
    except OSError: time.sleep(0.05)
open(\"survived\", \"w\").close()'"
    )
}

/// Takes memory, a MiB at a time, which it shares with a child after a fork.
const TAKES: &str = "exec python3 -c '
import os, time
taken = []
while len(taken) < 400: taken.append(bytearray(os.urandom(16)) * 65536)
time.sleep(20)'";

#[tokio::test]
async fn more_processes_than_are_allowed_end_the_job() {
    let place = Place::new();
    let limits = Limits::new().with_processes(40);
    let (exceeded, _) = limited(&place, FORKS, limits, true).await;
    assert_eq!(exceeded, Some(Limit::Processes));
    let (exceeded, end) =
        limited(&place, "for n in 1 2 3 4 5; do sleep 0.2 & done; wait", limits, true).await;
    assert_eq!((exceeded, end), (None, End::Code(0)));
    // Threads count like processes.
    let threads = "exec python3 -c 'import threading, time\nfor n in range(60): threading.Thread(target=time.sleep, args=(20,)).start()'";
    let (exceeded, _) = limited(&place, threads, limits, false).await;
    assert_eq!(exceeded, Some(Limit::Processes));
}

#[tokio::test]
async fn processes_that_fork_without_a_pause_are_ended_without_a_namespace() {
    for script in [bomb(false), bomb(true)] {
        let place = Place::new();
        let (exceeded, _) = limited(&place, &script, Limits::new().with_processes(40), false).await;
        assert_eq!(exceeded, Some(Limit::Processes), "{script}");
        assert!(!place.path().join("survived").exists(), "{script}");
    }
}

#[tokio::test]
async fn more_memory_than_is_allowed_ends_the_job() {
    let place = Place::new();
    for is_contained in [false, true] {
        let limits = Limits::new().with_memory(200 << 20);
        let (exceeded, end) = limited(&place, TAKES, limits, is_contained).await;
        assert_eq!((exceeded, end), (Some(Limit::Memory), End::Signal { number: 9, core: false }));
    }
    // Memory that processes share is counted once.
    let shares = "exec python3 -c 'import os, time\nx = bytearray(os.urandom(16)) * 6553600\nfor n in range(5): os.fork() or (time.sleep(1), os._exit(0))\ntime.sleep(1)'";
    let (exceeded, end) = limited(&place, shares, Limits::new().with_memory(300 << 20), false).await;
    assert_eq!((exceeded, end), (None, End::Code(0)));
}

#[tokio::test]
async fn files_that_are_memory_count_as_memory() {
    let place = Place::new();
    let limits = Limits::new().with_memory(100 << 20);
    let fills = |file: &str| {
        format!(
            "exec python3 -c 'import os, time\nf = {file}\nfor n in range(300): os.write(f, b\"x\" * (1 << 20))\ntime.sleep(20)'"
        )
    };
    for is_contained in [false, true] {
        let (exceeded, end) = limited(&place, &fills("os.memfd_create(\"x\")"), limits, is_contained).await;
        assert_eq!((exceeded, end), (Some(Limit::Memory), End::Signal { number: 9, core: false }));
    }
    let shared = "exec python3 -c 'import mmap, time\nm = mmap.mmap(-1, 300 << 20)\nfor n in range(300): m.write(b\"x\" * (1 << 20))\ntime.sleep(20)'";
    let (exceeded, _) = limited(&place, shared, limits, false).await;
    assert_eq!(exceeded, Some(Limit::Memory));
    // A file that nobody holds open is still in the memory of a sandbox's own /dev/shm.
    let left = "python3 -c 'open(\"/dev/shm/left\", \"wb\").write(b\"x\" * (300 << 20))'; sleep 20";
    let (exceeded, _) = limited(&place, left, limits, true).await;
    assert_eq!(exceeded, Some(Limit::Memory));
    let (exceeded, end) =
        limited(&place, "head -c 50M /dev/zero > /dev/shm/small; sleep 1", limits, true).await;
    assert_eq!((exceeded, end), (None, End::Code(0)));
}

#[tokio::test]
async fn a_job_is_killed_before_its_host_where_memory_runs_out() {
    for is_contained in [false, true] {
        let place = Place::new();
        limited(&place, "cat /proc/self/oom_score_adj", Limits::new(), is_contained).await;
        assert_eq!(place.text(), "500\n");
    }
}

//! The signal state that a command starts with.
#![allow(missing_docs, clippy::unwrap_used)]

use crate::common;

use common::{Place, finish};

#[tokio::test]
async fn a_command_starts_with_signals_at_their_default_and_nothing_open() {
    let place = Place::new();
    // A file of the host that is not closed when a program is executed.
    let open = std::fs::File::open("/etc/passwd").unwrap();
    rustix::io::fcntl_setfd(&open, rustix::io::FdFlags::empty()).unwrap();
    let script = "grep -E '^Sig(Blk|Ign)' /proc/self/status; ls -l /proc/self/fd | wc -l; ls /proc/self/fd | tr '\\n' ' '; \
                  echo; ps -o pid=,pgid=,sid=,tty= -p $$";
    finish(place.sh(script)).await;
    let text = place.text();
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines[0], "SigBlk:\t0000000000000000", "{text}");
    assert_eq!(lines[1], "SigIgn:\t0000000000000000", "{text}");
    // 0 to 2, and the one that `ls` reads.
    assert_eq!(lines[3].trim(), "0 1 2 3", "{text}");
    let ids: Vec<_> = lines[4].split_whitespace().collect();
    assert!(ids[0] == ids[1] && ids[1] == ids[2] && ids[3] == "?", "{text}");
}

#[tokio::test]
async fn a_reader_that_goes_ends_its_writer() {
    let place = Place::new();
    finish(place.sh("yes | head -n 1; echo ${PIPESTATUS[0]}")).await;
    assert_eq!(place.text(), "y\n141\n");
}

#[tokio::test]
async fn nothing_of_the_environment_is_inherited() {
    let place = Place::new();
    finish(place.command("env").env("ONLY", "this").env("ONLY", "that")).await;
    let text = place.text();
    let mut names: Vec<_> = text.lines().filter_map(|line| line.split_once('=')).collect();
    names.sort_unstable();
    assert_eq!(
        names.iter().map(|(name, _)| *name).collect::<Vec<_>>(),
        ["ONLY", "PATH", "TOOLKIT_SANDBOX_TEST"]
    );
    assert_eq!(names[0].1, "that");
}

#[tokio::test]
async fn nothing_of_the_host_is_kept_open() {
    use std::io::Read as _;
    let (mut read, write) = std::io::pipe().unwrap();
    rustix::io::fcntl_setfd(&write, rustix::io::FdFlags::empty()).unwrap();
    let place = Place::new();
    let job = place.sh("sleep 1000").spawn().await.unwrap();
    drop(write);
    let end = tokio::task::spawn_blocking(move || read.read(&mut [0]).unwrap());
    assert_eq!(common::within(5, end).await.unwrap(), 0);
    drop(job);
    place.nothing_left();
}

//! Commands are run, and told of as they are.
#![allow(missing_docs, clippy::unwrap_used)]

use crate::common;

use std::time::Duration;

use common::{Place, finish, within};
use toolkit_sandbox::{Command, Conflict, Drained, End, Mode, Sandbox, Size, SpawnError, Stdin};

#[tokio::test]
async fn a_command_is_run_and_told_of() {
    let place = Place::new();
    let (job, exit) = finish(place.sh("echo out; echo err >&2; printf 'last'; exit 3")).await;
    assert_eq!(exit.end, End::Code(3));
    assert_eq!(place.text(), "out\nerr\nlast");
    let progress = job.progress();
    assert_eq!((progress.bytes, progress.newlines, progress.written), (12, 2, 12));
    assert!(progress.closed && progress.exited);
    assert_eq!(within(5, job.drained(Duration::ZERO)).await, Drained::Closed);
    within(5, job.gone()).await;
    place.nothing_left();
}

#[tokio::test]
async fn what_cannot_be_started_is_explained() {
    let place = Place::new();
    let error = place.command("no-such-program").spawn().await.unwrap_err();
    assert!(matches!(error, SpawnError::NotFound { .. }), "{error}");
    assert!(error.to_string().contains("in none of the directories of `PATH` (/usr/local/bin"), "{error}");
    let error = place.command("/etc/passwd").spawn().await.unwrap_err();
    assert!(matches!(error, SpawnError::NotExecutable { .. }), "{error}");
    let error = place.command("true").current_dir("/no/such/place").spawn().await.unwrap_err();
    assert!(matches!(error, SpawnError::Directory { .. }), "{error}");
    let error = place.command("true").arg("a\0b").spawn().await.unwrap_err();
    assert!(matches!(error, SpawnError::Nul { what: "an argument" }), "{error}");
    let error = place.command("true").arg("x".repeat(4 << 20)).spawn().await.unwrap_err();
    assert!(matches!(error, SpawnError::TooLong), "{error}");
    place.nothing_left();
}

/// Two pipes that a command reads from and writes to as its numbers 3 and 4, and the host's ends of them.
pub(crate) fn talking(command: Command) -> (Command, std::io::PipeWriter, std::io::PipeReader) {
    let (read, to_command) = std::io::pipe().unwrap();
    let (from_command, write) = std::io::pipe().unwrap();
    (command.descriptor(read).descriptor(write), to_command, from_command)
}

/// Writes a line to a command that echoes it, and reads until the command has closed its end.
pub(crate) fn echoed(mut to_command: std::io::PipeWriter, mut from_command: std::io::PipeReader) -> String {
    use std::io::{Read as _, Write as _};
    to_command.write_all(b"hello\n").unwrap();
    drop(to_command);
    let mut text = String::new();
    from_command.read_to_string(&mut text).unwrap();
    text
}

/// A script that echoes its input, and prints its descriptors.
pub(crate) const ECHO: &str = "cat <&3 >&4; ls /proc/self/fd | tr '\\n' ' ' >&4";

#[tokio::test]
async fn descriptors_are_passed_on_from_number_3() {
    let place = Place::new();
    let sandboxed = place.sh(ECHO).sandbox(Sandbox::new(Mode::Full, place.path()).with_network(false));
    for (name, command) in [("plain", place.sh(ECHO)), ("sandboxed", sandboxed)] {
        let (command, to_command, from_command) = talking(command);
        let job = within(10, command.spawn()).await.unwrap();
        let text = tokio::task::spawn_blocking(move || echoed(to_command, from_command)).await.unwrap();
        // The last is the directory that `ls` reads.
        assert_eq!(text, "hello\n0 1 2 3 4 5 ", "{name}");
        assert_eq!(within(5, job.exited()).await.end, End::Code(0), "{name}: {}", place.text());
    }
    place.nothing_left();
}

#[tokio::test]
async fn a_command_that_cannot_start_says_so_whatever_it_is_given() {
    let place = Place::new();
    let (command, _to_command, mut from_command) = talking(place.command("no-such-program"));
    let error = command.spawn().await.unwrap_err();
    assert!(matches!(error, SpawnError::NotFound { .. }), "{error}");
    // No end of it stays open anywhere.
    let mut text = String::new();
    std::io::Read::read_to_string(&mut from_command, &mut text).unwrap();
    assert_eq!(text, "");
    let many = (0..=Command::MAX_DESCRIPTORS)
        .fold(place.command("true"), |command, _| command.descriptor(std::io::pipe().unwrap().0));
    let error = many.spawn().await.unwrap_err();
    assert!(
        matches!(error, SpawnError::Contradiction { conflict: Conflict::TooManyDescriptors, .. }),
        "{error}"
    );
    place.nothing_left();
}

/// The descriptors of this process.
fn open() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

#[tokio::test]
async fn a_job_that_is_gone_holds_no_descriptor() {
    let place = Place::new();
    let run = async |command: Command| {
        let job = within(30, command.spawn()).await.unwrap();
        within(30, job.gone()).await;
        job.release();
        job
    };
    // The descriptors that all jobs share.
    drop(run(place.sh("true")).await);
    let before = open();
    let mut jobs = Vec::new();
    for number in 0..6 {
        let command = place.sh("echo one").stdin(Stdin::Pipe);
        let is_terminal = number % 2 == 0;
        jobs.push(
            run(if is_terminal { command.terminal(Size { rows: 24, columns: 80 }) } else { command }).await,
        );
        assert_eq!(jobs[number].stdin().unwrap().is_terminal(), is_terminal);
    }
    for attempt in 0.. {
        // The last message is heard on a thread.
        if open() <= before {
            break;
        }
        assert!(attempt < 500, "{} and {before} before", open());
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    for job in &jobs {
        assert_eq!(within(5, job.exited()).await.end, End::Code(0));
        let input = job.stdin().unwrap();
        let written = input.write(b"two").await.unwrap_err();
        assert_eq!(written.kind(), std::io::ErrorKind::BrokenPipe);
        assert!(input.resize(Size { rows: 24, columns: 80 }).is_err());
        assert!(job.stop(Duration::ZERO).await.left.is_empty() && job.processes().await.is_empty());
    }
}

#[tokio::test]
async fn the_limit_of_open_files_is_raised_for_the_host_alone() {
    const LOWERED: &str = "TOOLKIT_TEST_LOWERED";
    // In a process of its own, whose first job this is, with a lower limit.
    if std::env::var_os(LOWERED).is_none() {
        let test = "jobs::the_limit_of_open_files_is_raised_for_the_host_alone";
        let status = std::process::Command::new("sh")
            .args(["-c", "ulimit -Sn 256; exec \"$0\" \"$@\""])
            .arg(std::env::current_exe().unwrap())
            .args(["--exact", test, "--nocapture"])
            .env(LOWERED, "1")
            .status();
        return assert!(status.unwrap().success());
    }
    let limits = || {
        let text = std::fs::read_to_string("/proc/self/limits").unwrap();
        let line = text.lines().find_map(|line| line.strip_prefix("Max open files")).unwrap();
        let mut words = line.split_whitespace().map(|word| word.parse::<u64>().unwrap_or(u64::MAX));
        (words.next().unwrap(), words.next().unwrap())
    };
    let (before, hard) = limits();
    assert_eq!(before, 256);
    toolkit_sandbox::raise_descriptor_limit();
    assert_eq!(limits(), (hard.min(65_536), hard));
    let place = Place::new();
    finish(place.sh("ulimit -Sn")).await;
    assert_eq!(place.text().trim(), "256");
}

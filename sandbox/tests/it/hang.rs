//! Commands that would keep an agent's turn waiting elsewhere: each comes back in time, with a true account, and leaves no process.
#![allow(missing_docs, clippy::unwrap_used)]

use crate::common;

use std::time::{Duration, Instant};

use common::{Place, first_line, marked, within};
use toolkit_sandbox::{Drained, End, Size, Stdin};

/// How a script that leaves something behind is told of.
struct Case {
    name: &'static str,
    script: &'static str,
    /// The part of the command line of the process that holds the output, as it is reported.
    holder: &'static str,
}

#[tokio::test]
async fn children_that_hold_the_output_are_told_and_ended() {
    let cases = [
        Case { name: "background child", script: "sleep 1000 & echo done", holder: "sleep 1000" },
        Case { name: "infinity", script: "sleep infinity & echo done", holder: "sleep infinity" },
        Case { name: "subshell", script: "(sleep 1001; true) & echo done", holder: "sleep 1001" },
        Case { name: "double fork", script: "(setsid sleep 1002 &) ; echo done", holder: "sleep 1002" },
        Case { name: "nohup", script: "nohup sleep 1003 & disown; echo done", holder: "sleep 1003" },
        Case {
            name: "error stream alone",
            script: "sleep 1004 >/dev/null & echo done",
            holder: "sleep 1004",
        },
        Case { name: "stopped", script: "sleep 1005 & kill -STOP $!; echo done", holder: "sleep 1005" },
        Case {
            name: "deaf",
            script: "bash -c 'trap \"\" TERM INT HUP; : >deaf; sleep 1006; sleep 1006' & \
                     until test -e deaf; do sleep 0.01; done; echo done",
            holder: "sleep 1006",
        },
    ];
    for case in cases {
        let place = Place::new();
        let begun = Instant::now();
        let job = place.sh(case.script).spawn().await.unwrap();
        let exit = within(5, job.exited()).await;
        assert_eq!(exit.end, End::Code(0), "{}", case.name);
        let drained = within(5, job.drained(Duration::from_millis(100))).await;
        let Drained::Held(holders) = drained else { panic!("{}: {drained:?}", case.name) };
        assert!(
            holders.iter().any(|holder| holder.command.contains(case.holder)),
            "{}: {holders:?}",
            case.name
        );
        assert!(begun.elapsed() < Duration::from_mins(1), "{}: {:?}", case.name, begun.elapsed());
        assert!(place.text().contains("done\n"), "{}: {:?}", case.name, place.text());
        let progress = job.progress();
        assert!(progress.exited && !progress.closed && !progress.gone, "{}: {progress:?}", case.name);
        let processes = within(5, job.processes()).await;
        assert_eq!(processes.len(), marked(&place.marker).len(), "{}: {processes:?}", case.name);

        let is_deaf = case.name == "deaf";
        let grace = if is_deaf { Duration::from_millis(200) } else { Duration::from_secs(20) };
        let stopped = within(5, job.stop(grace)).await;
        assert!(stopped.left.is_empty() && stopped.terminated >= 1, "{}: {stopped:?}", case.name);
        assert_eq!(stopped.killed > 0, is_deaf, "{}: {stopped:?}", case.name);
        within(5, job.gone()).await;
        assert!(job.progress().closed, "{}", case.name);
        assert!(marked(&place.marker).is_empty(), "{}", case.name);
    }
}

#[tokio::test]
async fn a_daemon_that_holds_nothing_is_listed_and_ended() {
    let place = Place::new();
    let job = place.sh("(setsid sleep 1000 </dev/null >/dev/null 2>&1 &); echo done").spawn().await.unwrap();
    within(5, job.exited()).await;
    assert_eq!(within(5, job.drained(Duration::from_secs(4))).await, Drained::Closed);
    // Its first moments it is still on the way.
    within(5, async {
        while job.processes().await.iter().map(|process| process.command.as_str()).ne(["sleep 1000"]) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await;
    assert!(!job.progress().gone);
    drop(job);
    place.nothing_left();
}

#[tokio::test]
async fn a_reader_of_input_gets_its_end() {
    let place = Place::new();
    let job = place.sh("cat; echo rc=$?").spawn().await.unwrap();
    assert_eq!(within(5, job.exited()).await.end, End::Code(0));
    within(5, job.drained(Duration::from_secs(5))).await;
    assert_eq!(place.text(), "rc=0\n");

    let place = Place::new();
    let job = place.sh("cat; echo rc=$?").stdin(Stdin::Pipe).spawn().await.unwrap();
    let input = job.stdin().unwrap();
    within(5, input.write(b"one\n")).await.unwrap();
    within(5, input.write(b"two\n")).await.unwrap();
    within(5, input.close()).await.unwrap();
    assert_eq!(within(5, job.exited()).await.end, End::Code(0));
    within(5, job.drained(Duration::from_secs(5))).await;
    assert_eq!(place.text(), "one\ntwo\nrc=0\n");
    assert_eq!(input.write(b"more").await.unwrap_err().kind(), std::io::ErrorKind::BrokenPipe);
}

#[tokio::test]
async fn input_that_nobody_reads_is_not_kept() {
    let place = Place::new();
    let job = place.sh("sleep 1000").stdin(Stdin::Pipe).spawn().await.unwrap();
    let input = job.stdin().unwrap();
    let all = vec![b'x'; 1 << 20];
    assert!(tokio::time::timeout(Duration::from_millis(200), input.write(&all)).await.is_err());
    drop(job);
    place.nothing_left();
    assert_eq!(within(5, input.write(&all)).await.unwrap_err().kind(), std::io::ErrorKind::BrokenPipe);

    let place = Place::new();
    let job = place.sh("sleep 0.2; wc -c").stdin(Stdin::Pipe).spawn().await.unwrap();
    let input = job.stdin().unwrap();
    within(5, input.write(&all)).await.unwrap();
    within(5, input.close()).await.unwrap();
    within(5, job.exited()).await;
    within(5, job.drained(Duration::from_secs(5))).await;
    assert_eq!(place.text().trim(), "1048576");
}

#[tokio::test]
async fn endless_output_is_stopped() {
    let place = Place::new();
    let job = place.command("yes").spawn().await.unwrap();
    let mut progress = job.progress();
    while progress.bytes < 10 << 20 {
        progress = within(5, job.changed(&progress)).await;
    }
    assert!(progress.newlines * 2 + 2 >= progress.bytes, "{progress:?}");
    let stopped = within(5, job.stop(Duration::from_secs(2))).await;
    assert_eq!((stopped.terminated, stopped.killed), (1, 0));
    assert_eq!(within(5, job.exited()).await.signal(), Some(15));
    within(5, job.gone()).await;
    let progress = job.progress();
    assert_eq!(progress.written, progress.bytes);
    assert_eq!(std::fs::metadata(place.output()).unwrap().len(), progress.bytes);
    place.nothing_left();
}

#[tokio::test]
async fn programs_that_want_a_terminal_have_one() {
    let size = Size { rows: 30, columns: 90 };
    let place = Place::new();
    let job = place
        .sh("tty; stty size; test -t 0 -a -t 1 -a -t 2 && echo all; cat </dev/tty")
        .terminal(size)
        .spawn()
        .await
        .unwrap();
    let input = job.stdin().unwrap();
    assert!(input.is_terminal());
    within(5, input.write(b"typed\n")).await.unwrap();
    within(5, input.close()).await.unwrap();
    assert_eq!(within(5, job.exited()).await.end, End::Code(0));
    within(5, job.drained(Duration::from_secs(5))).await;
    let text = place.text();
    assert!(text.contains("/dev/pts/") && text.contains("30 90") && text.contains("all"), "{text}");
    assert!(text.contains("typed"), "{text}");
    within(5, job.gone()).await;

    // Programs of full screen, ended by what a person types, and by the host.
    for (program, arguments, keys) in [
        ("vi", &[][..], &b":q!\r"[..]),
        ("top", &[], b"q"),
        ("python3", &["-c", "print(input('name? '))"], b"me\r"),
    ] {
        let Some(program) = installed(program) else { panic!("this test needs {program}") };
        let place = Place::new();
        let start =
            |place: &Place| place.command(&program).args(arguments).env("TERM", "xterm").terminal(size);
        let job = start(&place).spawn().await.unwrap();
        within(10, async {
            while job.progress().bytes == 0 {
                job.changed(&job.progress()).await;
            }
        })
        .await;
        within(5, job.stdin().unwrap().write(keys)).await.unwrap();
        assert_eq!(within(10, job.exited()).await.end, End::Code(0), "{program}: {}", place.text());
        let job = start(&place).spawn().await.unwrap();
        let stopped = within(10, job.stop(Duration::from_secs(1))).await;
        assert!(stopped.left.is_empty());
        place.nothing_left();
    }
}

#[tokio::test]
async fn the_end_of_what_is_typed_is_seen_in_the_middle_of_a_line() {
    let size = Size { rows: 30, columns: 90 };
    for (typed, says) in [
        (&[&b"hello\nworld"[..]][..], "hello\nworld"),
        (&[b"x"], "x"),
        (&[b"whole\n"], "whole\n"),
        (&[b"whole\r"], "whole\n"),
        (&[], ""),
        (&[b"one ", b"two", b""], "one two"),
    ] {
        let place = Place::new();
        // The second reader is at the terminal's own: nothing is left of the first one's end.
        let script = "stty -echo; echo ready; cat > copy; read -r next; echo \"$next\" >> next";
        let job = place.sh(script).terminal(size).spawn().await.unwrap();
        within(5, async {
            while job.progress().bytes == 0 {
                job.changed(&job.progress()).await;
            }
        })
        .await;
        let input = job.stdin().unwrap();
        for part in typed {
            within(5, input.write(part)).await.unwrap();
        }
        within(5, input.close()).await.unwrap();
        within(5, input.write(b"more\n")).await.unwrap();
        within(5, job.exited()).await;
        assert_eq!(std::fs::read_to_string(place.path().join("copy")).unwrap(), says);
        assert_eq!(std::fs::read_to_string(place.path().join("next")).unwrap(), "more\n", "{typed:?}");
    }
}

#[tokio::test]
async fn a_terminal_changes_its_size() {
    let place = Place::new();
    let script = "trap 'stty size; exit' WINCH; echo ready; while :; do sleep 0.05; done";
    let job = place.sh(script).terminal(Size { rows: 10, columns: 20 }).spawn().await.unwrap();
    within(5, async {
        while job.progress().newlines == 0 {
            job.changed(&job.progress()).await;
        }
    })
    .await;
    job.stdin().unwrap().resize(Size { rows: 11, columns: 22 }).unwrap();
    within(5, job.exited()).await;
    within(5, job.drained(Duration::from_secs(5))).await;
    assert!(place.text().contains("11 22"), "{}", place.text());
}

fn installed(program: &str) -> Option<String> {
    ["/usr/bin", "/bin", "/usr/local/bin"]
        .iter()
        .map(|directory| format!("{directory}/{program}"))
        .find(|path| std::path::Path::new(path).exists())
}

#[tokio::test]
async fn a_process_that_is_stopped_or_deaf_is_ended() {
    for (script, grace, signal) in [
        ("echo ready; kill -STOP $$", 20, 15),
        ("trap '' TERM; echo ready; while :; do sleep 0.1; done", 1, 9),
    ] {
        let place = Place::new();
        let job = place.sh(script).spawn().await.unwrap();
        first_line(&job).await;
        let stopped = within(5, job.stop(Duration::from_secs(grace))).await;
        assert!(stopped.left.is_empty(), "{stopped:?}");
        assert_eq!(within(5, job.exited()).await.signal(), Some(signal), "{script}");
        place.nothing_left();
    }
}

#[tokio::test]
async fn output_that_is_closed_early_does_not_end_the_job() {
    let place = Place::new();
    let script =
        "echo before; exec >/dev/null 2>&1; until test -e go; do sleep 0.01; done; touch after; exit 4";
    let job = place.sh(script).spawn().await.unwrap();
    assert_eq!(within(5, job.drained(Duration::from_secs(30))).await, Drained::Closed);
    let progress = job.progress();
    assert!(progress.closed && !progress.exited, "{progress:?}");
    std::fs::write(place.path().join("go"), "").unwrap();
    assert_eq!(within(5, job.exited()).await.end, End::Code(4));
    assert!(place.path().join("after").exists());
    within(5, job.gone()).await;
}

#[tokio::test]
async fn what_comes_late_on_a_terminal_comes() {
    let place = Place::new();
    let script = "echo early; exec <&- >&- 2>&-; until test -e late; do sleep 0.01; done; \
                  echo late >/dev/tty; until test -e go; do sleep 0.01; done";
    let job = place.sh(script).terminal(Size { rows: 24, columns: 80 }).spawn().await.unwrap();
    first_line(&job).await;
    assert_eq!(within(5, job.drained(Duration::from_secs(30))).await, Drained::Closed);
    std::fs::write(place.path().join("late"), "").unwrap();
    within(5, async {
        while job.progress().newlines < 2 {
            job.changed(&job.progress()).await;
        }
    })
    .await;
    assert!(!job.progress().exited);
    std::fs::write(place.path().join("go"), "").unwrap();
    within(5, job.exited()).await;
    within(5, job.gone()).await;
    assert_eq!(place.text(), "early\r\nlate\r\n");
}

#[tokio::test]
async fn what_forks_on_and_on_is_ended() {
    // Each makes the next and ends, so that whoever looks finds another than a moment before.
    let relay = "import os, time\n\
                 while True:\n\
                 \x20   if os.fork(): os._exit(0)\n\
                 \x20   os.setsid()\n";
    for (name, script) in [
        ("many", "while :; do (sleep 1000 &) ; done".to_owned()),
        ("relay", format!("for i in 1 2 3; do python3 -c '{relay}' & done; sleep 1000")),
    ] {
        for grace in [Duration::ZERO, Duration::from_millis(50)] {
            let place = Place::new();
            let job = place.sh(&script).spawn().await.unwrap();
            tokio::time::sleep(Duration::from_millis(200)).await;
            let begun = Instant::now();
            let stopped = within(10, job.stop(grace)).await;
            assert!(stopped.left.is_empty(), "{name}: {stopped:?}");
            within(5, job.gone()).await;
            assert!(begun.elapsed() < Duration::from_mins(1), "{name}: {:?}", begun.elapsed());
            assert!(marked(&place.marker).is_empty(), "{name}");
        }
    }
}

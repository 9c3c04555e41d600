//! What running commands costs here, beside the bare system: starts at two sizes of the host, a gigabyte of output, memory while ten
//! stream. `cargo run --release -p toolkit-sandbox --example figures [starts|output|memory]`
#![allow(clippy::print_stdout, clippy::unwrap_used)]

use std::fs::File;
use std::process::Stdio;
use std::time::{Duration, Instant};

use toolkit_sandbox::{Command, Job, Mode, Output, Sandbox};

fn median(times: &mut [Duration]) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

fn command(program: &str) -> Command {
    Command::new(program).env("PATH", "/usr/bin:/bin")
}

async fn run(command: Command) -> Job {
    let job = command.spawn().await.unwrap();
    assert!(job.exited().await.success());
    job.drained(Duration::from_secs(10)).await;
    job
}

async fn starts(size: usize) {
    let mut ballast = vec![0_u8; size << 20];
    ballast.iter_mut().step_by(4096).for_each(|byte| *byte = 1);
    let file = tempfile::tempfile().unwrap();
    let output = || Output::File(file.try_clone().unwrap());
    let sandbox = || Sandbox::new(Mode::WorkspaceWrite, "/opt");
    run(command("true")).await;
    run(command("true").sandbox(sandbox())).await;
    let mut times: [Vec<Duration>; 4] = Default::default();
    for _ in 0..300 {
        let begun = Instant::now();
        let status = std::process::Command::new("sh")
            .args(["-c", "true"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .output();
        assert!(status.unwrap().status.success());
        times[0].push(begun.elapsed());
        for (at, command) in [
            (1, command("sh").args(["-c", "true"]).output(output())),
            (2, command("true").output(output())),
            (3, command("sh").args(["-c", "true"]).output(output()).sandbox(sandbox())),
        ] {
            let begun = Instant::now();
            let job = run(command).await;
            times[at].push(begun.elapsed());
            job.gone().await;
        }
    }
    println!(
        "host of {size} MB: bare `sh -c true` {:?}; supervised `sh -c true` {:?}, `true` {:?}; in a sandbox {:?}",
        median(&mut times[0]),
        median(&mut times[1]),
        median(&mut times[2]),
        median(&mut times[3]),
    );
    std::hint::black_box(&ballast);
}

async fn output(directory: &std::path::Path) {
    let write = "head -c 1073741824 /dev/zero | tr '\\0' '\\n'";
    let lines = "yes 'some line of output that a program prints while it works' | head -c 1073741824";
    for (name, script) in [("newlines", write), ("lines", lines), ("zeros", "head -c 1073741824 /dev/zero")] {
        let (mut ours, mut peer) = (Vec::new(), Vec::new());
        for round in 0..5 {
            let path = directory.join(format!("{round}"));
            let begun = Instant::now();
            let status = std::process::Command::new("sh")
                .arg("-c")
                .arg(format!("{script} | cat > {}", path.display()))
                .status();
            assert!(status.unwrap().success());
            peer.push(begun.elapsed());
            std::fs::remove_file(&path).unwrap();
            let file = File::options().create(true).append(true).open(&path).unwrap();
            let begun = Instant::now();
            let job = run(command("sh").arg("-c").arg(script).output(Output::File(file))).await;
            ours.push(begun.elapsed());
            assert_eq!(job.progress().written, 1 << 30);
            drop(job);
            std::fs::remove_file(&path).unwrap();
        }
        let (ours, peer) = (median(&mut ours), median(&mut peer));
        println!(
            "1 GB of {name}: `| cat > file` {peer:?}, supervised {ours:?}: {:.2} of its rate",
            peer.as_secs_f64() / ours.as_secs_f64()
        );
    }
}

fn status(pid: &str, field: &str) -> String {
    let text = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    text.lines()
        .find(|line| line.starts_with(field))
        .unwrap_or("")
        .split_whitespace()
        .skip(1)
        .collect::<Vec<_>>()
        .join(" ")
}

async fn memory() {
    let file = File::options().append(true).open("/dev/null").unwrap();
    let before = status("self", "VmHWM");
    let job = command("sh")
        .args(["-c", "yes | head -c 10737418240"])
        .output(Output::File(file))
        .spawn()
        .await
        .unwrap();
    let supervisor = status(&job.pid().to_string(), "PPid");
    let mut progress = job.progress();
    let mut next = 1 << 30;
    while !progress.exited {
        progress = job.changed(&progress).await;
        if progress.bytes >= next {
            println!(
                "{} GB: supervisor {} (peak {}), host {} (peak {}, before {before})",
                progress.bytes >> 30,
                status(&supervisor, "VmRSS"),
                status(&supervisor, "VmHWM"),
                status("self", "VmRSS"),
                status("self", "VmHWM")
            );
            next += 3 << 30;
        }
    }
    println!("{:?}", job.exited().await);
}

fn main() {
    toolkit_sandbox::init();
    tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap().block_on(measure());
}

async fn measure() {
    let only = std::env::args().nth(1);
    let wanted = |name: &str| only.as_deref().is_none_or(|only| only == name);
    if wanted("starts") {
        starts(10).await;
        starts(1024).await;
    }
    if wanted("output") {
        let directory = tempfile::tempdir().unwrap();
        output(directory.path()).await;
    }
    if wanted("memory") {
        memory().await;
    }
}

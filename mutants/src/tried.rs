//! The tests, each by itself once, and those that come to a mutant with that mutant on.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// A test, how long it takes, and which mutants it comes to.
pub(crate) struct Test {
    pub(crate) program: PathBuf,
    pub(crate) name: String,
    pub(crate) time: Duration,
    pub(crate) seen: BTreeSet<usize>,
}

/// The outcome of a mutant.
#[derive(Clone, PartialEq, Eq)]
pub(crate) enum Outcome {
    Caught(String),
    TimedOut(String),
    Survived,
}

/// Tests with more than this are only tried on what the others do not catch.
const SLOW: Duration = Duration::from_millis(2500);

/// A test that takes this many times its time, and five seconds, does not end.
const PATIENCE: u32 = 8;

fn command(folder: &Path, test: &Path) -> Command {
    let mut command = Command::new("prlimit");
    command
        .args(["--as=6000000000", "timeout", "--kill-after=1"])
        .env("RUST_TEST_THREADS", "1")
        .env("RUST_BACKTRACE", "0")
        .env("PROPTEST_MAX_SHRINK_ITERS", "0")
        .env("CARGO_MANIFEST_DIR", folder)
        .env_remove("MUTANT")
        .env_remove("MUTANT_SEEN")
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let _ = test;
    command
}

/// Runs each test of the programs by itself. Those that do not end within so many seconds are left out.
pub(crate) fn tests(folder: &Path, programs: &[PathBuf], scratch: &Path, within: f64) -> Result<Vec<Test>, String> {
    let mut tests = Vec::new();
    for program in programs {
        let listed = Command::new(program)
            .current_dir(folder)
            .args(["--list", "--format", "terse", "--include-ignored"])
            .output()
            .map_err(|error| format!("{}: {error}", program.display()))?;
        for line in String::from_utf8_lossy(&listed.stdout).lines() {
            let Some(name) = line.strip_suffix(": test") else { continue };
            let seen = scratch.join("seen");
            let _ = fs::remove_file(&seen);
            let begin = Instant::now();
            let status = command(folder, program)
                .arg(within.min(3600.0).to_string())
                .arg(program)
                .args(["--exact", "--include-ignored", name])
                .env("MUTANT_SEEN", &seen)
                .status()
                .map_err(|error| error.to_string())?;
            let time = begin.elapsed();
            if !status.success() {
                eprintln!("left out, since it fails or takes too long without a mutant: {name}");
                continue;
            }
            let seen = fs::read_to_string(&seen).unwrap_or_default();
            let seen: BTreeSet<usize> = seen.lines().filter_map(|line| line.parse().ok()).collect();
            eprintln!("{:8.2} s, comes to {:5}: {name}", time.as_secs_f64(), seen.len());
            tests.push(Test { program: program.clone(), name: name.to_owned(), time, seen });
        }
    }
    tests.sort_by_key(|test| test.time);
    Ok(tests)
}

/// Tries the mutants, `threads` at once; what became of each is told as it is known.
pub(crate) fn tried(
    folder: &Path,
    tests: &[Test],
    mutants: &[usize],
    threads: usize,
    tell: &(dyn Fn(usize, &Outcome) + Sync),
) -> BTreeMap<usize, Outcome> {
    let next = AtomicUsize::new(0);
    let outcomes = Mutex::new(BTreeMap::new());
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(&id) = mutants.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let outcome = outcome(folder, tests, id);
                    tell(id, &outcome);
                    if let Ok(mut outcomes) = outcomes.lock() {
                        outcomes.insert(id, outcome);
                    }
                }
            });
        }
    });
    outcomes.into_inner().unwrap_or_default()
}

fn outcome(folder: &Path, tests: &[Test], id: usize) -> Outcome {
    let comes = |test: &&Test| test.seen.contains(&id);
    // The quick ones together, a program at a time; then each of the others by itself.
    let mut programs: Vec<&Path> = Vec::new();
    for test in tests.iter().filter(comes) {
        if test.time < SLOW && !programs.contains(&test.program.as_path()) {
            programs.push(&test.program);
        }
    }
    for program in programs {
        let quick: Vec<&Test> =
            tests.iter().filter(comes).filter(|test| test.time < SLOW && test.program == program).collect();
        if let Some(outcome) = run(folder, program, &quick, id) {
            return outcome;
        }
    }
    for test in tests.iter().filter(comes).filter(|test| test.time >= SLOW) {
        if let Some(outcome) = run(folder, &test.program, &[test], id) {
            return outcome;
        }
    }
    Outcome::Survived
}

fn run(folder: &Path, program: &Path, tests: &[&Test], id: usize) -> Option<Outcome> {
    let time: Duration = tests.iter().map(|test| test.time).sum();
    let limit = time * PATIENCE + Duration::from_secs(5);
    let mut command = command(folder, program);
    command.arg(limit.as_secs().to_string()).arg(program).args(["--exact", "--include-ignored"]);
    command.args(tests.iter().map(|test| &test.name)).env("MUTANT", id.to_string());
    let first = tests.first().map(|test| test.name.clone()).unwrap_or_default();
    let status = command.spawn().and_then(|mut child: Child| child.wait()).ok()?;
    match status.code() {
        Some(0) => None,
        Some(124 | 137) => Some(Outcome::TimedOut(first)),
        _ => Some(Outcome::Caught(first)),
    }
}

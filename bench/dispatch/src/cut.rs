//! Measures the truncation of a text that is much too long for a model.

use std::fs;
use std::hint::black_box;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use dispatch::line::{median, print};
use tokio::runtime::Runtime;
use toolkit::prelude::*;
use toolkit::{Toolbox, inspection::LoopGuard};

const LINES: usize = 100_000;

/// Filled up with blanks to 99 bytes and a line feed.
const LINE: &str = "2026-01-01T00:00:00Z INFO server: request handled, as a log has it";

/// Measurements in a round, of which the median counts.
const REPETITIONS: usize = 5;

/// The next output of the tool, made before the clock starts because making it is not measured.
#[derive(Default)]
struct Next(Mutex<String>);

impl Next {
    fn replace(&self, text: String) -> String {
        std::mem::replace(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner), text)
    }
}

/// Returns a long text.
#[tool(group = "bench", read_only)]
async fn log(next: State<Next>) -> String {
    next.replace(String::new())
}

/// A call that returns 10 MB, beside counting the lines of the same text with memchr, in microseconds: once with a
/// data directory, where the whole is kept in a file, and once without. Dropping the result is not part of it.
pub(crate) fn ten_megabytes(runtime: &Runtime, rounds: usize) {
    let text = format!("{LINE:<99}\n").repeat(LINES);
    assert_eq!(text.len(), LINES * 100);
    let next = Arc::new(Next::default());
    let directory = std::env::temp_dir().join(format!("toolkit-bench-{}", std::process::id()));
    let toolbox = |data_dir: &Path| {
        let toolkit = Toolkit::empty()
            .without_asking_first()
            .loop_guard(LoopGuard::off())
            .tool(toolkit::tool_ref!(log).with_shared_state(Arc::clone(&next)))
            .data_dir(data_dir)
            .build()
            .expect("a toolkit");
        runtime.block_on(toolkit.toolbox(&Caller::new()))
    };
    let keeps = toolbox(&directory);
    // Nothing can be made below a file.
    let does_not_keep = toolbox(Path::new("/dev/null/nowhere"));

    let call = |toolbox: &Toolbox| {
        next.replace(text.clone());
        let call = ToolCall::new("call_1", "log", "{}");
        let started = Instant::now();
        let result = black_box(runtime.block_on(toolbox.call(call)));
        let elapsed = started.elapsed();
        assert!(!result.is_error() && result.text().len() < text.len(), "it is cut");
        elapsed.as_secs_f64() * 1e6
    };
    let count = || {
        let text = black_box(text.clone());
        let started = Instant::now();
        let lines = memchr::memchr_iter(b'\n', text.as_bytes()).count();
        let elapsed = started.elapsed();
        assert_eq!(lines, LINES);
        elapsed.as_secs_f64() * 1e6
    };
    let mut figures = [const { Vec::new() }; 3];
    for _ in 0..rounds {
        let mut round = [const { Vec::new() }; 3];
        for _ in 0..REPETITIONS {
            round[0].push(call(&keeps));
            round[1].push(call(&does_not_keep));
            round[2].push(count());
        }
        // The files of a round, so that the disk holds no more than these.
        fs::remove_dir_all(&directory).expect("what is cut was kept");
        for (figures, round) in figures.iter_mut().zip(round) {
            figures.push(median(round));
        }
    }
    for (contender, figures) in ["toolkit, keeping", "toolkit", "memchr"].into_iter().zip(&figures) {
        print("cut", contender, figures);
    }
}

//! Measures tool search, compared with a plain search: time and accuracy. Prints lines of words and figures, separated by
//! tabs.
//!
//! Usage: `search ROUNDS`.

use std::hint::black_box;
use std::time::Instant;

use tokio::runtime::{Builder as RuntimeBuilder, Runtime};
use toolkit::{Caller, Tool, Toolbox, Toolkit};
use toolkit_tests::discovery::{Bm25, catalogue, compare, queries};

toolkit::link!(core: builtin_tools);

/// How many tools are generated beside the builtin ones.
const COUNTS: [usize; 3] = [100, 1_000, 10_000];

fn main() {
    let rounds: usize =
        std::env::args().nth(1).and_then(|rounds| rounds.parse().ok()).expect("the number of rounds");
    let runtime = RuntimeBuilder::new_current_thread().enable_all().build().expect("a runtime");
    for count in COUNTS {
        measure(&runtime, count, rounds);
    }
    recall(&runtime);
}

fn toolkit(count: usize) -> Toolkit {
    let tools = catalogue(count).into_iter().map(|tool| tool.tool().expect("a valid tool"));
    tools.fold(Toolkit::builder(), toolkit::Builder::tool).build().expect("a toolkit")
}

fn measure(runtime: &Runtime, count: usize, rounds: usize) {
    let queries = queries();
    let (mut builds, mut again, mut times, mut plain_builds, mut plain_times) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut bytes = 0;
    for _ in 0..rounds {
        let toolkit = toolkit(count);
        let toolbox = runtime.block_on(toolkit.toolbox(&Caller::new()));
        // Schemas are made at their first use, with or without a search.
        toolbox.tools().for_each(|tool| drop(black_box(tool.input_schema())));
        let before = resident();
        let started = Instant::now();
        black_box(toolbox.search("first", 5));
        builds.push(millis(started));
        bytes = bytes.max(resident().saturating_sub(before));
        // The next turn has another toolbox of the same tools, and one that came.
        toolkit
            .register(Tool::builder("came_later").build(|_, _| async { "" }).expect("a tool"))
            .expect("a free name");
        let next = runtime.block_on(toolkit.toolbox(&Caller::new()));
        let started = Instant::now();
        black_box(next.search("first", 5));
        again.push(millis(started));
        each(&toolbox, &queries, &mut times);

        let started = Instant::now();
        let plain = Bm25::new(toolbox.tools());
        plain_builds.push(millis(started));
        for query in &queries {
            let started = Instant::now();
            black_box(plain.search(&query.text, 5));
            plain_times.push(millis(started));
        }
    }
    println!("bytes\t{count}\t{bytes}");
    for (name, figures) in [
        ("build", builds),
        ("next toolbox", again),
        ("query", times),
        ("plain build", plain_builds),
        ("plain query", plain_times),
    ] {
        let figures: Vec<String> = figures.iter().map(|figure| format!("{figure:.4}")).collect();
        println!("{name}\t{count}\t{}", figures.join(" "));
    }
}

fn each(toolbox: &Toolbox, queries: &[toolkit_tests::discovery::Query], times: &mut Vec<f64>) {
    for query in queries {
        let started = Instant::now();
        black_box(toolbox.search(&query.text, 5));
        times.push(millis(started));
    }
}

fn recall(runtime: &Runtime) {
    let toolkit = toolkit(1_000);
    let toolbox = runtime.block_on(toolkit.toolbox(&Caller::new()));
    let plain = Bm25::new(toolbox.tools());
    let ours = |query: &str| toolbox.search(query, 5).iter().map(|hit| hit.tool.name().to_owned()).collect();
    let (recall, missed) = compare(ours, |query| plain.search(query, 5));
    for (kind, [ours, plain, all]) in recall {
        println!("recall\t{kind}\t{ours} {plain} {all}");
    }
    for query in missed {
        println!("missed\t{}\t{}", query.text, query.tools.join(" or "));
    }
}

fn millis(started: Instant) -> f64 {
    started.elapsed().as_secs_f64() * 1_000.0
}

/// How many bytes of memory the process has in use.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or_default();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap_or_default() * 1024
}

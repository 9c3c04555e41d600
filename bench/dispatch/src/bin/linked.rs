//! Measures the start with 1,000 linked tools. It is a separate program because the tools are linked into it.

use std::hint::black_box;
use std::time::Instant;

use dispatch::line::{median, print};
use tokio::runtime;
use toolkit::prelude::*;

/// Measurements of which the median counts.
const REPETITIONS: usize = 50;

macro_rules! ones {
    ($hundreds:literal $tens:literal: $($ones:literal)*) => { $(
        const _: () = {
            /// Greets somebody.
            #[tool(name = concat!("greet_", $hundreds, $tens, $ones), group = "bench", read_only)]
            async fn greet(
                /// Whom to greet.
                name: String,
                /// How many times.
                #[arg(default = 1)]
                count: u32,
                /// If true, shouts.
                loud: Option<bool>,
            ) -> String {
                format!("{name} {count} {loud:?}")
            }
        };
    )* };
}

macro_rules! tens {
    ($hundreds:literal: $($tens:literal)*) => { $( ones!($hundreds $tens: 0 1 2 3 4 5 6 7 8 9); )* };
}

macro_rules! hundreds {
    ($($hundreds:literal)*) => { $( tens!($hundreds: 0 1 2 3 4 5 6 7 8 9); )* };
}

hundreds!(0 1 2 3 4 5 6 7 8 9);

/// In microseconds: building the toolkit, the first time in this process and the median of later times; and what
/// the very first call takes more than the second.
fn main() {
    let build = || {
        let started = Instant::now();
        let toolkit = black_box(Toolkit::builder().without_asking_first().build().expect("a toolkit"));
        let elapsed = started.elapsed();
        assert!(toolkit.tools().len() >= 1000, "all are linked");
        (elapsed.as_secs_f64() * 1e6, toolkit)
    };
    let (first, toolkit) = build();
    print("build", "linked, first", &[first]);

    let runtime = runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let toolbox = runtime.block_on(toolkit.toolbox(&Caller::new()));
    let call = || {
        let call = ToolCall::new("call_1", "greet_500", r#"{"name":"Ada","count":1,"loud":true}"#);
        let started = Instant::now();
        let result = black_box(runtime.block_on(toolbox.call(call)));
        let elapsed = started.elapsed();
        assert_eq!(result.text(), "Ada 1 Some(true)");
        elapsed.as_secs_f64() * 1e6
    };
    print("first call", "of the process", &[call() - call()]);

    print("build", "linked", &[median((0..REPETITIONS).map(|_| build().0).collect())]);
}

//! Measures tools before and at their first call.

use std::hint::black_box;
use std::time::Instant;

use dispatch::line::{median, print};
use dispatch::{policy, toolkit_of};
use tokio::runtime::Runtime;
use toolkit::{Caller, Tool, ToolCall, Toolkit};

/// Measurements in a round, of which the median counts.
const REPETITIONS: usize = 20;

/// Building a toolkit of 1,000 tools that the host adds by hand, in microseconds.
pub(crate) fn thousand_tools(rounds: usize) {
    let tools = toolkit_of((0..1000).map(|number| format!("tool_{number}")));
    let build = || {
        let started = Instant::now();
        let mut builder = Toolkit::empty();
        for tool in &tools {
            builder = builder.tool(tool.clone());
        }
        let toolkit = black_box(builder.build().expect("a toolkit"));
        let elapsed = started.elapsed();
        assert_eq!(toolkit.tools().len(), tools.len());
        elapsed.as_secs_f64() * 1e6
    };
    let figures: Vec<_> = (0..rounds).map(|_| median((0..REPETITIONS).map(|_| build()).collect())).collect();
    print("build", "added", &figures);
}

/// Registering a tool where there are 10,000, in microseconds.
pub(crate) fn register(rounds: usize) {
    let tools = toolkit_of((0..10_000).map(|number| format!("tool_{number:05}")));
    let late = toolkit_of((0..REPETITIONS).map(|number| format!("tool_{:05}_late", number * 400)));
    let toolkit =
        tools.into_iter().fold(Toolkit::empty(), toolkit::Builder::tool).build().expect("a toolkit");
    let register = |tool: &Tool| {
        let (name, tool) = (tool.name().to_owned(), tool.clone());
        let started = Instant::now();
        toolkit.register(tool).expect("its name is free");
        let elapsed = started.elapsed();
        toolkit.unregister(&name).expect("it is there");
        elapsed.as_secs_f64() * 1e6
    };
    let figures: Vec<_> = (0..rounds).map(|_| median(late.iter().map(register).collect())).collect();
    print("register", "at 10,000", &figures);
}

/// Making a toolbox of so many tools, with seven layers of policy and 48 patterns, in microseconds.
pub(crate) fn toolbox(runtime: &Runtime, rounds: usize) {
    for (count, name) in [(1_000, "of 1,000"), (10_000, "of 10,000")] {
        let tools = toolkit_of((0..count).map(|number| format!("tool_{number:05}")));
        let builder = tools.into_iter().fold(Toolkit::empty(), toolkit::Builder::tool);
        let toolkit = builder.policy(policy::seven_layers()).build().expect("a toolkit");
        let caller = policy::caller();
        let make = || {
            let started = Instant::now();
            let toolbox = black_box(runtime.block_on(toolkit.toolbox(&caller)));
            let elapsed = started.elapsed();
            assert_eq!(toolbox.tools().count(), count, "nothing is denied");
            elapsed.as_secs_f64() * 1e6
        };
        let figures: Vec<_> =
            (0..rounds).map(|_| median((0..REPETITIONS).map(|_| make()).collect())).collect();
        print("toolbox", name, &figures);
    }
}

/// Time of the first call of a tool beyond that of its second, in microseconds. Each tool is new; the process
/// has called others before.
pub(crate) fn first_call(runtime: &Runtime, rounds: usize) {
    let figures: Vec<_> = (0..rounds)
        .map(|round| {
            let tools = toolkit_of((0..REPETITIONS).map(|number| format!("tool_{round}_{number}")));
            let names: Vec<_> = tools.iter().map(|tool| tool.name().to_owned()).collect();
            let toolkit =
                tools.into_iter().fold(Toolkit::empty().without_asking_first(), toolkit::Builder::tool);
            let toolkit = toolkit.build().expect("a toolkit");
            let toolbox = runtime.block_on(toolkit.toolbox(&Caller::new()));
            let call = |name: &String| {
                let call = ToolCall::new("call_1", name, dispatch::ARGUMENTS);
                let started = Instant::now();
                black_box(runtime.block_on(toolbox.call(call)));
                started.elapsed().as_secs_f64() * 1e6
            };
            median(names.iter().map(|name| call(name) - call(name)).collect())
        })
        .collect();
    print("first call", "toolkit", &figures);
}
